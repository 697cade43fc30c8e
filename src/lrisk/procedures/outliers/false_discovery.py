"""Which of the rows far out belong to the core after all: local false discovery rates.

Posteriors compare the core's tail with a model of the outliers, and what that says
near the core is little more than its shape. Here the tail alone speaks: as many rows as
it puts somewhere are right, of those that are there (Efron, 2004).
"""

from typing import NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from ..._typing import Floats
from .constants import CONSTANTS as C
from .populations import Populations
from .tails import Tail


class Side(NamedTuple):
    """Distances from the mode of the rows far out, from the nearest, and their rates.

    Shapes (m,).
    """

    distances: Floats
    rates: Floats

    def at(self, distances: Floats) -> Floats:
        """Rates at any distances; nearer than all rows far out that of the nearest."""
        place = np.searchsorted(self.distances, distances, side="right") - 1
        return np.asarray(self.rates[np.maximum(place, 0)])


class FalseDiscovery(NamedTuple):
    """The chance of rows far out to be right, by their residuals u in noise scales."""

    mode: float
    below: Side
    above: Side

    @classmethod
    def of(cls, populations: Populations, u: Floats) -> "FalseDiscovery":
        """By a table's rows.

        The right rows that the tail expects between one row and the next are the rate
        of the first: never rising outwards (isotonic regression, which keeps the sum),
        and at most one. The tail is that of the rows that are not flagged.
        """
        mode, left, right = populations.core[:3]
        low, high = populations.flagged_from(C.flagged_above)
        away = u - mode
        return cls(float(mode), _side(-away, left * low), _side(away, right * high))

    def at(self, u: Floats) -> Floats:
        """Rates at these residuals; shape (n,)."""
        away = u - self.mode
        return np.where(away < 0.0, self.below.at(-away), self.above.at(away))


def _side(away: Floats, end: float) -> Side:
    """Rates of the rows beyond the end; of a row at the end, if there are none."""
    inside, own = away[(away > 0.0) & (away < end)], np.sort(away[away >= end])
    if len(inside) == 0 or not np.isfinite(end):
        return Side(np.array([end]), np.array([0.0]))
    if len(own) == 0:
        own = np.array([end])
    beyond = Tail.of(inside, end, C.least_freedom_of_tail).expected_beyond(own)
    rates = isotonic_regression(beyond - np.append(beyond[1:], 0.0), increasing=False)
    return Side(own, np.minimum(rates, 1.0))
