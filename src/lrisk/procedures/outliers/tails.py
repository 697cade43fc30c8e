"""The tail of the noise: how many right rows lie as far out as some row does.

On each side of the middle the distances d of right rows are |t|-distributed, with a
scale s and ν degrees of freedom that nobody knows. All of a grid count, each by its
likelihood given the rows within some end e,

    w(s, ν) ∝ Π t_ν(d_i/s) / (s·P(d < e)),

since farther ones may be wrong. m rows inside let expect Σ w·m·P(d > u)/P(d < e) right
ones beyond u.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, softmax, stdtr, stdtrit

from ..._typing import Floats
from .._robust.scales import half_scale
from ._likelihood import MOST_FREEDOM
from .constants import CONSTANTS as C
from .populations import Histogram

#: A grid of 1/ν, and for each ν of scales about that which the median tells, in its
#: standard errors. Fine enough: see the tests.
FREEDOMS = 61
ERRORS = np.linspace(-3.0, 3.0, 7)


class Tail(NamedTuple):
    """The tail on one side.

    scales, freedom : of the distributions; shape (t,)
    rows : right rows of the table times the weight of each; shape (t,)
    """

    scales: Floats
    freedom: Floats
    rows: Floats

    @classmethod
    def of(cls, distances: Floats, end: float, heaviest: float) -> "Tail":
        """Given the distances of the rows within an end, and the least ν."""
        inside, median = len(distances), float(np.median(distances))
        unit = max(median, np.finfo(float).tiny)
        rows, end = Histogram.of(distances / unit), end / unit
        grid = 1.0 / np.linspace(1.0 / MOST_FREEDOM, 1.0 / heaviest, FREEDOMS)
        nu, error = map(np.ravel, np.meshgrid(grid, ERRORS))
        # The median of n |t| has the relative error 1.17/√n under a Gaussian.
        scale = np.exp(1.17 * error / np.sqrt(inside)) / stdtrit(nu, 0.75)
        power = 0.5 * (nu + 1.0)
        logs = gammaln(power) - gammaln(0.5 * nu) - 0.5 * np.log(nu) - np.log(scale)
        within = 1.0 - 2.0 * stdtr(nu, -end / scale)
        far = np.log1p(np.multiply.outer(1.0 / (nu * scale**2), rows.u**2))
        logs = inside * (logs - np.log(within)) - power * (far @ rows.counts)
        return cls(unit * scale, nu, inside * softmax(logs) / within)

    def expected_beyond(self, distances: Floats) -> Floats:
        """Right rows expected beyond some distances; shape (m,)."""
        with np.errstate(over="ignore"):
            away = np.divide.outer(-distances, self.scales)
        return np.asarray(2.0 * stdtr(self.freedom, away) @ self.rows)


class Tails(NamedTuple):
    """Both tails of a table's residuals.

    Rows beyond six scales of their side are judged, but at most √n of them on a side,
    and half: where more are far out, the tail is heavy or the rows are a population.

    ends, sides : of the tails below and above the middle; None for one of too few rows
    """

    middle: float
    ends: tuple[float, float]
    sides: tuple[Tail | None, Tail | None]

    @classmethod
    def of(cls, u: Floats) -> "Tails":
        """Those of all rows."""
        middle, most = float(np.median(u)), max(C.least_tail, int(np.sqrt(len(u))))
        ends: list[float] = [np.inf, np.inf]
        sides: list[Tail | None] = [None, None]
        for i, away in enumerate((middle - u, u - middle)):
            own = np.sort(away[away > 0.0])
            if len(own) >= C.least_tail:
                nearest = float(own[-min(most, len(own) // 2) - 1])
                ends[i] = max(C.apart * half_scale(own), nearest)
                inside = own[own <= ends[i]]
                sides[i] = Tail.of(inside, ends[i], C.least_freedom_alone)
        return cls(middle, (ends[0], ends[1]), (sides[0], sides[1]))

    def expected_beyond(self, u: Floats) -> Floats:
        """How many right rows lie as far out as these, on either side; shape (n,).

        Infinite within the ends.
        """
        expected = np.full(len(u), np.inf)
        away = (self.middle - u, u - self.middle)
        for end, side, distances in zip(self.ends, self.sides, away, strict=True):
            far = np.flatnonzero(distances > end)
            if side is not None and len(far):
                expected[far] = 2.0 * side.expected_beyond(distances[far])
        return expected
