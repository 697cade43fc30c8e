"""Likelihoods of standardised residuals: one population, or two.

What is summed over the rows is one compiled loop for both. A few numbers are made of
these sums in Python, whose time is a tenth of what it takes to compile that.
"""

import math
from typing import Any

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


def clamp(x: float, low: float, high: float) -> float:
    """Return x, held within [low, high]."""
    return min(max(x, low), high)


def log_t_constant(freedom: float) -> float:
    """Log of the density of Student's t at zero."""
    return (
        math.lgamma(0.5 * (freedom + 1.0))
        - math.lgamma(0.5 * freedom)
        - 0.5 * math.log(freedom * math.pi)
    )


def freedom_of(parameter: float, least: float) -> float:
    """Degrees of freedom in [least, 60]."""
    return min(least + math.exp(clamp(parameter, -9.0, 5.0)), MOST_FREEDOM)


def is_within(x: float, reach: float) -> float:
    """One where a clamped parameter still moves, else zero."""
    return 1.0 if abs(x) <= reach else 0.0


def slope_of_freedom(parameter: float, least: float) -> float:
    """Derivative of `freedom_of`."""
    grown = math.exp(clamp(parameter, -9.0, 5.0))
    moves = -9.0 <= parameter <= 5.0 and least + grown < MOST_FREEDOM
    return grown if moves else 0.0


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


@jit(fastmath=False)
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


def _sums(
    u: Floats,
    counts: Floats,
    core: list[float],
    inner: float = 0.0,
    outer: float = -math.inf,
    centre: float = 0.0,
    width: float = 1.0,
) -> list[float]:
    """`_sum_over_rows` with what the constant of the core gives."""
    left, slope_left = _constant_and_slope(core[3])
    right, slope_right = left, slope_left
    if core[4] != core[3]:
        right, slope_right = _constant_and_slope(core[4])
    areas = 0.5 * core[1] / math.exp(left), 0.5 * core[2] / math.exp(right)
    inner -= math.log(areas[0] + areas[1])
    sums = np.zeros(10)
    numbers = np.array([*core, inner, outer, centre, width])
    _sum_over_rows(u, counts, numbers, sums)
    found: list[float] = sums.tolist()
    for side, slope in enumerate((slope_left, slope_right)):
        part = found[6] * areas[side] / (areas[0] + areas[1])
        found[2 + side] -= part
        found[4 + side] += part * slope
    return found


def one_population(
    p: list[float], u: Floats, counts: Floats, least: float
) -> tuple[float, list[float]]:
    """−log likelihood of a two-piece t with degrees of its own on each side; its slope.

    p = (mode, log scales, two free parameters of the degrees); a weak pull keeps the
    degrees from running away where the data says nothing. `counts` says how many rows
    have each residual.
    """
    scales = [math.exp(clamp(p[k], -9.0, 9.0)) for k in (1, 2)]
    core = [p[0], *scales, freedom_of(p[3], least), freedom_of(p[4], least)]
    value, *sums = _sums(u, counts, core)
    slope = [-sums[0]]
    slope += [-sums[k] * is_within(p[k], 9.0) for k in (1, 2)]
    for k in (3, 4):
        slope.append(-sums[k] * slope_of_freedom(p[k], least) + 2e-3 * (p[k] - 1.5))
        value += 1e-3 * (p[k] - 1.5) ** 2
    return value, slope


def two_populations(
    p: list[float], u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, list[float]]:
    """−log likelihood of a two-piece t and wide Gaussian outliers, and its slope.

    p = (mode, log scales, parameter of the common degrees, logit of ε/.499, centre c of
    the outliers, log of what their width has beyond its least, see `outlier_width`).
    Outliers must have a root mean square distance of at least `apart` core scales from
    the mode: a penalty.
    """
    scales = [math.exp(clamp(p[k], -9.0, 9.0)) for k in (1, 2)]
    freedom = freedom_of(p[3], least)
    core = [p[0], *scales, freedom, freedom]
    part = 1.0 / (1.0 + math.exp(-clamp(p[4], -9.0, 9.0)))
    share, centre = MOST_OUTLIERS * part, p[5]
    width = outlier_width(core, centre, p[6])
    inner = math.log1p(-share)
    outer = math.log(share) - math.log(width) - 0.5 * math.log(2.0 * math.pi)
    value, *sums = _sums(u, counts, core, inner, outer, centre, width)
    belong, outliers, first, second = sums[5:]
    slope = [-sums[0], -sums[1], -sums[2]]
    slope.append(-(sums[3] + sums[4]) * slope_of_freedom(p[3], least))
    rate = (1.0 - part) * is_within(p[4], 9.0)  # of log ε
    slope.append(rate * (belong * share / (1.0 - share) - outliers))
    scale, gap = 0.5 * (scales[0] + scales[1]), centre - core[0]
    away = math.sqrt(gap * gap + width * width)
    near = max(0.0, apart - away / scale)
    by_gap = -40.0 * near * gap / (away * scale)
    by_width = -second / width - 40.0 * near * width / (away * scale)
    by_gap += by_width * LEAST_WIDTH[0] ** 2 * gap / width
    by_scale = 40.0 * near * away / (scale * scale)
    by_scale += by_width * LEAST_WIDTH[1] ** 2 * scale / width
    slope[0] -= by_gap
    slope.append(by_gap - first / width)
    for k in (1, 2):
        slope[k] = (slope[k] + 0.5 * core[k] * by_scale) * is_within(p[k], 9.0)
    moves = -9.0 <= p[6] <= 16.0
    slope.append(by_width * math.exp(2.0 * p[6]) / width if moves else 0.0)
    return value + 20.0 * near * near, slope


def outlier_width(core: Any, centre: float, parameter: float) -> float:
    """√(e²ᵖ + (c − m)²/16 + s²/4), with the core's mode m and mean scale s.

    Never thin: the likelihood of a spike has no bound, and equal errors of both signs
    would be a spike and a tail.
    """
    own = math.exp(clamp(parameter, -9.0, 16.0))
    gap = LEAST_WIDTH[0] * (centre - core[0])
    scale = LEAST_WIDTH[1] * 0.5 * (core[1] + core[2])
    return math.sqrt(own * own + gap * gap + scale * scale)


def likelihood(
    p: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """That of one population (five parameters) or of two (seven)."""
    numbers: list[float] = p.tolist()
    if len(numbers) == 5:
        value, slope = one_population(numbers, u, counts, least)
    else:
        value, slope = two_populations(numbers, u, counts, least, apart)
    return value, np.array(slope)


def descend(
    start: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> tuple[float, Floats]:
    """Least value of `likelihood` from a start, and where; BFGS.

    A few numbers over a few hundred rows: a library's bookkeeping would cost more than
    the likelihood itself.
    """
    size, p = len(start), start.copy()
    value, slope = likelihood(p, u, counts, least, apart)
    inverse, fresh = np.eye(size), True
    for _ in range(MOST_STEPS):
        sizes = np.abs(slope)
        length = float(np.add.reduce(sizes))
        # nor if it is no number
        if not (float(np.maximum.reduce(sizes)) > LEAST_SLOPE and length < math.inf):
            break
        way = -(inverse @ slope)
        promised = float(slope @ way)
        if promised >= 0.0:
            inverse, fresh = np.eye(size), True
            way, promised = -slope, -float(slope @ slope)
        step = min(1.0, 1.0 / length) if fresh else 1.0
        for _ in range(MOST_HALVINGS):
            q = p + step * way
            below, slope_there = likelihood(q, u, counts, least, apart)
            if below <= value + KEPT_SHARE * step * promised:
                break
            step *= 0.5
        else:
            if fresh:
                break
            inverse, fresh = np.eye(size), True
            continue
        moved, turned = q - p, slope_there - slope
        p, slope = q, slope_there
        decrease, largest = value - below, max(abs(value), abs(below), 1.0)
        value = below
        if decrease <= LEAST_DECREASE * largest:
            break
        curved, bent = float(moved @ turned), float(turned @ turned)
        if curved > 1e-10 * math.sqrt(float(moved @ moved) * bent):
            if fresh:  # the identity, in the units of the problem
                inverse *= curved / bent
            fresh = False
            half = inverse @ turned
            along = (1.0 + float(turned @ half) / curved) / curved
            across = half[:, None] * moved
            across += across.T
            inverse += (along * moved)[:, None] * moved - across / curved
    return value, p
