"""Locations and scales that a minority of wrong values cannot move."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..._typing import Bools, Floats

#: From where on a standardised feature only counts by its logarithm.
COMPRESSED_BEYOND = 3.0
#: Scales beyond which a feature is just far.
FARTHEST = 1e100
#: Scales beyond which a value cannot be used beside those within one: squares of both
#: have sixteen digits together.
USABLE = 1e8
#: Share of its scale by which a column's centre or scale must move to be another.
MOVED = 0.25
#: How far the mean of log(1 + |z|) must lie above its median: FAR, which is e^1.5 times
#: the usual distance, and FAR/d more because few columns vary more than many; and so
#: many times the spread of the lower half.
FAR, SPREADS = 1.5, 6.0
#: Share of one value from which on half of the rows may be nothing else: half a half.
POINT_MASS = 0.25
#: Gap to the nearest other, in spreads of those, beyond which such a value is no part
#: of their distribution: no tail reaches so far at once.
CODE_GAP = 3.0
#: How many times as wide quartiles are where they hold a code in another unit.
MANY_TIMES = 1000.0
#: Share of a column's width that sums and rotations of 64-bit numbers leave of nothing.
ROUNDING = 1e-10
#: 1/Φ⁻¹(¾): what turns a median of |x| into a Gaussian's standard deviation.
MAD_FACTOR = float(1.0 / ndtri(0.75))


def half_scale(residuals: Floats) -> float:
    """Median of |residuals|, in standard deviations of a Gaussian."""
    return MAD_FACTOR * float(np.median(np.abs(residuals)))


def spread(values: Floats) -> float:
    """A robust standard deviation that is zero for constants only.

    MAD; where more than half of the values agree, the range of the middle 80 %; where
    these agree too, the standard deviation.
    """
    mad = half_scale(values - np.median(values))
    if mad > 0.0:
        return mad
    low, high = np.quantile(values, [0.1, 0.9])
    middle = float(high - low) / (2.0 * float(ndtri(0.9)))
    return middle if middle > 0.0 else deviation(values)


def deviation(values: Floats) -> float:
    """Standard deviation, also of values whose squares are no numbers."""
    size = max(float(values.max()), -float(values.min()))
    unit = 2.0 ** np.floor(np.log2(size)) if size > 0.0 else 1.0
    return float(unit * np.std(values / unit))  # exactly what it is in any unit


def prevailing_value(values: Floats) -> float | None:
    """The value that a quarter of them have; a constant fits these exactly.

    None if there is no such value, or it is held by fewer than half and lies beyond a
    gap beside all others, as a code for what is missing does.
    """
    different, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    if counts[most] < POINT_MASS * len(values):
        return None
    value = float(different[most])
    others = values[values != value]
    if 2 * counts[most] < len(values):
        gap = float(np.min(np.abs(others - value)))
        if gap > CODE_GAP * spread(others):
            return None
    return value


def shortest_half(values: Floats) -> tuple[float, float]:
    """Ends of the shortest interval that holds more than half of the values."""
    ordered = np.sort(values)
    held = len(ordered) // 2 + 1
    widths = ordered[held - 1 :] - ordered[: len(ordered) - held + 1]
    first = int(np.argmin(widths))
    return float(ordered[first]), float(ordered[first + held - 1])


def compress(values: Floats, beyond: float) -> Floats:
    """Leave |v| ≤ c as it is and take the logarithm beyond: ±c(1 + log(|v|/c)).

    Continuous with its derivative, odd and increasing: order is kept, distance is not.
    """
    size = np.abs(values)
    tail = beyond * (1.0 + np.log(np.maximum(size, beyond) / beyond))
    return np.asarray(np.sign(values) * np.where(size <= beyond, size, tail))


def stretch(values: Floats, beyond: float) -> Floats:
    """The inverse of `compress`."""
    size = np.abs(values)
    with np.errstate(over="ignore"):
        tail = beyond * np.exp(np.maximum(size, beyond) / beyond - 1.0)
    return np.asarray(np.sign(values) * np.where(size <= beyond, size, tail))


def mere_rounding(quantiles: Floats) -> Bools:
    """Columns of which no more than rounding lies between the quartiles.

    From their quantiles .05, .25, .75 and .95, shape (4, d).
    """
    lowest, low, high, highest = quantiles
    return np.asarray(high - low <= ROUNDING * (highest - lowest))


class Columns(NamedTuple):
    """Median and scale of every feature."""

    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats) -> "Columns":
        """Medians and quartile ranges; for columns without one, as `spread`.

        Quartiles a thousand times as far off as half of the values hold a code, and are
        not those of the others. And what is below the rounding of the middle nine
        tenths is as good as nothing.
        """
        center = np.median(X, axis=0)
        quantiles = np.quantile(X, [0.05, 0.25, 0.75, 0.95], axis=0)
        lowest, low, high, highest = quantiles
        scale = (high - low) / (2.0 * float(ndtri(0.75)))
        rounding = ROUNDING * (highest - lowest)
        for j in np.flatnonzero(mere_rounding(quantiles)):
            scale[j] = spread(X[:, j]) if scale[j] <= 0.0 else 0.0
            if scale[j] <= rounding[j]:
                scale[j] = deviation(np.clip(X[:, j], lowest[j], highest[j]))
        one_sided = np.minimum(center - low, high - center)
        for j in np.flatnonzero(MANY_TIMES * one_sided < high - low):
            mad = half_scale(X[:, j] - center[j])
            if rounding[j] < mad < scale[j] / MANY_TIMES:
                scale[j] = mad
        return cls(center, np.where(scale > 0.0, scale, 1.0))

    def differ(self, others: "Columns") -> bool:
        """Whether a column's centre or scale is another by more than a quarter."""
        moved = np.abs(self.center - others.center) > MOVED * self.scale
        ratio = np.abs(np.log(self.scale / others.scale)) > np.log1p(MOVED)
        return bool(np.any(moved | ratio))

    def standardised(self, X: Floats) -> Floats:
        """(X − center)/scale."""
        return np.asarray((X - self.center) / self.scale)

    def bounded(self, X: Floats) -> Floats:
        """Standardised, within what can be multiplied."""
        with np.errstate(over="ignore"):
            return np.clip(self.standardised(X), -FARTHEST, FARTHEST)

    def compressed(self, X: Floats) -> Floats:
        """Standardised, and logarithmic beyond three scales."""
        return compress(self.bounded(X), COMPRESSED_BEYOND)


def weighted_quantiles(X: Floats, weight: Floats, levels: list[float]) -> Floats:
    """Lowest value with at least that share of the weight, shape (levels, d).

    A row of weight k counts as k rows, exactly.
    """
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    total = cumulative[-1]
    rows = [np.sum(cumulative < level * total - 1e-9, axis=0) for level in levels]
    places = np.clip(np.array(rows), 0, len(X) - 1)
    return np.asarray(np.take_along_axis(ordered, places, axis=0), dtype=np.float64)


def mean_log_distance(X: Floats, weight: Floats, usual: Bools) -> tuple[Floats, float]:
    """How far out rows are, shape (n,), and beyond what they are far from the usual.

    The mean over columns of log(1 + |z|), with z in robust units of the usual rows: a
    heavy tail or a rare value in one or two of many columns moves it little.
    """
    with np.errstate(over="ignore"):
        own = X if usual.all() else X[usual]
        z = Columns.of(own).standardised(X)
    np.log1p(np.abs(z, out=z), out=z)
    distance = z.mean(axis=1)
    del z  # as large as the table
    quantiles = weighted_quantiles(distance[usual, None], weight[usual], [0.1, 0.5])
    low, middle = quantiles[:, 0]
    far = FAR * (1.0 + 1.0 / X.shape[1])
    return distance, float(middle + max(far, SPREADS * (middle - low)))
