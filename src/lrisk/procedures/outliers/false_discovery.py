"""Which of the rows far out belong to the core after all: local false discovery rates.

Posteriors compare the core's tail with a model of the outliers, and what that says
near the core is little more than its shape. Here the tail alone speaks: as many rows as
it puts somewhere are right, of those that are there (Efron, 2004).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax, stdtr
from sklearn.isotonic import isotonic_regression

from ..._typing import Floats
from ._likelihood import MOST_FREEDOM, core_log_density
from .constants import CONSTANTS as C
from .populations import Histogram, Populations

#: Tails over which is averaged: 1/ν evenly from a Gaussian's to the heaviest, each with
#: common factors on the scales of the core. A grid, fine enough: see the tests.
FREEDOMS = 1.0 / np.linspace(1.0 / MOST_FREEDOM, 1.0 / C.least_freedom_of_tail, 41)
FACTORS = np.exp(np.linspace(-0.4, 0.4, 9))


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

        With m rows among those that are not flagged, and P the mass of the core there,
        mS(u)/P right rows are expected farther out than u, S the core's tail. Their
        number between one row and the next is the rate of the first: never rising
        outwards (isotonic regression, which keeps the sum), and at most one.
        """
        mode, left, right = populations.core[:3]
        low, high = populations.flagged_from(C.flagged_above)
        ends = (left * low, right * high)
        away = u - mode
        inside = (-away < ends[0]) & (away < ends[1])
        tail = Tail.of(populations.core, Histogram.of(away[inside]), ends)
        below, above = _side(tail, 0, -away, ends[0]), _side(tail, 1, away, ends[1])
        return cls(float(mode), below, above)

    def at(self, u: Floats) -> Floats:
        """Rates at these residuals; shape (n,)."""
        away = u - self.mode
        return np.where(away < 0.0, self.below.at(-away), self.above.at(away))


class Tail(NamedTuple):
    """Right rows expected far out: an average over two-piece t densities.

    The weight of a density p is Π p(u_i)/P over the rows inside, P its mass there: a
    core that is fitted to all rows gives its tail to the outliers beside it.

    scales, freedom : of each density, below and above the mode, and its degrees of
        freedom; shapes (t, 2), (t,)
    rows : right rows that are expected in the table, times the weight of each; (t,)
    """

    scales: Floats
    freedom: Floats
    rows: Floats

    @classmethod
    def of(cls, core: Floats, inside: Histogram, ends: tuple[float, float]) -> "Tail":
        """Given distances from the mode of the rows inside, and where that ends."""
        freedom, factor = map(np.ravel, np.meshgrid(FREEDOMS, FACTORS))
        scales = factor[:, None] * core[1:3]
        every = cls(scales, freedom, np.ones(len(freedom)))
        mass = 1.0 - every._beyond(ends[0], 0) - every._beyond(ends[1], 1)
        logs, density = np.empty(len(freedom)), np.empty(len(inside.u))
        for i, (left, right) in enumerate(scales):
            one = np.array([0.0, left, right, freedom[i], freedom[i]])
            core_log_density(inside.u, one, density)
            logs[i] = inside.counts @ density
        logs -= inside.rows * np.log(mass)
        return every._replace(rows=inside.rows * softmax(logs) / mass)

    def _beyond(self, distance: float, side: int) -> Floats:
        """Mass of each density beyond a distance from the mode."""
        scale = self.scales[:, side]
        tail = stdtr(self.freedom, -distance / scale)
        return np.asarray(2.0 * scale / self.scales.sum(axis=1) * tail)

    def expected(self, distances: Floats, side: int) -> Floats:
        """Right rows expected beyond distances below (0) or above (1); shape (m,)."""
        return np.array([self.rows @ self._beyond(d, side) for d in distances])


def _side(tail: Tail, side: int, distances: Floats, end: float) -> Side:
    """Rates of the rows beyond the end; of a row at the end, if there are none."""
    own = np.sort(distances[distances >= end])
    if len(own) == 0:
        own = np.array([end])
    beyond = tail.expected(own, side)
    rates = isotonic_regression(beyond - np.append(beyond[1:], 0.0), increasing=False)
    return Side(own, np.minimum(rates, 1.0))
