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
from .constants import CONSTANTS as C
from .reference import ordinary_reference

#: The 80 % point of a standard Gaussian.
GAUSSIAN_80 = 0.8416


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

    Nobody is far in a column of few distinct values, nor where most values are equal
    and the most frequent of the others is far: that is a rare category.
    """
    nobody = np.zeros(len(column), dtype=bool)
    if len(np.unique(column[:1000])) < C.fewest_values:
        return nobody
    sides = Sides.of(column)
    ends = np.array([column.min(), column.max()])
    if not np.any(sides.distance(ends) > C.far_value):  # most columns: spare a pass
        return nobody
    distance, others = sides.distance(column), column[column != sides.middle]
    if 2 * len(others) < len(column):
        values, counts = np.unique(others, return_counts=True)
        rare = values[counts == max(counts.max(), C.fewest_alike)]
        if np.any(sides.distance(rare) > C.far_value):
            return nobody
    return np.asarray(distance > C.far_value)


def suspected_columns(X: Floats) -> list[tuple[int, Bools]]:
    """Columns with a few far values, and the rows that hold them, behind a gap."""
    found = []
    for j, column in enumerate(np.ascontiguousarray(X.T)):
        far = far_values(column)
        count = far.sum()
        if not C.fewest_alike <= count <= C.most_far_values * len(column):
            continue
        distance = Sides.of(column).distance(column)
        if distance[far].min() >= C.value_gap * max(float(distance[~far].max()), 1.0):
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
    if len(base) < 2 * C.fewest_values:
        return wrong
    reference = ordinary_reference(X[base], y[base], Columns.of(X[base]))
    scale = half_scale(reference.residuals)
    explainer = Explainer.of(X[base])
    for j, far in suspects:
        rows = np.flatnonzero(far & ~outliers)
        if len(rows) < C.fewest_alike:
            continue
        usual = X[rows].copy()
        usual[:, j] = explainer.expected(X[rows])[:, j]
        given = np.abs(y[rows] - reference.predict(X[rows]))
        expected = np.abs(y[rows] - reference.predict(usual))
        if np.median(expected) < C.believed_below * np.median(given):
            wrong[rows[(given > C.held_beyond * scale) & (expected < given)]] = True
    return wrong
