"""The mean of the lowest losses, and weights that begin before it may be trusted."""

from typing import NamedTuple, Self

import numpy as np

from ._jit import jit
from ._sorting import value_at
from ._typing import Floats
from .ranking import ascending


class Kept(NamedTuple):
    """The mean of the share of the lowest losses, of rows of one weight.

    each, tied : weight of a row below the cut, and of one at it, which share
    """

    risk: float
    cut: float
    each: float
    tied: float

    @classmethod
    def of(cls, losses: Floats, share: float) -> Self:
        """By one selection and one sum."""
        rows, cut = share * len(losses), quantile(losses, share)
        below, tied, total = _below(losses, cut)
        left = max(rows - below, 0.0)
        return cls((total + left * cut) / rows, cut, 1.0 / rows, left / (tied * rows))

    def weights(
        self, losses: Floats, start: float = 0.0, out: Floats | None = None
    ) -> Floats:
        """λ, mixed with this share of weights that only hold back.

        There a row counts like any other, and beyond the cut in inverse proportion to
        its loss: min(1, cut/ℓ)/n. They may be written over the losses.
        """
        weights = np.empty(len(losses)) if out is None else out
        rest = 1.0 - start
        even = start / len(losses)
        _spread(losses, self.cut, rest * self.each, rest * self.tied, even, weights)
        return weights


def quantile(losses: Floats, level: float, weight: Floats | None = None) -> float:
    """The loss below which this share of the mass lies; the largest at one."""
    if level >= 1.0:
        return float(losses.max())
    if weight is None:
        place = min(int(level * len(losses)), len(losses) - 1)
        return value_at(losses, place)
    order = ascending(losses)
    mass = np.cumsum(weight[order])
    place = int(np.searchsorted(mass, level * mass[-1], side="right"))
    return float(losses[order[min(place, len(losses) - 1)]])


@jit
def _below(losses, cut):  # type: ignore[no-untyped-def]
    """How many losses are below the cut and at it, and the sum of the former."""
    below, tied, total = 0, 0, 0.0
    for i in range(losses.shape[0]):
        if losses[i] < cut:
            below += 1
            total += losses[i]
        elif losses[i] == cut:
            tied += 1
    return below, tied, total


@jit
def _spread(losses, cut, each, tied, even, weights):  # type: ignore[no-untyped-def]
    """Weights below, at and beyond the cut, where a row has `even` times cut/loss."""
    for i in range(losses.shape[0]):
        if losses[i] > cut:
            weights[i] = even * (cut / losses[i])
        else:
            weights[i] = even + (each if losses[i] < cut else tied)
