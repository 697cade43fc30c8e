"""Likelihoods of standardised residuals, one population or two, and their minimum.

An audit descends hundreds of times over a few hundred rows: all of a descent is one
compiled function.
"""

import math

import numpy as np

from ..._jit import jit
from ..._typing import Floats

#: Largest share of outliers: beyond a half nobody can say who is the outlier.
MOST_OUTLIERS = 0.499
#: Degrees of freedom above which a t is a Gaussian.
MOST_FREEDOM = 60.0
#: Least width of the outliers, in distances from the core and in core scales.
LEAST_WIDTH = (0.25, 0.5)
#: Steps of a descent, and the relative decrease and the slope at which it ends.
MOST_STEPS, LEAST_DECREASE, LEAST_SLOPE = 200, 2e-9, 1e-5
#: Share of the promised decrease that a step must keep, and its halvings at most.
KEPT_SHARE, MOST_HALVINGS = 1e-4, 30


@jit(fastmath=False, inner=True)
def clamp(x: float, low: float, high: float) -> float:
    """Return x, held within [low, high]."""
    if x < low:
        return low
    return high if x > high else x


@jit(fastmath=False, inner=True)
def log_t_constant(freedom: float) -> float:
    """Log of the density of Student's t at zero."""
    return (
        math.lgamma(0.5 * (freedom + 1.0))
        - math.lgamma(0.5 * freedom)
        - 0.5 * math.log(freedom * math.pi)
    )


@jit(fastmath=False, inner=True)
def slope_of_constant(freedom: float) -> float:
    """Derivative of `log_t_constant`, by a central difference."""
    step = 1e-5 * freedom
    change = log_t_constant(freedom + step) - log_t_constant(freedom - step)
    return float(change / (2.0 * step))


@jit(fastmath=False, inner=True)
def half_area(scale: float, freedom: float) -> float:
    """Area below one half of the core whose top is at one."""
    return 0.5 * scale / math.exp(log_t_constant(freedom))


@jit(fastmath=False, inner=True)
def freedom_of(parameter: float, least: float) -> float:
    """Degrees of freedom in [least, 60]."""
    freedom = least + math.exp(clamp(parameter, -9.0, 5.0))
    return freedom if freedom < MOST_FREEDOM else MOST_FREEDOM


@jit(fastmath=False, inner=True)
def slope_of_freedom(parameter: float, least: float) -> float:
    """Derivative of `freedom_of`."""
    grown = math.exp(clamp(parameter, -9.0, 5.0))
    moves = -9.0 <= parameter <= 5.0 and least + grown < MOST_FREEDOM
    return grown if moves else 0.0


@jit(fastmath=False, inner=True)
def is_within(x: float, reach: float) -> float:
    """One where a clamped parameter still moves, else zero."""
    return 1.0 if abs(x) <= reach else 0.0


def core_log_density(u: Floats, core: Floats) -> Floats:
    """Log of a two-piece t density; core = (mode, scales, degrees: left, right).

    p(u) ∝ (1 + z²/ν)^{−(ν+1)/2}, z = (u − m)/s, with s and ν of the side of u; both
    halves meet at the mode.
    """
    mode, left, right, free_left, free_right = (float(x) for x in core)
    constant = -math.log(half_area(left, free_left) + half_area(right, free_right))
    above = u > mode
    z = (u - mode) / np.where(above, right, left)
    freedom = np.where(above, free_right, free_left)
    return np.asarray(constant - 0.5 * (freedom + 1.0) * np.log1p(z * z / freedom))


@jit(fastmath=False, inner=True)
def _sum_over_rows(u: Floats, counts: Floats, numbers: Floats, sums: Floats) -> None:
    """−log likelihood of a mixture of a two-piece t with a Gaussian, and its slopes.

    With r the chance of a row to be an outlier, zero where there are none, the slope of
    its likelihood is (1 − r)∇log(core) + r∇log(outliers). With q = z²/ν a row gives
    (ν+1)z/(νs(1+q)) to the mode, (ν+1)q/(1+q) to log s and
    −½log(1+q) + (ν+1)q/(2ν(1+q)) to ν, besides what the constants give.

    Parameters
    ----------
    u, counts : arrays of shape (n,)
    numbers : array of shape (9,)
        Mode, scales and degrees of both sides, the logs of the shares of the core and
        of the outliers (of these divided by √2π times the width), their centre and
        width.
    sums : array of shape (10,)
        Is set to: the value, the sums for the mode, the scales and the degrees, rows of
        the core, outliers, and Σrz and Σr(z² − 1) over these.
    """
    area = half_area(numbers[1], numbers[3]) + half_area(numbers[2], numbers[4])
    mode, inner, outer = numbers[0], numbers[5] - math.log(area), numbers[6]
    centre, width = numbers[7], numbers[8]
    for k in range(10):
        sums[k] = 0.0
    for i in range(len(u)):
        side = 1 if u[i] > mode else 0
        scale, freedom = numbers[1 + side], numbers[3 + side]
        z = (u[i] - mode) / scale
        q = z * z / freedom
        logarithm = math.log1p(q)
        a = inner - 0.5 * (freedom + 1.0) * logarithm
        away = (u[i] - centre) / width
        b = outer - 0.5 * away * away
        ratio = math.exp(-abs(a - b))
        larger, chance = (b, 1.0) if a <= b else (a, ratio)
        sums[0] -= counts[i] * (larger + math.log1p(ratio))
        chance *= counts[i] / (1.0 + ratio)
        belongs = counts[i] - chance
        pull = belongs * (freedom + 1.0) / (1.0 + q)
        sums[1] += pull * z / (freedom * scale)
        sums[2 + side] += pull * q
        sums[4 + side] += 0.5 * (pull * q / freedom - belongs * logarithm)
        sums[6] += belongs
        sums[7] += chance
        sums[8] += chance * away
        sums[9] += chance * (away * away - 1.0)
    for side in range(2):  # what the constant of the core gives
        freedom = numbers[3 + side]
        part = sums[6] * half_area(numbers[1 + side], freedom) / area
        sums[2 + side] -= part
        sums[4 + side] += part * slope_of_constant(freedom)


@jit(fastmath=False, inner=True)
def likelihood(
    p: Floats,
    u: Floats,
    counts: Floats,
    least: float,
    apart: float,
    numbers: Floats,
    sums: Floats,
    slope: Floats,
) -> float:
    """−log likelihood of one population (five parameters) or of two (seven).

    One is a two-piece t with degrees of its own on each side, p = (mode, log scales,
    two parameters of the degrees); a weak pull keeps the degrees from running away
    where the data says nothing.

    Two are a two-piece t and wide Gaussian outliers, p = (mode, log scales, parameter
    of the common degrees, logit of ε/.499, centre c of the outliers, log of what their
    width has beyond its least, see `outlier_width`). Outliers must have a root mean
    square distance of at least `apart` core scales from the mode: a penalty.

    `counts` says how many rows have each residual, `slope` is set to the slope;
    `numbers` and `sums` are those of `_sum_over_rows`.
    """
    two = len(p) == 7
    numbers[0] = p[0]
    for k in (1, 2):
        numbers[k] = math.exp(clamp(p[k], -9.0, 9.0))
        numbers[k + 2] = freedom_of(p[3] if two else p[k + 2], least)
    numbers[5], numbers[6], numbers[7], numbers[8] = 0.0, -math.inf, 0.0, 1.0
    part, share = 0.0, 0.0
    if two:
        part = 1.0 / (1.0 + math.exp(-clamp(p[4], -9.0, 9.0)))
        share = MOST_OUTLIERS * part
        width = outlier_width(numbers, p[5], p[6])
        numbers[5] = math.log1p(-share)
        numbers[6] = math.log(share / width) - 0.5 * math.log(2.0 * math.pi)
        numbers[7], numbers[8] = p[5], width
    _sum_over_rows(u, counts, numbers, sums)
    slope[0] = -sums[1]
    for k in (1, 2):
        slope[k] = -sums[k + 1]
    if two:
        slope[3] = -(sums[4] + sums[5]) * slope_of_freedom(p[3], least)
        rate = (1.0 - part) * is_within(p[4], 9.0)  # of log ε
        slope[4] = rate * (sums[6] * share / (1.0 - share) - sums[7])
        value = sums[0] + _spread(p, numbers, sums, apart, slope)
    else:
        value = sums[0]
        for k in (3, 4):
            pull = p[k] - 1.5
            slope[k] = -sums[k + 1] * slope_of_freedom(p[k], least) + 2e-3 * pull
            value += 1e-3 * pull * pull
    for k in (1, 2):
        slope[k] *= is_within(p[k], 9.0)
    return float(value)


@jit(fastmath=False, inner=True)
def _spread(
    p: Floats, numbers: Floats, sums: Floats, apart: float, slope: Floats
) -> float:
    """Penalty of outliers near the mode; adds the slopes for where and how wide."""
    centre, width = numbers[7], numbers[8]
    scale, gap = 0.5 * (numbers[1] + numbers[2]), centre - numbers[0]
    away = math.sqrt(gap * gap + width * width)
    near = clamp(apart - away / scale, 0.0, math.inf)
    by_gap = -40.0 * near * gap / (away * scale)
    by_width = -sums[9] / width - 40.0 * near * width / (away * scale)
    by_gap += by_width * LEAST_WIDTH[0] ** 2 * gap / width
    by_scale = 40.0 * near * away / (scale * scale)
    by_scale += by_width * LEAST_WIDTH[1] ** 2 * scale / width
    slope[0] -= by_gap
    for k in (1, 2):
        slope[k] += 0.5 * numbers[k] * by_scale
    slope[5] = by_gap - sums[8] / width
    moves = -9.0 <= p[6] <= 16.0
    slope[6] = by_width * math.exp(2.0 * p[6]) / width if moves else 0.0
    return float(20.0 * near * near)


@jit(fastmath=False, inner=True)
def outlier_width(core: Floats, centre: float, parameter: float) -> float:
    """√(e²ᵖ + (c − m)²/16 + s²/4), with the core's mode m and mean scale s.

    Never thin: the likelihood of a spike has no bound, and equal errors of both signs
    would be a spike and a tail.
    """
    own = math.exp(clamp(parameter, -9.0, 16.0))
    gap = LEAST_WIDTH[0] * (centre - core[0])
    scale = LEAST_WIDTH[1] * 0.5 * (core[1] + core[2])
    return math.sqrt(own * own + gap * gap + scale * scale)


def descend(
    start: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """Least value of `likelihood` from a start, and where; BFGS."""
    p, size = start.copy(), len(start)
    # Made here, since to compile the making of an array takes as long as a loop.
    inverse, vectors = np.empty((size, size)), [start.copy() for _ in range(6)]
    sums = np.empty(9), np.empty(10)
    return _descend(p, u, counts, least, apart, inverse, *vectors, *sums), p


@jit(fastmath=False)
def _descend(  # type: ignore[no-untyped-def]
    p, u, counts, least, apart,
    inverse, q, way, slope, slope_there, moved, turned, numbers, sums,
):  # fmt: skip
    """`descend` from p, which ends where the least value is."""
    size, taken, halvings = len(p), 0, 0
    value, promised, step = math.inf, 0.0, 1.0  # anything is lower: q is the start
    fresh = True  # whether the inverse Hessian knows nothing yet
    while True:
        below = likelihood(q, u, counts, least, apart, numbers, sums, slope_there)
        reset = taken == 0
        if below <= value + KEPT_SHARE * step * promised:
            size_of_value = max(abs(value), abs(below), 1.0)
            enough = taken > 0 and value - below <= LEAST_DECREASE * size_of_value
            length, steepest, curved, bent, far = 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(size):
                moved[j], turned[j] = q[j] - p[j], slope_there[j] - slope[j]
                p[j], slope[j] = q[j], slope_there[j]
                length += abs(slope[j])
                steepest = max(steepest, abs(slope[j]))
                curved += moved[j] * turned[j]
                bent += turned[j] * turned[j]
                far += moved[j] * moved[j]
            value = below
            # nor if it is no number
            downhill = steepest > LEAST_SLOPE and length < math.inf
            if enough or taken == MOST_STEPS or not downhill:
                break
            taken += 1
            if not reset and curved > 1e-10 * math.sqrt(far * bent):
                _learn(inverse, moved, turned, curved, bent if fresh else 0.0, q)
                fresh = False
        elif taken > 0 and halvings < MOST_HALVINGS:
            halvings += 1
            step *= 0.5
            for j in range(size):
                q[j] = p[j] + step * way[j]
            continue
        elif fresh:
            break
        else:
            reset = True
        promised = 0.0
        while promised >= 0.0:  # the second time straight down the slope
            promised = 0.0
            for j in range(size):
                way[j] = 0.0
                for k in range(size):
                    if reset:
                        inverse[j, k] = 1.0 if j == k else 0.0
                    way[j] -= inverse[j, k] * slope[k]
                promised += way[j] * slope[j]
            fresh = fresh or reset
            reset = True
        step = 1.0 / length if fresh and length > 1.0 else 1.0
        halvings = 0
        for j in range(size):
            q[j] = p[j] + step * way[j]
    return value


@jit(fastmath=False, inner=True)
def _learn(  # type: ignore[no-untyped-def]
    inverse, moved, turned, curved, bent, half
):  # fmt: skip
    """BFGS: H turns what `turned` into what `moved`; a fresh one gets its units."""
    size = len(moved)
    for j in range(size):
        if bent > 0.0:
            inverse[j, j] = curved / bent
    along = 1.0
    for j in range(size):
        half[j] = 0.0
        for k in range(size):
            half[j] += inverse[j, k] * turned[k]
        along += turned[j] * half[j] / curved
    for j in range(size):
        for k in range(size):
            across = half[j] * moved[k] + half[k] * moved[j]
            inverse[j, k] += (along * moved[j] * moved[k] - across) / curved
