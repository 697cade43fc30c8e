"""Rows whose features are grossly wrong, and the scale of the others.

A row counts as gross if its features *as a whole* lie far beyond the bulk: the mean
over columns of log(1 + |z|), with z in robust units, far above its median. A skewed
column, a rare category or a heavy tail in one or two columns moves that mean little.
"""

from typing import NamedTuple

import numpy as np

from .._typing import Bools, Floats, Indices

#: Robust standard deviations (by IQR) at which a value is clipped before means and
#: standard deviations are taken.
CLIP = 6.0
#: How far the mean of log(1 + |z|) must lie above its median: FAR, which is e^1.5 times
#: the usual distance, and FAR/d more because few columns vary more than many; and so
#: many times the spread of the lower half.
FAR, SPREADS = 1.5, 6.0
#: A class of which more than this share is gross is itself elsewhere.
WHOLE_CLASS = 0.9


class FeatureScaling(NamedTuple):
    """z = (x − centre)/scale, for each column."""

    centre: Floats
    scale: Floats

    def __call__(self, X: Floats) -> Floats:
        """Scaled rows."""
        return np.asarray((X - self.centre) / self.scale, dtype=np.float64)


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


def robust_scaling(X: Floats, weight: Floats) -> FeatureScaling:
    """Median and IQR/1.349; the standard deviation where the IQR is zero."""
    low, middle, high = weighted_quantiles(X, weight, [0.25, 0.5, 0.75])
    scale = (high - low) / 1.349
    mean = weight @ X / weight.sum()
    deviation = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    scale = np.where(scale > 1e-9 * deviation, scale, deviation)
    return FeatureScaling(middle, _nonzero(scale, middle))


def plain_scaling(X: Floats, weight: Floats) -> FeatureScaling:
    """Mean and standard deviation of columns clipped far outside their bulk.

    On ordinary data the clipping does nothing, and this is standardisation.
    """
    low, middle, high = weighted_quantiles(X, weight, [0.25, 0.5, 0.75])
    reach = CLIP * (high - low) / 1.349
    reach = np.where(reach > 0, reach, np.inf)
    clipped = np.clip(X, middle - reach, middle + reach)
    mean = weight @ clipped / weight.sum()
    deviation = np.sqrt(weight @ (clipped - mean) ** 2 / weight.sum())
    return FeatureScaling(mean, _nonzero(deviation, mean))


def _nonzero(scale: Floats, size: Floats) -> Floats:
    """One for columns that are constant up to rounding."""
    return np.where(scale > 1e-12 * np.abs(size), scale, 1.0)


def compressed(z: Floats) -> Floats:
    """Values up to 3, beyond them sign(z)(3 + 3 log(|z|/3))."""
    size = np.abs(z)
    beyond = 3.0 + 3.0 * np.log(np.maximum(size, 3.0) / 3.0)
    return np.asarray(np.sign(z) * np.where(size > 3.0, beyond, size))


class Remoteness(NamedTuple):
    """How far rows lie out in their features as a whole, and from where on is far."""

    scaling: FeatureScaling
    cut: float

    @classmethod
    def of(cls, X: Floats, weight: Floats) -> "Remoteness":
        """Learn the usual distances from rows."""
        scaling = robust_scaling(X, weight)
        distance = _distance(scaling, X)
        low, middle = weighted_quantiles(distance[:, None], weight, [0.1, 0.5])[:, 0]
        far = FAR * (1.0 + 1.0 / X.shape[1])
        return cls(scaling, float(middle + max(far, SPREADS * (middle - low))))

    def gross(self, X: Floats) -> Bools:
        """Which rows, of any table, are farther out than the cut."""
        return np.asarray(_distance(self.scaling, X) > self.cut)


def _distance(scaling: FeatureScaling, X: Floats) -> Floats:
    return np.asarray(np.log1p(np.abs(scaling(X))).mean(axis=1))


def gross_rows(X: Floats, codes: Indices, weight: Floats) -> Bools:
    """Which rows are far out in their features as a whole, shape (n,).

    None if that were half of the weight, and none of a class that is almost wholly far
    out: such a class is somewhere else, not wrong.
    """
    gross = Remoteness.of(X, weight).gross(X)
    if weight @ gross >= 0.5 * weight.sum():
        return np.zeros(len(X), dtype=bool)
    for code in np.unique(codes[gross]):
        rows = codes == code
        if weight[rows] @ gross[rows] > WHOLE_CLASS * weight[rows].sum():
            gross[rows] = False
    return np.asarray(gross, dtype=bool)
