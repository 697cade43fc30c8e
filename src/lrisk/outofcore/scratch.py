"""Files that nobody sees, and that are gone whatever happens."""

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np

from .._params import refused
from ..partitions.files import Storage, VectorFile


class Scratch:
    """Files without a name in a folder: the system removes them with the process.

    Parameters
    ----------
    folder : path or None
        None means the system's folder for such files.
    """

    def __init__(self, folder: Any) -> None:
        if folder is not None and not Path(folder).is_dir():
            rule, remedy = "an existing folder", "make it, or pass another"
            raise ValueError(refused("outofcore", "scratch", rule, folder, remedy))
        self._folder = None if folder is None else str(folder)
        self._open: list[Storage] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for storage in self._open:
            storage.close()

    def file(self) -> Storage:
        """A new file."""
        folder = self._folder or tempfile.gettempdir()
        return self.keep(tempfile.TemporaryFile(dir=folder, buffering=0), folder)

    def keep(self, file: Any, folder: str | None = None) -> Storage:
        """Storage for an open file, closed with the others."""
        self._open.append(Storage(file, folder))
        return self._open[-1]

    def vector(self, n: int) -> VectorFile:
        """A new vector of zeros."""
        storage = self.file()
        if n:  # what is skipped reads as zeros
            storage.write(np.zeros(1), 8 * (n - 1))
        return VectorFile(storage, n)


class Growing:
    """Numbers of one type that are written one batch after another.

    Parameters
    ----------
    scratch : Scratch
    dtype : dtype
    """

    def __init__(self, scratch: Scratch, dtype: Any) -> None:
        self.storage, self.dtype, self.count = scratch.file(), np.dtype(dtype), 0

    def add(self, numbers: Any) -> None:
        """Write some more."""
        data = np.ascontiguousarray(numbers, dtype=self.dtype)
        if data.size:
            self.storage.write(data, self.count * self.dtype.itemsize)
        self.count += data.size

    def vector(self, *, in_memory: bool) -> Any:
        """All numbers, which are of 64 bits."""
        vector = VectorFile(self.storage, self.count)
        return vector[:] if in_memory else vector
