"""The rows of lowest loss, and their weights, without sorting where that is enough."""

import numpy as np

from ..._typing import Bools, Floats
from ...ranking import Ranking

#: Fractions of a row's weight below this are rounding.
FRACTION = 1e-9
#: Relative difference of two losses that is put down to rounding. Equal rows in other
#: places, and the same rows on another processor, differ by a few units of 1e-16 in
#: their scores; which of them is kept must not hang on that, so they share.
TIED = 1e-12


class LowestRows:
    """Weights by rank under a spectrum that trims, for solvers that need them often.

    Parameters
    ----------
    ranking : Ranking
        Under a decreasing spectrum or a ranked range.

    Attributes
    ----------
    trimmed : bool
        Whether every row is either kept with its own weight, left out, or the one on
        the boundary: the subquantile.
    density : float
        S′(0), the largest weight by mass where S is concave.
    """

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        spectrum = ranking.spectrum
        tiny = np.full(1, 1e-9)
        self.density = float(spectrum.increments(tiny, tiny)[0] / tiny[0])
        self.trimmed = spectrum.keeps
        self._whole: int | None = None
        if self.trimmed and ranking.equal:
            sigma = spectrum.weights(ranking.n_rows)
            whole = int(np.sum(sigma > (1.0 - FRACTION) * sigma[0]))
            rest = float(sigma[whole]) if whole < ranking.n_rows else 0.0
            rest = rest if rest > FRACTION * sigma[0] else 0.0
            self._whole, self._weight, self._rest = whole, float(sigma[0]), rest

    def weights(self, losses: Floats) -> Floats:
        """λ for these losses, shape (n,); a new array.

        Ties share by mass, and losses tie that agree up to rounding.
        """
        if self._whole is None:
            weights = self.ranking.shared_weights(losses, TIED)
            weights[weights < FRACTION * self.ranking.mass] = 0.0
            return weights
        weights = np.zeros(len(losses))
        if self._whole >= len(losses):
            weights[:] = self._weight
            return weights
        order = np.argpartition(losses, self._whole)
        weights[order[: self._whole]] = self._weight
        edge = order[self._whole]
        weights[edge] = self._rest
        tied = np.abs(losses - losses[edge]) <= TIED * abs(losses[edge])
        count = int(np.count_nonzero(tied))
        if count > 1:
            weights[tied] = float(weights[tied].sum()) / count
        return weights


def inliers(ranking: Ranking, losses: Floats, weights: Floats, groups: Floats) -> Bools:
    """Which rows are not left out for their large losses, shape (n,).

    Those that have weight. A ranked range gives none to its best rows either, but they
    are no outliers: there, all rows below the largest loss that has weight.

    Parameters
    ----------
    ranking : Ranking
    losses, weights : arrays of shape (n,)
    groups : array of shape (n,)
        Each group has a cut of its own; one value throughout means one cut.
    """
    result = weights > 0
    if ranking.spectrum.monotone != "none":
        return result
    for group in np.unique(groups):
        rows = groups == group
        counted = losses[rows & (weights > 0)]
        if counted.size:
            result[rows] |= losses[rows] < counted.max()
    return result
