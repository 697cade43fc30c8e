"""Features on a device: products with them in 64 bits, and pieces of them.

Features of 32 bits are never multiplied in 32 bits: sums of these are off by some 1e-7
of the largest loss, and a gap of that size would be no proof.
"""

import functools
import importlib
import importlib.util
import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._typing import Indices
from ..partitions.rows import BLOCK, taken

_LOGGER = logging.getLogger("lrisk")
#: Entries of 64 bits that are worked on together: 4 MB, which stay in a processor's
#: cache, and 256 MB on a GPU, where small operations cost more than memory does.
PIECE, GPU_PIECE = 1 << 19, 1 << 25


class Piece(NamedTuple):
    """Some rows: their places, as a slice or a tensor, and features of 64 bits."""

    places: Any
    X: Tensor


class TensorRows:
    """Rows of a tensor of 32 or 64 bits.

    Parameters
    ----------
    X : tensor of shape (n, d)
    """

    def __init__(self, X: Tensor) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        entries = GPU_PIECE if X.is_cuda else PIECE
        blocks = entries // (BLOCK * (self.shape[1] + 1))
        self._most = BLOCK * max(blocks, 1)

    def scores(self, theta: Tensor) -> Tensor:
        """X·w + c for θ = (w, c), of 64 bits; shape (n,)."""
        if self.X.is_cuda and self.shape[0] and (kernels := compiled(self.X.device)):
            found: Tensor = kernels.scores(self.X, theta)
            return found
        if self.X.dtype == torch.float64:
            return torch.mv(self.X, theta[:-1]).add_(theta[-1])
        scores = torch.empty(self.shape[0], dtype=torch.float64, device=self.X.device)
        for piece in self.pieces():
            scores[piece.places] = torch.mv(piece.X, theta[:-1])
        return scores.add_(theta[-1])

    def pull(self, r: Tensor) -> Tensor:
        """Σr·(x, 1), of 64 bits; shape (d + 1,)."""
        total = r.sum()[None]
        if self.X.is_cuda and self.shape[0] and (kernels := compiled(self.X.device)):
            return torch.cat([kernels.pull(self.X, r), total])
        if self.X.dtype == torch.float64:
            return torch.cat([torch.mv(self.X.T, r), total])
        pulled = torch.zeros(self.shape[1], dtype=torch.float64, device=self.X.device)
        for piece in self.pieces():
            pulled += torch.mv(piece.X.T, r[piece.places])
        return torch.cat([pulled, total])

    def pieces(self, every: int = 1) -> Iterator[Piece]:
        """All rows, or those that `RowSource.blocks` takes where one of `every` is."""
        n, few = self.shape[0], taken(every)
        if few == BLOCK:
            for start in range(0, n, self._most):
                here = slice(start, min(start + self._most, n))
                yield Piece(here, self.X[here].double())
            return
        stretch = self._most // BLOCK * every * BLOCK
        within = torch.arange(few, device=self.X.device)
        for start in range(0, n, stretch):
            end = min(start + stretch, n)
            starts = torch.arange(start, end, BLOCK, device=self.X.device)
            places = (starts[:, None] + within).ravel()
            if end == n:
                places = places[places < n]
            yield Piece(places, self.X[places].double())

    def some(self, ids: Tensor) -> Tensor:
        """Rows by their places; of 64 bits."""
        return self.X[ids].double()

    def pull_some(self, ids: Tensor, r: Tensor) -> Tensor:
        """Σr·(x, 1) over the rows of some places, with one r for each of these."""
        pulled = torch.zeros(self.shape[1], dtype=torch.float64, device=self.X.device)
        for start in range(0, len(ids), self._most):
            own = slice(start, start + self._most)
            pulled += torch.mv(self.some(ids[own]).T, r[own])
        return torch.cat([pulled, r.sum()[None]])


@functools.cache
def compiled(device: torch.device) -> Any:
    """Products for a GPU, if Triton is there and can compile; else None."""
    if importlib.util.find_spec("triton") is None:
        return None
    try:
        kernels = importlib.import_module("._kernels", __package__)
        ones = torch.ones((3, 2), dtype=torch.float32, device=device)
        theta = torch.ones(3, dtype=torch.float64, device=device)
        found = kernels.scores(ones, theta).sum() + kernels.pull(ones, theta).sum()
    except Exception as error:  # no compiler of C, an old GPU: many are the reasons
        _LOGGER.info("lrisk.torch multiplies without Triton, which fails: %s", error)
        return None
    return kernels if float(found) == 15.0 else None


def on_device(values: Any, device: torch.device) -> Tensor:
    """An array of NumPy's, or a number of 64 bits, as a tensor of its own."""
    return torch.tensor(np.asarray(values), device=device)


def in_memory(values: Tensor) -> Any:
    """A tensor as an array of NumPy's."""
    return values.cpu().numpy()


def places_of(ids: Indices, device: torch.device) -> Tensor:
    """Places of rows as a tensor."""
    return torch.tensor(ids, dtype=torch.int64, device=device)
