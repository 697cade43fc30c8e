"""A folder of Parquet files, read in batches: tables larger than memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._extras import optional
from .._typing import Indices

#: What needs the packages of extras.
USER = "reading Parquet files"
#: Rows that are read at once.
BATCH = 65_536


class Batch(NamedTuple):
    """Some rows in their order; `start` is the place of the first."""

    start: int
    frame: Any


class ParquetFolder:
    """Rows of all Parquet files of a folder, or of one file, in order of their names.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    n_rows : int
    n_files : int
    """

    def __init__(self, path: Path) -> None:
        from ..outofcore.batches import parquet  # solvers come with it

        self._rows = parquet(path)
        try:
            self.n_rows = int(self._rows.count_rows())
        except (ValueError, TypeError) as error:  # of pyarrow, about its own files
            raise ValueError(
                f"{path} holds a file that is not Parquet, or damaged"
            ) from error
        self.n_files = len(self._rows.files)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._rows.schema.names)

    def batches(self) -> Iterator[Batch]:
        """All rows, a batch at a time; no more than a few batches are in memory."""
        start = 0
        options = {"batch_size": BATCH, "batch_readahead": 2, "fragment_readahead": 1}
        for batch in self._rows.to_batches(**options):
            if batch.num_rows:
                yield Batch(start, batch.to_pandas())
                start += batch.num_rows

    def take(self, places: Indices) -> Any:
        """Rows by their places, ascending, as one frame; it knows the places."""
        pd = optional("pandas", USER)
        found = []
        for start, frame in self.batches():
            first, last = np.searchsorted(places, [start, start + len(frame)])
            if last > first:
                found.append(frame.iloc[places[first:last] - start])
        frame = pd.concat(found, ignore_index=True)
        return frame.set_axis(pd.Index(places + 1), axis=0)


def spread_over(n_rows: int, count: int, seed: int) -> Indices:
    """A row of each stretch, at random: places of a sample stratified by place.

    Files in order of time, of country or of whatever else each give their share.

    Examples
    --------
    >>> places = spread_over(1_000_000, 4, seed=0)
    >>> (places // 250_000).tolist()
    [0, 1, 2, 3]
    """
    if count >= n_rows:
        return np.arange(n_rows)
    inside = np.random.default_rng(seed).random(count)
    return np.asarray(((np.arange(count) + inside) * (n_rows / count)).astype(np.intp))
