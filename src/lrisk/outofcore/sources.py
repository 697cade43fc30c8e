"""Where rows come from: read in place where they lie as rows, else decoded once."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._arrays import check_weights, unmasked
from .._params import refused
from .._typing import AnyArray
from ..partitions.files import RowFile, check_rows
from ..partitions.rows import ArrayRows
from .arrays import StoredArray, stored, unmapped
from .batches import (
    PARQUET,
    ROWS,
    Batch,
    Named,
    arrow_batches,
    arrow_form,
    feature_type,
    generated,
    is_arrow,
    is_frame,
    parquet,
)
from .scratch import Growing, Scratch
from .targets import Targets, checked_weights, given_targets


class Data(NamedTuple):
    """Rows that can be read again and again, with targets and weights.

    y, weight : numbers in scratch; no weights mean one each
    names : of the features, where they have some
    kept : rows of the source that have weight; None where all have
    """

    rows: Any
    y: Growing
    weight: Growing | None
    names: list[str] | None
    n_given: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n, d = self.rows.shape
        return int(n), int(d)


class Stream(NamedTuple):
    """Batches with the type of number that holds their features."""

    batches: Iterator[Batch]
    dtype: Any
    names: list[str] | None
    place: RowFile | ArrayRows | None = None


def opened(
    source: Any,
    target: Any,
    columns: Any,
    sample_weight: Any,
    scratch: Scratch,
    *,
    with_target: bool = True,
    names: Any = None,
) -> Stream:
    """Batches of any source, and its rows in place where that is possible.

    `names` are those of a fit, by which columns of tables are found.
    """
    if sp.issparse(source):
        rule, remedy = "of dense rows", "fit sparse ones in memory"
        raise TypeError(refused("outofcore", "source", rule, "a sparse matrix", remedy))
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir() or path.suffix in PARQUET:
            source = parquet(path)
        elif path.suffix == ".npy":
            source = stored(path, scratch)
        else:
            rule = "an .npy file, a Parquet file or a folder of such"
            remedy = "pass numpy.memmap for raw numbers, or batches of rows"
            raise ValueError(refused("outofcore", "source", rule, str(path), remedy))
    source = arrow_form(source)
    if is_arrow(source):
        schema = source.schema
        wanted = names if columns is None else columns
        named = Named.among(schema.names, wanted, target, sample_weight)
        dtype = feature_type(schema, named.columns)
        return Stream(arrow_batches(source, named), dtype, named.columns)
    source = unmasked(source)
    if isinstance(source, np.memmap):
        source = unmapped(source, scratch) or source
    if isinstance(source, np.ndarray | StoredArray):
        return _of_array(source, target, columns, sample_weight, scratch, with_target)
    if is_frame(source):
        source = [source]
    try:
        iterator = iter(source)
    except TypeError:
        rule = "a path, an array, a table or an iterable of batches"
        seen, remedy = type(source).__name__, "pass one of them"
        raise TypeError(refused("outofcore", "source", rule, seen, remedy)) from None
    options = {"with_target": with_target, "names": names}
    pairs = generated(iterator, columns, target, sample_weight, **options)
    try:
        first, found = next(pairs)
    except StopIteration:
        raise no_rows() from None
    dtype = np.float32 if first.X.dtype == np.float32 else np.float64
    rest = (batch for batch, _ in pairs)
    return Stream(itertools.chain([first], rest), dtype, found)


def collected(stream: Stream, targets: Targets, scratch: Scratch) -> Data:
    """Read all batches, and write what does not lie in rows already."""
    y, weight, given = Growing(scratch, np.float64), Growing(scratch, np.float64), 0
    rows, width, weighted, heaviest = None, 0, False, 0.0
    place, dropped = stream.place, False
    written = Growing(scratch, stream.dtype) if place is None else None
    for batch in stream.batches:
        kept: Any = slice(None)
        if given and weighted != (batch.weight is not None):
            rule = f"{'with' if weighted else 'without'} weights, as the first"
            seen, remedy = "the other", "give weights in all batches or in none"
            raise ValueError(refused("outofcore", "a batch", rule, seen, remedy))
        if batch.weight is not None:
            own = checked_weights(batch.weight)
            weighted, kept = True, own > 0.0
            dropped = dropped or not bool(kept.all())
            heaviest = max(heaviest, float(own.max(initial=0.0)))
            weight.add(own[kept])
        labels = given_targets(targets.owner, batch.y)
        y.add(targets.numbers(labels[kept]))
        if written is not None:
            if given and batch.X.shape[1] != width:
                rule, remedy = (
                    f"of {width} features, as the first",
                    "yield such batches",
                )
                raise ValueError(
                    refused("outofcore", "a batch", rule, batch.X.shape[1], remedy)
                )
            width = batch.X.shape[1]
            if not np.can_cast(batch.X.dtype, stream.dtype, "same_kind"):
                rule = "of one type of number in all batches"
                raise ValueError(
                    refused("outofcore", "a batch", rule, batch.X.dtype.name,
                            "make the first batch of 64 bits")
                )  # fmt: skip
            X = np.ascontiguousarray(batch.X, dtype=stream.dtype)
            check_rows(X, given + np.arange(len(X)))
            written.add(X[kept])
        given += len(labels)
    if y.count == 0:
        raise no_rows()
    check_weights("outofcore", "sample_weight", np.array([heaviest]))
    if written is None:
        rows = place
    else:
        rows = RowFile(written.storage, (y.count, width), stream.dtype)
    if place is not None and dropped:
        raise _Dropped
    return Data(rows, y, weight if weighted else None, stream.names, given)


class _Dropped(Exception):
    """Rows in place have no weight, and must be written without those."""


def read(
    source: Any,
    target: Any,
    columns: Any,
    sample_weight: Any,
    make_targets: Any,
    scratch: Scratch,
) -> tuple[Data, Targets]:
    """Open and collect; rows without weight are left out."""
    targets = make_targets()
    stream = opened(source, target, columns, sample_weight, scratch)
    try:
        return collected(stream, targets, scratch), targets
    except _Dropped:
        targets = make_targets()
        stream = opened(source, target, columns, sample_weight, scratch)
        stream = stream._replace(place=None)
        return collected(stream, targets, scratch), targets


def _of_array(
    source: Any,
    target: Any,
    columns: Any,
    sample_weight: Any,
    scratch: Scratch,
    with_target: bool,
) -> Stream:
    if len(source.shape) != 2:
        rule, remedy = "of shape (n, d)", "reshape it"
        raise ValueError(refused("outofcore", "source", rule, source.shape, remedy))
    n, width = (int(size) for size in source.shape)
    if source.dtype.kind not in "biuf":
        rule, remedy = "of numbers", "make it numbers"
        raise ValueError(
            refused("outofcore", "source", rule, source.dtype.name, remedy)
        )
    y = _beside("target", target, n, width, scratch) if with_target else None
    weight = _beside("sample_weight", sample_weight, n, width, scratch)
    inside = [place for place in (y, weight) if isinstance(place, int)]
    if columns is None:
        columns = [k for k in range(width) if k not in inside]
    places = np.array(list(columns))
    valid = places.dtype.kind in "iu" and places.size > 0
    if not valid or places.min() < 0 or places.max() >= width:
        rule, remedy = f"places of columns, 0 to {width - 1}", "choose among them"
        raise ValueError(refused("outofcore", "columns", rule, list(columns), remedy))
    if len(set(places.tolist())) < len(places) or set(places.tolist()) & set(inside):
        rule = "different columns, neither the target nor the weight"
        raise ValueError(
            refused("outofcore", "columns", rule, list(columns), "drop it")
        )
    every = np.array_equal(places, np.arange(width))
    chosen = None if every else places
    place: RowFile | ArrayRows | None
    if isinstance(source, StoredArray):
        place = source.in_place(chosen)
    else:
        place = None if isinstance(source, np.memmap) else _in_memory(source, chosen)
    dtype = source.dtype if source.dtype in (np.float32, np.float64) else np.float64
    # Rows in place are read for what lies among their columns only.
    idle = with_target and isinstance(place, RowFile) and not inside

    def batches() -> Iterator[Batch]:
        for start in range(0, n, ROWS):
            here = slice(start, min(start + ROWS, n))
            if idle:
                own = [None if k is None else k[here] for k in (y, weight)]
                yield Batch(_NOTHING, *own)
                continue
            read = np.asarray(source[here])
            own = [
                None if k is None else read[:, k] if isinstance(k, int) else k[here]
                for k in (y, weight)
            ]
            yield Batch(read if chosen is None else read[:, chosen], *own)

    if idle and place is not None and not _positive(weight, n):
        # They will be written without rows that have no weight.
        idle, place = False, None
    return Stream(batches(), dtype, None, place)


_NOTHING = np.empty((0, 0))


def _positive(weight: Any, n: int) -> bool:
    """Whether all rows have weight; one column of the rows is looked at later."""
    if weight is None or isinstance(weight, int):
        return True
    spans = range(0, n, ROWS)
    return all(bool(np.all(checked_weights(weight[k : k + ROWS]) > 0)) for k in spans)


def _in_memory(source: AnyArray, chosen: Any) -> ArrayRows:
    rows = source if chosen is None else source[:, chosen]
    for start in range(0, len(rows), ROWS):
        own = rows[start : start + ROWS]
        check_rows(own, start + np.arange(len(own)))
    return ArrayRows(rows)


def _beside(name: str, given: Any, n: int, width: int, scratch: Scratch) -> Any:
    """A column's place, or a vector to be sliced, beside the rows of an array."""
    if given is None and name == "sample_weight":
        return None
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if not 0 <= given < width:
            rule, remedy = f"a column, 0 to {width - 1}", "choose among them"
            raise ValueError(refused("outofcore", name, rule, given, remedy))
        return int(given)
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".npy")):
        given = stored(Path(given), scratch)
    rule = f"a column's place, an .npy file or an array of shape ({n},)"
    remedy = "pass one for each row"
    if given is None or isinstance(given, str):
        raise ValueError(refused("outofcore", name, rule, given, remedy))
    if not isinstance(given, StoredArray | np.ndarray):
        given = np.asarray(given)
    given = unmasked(given)
    if tuple(given.shape) != (n,):
        raise ValueError(refused("outofcore", name, rule, given.shape, remedy))
    return given


def no_rows() -> ValueError:
    """That there is nothing to fit, or to predict for."""
    rule, remedy = "of at least one row with weight", "pass another"
    return ValueError(refused("outofcore", "source", rule, "none", remedy))
