"""Values of a feature that are in another unit: far out, apart, and contradicted by y.

A reference that has seen such rows has learnt to ignore the value. So it is fitted
again without them, and asked which it believes: the value as it is, or the one that the
other columns of the row let expect.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.explanation import Explainer
from .._robust.scales import Columns, half_scale
from .reference import ordinary_reference

#: Scales, on its own side of the median, beyond which a value is far out.
FAR = 8.0
#: The 80 % point of a standard Gaussian.
GAUSSIAN_80 = 0.8416
#: How much farther out the nearest far value must be than the farthest of the rest.
GAP = 2.0
#: Distinct values below which a column has no scale to be far by.
FEWEST_VALUES = 10
#: Least rows and largest share of rows that may be far out in one column.
FEWEST, LARGEST_SHARE = 3, 0.25
#: Misfit with the expected values, relative to that with the given ones, and the least
#: misfit of a row with its given value, in scales.
BELIEVED_BELOW, MISFIT = 0.7, 3.0
#: Chance given to a row with a value that y contradicts.
CHANCE = 0.9


class Sides(NamedTuple):
    """Median of a column, and the scale of each of its sides; zero if it has none."""

    middle: float
    below: float
    above: float

    @classmethod
    def of(cls, column: Floats) -> "Sides":
        """A side's scale is its 80 % point in units of a Gaussian's."""
        low, middle, high = map(float, np.quantile(column, [0.2, 0.5, 0.8]))
        above, below = (high - middle) / GAUSSIAN_80, (middle - low) / GAUSSIAN_80
        other = max(above, below)
        return cls(middle, below or other, above or other)

    def distance(self, values: Floats) -> Floats:
        """|x − median| in scales of the value's own side; zero without one."""
        scale = np.where(values >= self.middle, self.above, self.below)
        if self.above == 0.0:
            return np.zeros(len(values))
        with np.errstate(over="ignore"):  # infinitely far is far
            return np.asarray(np.abs(values - self.middle) / scale)


def far_values(column: Floats) -> Bools:
    """|x − median| beyond 8 scales of its own side of the median.

    Nobody is far in a column of few distinct values.
    """
    far = np.zeros(len(column), dtype=bool)
    if len(np.unique(column[:1000])) < FEWEST_VALUES:
        return far
    sides = Sides.of(column)
    ends = np.array([column.min(), column.max()])
    if not np.any(sides.distance(ends) > FAR):  # most columns: spare a pass
        return far
    return np.asarray(sides.distance(column) > FAR)


def suspected_columns(X: Floats) -> list[tuple[int, Bools]]:
    """Columns with a few far values, and the rows that hold them, behind a gap."""
    found = []
    for j, column in enumerate(np.ascontiguousarray(X.T)):
        far = far_values(column)
        count = far.sum()
        if not FEWEST <= count <= LARGEST_SHARE * len(column):
            continue
        distance = Sides.of(column).distance(column)
        if distance[far].min() >= GAP * max(float(distance[~far].max()), 1.0):
            found.append((j, far))
    return found


def contradicted_values(X: Floats, y: Floats, known: Indices, outliers: Bools) -> Bools:
    """Rows with a far value that y contradicts, column by column."""
    wrong = np.zeros(len(y), dtype=bool)
    suspects = suspected_columns(X)
    if not suspects:
        return wrong
    anyone = np.any([rows for _, rows in suspects], axis=0)
    base = known[~(outliers | anyone)[known]]
    if len(base) < 2 * FEWEST_VALUES:
        return wrong
    reference = ordinary_reference(X[base], y[base], Columns.of(X[base]))
    scale = half_scale(reference.residuals)
    explainer = Explainer.of(X[base])
    for j, far in suspects:
        rows = np.flatnonzero(far & ~outliers)
        if len(rows) < FEWEST:
            continue
        usual = X[rows].copy()
        usual[:, j] = explainer.expected(X[rows])[:, j]
        given = np.abs(y[rows] - reference.predict(X[rows]))
        expected = np.abs(y[rows] - reference.predict(usual))
        if np.median(expected) < BELIEVED_BELOW * np.median(given):
            wrong[rows[(given > MISFIT * scale) & (expected < given)]] = True
    return wrong
