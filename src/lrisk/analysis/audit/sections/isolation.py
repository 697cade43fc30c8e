"""Values that a gap parts from all others of their column.

Let v₁ ≥ v₂ ≥ … be distances from the median on one side. In the tail of a power law,
which is as heavy as tails come, the spacings i·log(vᵢ/vᵢ₊₁) are independent and
exponential with one mean θ (Rényi). So the chance of a gap as wide as that behind the
i-th value is exp(−i·log(vᵢ/vᵢ₊₁)/θ), whatever the units and however heavy the tail; in
lighter tails, whose spacings shrink outwards, it is less. θ is taken from the spacings
farther in, without their largest: there may be a second gap. That any i is tried costs
a factor of i(i + 1), whose inverses sum to one.
"""

from typing import NamedTuple

import numpy as np

from ...._typing import Bools, Floats

#: Share of the rows beyond which values behind a gap are a group of their own.
MOST = 0.1
#: How much farther from the median than the nearest other an isolated value lies.
#: Numbers written with two digits have gaps of a tenth; on boston and diabetes gaps of
#: 1.2 to 1.4 are those of towns and of rounding, and none is wider.
LEAST_RATIO = 1.5
#: Share of the rows that are the tail, and the least spacings that tell θ.
TAIL, FEWEST = 0.25, 8


class Isolated(NamedTuple):
    """Values on one side behind a gap.

    chance : of a gap as wide anywhere on this side
    rows : which values; shape (n,)
    nearest : the nearest of the other values
    """

    chance: float
    rows: Bools
    nearest: float


def isolated_values(values: Floats, above: bool) -> Isolated | None:
    """The least likely gap on one side, if there is one wide enough.

    Equal numbers are spread evenly over the smallest step between different ones, or
    whole numbers would be full of gaps.
    """
    sign = 1.0 if above else -1.0
    away = sign * _spread_ties(values)
    middle = float(np.median(away))
    order = np.argsort(-away, kind="stable")
    v = away[order] - middle
    n, count = len(v), int(np.sum(v > 0.0))
    k = min(int(TAIL * n), count - 1)
    if k <= FEWEST:
        return None
    spacings: Floats = np.arange(1.0, k + 1.0) * np.log(v[:k] / v[1 : k + 1])
    most = max(int(MOST * n), 1)
    best: tuple[float, int] | None = None
    for i in np.flatnonzero(v[:most] >= LEAST_RATIO * v[1 : most + 1]):
        farther_in = spacings[i + 1 : max(4 * (i + 1), i + 25)]
        if len(farther_in) < FEWEST:
            break
        number = int(i) + 1
        chance = float(np.exp(-spacings[i] / _mean_spacing(farther_in)))
        chance *= number * (number + 1)
        if best is None or chance < best[0]:
            best = chance, number
    if best is None:
        return None
    chance, number = best
    rows = np.zeros(n, dtype=bool)
    rows[order[:number]] = True
    others = values[~rows]
    return Isolated(chance, rows, float(others.max() if above else others.min()))


def _mean_spacing(spacings: Floats) -> float:
    """θ from spacings without the largest, and a standard error more.

    Of m exponentials of mean one the largest has mean 1 + 1/2 + … + 1/m.
    """
    m = len(spacings)
    largest = float(np.sum(1.0 / np.arange(1, m + 1)))
    mean = float(spacings.sum() - spacings.max()) / (m - largest)
    return max(mean * (1.0 + 1.0 / float(np.sqrt(m))), 1e-300)


def _spread_ties(values: Floats) -> Floats:
    """Equal values, spread by a sequence of low discrepancy: no chance enters."""
    different = np.unique(values)
    if len(different) == len(values) or len(different) < 2:
        return values
    width = float(np.min(np.diff(different)))
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    order = np.argsort(values, kind="stable")
    places = np.modf(golden * np.arange(1, len(values) + 1))[0] - 0.5
    out = values.copy()
    out[order] += width * places
    return out
