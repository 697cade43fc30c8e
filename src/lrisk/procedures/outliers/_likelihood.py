"""Compiled likelihoods of standardised residuals: one population, or two."""

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


@jit(inner=True)
def clamp(x: float, low: float, high: float) -> float:
    """Return x, held within [low, high]."""
    return min(max(x, low), high)


@jit(inner=True)
def log_t_constant(freedom: float) -> float:
    """Log of the density of Student's t at zero."""
    return (
        math.lgamma(0.5 * (freedom + 1.0))
        - math.lgamma(0.5 * freedom)
        - 0.5 * math.log(freedom * math.pi)
    )


@jit(inner=True)
def freedom_of(parameter: float, least: float) -> float:
    """Degrees of freedom in [least, 60]."""
    return min(least + math.exp(clamp(parameter, -9.0, 5.0)), MOST_FREEDOM)


@jit(inner=True)
def is_within(x: float, reach: float) -> float:
    """One where a clamped parameter still moves, else zero."""
    return 1.0 if abs(x) <= reach else 0.0


@jit(inner=True)
def slope_of_freedom(parameter: float, least: float) -> float:
    """Derivative of `freedom_of`."""
    grown = math.exp(clamp(parameter, -9.0, 5.0))
    moves = -9.0 <= parameter <= 5.0 and least + grown < MOST_FREEDOM
    return grown if moves else 0.0


@jit(inner=True)
def slope_of_log_t_constant(freedom: float) -> Any:
    """Derivative of `log_t_constant`, by a central difference of two lgammas."""
    step = 1e-5 * freedom
    above = log_t_constant(freedom + step)
    return (above - log_t_constant(freedom - step)) / (2.0 * step)


@jit
def core_log_density(u: Floats, core: Floats, out: Floats) -> None:
    """Log of a two-piece t density; core = (mode, scales, degrees: left, right).

    p(u) ∝ (1 + z²/ν)^{−(ν+1)/2}, z = (u − m)/s, with s and ν of the side of u; both
    halves meet at the mode.
    """
    mode, left, right = core[0], core[1], core[2]
    free_left, free_right = core[3], core[4]
    constant = -math.log(half_area(left, free_left) + half_area(right, free_right))
    for i in range(len(u)):
        z = u[i] - mode
        if z > 0.0:
            z /= right
            out[i] = constant - 0.5 * (free_right + 1.0) * math.log1p(
                z * z / free_right
            )
        else:
            z /= left
            out[i] = constant - 0.5 * (free_left + 1.0) * math.log1p(z * z / free_left)


@jit(inner=True)
def half_area(scale: float, freedom: float) -> float:
    """Area below one half of the core whose top is at one."""
    return 0.5 * scale / math.exp(log_t_constant(freedom))


@jit(fastmath=False, inner=True)
def core_slope(
    u: Floats, core: Floats, weights: Floats, log_density: Floats, slope: Floats
) -> None:
    """Σ w_i ∇ log p(u_i), in the mode, the log scales and the degrees of both sides.

    With q = z²/ν a row gives (ν+1)z/(νs(1+q)) to the mode, (ν+1)q/(1+q) to log s and
    −½log(1+q) + (ν+1)q/(2ν(1+q)) to ν, and every row the slope of the constant. The
    logarithm is read off `log_density`, the result of `core_log_density`.
    """
    mode = core[0]
    areas = (half_area(core[1], core[3]), half_area(core[2], core[4]))
    constant = -math.log(areas[0] + areas[1])
    slope[:] = 0.0
    total = 0.0
    for i in range(len(u)):
        side = 1 if u[i] > mode else 0
        scale, freedom = core[1 + side], core[3 + side]
        z = (u[i] - mode) / scale
        q = z * z / freedom
        pull = weights[i] * (freedom + 1.0) / (1.0 + q)
        slope[0] += pull * z / (freedom * scale)
        slope[1 + side] += pull * q
        logarithm = 2.0 * (constant - log_density[i]) / (freedom + 1.0)
        slope[3 + side] += 0.5 * (pull * q / freedom - weights[i] * logarithm)
        total += weights[i]
    for side in range(2):
        part = total * areas[side] / (areas[0] + areas[1])
        slope[1 + side] -= part
        slope[3 + side] += part * slope_of_log_t_constant(core[3 + side])


@jit(inner=True)
def one_population(p: Floats, u: Floats, counts: Floats, least: float) -> Any:
    """−log likelihood of a two-piece t with degrees of its own on each side; its slope.

    p = (mode, log scales, two free parameters of the degrees); a weak pull keeps the
    degrees from running away where the data says nothing. `counts` says how many rows
    have each residual.
    """
    core = np.empty(5)
    core[0] = p[0]
    core[1] = math.exp(clamp(p[1], -9.0, 9.0))
    core[2] = math.exp(clamp(p[2], -9.0, 9.0))
    core[3] = freedom_of(p[3], least)
    core[4] = freedom_of(p[4], least)
    work, slope = np.empty(len(u)), np.empty(5)
    core_log_density(u, core, work)
    core_slope(u, core, counts, work, slope)
    value = 0.0
    for i in range(len(u)):
        value -= counts[i] * work[i]
    slope[0] = -slope[0]
    for k in range(1, 3):
        slope[k] *= -is_within(p[k], 9.0)
    for k in range(3, 5):
        slope[k] *= -slope_of_freedom(p[k], least)
        slope[k] += 2e-3 * (p[k] - 1.5)
        value += 1e-3 * (p[k] - 1.5) ** 2
    return value, slope


@jit(fastmath=False, inner=True)
def two_populations(
    p: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> Any:
    """−log likelihood of a two-piece t and wide Gaussian outliers, and its slope.

    p = (mode, log scales, parameter of the common degrees, logit of ε/.499, centre c of
    the outliers, log of what their width has beyond its least, see `outlier_width`).
    Outliers must have a root mean square distance of at least `apart` core scales from
    the mode: a penalty. With r the chance of a row to be an outlier, the slope of its
    likelihood is (1 − r)∇log(core) + r∇log(outliers).
    """
    core = np.empty(5)
    core[0] = p[0]
    core[1] = math.exp(clamp(p[1], -9.0, 9.0))
    core[2] = math.exp(clamp(p[2], -9.0, 9.0))
    core[3] = freedom_of(p[3], least)
    core[4] = core[3]
    part = 1.0 / (1.0 + math.exp(-clamp(p[4], -9.0, 9.0)))
    share, centre = MOST_OUTLIERS * part, p[5]
    width = outlier_width(core, centre, p[6])
    work, belongs = np.empty(len(u)), np.empty(len(u))
    core_log_density(u, core, work)
    inner = math.log1p(-share)
    outer = math.log(share) - math.log(width) - 0.5 * math.log(2.0 * math.pi)
    value, outliers, first, second, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(u)):
        a = inner + work[i]
        z = (u[i] - centre) / width
        b = outer - 0.5 * z * z
        ratio = math.exp(-abs(a - b))
        value -= counts[i] * (max(a, b) + math.log1p(ratio))
        chance = counts[i] * (ratio if b < a else 1.0) / (1.0 + ratio)
        belongs[i] = counts[i] - chance
        total += counts[i]
        outliers += chance
        first += chance * z
        second += chance * (z * z - 1.0)
    five, slope = np.empty(5), np.empty(7)
    core_slope(u, core, belongs, work, five)
    for k in range(3):
        slope[k] = -five[k]
    slope[3] = -(five[3] + five[4]) * slope_of_freedom(p[3], least)
    rate = (1.0 - part) * is_within(p[4], 9.0)  # of log ε
    slope[4] = rate * ((total - outliers) * share / (1.0 - share) - outliers)
    slope[5] = -first / width
    scale, gap = 0.5 * (core[1] + core[2]), centre - core[0]
    away = math.sqrt(gap * gap + width * width)
    near = max(0.0, apart - away / scale)
    by_gap = -40.0 * near * gap / (away * scale)
    by_width = -second / width - 40.0 * near * width / (away * scale)
    by_gap += by_width * LEAST_WIDTH[0] ** 2 * gap / width
    by_scale = 40.0 * near * away / (scale * scale)
    by_scale += by_width * LEAST_WIDTH[1] ** 2 * scale / width
    slope[0] -= by_gap
    slope[5] += by_gap
    for k in range(1, 3):
        slope[k] += 0.5 * core[k] * by_scale
        slope[k] *= is_within(p[k], 9.0)
    slope[6] = by_width * math.exp(2.0 * clamp(p[6], -9.0, 16.0)) / width
    if p[6] < -9.0 or p[6] > 16.0:
        slope[6] = 0.0
    return value + 20.0 * near * near, slope


@jit(inner=True)
def outlier_width(core: Floats, centre: float, parameter: float) -> Any:
    """√(e²ᵖ + (c − m)²/16 + s²/4), with the core's mode m and mean scale s.

    Never thin: the likelihood of a spike has no bound, and equal errors of both signs
    would be a spike and a tail.
    """
    own = math.exp(clamp(parameter, -9.0, 16.0))
    gap = LEAST_WIDTH[0] * (centre - core[0])
    scale = LEAST_WIDTH[1] * 0.5 * (core[1] + core[2])
    return math.sqrt(own * own + gap * gap + scale * scale)


@jit(inner=True)
def likelihood(p: Floats, u: Floats, counts: Floats, least: float, apart: float) -> Any:
    """That of one population (five parameters) or of two (seven)."""
    if len(p) == 5:
        return one_population(p, u, counts, least)
    return two_populations(p, u, counts, least, apart)


@jit(fastmath=False)
def descend(
    start: Floats, u: Floats, counts: Floats, least: float, apart: float
) -> Any:
    """Least value of `likelihood` from a start, and where; BFGS.

    A few numbers over a few hundred rows: a library's bookkeeping would cost more than
    the likelihood itself, and to compile numpy's products for them takes seconds.
    """
    size, p = len(start), start.copy()
    value, slope = likelihood(p, u, counts, least, apart)
    inverse, fresh = np.empty((size, size)), True
    _set_identity(inverse)
    way, q, half = np.empty(size), np.empty(size), np.empty(size)
    moved, turned = np.empty(size), np.empty(size)
    for _ in range(MOST_STEPS):
        steepest, length = 0.0, 0.0
        for k in range(size):
            steepest = max(steepest, abs(slope[k]))
            length += abs(slope[k])
        if not (steepest > LEAST_SLOPE and length < np.inf):  # nor if it is no number
            break
        _multiply(inverse, slope, -1.0, way)
        promised = _dot(slope, way)
        if promised >= 0.0:
            _set_identity(inverse)
            fresh = True
            _multiply(inverse, slope, -1.0, way)
            promised = _dot(slope, way)
        step = min(1.0, 1.0 / length) if fresh else 1.0
        found = False
        for _ in range(MOST_HALVINGS):
            for k in range(size):
                q[k] = p[k] + step * way[k]
            below, slope_there = likelihood(q, u, counts, least, apart)
            if below <= value + KEPT_SHARE * step * promised:
                found = True
                break
            step *= 0.5
        if not found:
            if fresh:
                break
            _set_identity(inverse)
            fresh = True
            continue
        for k in range(size):
            moved[k], turned[k] = q[k] - p[k], slope_there[k] - slope[k]
            p[k], slope[k] = q[k], slope_there[k]
        decrease, largest = value - below, max(abs(value), abs(below), 1.0)
        value = below
        if decrease <= LEAST_DECREASE * largest:
            break
        curved, bent = _dot(moved, turned), _dot(turned, turned)
        if curved > 1e-10 * math.sqrt(_dot(moved, moved) * bent):
            if fresh:  # the identity, in the units of the problem
                for k in range(size):
                    inverse[k, k] = curved / bent
            fresh = False
            _multiply(inverse, turned, 1.0, half)
            along = (1.0 + _dot(turned, half) / curved) / curved
            for k in range(size):
                for m in range(size):
                    across = half[k] * moved[m] + moved[k] * half[m]
                    inverse[k, m] += along * moved[k] * moved[m] - across / curved
    return value, p


@jit(fastmath=False, inner=True)
def _set_identity(matrix: Floats) -> None:
    for k in range(len(matrix)):
        for m in range(len(matrix)):
            matrix[k, m] = 1.0 if k == m else 0.0


@jit(fastmath=False, inner=True)
def _multiply(matrix: Floats, vector: Floats, factor: float, out: Floats) -> None:
    """A factor times a matrix times a vector."""
    for k in range(len(out)):
        out[k] = factor * _dot(matrix[k], vector)


@jit(fastmath=False, inner=True)
def _dot(a: Floats, b: Floats) -> Any:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total
