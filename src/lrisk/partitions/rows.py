"""Where the features of a part lie: rows in blocks, in order, or some of them."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import Floats, Indices

#: Rows whose products are made together: their vectors stay in the cache.
BLOCK = 1 << 13


class Block(NamedTuple):
    """Rows `start` to `stop` of a part; X (stop − start, d), of 64 bits."""

    start: int
    stop: int
    X: Floats


class RowSource(Protocol):
    """Features of the rows of a part, wherever they lie."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def blocks(self, every: int = 1) -> Iterator[Block]:
        """All rows, or the first of `every` rows of each block, in order.

        What a block holds is overwritten by the next one.
        """

    def some(self, ids: Indices) -> Floats:
        """Rows by their places, ascending; of 64 bits."""


class ArrayRows:
    """Rows of an array in memory, of any type of numbers.

    Parameters
    ----------
    X : array of shape (n, d)
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    def blocks(self, every: int = 1) -> Iterator[Block]:
        """All rows, or a share of them from the front of each block."""
        for start in range(0, len(self.X), BLOCK):
            stop = min(start + taken(every), len(self.X))
            X = np.ascontiguousarray(self.X[start:stop], dtype=np.float64)
            yield Block(start, stop, X)

    def some(self, ids: Indices) -> Floats:
        """Rows by their places."""
        return np.asarray(self.X[ids], dtype=np.float64)


def taken(every: int) -> int:
    """Rows of a block that are taken where one of `every` rows is."""
    return -(-BLOCK // every)
