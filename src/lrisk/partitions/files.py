"""Rows and vectors in files, read where they lie and by as much as fits in memory.

Positional reads and no mapping: a mapped file counts as memory where address space is
limited. Pages that have been read are handed back to the system at once, where it
takes them, since a file larger than memory would push out everything else.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .._arrays import FEATURE, largest_size
from .._typing import AnyArray, Floats, Indices
from .rows import BLOCK, Block, taken

#: Bytes that are read at once, unless told otherwise.
CHUNK = 1 << 24
#: Rows between two that are fetched with one read all the same.
NEAR = 16
_DOUBLE = np.dtype(np.float64)


class Storage:
    """An open file, with reads and writes at places that many threads may make.

    Parameters
    ----------
    file : binary file
        Kept open as long as this; closed with it.
    folder : str or None
        Where it lies if it has no name, for messages.
    """

    def __init__(self, file: Any, folder: str | None = None) -> None:
        self._file, self._lock, self._folder = file, threading.Lock(), folder
        self._descriptor = file.fileno()

    def read(self, buffer: Any, where: int) -> None:
        """Fill a buffer from a place."""
        view, whole = _bytes_of(buffer), where
        while len(view):
            got = self._some(view, where)
            if got == 0:
                raise OSError(f"the file ends {len(view)} bytes too early")
            view, where = view[got:], where + got
        if hasattr(os, "posix_fadvise"):
            advice = os.POSIX_FADV_DONTNEED
            os.posix_fadvise(self._descriptor, whole, where - whole, advice)

    def write(self, data: Any, where: int) -> None:
        """Write bytes at a place."""
        try:
            self._write(_bytes_of(data), where)
        except OSError as error:
            if self._folder is None:
                raise
            why = f"{error.strerror}: scratch files could not be written"
            raise OSError(error.errno, why, self._folder) from None

    def _write(self, view: Any, where: int) -> None:
        while len(view):
            if hasattr(os, "pwrite"):
                put = os.pwrite(self._descriptor, view, where)
            else:  # pragma: no cover - Windows
                with self._lock:
                    self._file.seek(where)
                    put = self._file.write(view)
            view, where = view[put:], where + put

    def close(self) -> None:
        """Close the file; one without a name is gone then."""
        self._file.close()

    def _some(self, view: Any, where: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._descriptor, [view], where)
        with self._lock:  # pragma: no cover - Windows
            self._file.seek(where)
            return int(self._file.readinto(view))


class VectorFile:
    """A vector of 64-bit floats in a file; slices and ascending places of it are read.

    Parameters
    ----------
    storage : Storage
    n : int
    first : int, default=0
        Its first entry, counted from the beginning of the file.
    """

    def __init__(self, storage: Storage, n: int, first: int = 0) -> None:
        self.storage, self._n, self._first = storage, n, first

    def __len__(self) -> int:
        return self._n

    def window(self, start: int, stop: int) -> "VectorFile":
        """A part of it."""
        return VectorFile(self.storage, stop - start, self._first + start)

    def __getitem__(self, rows: slice | Indices) -> Floats:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self._n)
            found = np.empty(max(stop - start, 0))
            self.storage.read(found, 8 * (self._first + start))
            return found
        found = np.empty(len(rows))
        for a, b in _runs(rows):
            read = self[int(rows[a]) : int(rows[b - 1]) + 1]
            found[a:b] = read[rows[a:b] - rows[a]]
        return found

    def __setitem__(self, rows: slice | Indices, values: Any) -> None:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self._n)
            data = np.ascontiguousarray(np.broadcast_to(values, stop - start), _DOUBLE)
            self.storage.write(data, 8 * (self._first + start))
            return
        values = np.broadcast_to(values, len(rows))
        for a, b in _runs(rows):
            span = slice(int(rows[a]), int(rows[b - 1]) + 1)
            read = self[span]
            read[rows[a:b] - rows[a]] = values[a:b]
            self[span] = read


class RowFile:
    """Rows of numbers in a file, one after another.

    Parameters
    ----------
    storage : Storage
    shape : tuple of int
        Rows, and numbers in each.
    dtype : dtype
        Of the numbers.
    offset : int, default=0
        Bytes before the first row.
    columns : array of int or None
        Which numbers of a row are features, in this order; None means all.
    chunk : int
        Bytes that are read at once; there are two such buffers.
    first : int, default=0
        Rows of the file before these, for messages.
    """

    def __init__(
        self,
        storage: Storage,
        shape: tuple[int, int],
        dtype: Any,
        *,
        offset: int = 0,
        columns: Indices | None = None,
        chunk: int = CHUNK,
        first: int = 0,
    ) -> None:
        self._storage, self._dtype, self._offset = storage, np.dtype(dtype), offset
        self._n, self._width, self._columns = *shape, columns
        self._first, self._chunk, self._checked = first, chunk, False
        self._row = self._width * self._dtype.itemsize

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        d = self._width if self._columns is None else len(self._columns)
        return self._n, d

    def window(self, start: int, stop: int, chunk: int | None = None) -> "RowFile":
        """Some of the rows."""
        return RowFile(
            self._storage,
            (stop - start, self._width),
            self._dtype,
            offset=self._offset + start * self._row,
            columns=self._columns,
            chunk=chunk or self._chunk,
            first=self._first + start,
        )

    def blocks(self, every: int = 1) -> Iterator[Block]:
        """All rows, or a share of them from the front of each block.

        The next chunk is read while this one is worked on.
        """
        few = taken(every)
        most = max(self._chunk // max(self._row * few, 1), 1)
        starts = list(range(0, self._n, BLOCK))
        chunks = [starts[k : k + most] for k in range(0, len(starts), most)]
        if not chunks:
            return
        rows = [self._empty(min(most * few, self._n)) for _ in range(2)]
        own = np.empty((min(few, self._n), self.shape[1]))
        with ThreadPoolExecutor(1) as reader:
            waiting: Future[None] = reader.submit(self._fill, rows[0], chunks[0], few)
            for k, chunk in enumerate(chunks):
                waiting.result()
                if k + 1 < len(chunks):
                    buffer = rows[(k + 1) % 2]
                    waiting = reader.submit(self._fill, buffer, chunks[k + 1], few)
                done = 0
                for start in chunk:
                    stop = min(start + few, self._n)
                    read = rows[k % 2][done : done + stop - start]
                    done += stop - start
                    yield Block(start, stop, self._features(read, own, start))
        self._checked = self._checked or every == 1

    def some(self, ids: Indices) -> Floats:
        """Rows by their places, ascending."""
        found = np.empty((len(ids), self.shape[1]))
        for a, b in _runs(ids):
            first, last = int(ids[a]), int(ids[b - 1])
            read = self._empty(last + 1 - first)
            self._storage.read(read, self._offset + first * self._row)
            features = read if self._columns is None else read[:, self._columns]
            found[a:b] = features[ids[a:b] - first]
        check_rows(found, self._first + ids)
        return found

    def _empty(self, n: int) -> Any:
        return np.empty((n, self._width), dtype=self._dtype)

    def _fill(self, buffer: Any, chunk: list[int], few: int) -> None:
        if few == BLOCK:  # they lie side by side
            stop = min(chunk[-1] + few, self._n)
            where = self._offset + chunk[0] * self._row
            self._storage.read(buffer[: stop - chunk[0]], where)
            return
        done = 0
        for start in chunk:
            count = min(few, self._n - start)
            where = self._offset + start * self._row
            self._storage.read(buffer[done : done + count], where)
            done += count

    def _features(self, read: Any, own: Floats, start: int) -> Floats:
        X: Floats = read
        if self._columns is not None or self._dtype != _DOUBLE:
            X = own[: len(read)]
            X[...] = read if self._columns is None else read[:, self._columns]
        if not self._checked:
            check_rows(X, self._first + np.arange(start, start + len(X)))
        return X


def check_rows(X: AnyArray, places: Indices) -> None:
    """Refuse rows of which a feature is no finite number, or too large to fit."""
    if X.dtype.kind != "f" or largest_size(X) <= FEATURE:
        return
    row, column = np.argwhere(~(np.abs(X) <= FEATURE))[0]
    raise BadFeature(int(places[row]), int(column), float(X[row, column]))


class BadFeature(ValueError):
    """A feature that cannot be used: its row, its column, and what it is."""

    def __init__(self, row: int, column: int, value: float) -> None:
        super().__init__(row, column, value)
        self.row, self.column, self.value = row, column, value

    def __str__(self) -> str:
        rule = "finite numbers: drop such rows or fill them in"
        if np.isfinite(self.value):
            rule = f"at most {FEATURE:.2g} in size: rescale that column"
        return (
            f"row {self.row} of the source has {self.value} as feature {self.column}; "
            f"features must be {rule}."
        )


def _bytes_of(array: Any) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _runs(ids: Indices) -> Iterator[tuple[int, int]]:
    """Stretches of ascending places that are worth one read each."""
    if not len(ids):
        return
    cuts = np.flatnonzero(np.diff(ids) > NEAR) + 1
    # No read longer than a block of rows.
    edges = np.concatenate([[0], cuts, [len(ids)]])
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for start in range(a, b, BLOCK // NEAR):
            yield start, min(start + BLOCK // NEAR, b)
