"""Values that a gap parts from all others of their column.

Rows that share a value, as those of a site do, say it once: different values are what
is compared. Where they share it because numbers were rounded, which is where nearly all
steps between the quartiles are taken, they are spread over their step. Let v₁ ≥ v₂ ≥ …
be the distances from the median on one side. In the tail of a power law, which is as
heavy as tails come, the spacings i·log(vᵢ/vᵢ₊₁) are independent and exponential with
one mean θ (Rényi). So the chance of a gap as wide as that behind the i-th value is
exp(−i·log(vᵢ/vᵢ₊₁)/θ), whatever the units and however heavy the tail; in lighter tails,
whose spacings shrink outwards, it is less. θ is taken from the spacings farther in,
without their largest: there may be a second gap. That any i is tried costs a factor of
i(i + 1), whose inverses sum to one.

Of logarithms of ratios, vᵢ − vᵢ₊₁ takes the place of log(vᵢ/vᵢ₊₁): ratios with the tail
of a power law have logarithms with that of an exponential.
"""

from typing import NamedTuple

import numpy as np

from ...._typing import Floats, Indices
from .ordered import Ordered

#: Share of the rows beyond which values behind a gap are a group of their own; where
#: hardly any value is shared, of the different values, too: clusters are no exception.
MOST = 0.1
#: How much farther from the median than the nearest other an isolated value lies, or
#: how many times as large a ratio is.
#: Numbers written with two digits have gaps of a tenth; on boston and diabetes gaps of
#: 1.2 to 1.4 are those of towns and of rounding, and none is wider.
LEAST_RATIO = 1.5
#: Share of the steps between the quartiles that are taken where numbers were rounded.
#: And the part of a step by which they are not even, at most.
TAKEN, EVEN = 0.9, 1e-6
#: Share of the values that are the tail, and the least spacings that tell θ; of fewer,
#: as in designs, θ is that of a tail without a mean (Cauchy's).
TAIL, FEWEST, HEAVY = 0.25, 8, 1.0


class Isolated(NamedTuple):
    """Values on one side behind a gap.

    chance : of a gap as wide anywhere on this side
    number : how many rows, the farthest of the order
    nearest : the nearest of the other values
    ratio : how much farther from the median than that, or how many times as large
    """

    chance: float
    number: int
    nearest: float
    ratio: float


def isolated_values(
    ordered: Ordered, above: bool, logarithms: bool = False
) -> Isolated | None:
    """The least likely gap on one side, if there is one wide enough."""
    values, counts = _spread_out(ordered)
    values, counts = (values[::-1], counts[::-1]) if above else (values, counts)
    n, rows = len(values), len(ordered.values)
    most = int(np.searchsorted(np.cumsum(counts), MOST * rows, side="right"))
    most = min(most, int(MOST * n) if rows < 2 * n else n // 2)
    tail = max(int(TAIL * n), most)
    middle = float(np.median(ordered.values))
    side = 0.5 if above else -0.5
    v = side * values[: tail + 1] - side * middle  # halves: of any size
    k = min(tail, int(np.sum(v > 0.0)) - 1)
    if k < 1:
        return None
    gaps: Floats = 2.0 * (v[:k] - v[1 : k + 1]) if logarithms else \
        np.log(v[:k] / v[1 : k + 1])  # fmt: skip
    spacings = np.arange(1.0, k + 1.0) * gaps
    best: tuple[float, int] | None = None
    for i in np.flatnonzero(gaps[:most] >= np.log(LEAST_RATIO)):
        farther_in = spacings[i + 1 : min(max(4 * (i + 1), i + 25), int(TAIL * n))]
        mean = _mean_spacing(farther_in) if len(farther_in) >= FEWEST else HEAVY
        number = int(i) + 1
        chance = float(np.exp(-spacings[i] / mean)) * number * (number + 1)
        if best is None or chance < best[0]:
            best = chance, number
    if best is None:
        return None
    chance, number = best
    ratio = float(np.exp(gaps[number - 1]))
    return Isolated(chance, int(counts[:number].sum()), float(values[number]), ratio)


def _spread_out(ordered: Ordered) -> tuple[Floats, Indices]:
    """Different values and how many rows have each; of rounded numbers all rows."""
    values, counts, n = ordered.different, ordered.counts, len(ordered.values)
    if n < 2 * len(values):  # most have a value of their own
        return values, counts
    low, high = ordered.values[n // 4], ordered.values[3 * n // 4]
    inside = values[(values >= low) & (values <= high)]
    if len(inside) < 3:
        return values, counts
    steps = np.diff(inside) / float(np.min(np.diff(inside)))
    even = bool(np.all(np.abs(steps - np.round(steps)) < EVEN))
    if not even or len(inside) < TAKEN * (steps.sum() + 1.0):
        return values, counts
    step = float(np.min(np.diff(inside)))
    place = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (place + 0.5) / np.repeat(counts, counts) - 0.5
    return ordered.values + step * share, np.ones(n, dtype=np.intp)


def _mean_spacing(spacings: Floats) -> float:
    """θ from spacings without the largest, and a standard error more.

    Of m exponentials of mean one the largest has mean 1 + 1/2 + … + 1/m.
    """
    m = len(spacings)
    largest = float(np.sum(1.0 / np.arange(1, m + 1)))
    mean = float(spacings.sum() - spacings.max()) / (m - largest)
    return max(mean * (1.0 + 1.0 / float(np.sqrt(m))), 1e-300)
