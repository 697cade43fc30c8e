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
    return min(max(x, low), high)


@jit(fastmath=False, inner=True)
def log_t_constant(freedom: float) -> float:
    """Log of the density of Student's t at zero."""
    return (
        math.lgamma(0.5 * (freedom + 1.0))
        - math.lgamma(0.5 * freedom)
        - 0.5 * math.log(freedom * math.pi)
    )


@jit(fastmath=False, inner=True)
def freedom_of(parameter: float, least: float) -> float:
    """Degrees of freedom in [least, 60]."""
    return min(least + math.exp(clamp(parameter, -9.0, 5.0)), MOST_FREEDOM)


@jit(fastmath=False, inner=True)
def is_within(x: float, reach: float) -> float:
    """One where a clamped parameter still moves, else zero."""
    return 1.0 if abs(x) <= reach else 0.0


@jit(fastmath=False, inner=True)
def slope_of_freedom(parameter: float, least: float) -> float:
    """Derivative of `freedom_of`."""
    grown = math.exp(clamp(parameter, -9.0, 5.0))
    moves = -9.0 <= parameter <= 5.0 and least + grown < MOST_FREEDOM
    return grown if moves else 0.0


@jit(fastmath=False, inner=True)
def _constant_and_slope(freedom: float) -> tuple[float, float]:
    """`log_t_constant` and its derivative, by a central difference."""
    step = 1e-5 * freedom
    change = log_t_constant(freedom + step) - log_t_constant(freedom - step)
    return log_t_constant(freedom), change / (2.0 * step)


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


def half_area(scale: float, freedom: float) -> float:
    """Area below one half of the core whose top is at one."""
    return 0.5 * scale / math.exp(log_t_constant(freedom))


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
        Mode, scales and degrees of both sides, the logs of the factors of the core and
        of the outliers, centre and width of these.
    sums : array of shape (10,)
        Zeros at first: the value, the sums for the mode, the scales and the degrees,
        rows of the core, outliers, and Σrz and Σr(z² − 1) over these.
    """
    mode, inner, outer = numbers[0], numbers[5], numbers[6]
    centre, width = numbers[7], numbers[8]
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
        sums[0] -= counts[i] * (max(a, b) + math.log1p(ratio))
        chance = counts[i] * (ratio if b < a else 1.0) / (1.0 + ratio)
        belongs = counts[i] - chance
        pull = belongs * (freedom + 1.0) / (1.0 + q)
        sums[1] += pull * z / (freedom * scale)
        sums[2 + side] += pull * q
        sums[4 + side] += 0.5 * (pull * q / freedom - belongs * logarithm)
        sums[6] += belongs
        sums[7] += chance
        sums[8] += chance * away
        sums[9] += chance * (away * away - 1.0)


@jit(fastmath=False, inner=True)
def _sums(
    u: Floats,
    counts: Floats,
    core: Floats,
    inner: float,
    outer: float,
    centre: float,
    width: float,
) -> Floats:
    """`_sum_over_rows` with what the constant of the core gives."""
    left, slope_left = _constant_and_slope(core[3])
    right, slope_right = left, slope_left
    if core[4] != core[3]:
        right, slope_right = _constant_and_slope(core[4])
    areas = 0.5 * core[1] / math.exp(left), 0.5 * core[2] / math.exp(right)
    slopes = slope_left, slope_right
    numbers, sums = np.empty(9), np.zeros(10)
    for k in range(5):
        numbers[k] = core[k]
    numbers[5] = inner - math.log(areas[0] + areas[1])
    numbers[6], numbers[7], numbers[8] = outer, centre, width
    _sum_over_rows(u, counts, numbers, sums)
    for side in range(2):
        part = sums[6] * areas[side] / (areas[0] + areas[1])
        sums[2 + side] -= part
        sums[4 + side] += part * slopes[side]
    return sums


@jit(fastmath=False, inner=True)
def one_population(
    p: Floats, u: Floats, counts: Floats, least: float
) -> tuple[float, Floats]:
    """−log likelihood of a two-piece t with degrees of its own on each side; its slope.

    p = (mode, log scales, two free parameters of the degrees); a weak pull keeps the
    degrees from running away where the data says nothing. `counts` says how many rows
    have each residual.
    """
    core, slope = np.empty(5), np.empty(5)
    core[0] = p[0]
    for k in (1, 2):
        core[k] = math.exp(clamp(p[k], -9.0, 9.0))
        core[k + 2] = freedom_of(p[k + 2], least)
    sums = _sums(u, counts, core, 0.0, -math.inf, 0.0, 1.0)
    value = sums[0]
    slope[0] = -sums[1]
    for k in (1, 2):
        slope[k] = -sums[k + 1] * is_within(p[k], 9.0)
    for k in (3, 4):
        pull = p[k] - 1.5
        slope[k] = -sums[k + 1] * slope_of_freedom(p[k], least) + 2e-3 * pull
        value += 1e-3 * pull * pull
    return value, slope


@jit(fastmath=False, inner=True)
def two_populations(
    p: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """−log likelihood of a two-piece t and wide Gaussian outliers, and its slope.

    p = (mode, log scales, parameter of the common degrees, logit of ε/.499, centre c of
    the outliers, log of what their width has beyond its least, see `outlier_width`).
    Outliers must have a root mean square distance of at least `apart` core scales from
    the mode: a penalty.
    """
    core, slope = np.empty(5), np.empty(7)
    core[0] = p[0]
    for k in (1, 2):
        core[k] = math.exp(clamp(p[k], -9.0, 9.0))
        core[k + 2] = freedom_of(p[3], least)
    part = 1.0 / (1.0 + math.exp(-clamp(p[4], -9.0, 9.0)))
    share, centre = MOST_OUTLIERS * part, p[5]
    width = outlier_width(core, centre, p[6])
    inner = math.log1p(-share)
    outer = math.log(share) - math.log(width) - 0.5 * math.log(2.0 * math.pi)
    sums = _sums(u, counts, core, inner, outer, centre, width)
    scale, gap = 0.5 * (core[1] + core[2]), centre - core[0]
    away = math.sqrt(gap * gap + width * width)
    near = max(0.0, apart - away / scale)
    by_gap = -40.0 * near * gap / (away * scale)
    by_width = -sums[9] / width - 40.0 * near * width / (away * scale)
    by_gap += by_width * LEAST_WIDTH[0] ** 2 * gap / width
    by_scale = 40.0 * near * away / (scale * scale)
    by_scale += by_width * LEAST_WIDTH[1] ** 2 * scale / width
    slope[0] = -sums[1] - by_gap
    for k in (1, 2):
        slope[k] = 0.5 * core[k] * by_scale - sums[k + 1]
        slope[k] *= is_within(p[k], 9.0)
    slope[3] = -(sums[4] + sums[5]) * slope_of_freedom(p[3], least)
    rate = (1.0 - part) * is_within(p[4], 9.0)  # of log ε
    slope[4] = rate * (sums[6] * share / (1.0 - share) - sums[7])
    slope[5] = by_gap - sums[8] / width
    moves = -9.0 <= p[6] <= 16.0
    slope[6] = by_width * math.exp(2.0 * p[6]) / width if moves else 0.0
    return sums[0] + 20.0 * near * near, slope


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


@jit(fastmath=False, inner=True)
def likelihood(
    p: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """That of one population (five parameters) or of two (seven)."""
    if len(p) == 5:
        value, slope = one_population(p, u, counts, least)
    else:
        value, slope = two_populations(p, u, counts, least, apart)
    return value, slope


def descend(
    start: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """Least value of `likelihood` from a start, and where; BFGS."""
    p, inverse = start.copy(), np.eye(len(start))
    return float(_descend(p, inverse, u, counts, least, apart)), p


@jit(fastmath=False, inner=True)
def _product(a: Floats, b: Floats) -> float:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@jit(fastmath=False, inner=True)
def _restart(inverse: Floats, slope: Floats, way: Floats) -> None:
    """Go down the slope."""
    for j in range(len(way)):
        for k in range(len(way)):
            inverse[j, k] = 1.0 if j == k else 0.0
        way[j] = -slope[j]


@jit(fastmath=False)
def _descend(
    p: Floats, inverse: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> float:
    """`descend` from p, which ends where the least value is."""
    size = len(p)
    value, slope = likelihood(p, u, counts, least, apart)
    way, q = np.empty(size), np.empty(size)
    moved, turned, half = np.empty(size), np.empty(size), np.empty(size)
    fresh = True
    for _ in range(MOST_STEPS):
        length, steepest = 0.0, 0.0
        for j in range(size):
            length += abs(slope[j])
            steepest = max(steepest, abs(slope[j]))
        # nor if it is no number
        if not (steepest > LEAST_SLOPE and length < math.inf):
            break
        for j in range(size):
            way[j] = -_product(inverse[j], slope)
        promised = _product(slope, way)
        if promised >= 0.0:
            _restart(inverse, slope, way)
            promised, fresh = _product(slope, way), True
        step = min(1.0, 1.0 / length) if fresh else 1.0
        below, slope_there, lower = value, slope, False
        for _ in range(MOST_HALVINGS):
            for j in range(size):
                q[j] = p[j] + step * way[j]
            below, slope_there = likelihood(q, u, counts, least, apart)
            if below <= value + KEPT_SHARE * step * promised:
                lower = True
                break
            step *= 0.5
        if not lower:
            if fresh:
                break
            _restart(inverse, slope, way)
            fresh = True
            continue
        for j in range(size):
            moved[j], turned[j] = q[j] - p[j], slope_there[j] - slope[j]
            p[j], slope[j] = q[j], slope_there[j]
        decrease, largest = value - below, max(abs(value), abs(below), 1.0)
        value = below
        if decrease <= LEAST_DECREASE * largest:
            break
        curved, bent = _product(moved, turned), _product(turned, turned)
        if curved > 1e-10 * math.sqrt(_product(moved, moved) * bent):
            for j in range(size):
                if fresh:  # the identity, in the units of the problem
                    inverse[j, j] = curved / bent
            fresh = False
            for j in range(size):
                half[j] = _product(inverse[j], turned)
            along = (1.0 + _product(turned, half) / curved) / curved
            for j in range(size):
                for k in range(size):
                    across = half[j] * moved[k] + half[k] * moved[j]
                    inverse[j, k] += along * moved[j] * moved[k] - across / curved
    return float(value)
