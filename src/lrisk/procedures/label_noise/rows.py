"""The scale of the columns, and rows that are far out in their features.

A row counts as gross if its features *as a whole* lie far beyond the bulk: the mean
over columns of log(1 + |z|), with z in robust units, far above its median. A skewed
column, a rare category or a heavy tail in one or two columns moves that mean little.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.scales import mean_log_distance, weighted_quantiles

#: Robust standard deviations (by IQR) at which a value is clipped before means and
#: standard deviations are taken.
CLIP = 6.0
#: A class of which more than this share is gross is itself elsewhere.
WHOLE_CLASS = 0.9
#: Many far rows widen the scale of all, behind which some of them hide: after the first
#: pass it is the scale of the rows not yet found.
PASSES = 2
#: Usual sizes of a column beyond which a value is just far: its square is finite.
FARTHEST = 1e30


class FeatureScaling(NamedTuple):
    """z = (x − centre)/scale, for each column."""

    centre: Floats
    scale: Floats

    def __call__(self, X: Floats) -> Floats:
        """Scaled rows, not beyond FARTHEST."""
        with np.errstate(over="ignore"):
            Z = (X - self.centre) / self.scale
        return np.asarray(np.clip(Z, -FARTHEST, FARTHEST), dtype=np.float64)


def plain_scaling(X: Floats, weight: Floats) -> FeatureScaling:
    """Mean and standard deviation of columns clipped far outside their bulk.

    On ordinary data the clipping does nothing, and this is standardisation; columns
    constant up to rounding have scale one.
    """
    low, middle, high = weighted_quantiles(X, weight, [0.25, 0.5, 0.75])
    reach = CLIP * (high - low) / 1.349
    reach = np.where(reach > 0, reach, np.inf)
    clipped = np.clip(X, middle - reach, middle + reach)
    mean = weight @ clipped / weight.sum()
    deviation = np.sqrt(weight @ (clipped - mean) ** 2 / weight.sum())
    varied = deviation > 1e-12 * np.abs(mean)
    return FeatureScaling(mean, np.where(varied, deviation, 1.0))


def column_units(X: Floats) -> Floats:
    """Powers of two near the usual size of each column, shape (d,).

    Dividing by them is exact, and squares of what is left do not overflow.
    """
    size = np.where(X == 0.0, np.nan, np.abs(X))
    usual = np.ones(X.shape[1])
    filled = np.flatnonzero(np.any(X != 0.0, axis=0))
    usual[filled] = np.nanquantile(size[:, filled], 0.5, axis=0, method="lower")
    return np.asarray(np.exp2(np.floor(np.log2(usual))))


def gross_rows(X: Floats, codes: Indices, weight: Floats) -> Bools:
    """Which rows are far out in their features as a whole, shape (n,).

    None if that were half of the weight, and none of a class that is almost wholly far
    out: such a class is somewhere else, not wrong.
    """
    gross = np.zeros(len(X), dtype=bool)
    for _ in range(PASSES):
        distance, limit = mean_log_distance(X, weight, ~gross)
        found = gross | (distance > limit)
        if weight @ found >= 0.5 * weight.sum():
            break
        gross = found
    for code in np.unique(codes[gross]):
        rows = codes == code
        if weight[rows] @ gross[rows] > WHOLE_CLASS * weight[rows].sum():
            gross[rows] = False
    return np.asarray(gross, dtype=bool)
