"""One population or two: the shape of standardised residuals.

(A) a two-piece t, skewed and as heavy-tailed on either side as it needs to be, explains
all rows; or (B) a two-piece t with lighter tails explains most of them and a wide
Gaussian far from it the rest. Only if B is clearly the better are there outliers.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .._robust.scales import half_scale, shortest_half
from ._likelihood import (
    MOST_FREEDOM,
    MOST_OUTLIERS,
    core_log_density,
    descend,
    freedom_of,
    outlier_width,
)
from .constants import CONSTANTS as C

#: Rows up to which each stands for itself, and the width of a value beyond, in scales.
MOST_VALUES, BIN = 3000, 0.02
#: Rows from whose values starts are taken.
MOST_RANKS = 100_000


class Populations(NamedTuple):
    """The two-population fit: core, share ε, centre and width of the outliers."""

    core: Floats
    share: float
    centre: float
    width: float
    loss: float
    parameters: Floats

    def outlier_probability(self, u: Floats) -> Floats:
        """Posterior of the outlying population; zero inside, never falling outwards.

        Beyond the place where the Gaussian of the outliers ends, the heavier tail of
        the core would win again; a row farther out is not less of an outlier.
        """
        mode, left, right = self.core[:3]
        reach = np.concatenate(
            [
                mode - left * np.geomspace(1e4, C.never_within, 400),
                mode + right * np.geomspace(C.never_within, 1e4, 400),
            ]
        )
        chance = self._raw(reach)
        chance[399::-1] = np.maximum.accumulate(chance[399::-1])
        chance[400:] = np.maximum.accumulate(chance[400:])
        out = np.interp(u, reach, chance)
        inside = (u > reach[399]) & (u < reach[400])
        return np.where(inside, 0.0, out)

    def flagged_from(self, threshold: float) -> tuple[float, float]:
        """Scales below and above the mode from where on the posterior is above it.

        Infinite on a side where it never is.
        """
        mode, left, right = self.core[:3]
        steps = np.geomspace(C.never_within, 1e4, 400)
        low, high = (
            float(np.min(steps[out], initial=np.inf))
            for places in (mode - left * steps, mode + right * steps)
            for out in [self.outlier_probability(places) > threshold]
        )
        return low, high

    def mirrored(self, u: Floats) -> Bools:
        """Rows that are no outliers, but as far out as those on the other side.

        Outliers on one side hide one tail of the core. Both are measured in scales of
        their own side: a skewed core has a longer tail on one.
        """
        mode, left, right = self.core[:3]
        low, high = self.flagged_from(0.5)
        away = (u - mode) / np.where(u < mode, left, right)
        own = np.where(away < 0.0, low, high)
        size = np.abs(away)
        return np.asarray((size > min(low, high)) & (size < own))

    @property
    def equal_halves(self) -> bool:
        """Whether the populations are as large, or nearly so and as wide.

        Then nobody can say which of them is the outlier.
        """
        narrow = self.width < 3.0 * float(np.mean(self.core[1:3]))
        return self.share > (C.equal_narrow if narrow else C.equal_wide)

    def _raw(self, u: Floats) -> Floats:
        inner = core_log_density(u, self.core) + np.log1p(-self.share)
        z = (u - self.centre) / self.width
        outer = np.log(self.share / self.width) - 0.5 * (z * z + np.log(2.0 * np.pi))
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(inner - outer, -500.0, 500.0))))


class Histogram(NamedTuple):
    """Residuals and how many rows have each: what likelihoods are made of.

    Up to some thousands each row stands for itself; beyond, rows within a fiftieth of a
    scale count as one value, so that the work does not grow with the table.
    """

    u: Floats
    counts: Floats

    @classmethod
    def of(cls, u: Floats) -> "Histogram":
        """All rows, or their values in fiftieths of a scale."""
        u = np.clip(u, -C.farthest_residual, C.farthest_residual)
        if len(u) <= MOST_VALUES:
            return cls(u, np.ones(len(u)))
        values, counts = np.unique(np.round(u / BIN), return_counts=True)
        return cls(BIN * values, counts.astype(np.float64))

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return float(np.sum(self.counts))

    def resampled(self, rng: np.random.Generator) -> "Histogram":
        """As many rows drawn from these with replacement."""
        rows = round(self.rows)
        if len(self.u) == rows:
            return Histogram(self.u[rng.integers(rows, size=rows)], self.counts)
        drawn = rng.multinomial(rows, self.counts / self.rows)
        return Histogram(self.u, drawn.astype(np.float64))

    def each(self) -> Floats:
        """The value of every row in the order of `u`, or of many, evenly spread."""
        rows = round(self.rows)
        if rows <= MOST_RANKS:
            return np.repeat(self.u, self.counts.astype(np.intp))
        ranks = np.linspace(0, rows - 1, MOST_RANKS)
        places = np.searchsorted(np.cumsum(self.counts), ranks, side="right")
        return self.u[places]


def one_population_loss(rows: Histogram) -> float:
    """−log likelihood of the best single population."""
    each = rows.each()
    middle = float(np.median(each))
    scale = np.log(max(half_scale(each - middle), 1e-6))
    starts = [
        (middle, scale, scale, 1.0, 1.0),
        (middle, scale - 0.3, scale - 0.3, -1.0, -1.0),
    ]
    least = C.least_freedom_alone
    return min(float(descend(np.array(s), *rows, least, C.apart)[0]) for s in starts)


def fit_two_populations(
    rows: Histogram, least: float | None = None, start: Floats | None = None
) -> Populations | None:
    """The best fit of two populations; None where too few rows are far out to start.

    `least` are the degrees of freedom of the core, if not the usual ones.
    """
    least = C.least_freedom_of_core if least is None else least
    starts = _mixture_starts(rows.each()) if start is None else [start]
    best: tuple[float, Floats] | None = None
    for point in starts:
        found = descend(point, *rows, least, C.apart)
        if np.isfinite(found[0]) and (best is None or found[0] < best[0]):
            best = found
    if best is None:
        return None
    p = best[1]
    freedom = float(freedom_of(p[3], least))
    left, right = np.exp(np.clip(p[1:3], -9.0, 9.0))
    share = MOST_OUTLIERS / (1.0 + np.exp(-np.clip(p[4], -9.0, 9.0)))
    core = np.array([p[0], left, right, freedom, freedom])
    width = float(outlier_width(core, p[5], p[6]))
    return Populations(core, float(share), float(p[5]), width, best[0], p)


class Split(NamedTuple):
    """Whether residuals are of one population or of two.

    evidence : 2 log likelihood ratio of two against one, less its BIC penalty
    found : whether that is enough for outliers
    populations : the fit of two, whether they were found or not
    """

    evidence: float
    found: bool
    populations: Populations | None


def split(u: Floats) -> Split:
    """One population or two.

    The evidence of a large table counts like that of a thousand rows: the two-piece t
    is a model, and what it lacks would else grow into evidence by itself.
    """
    if is_exact(u):
        return _beside_exact_rows(u)
    rows = Histogram.of(u)
    both = fit_two_populations(rows)
    if both is None:
        return Split(-np.inf, False, None)
    n = min(rows.rows, C.reference_rows)
    gain = (one_population_loss(rows) - both.loss) * n / rows.rows
    evidence = float(2.0 * gain - 2.0 * np.log(n))
    enough = evidence > C.evidence + C.evidence_of_few / n
    return Split(evidence, enough and not both.equal_halves, both)


def is_exact(u: Floats) -> bool:
    """Whether most rows fit so exactly that what is left of them is no noise."""
    return bool(np.mean(np.abs(u) < C.exact) > 1.0 - C.largest_minority)


def _beside_exact_rows(u: Floats) -> Split:
    """Outliers of an exact relation: all that is six of the least scales off."""
    wrong = np.abs(u) > C.apart
    share = min(max(float(np.mean(wrong)), 1.0 / len(u)), MOST_OUTLIERS)
    width = float(np.sqrt(np.mean(u[wrong] ** 2))) if wrong.any() else 10.0 * C.apart
    core = np.array([0.0, 1.0, 1.0, MOST_FREEDOM, MOST_FREEDOM])
    both = Populations(core, share, 0.0, width, 0.0, np.zeros(7))
    return Split(np.inf if wrong.any() else -np.inf, bool(wrong.any()), both)


def _mixture_starts(u: Floats) -> list[Floats]:
    """Cores of several sizes round the shortest half; the rest as outliers.

    One of them ends where residuals are far out: a few far rows are lost among the
    ordinary rows outside the other cores.
    """
    low, high = shortest_half(u)
    middle = float(np.median(u[(u >= low) & (u <= high)]))
    distance = np.abs(u - middle)
    ends = [float(np.quantile(distance, size)) for size in (0.55, 0.75, 0.9)]
    ends.append(C.apart * max(half_scale(u - middle), 1e-6))
    starts = []
    for end in ends:
        inside = distance <= end
        if not 3 <= np.sum(~inside) < len(u) / 2:
            continue
        scale = max(float(np.std(u[inside])), 1e-6)
        centre = float(np.median(u[~inside]))
        share = float(np.mean(~inside))
        width = max(half_scale(u[~inside] - centre), float(np.std(u[~inside])))
        starts.append(
            np.array(
                [
                    float(np.median(u[inside])),
                    np.log(scale),
                    np.log(scale),
                    1.5,
                    np.log(share / max(MOST_OUTLIERS - share, 1e-2)),
                    centre,
                    np.log(max(width, 4.0 * scale)),
                ]
            )
        )
    return starts
