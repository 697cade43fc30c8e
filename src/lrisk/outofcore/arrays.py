"""Arrays in files: what lies there, and slices of it without mapping it."""

import math
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from .._params import refused
from .._typing import AnyArray
from ..partitions.files import RowFile, Storage
from .scratch import Scratch


class StoredArray:
    """A one- or two-dimensional array in a file.

    Parameters
    ----------
    storage : Storage
    shape : tuple of int
    dtype : dtype
    offset : int
        Bytes before the first entry.
    by_column : bool
        Whether columns lie one after another, instead of rows.
    """

    def __init__(
        self,
        storage: Storage,
        shape: tuple[int, ...],
        dtype: Any,
        offset: int,
        by_column: bool,
    ) -> None:
        self.storage, self.shape, self.dtype = storage, shape, np.dtype(dtype)
        self.offset, self.by_column = offset, by_column and len(shape) > 1

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> AnyArray:
        start, stop, _ = rows.indices(len(self))
        found = np.empty((stop - start, *self.shape[1:]), dtype=self.dtype)
        size = self.dtype.itemsize
        if not self.by_column:
            width = int(np.prod(self.shape[1:], dtype=np.int64)) * size
            self.storage.read(found.view(np.uint8), self.offset + start * width)
            return found
        column = np.empty(stop - start, dtype=self.dtype)
        for k in range(self.shape[1]):
            where = self.offset + (k * len(self) + start) * size
            self.storage.read(column.view(np.uint8), where)
            found[:, k] = column
        return found

    def in_place(self, columns: Any) -> RowFile | None:
        """Its rows where they lie; None where they must be written anew."""
        usable = self.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        if len(self.shape) != 2 or self.by_column or not usable:
            return None
        shape = (self.shape[0], self.shape[1])
        rule = {"offset": self.offset, "columns": columns}
        return RowFile(self.storage, shape, self.dtype, **rule)


def stored(path: Path, scratch: Scratch) -> StoredArray:
    """The array of an ``.npy`` file."""
    file = scratch.keep(path.open("rb", buffering=0))
    with path.open("rb") as beginning:
        try:
            version = np.lib.format.read_magic(beginning)
            read: Any = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if read is None:
                raise ValueError(f"version {version}")
            shape, by_column, dtype = read(beginning)
        except ValueError as error:
            rule, remedy = "a file that numpy.save wrote", f"it says: {error}"
            raise ValueError(
                refused("outofcore", "source", rule, str(path), remedy)
            ) from None
        offset = beginning.tell()
    if dtype.hasobject:
        rule, remedy = "of numbers or texts", "objects would have to be unpickled"
        raise ValueError(refused("outofcore", "source", rule, str(path), remedy))
    whole = offset + math.prod(shape) * dtype.itemsize
    if (there := os.path.getsize(path)) < whole:
        rule, remedy = f"a whole file, of {whole} bytes", "write it again"
        seen = f"{path} of {there} bytes"
        raise ValueError(refused("outofcore", "source", rule, seen, remedy))
    return StoredArray(file, shape, dtype, offset, by_column)


def unmapped(array: np.memmap[Any, Any], scratch: Scratch) -> StoredArray | None:
    """The file behind a map, or None where it is a part of another."""
    whole = isinstance(array.base, mmap.mmap) and array.filename is not None
    if not whole or array.ndim > 2:
        return None
    path = Path(array.filename)  # type: ignore[arg-type]
    by_column = array.flags.f_contiguous and not array.flags.c_contiguous
    if not path.is_file() or not (array.flags.c_contiguous or by_column):
        return None
    if os.path.getsize(path) < array.offset + array.nbytes:
        return None
    if array.mode != "r":  # what was written there may not have reached the file
        array.flush()
    file = scratch.keep(path.open("rb", buffering=0))
    return StoredArray(file, array.shape, array.dtype, array.offset, by_column)
