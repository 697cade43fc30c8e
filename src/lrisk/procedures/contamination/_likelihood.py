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


@jit
def clamp(x: float, low: float, high: float) -> float:
    """Return x, held within [low, high]."""
    return min(max(x, low), high)


@jit
def log_t_constant(freedom: float) -> float:
    """Log of the density of Student's t at zero."""
    return (
        math.lgamma(0.5 * (freedom + 1.0))
        - math.lgamma(0.5 * freedom)
        - 0.5 * math.log(freedom * math.pi)
    )


@jit
def freedom_of(parameter: float, least: float) -> float:
    """Degrees of freedom in [least, 60]."""
    return min(least + math.exp(clamp(parameter, -9.0, 5.0)), MOST_FREEDOM)


@jit
def core_log_density(u: Floats, core: Floats, out: Floats) -> None:
    """Log of a two-piece t density; core = (mode, scales, degrees: left, right).

    p(u) ∝ (1 + z²/ν)^{−(ν+1)/2}, z = (u − m)/s, with s and ν of the side of u; both
    halves meet at the mode.
    """
    mode, left, right = core[0], core[1], core[2]
    free_left, free_right = core[3], core[4]
    area = 0.5 * left / math.exp(log_t_constant(free_left))
    area += 0.5 * right / math.exp(log_t_constant(free_right))
    constant = -math.log(area)
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


@jit
def one_population(p: Floats, u: Floats, least: float, work: Floats) -> Any:
    """−log likelihood of a two-piece t with degrees of its own on each side.

    p = (mode, log scales, two free parameters of the degrees); a weak pull keeps the
    degrees from running away where the data says nothing.
    """
    core = np.empty(5)
    core[0] = p[0]
    core[1] = math.exp(clamp(p[1], -9.0, 9.0))
    core[2] = math.exp(clamp(p[2], -9.0, 9.0))
    core[3] = freedom_of(p[3], least)
    core[4] = freedom_of(p[4], least)
    core_log_density(u, core, work)
    total = 0.0
    for i in range(len(u)):
        total -= work[i]
    return total + 1e-3 * ((p[3] - 1.5) ** 2 + (p[4] - 1.5) ** 2)


@jit
def two_populations(
    p: Floats, u: Floats, least: float, apart: float, work: Floats
) -> Any:
    """−log likelihood of a two-piece t and wide Gaussian outliers, with penalties.

    p = (mode, log scales, parameter of the common degrees, logit of ε/.499, centre and
    log width of the outliers). Outliers must have a root mean square distance of at
    least `apart` core scales from the mode, and at least half a core scale of width.
    """
    core = np.empty(5)
    core[0] = p[0]
    core[1] = math.exp(clamp(p[1], -9.0, 9.0))
    core[2] = math.exp(clamp(p[2], -9.0, 9.0))
    core[3] = freedom_of(p[3], least)
    core[4] = core[3]
    share = MOST_OUTLIERS / (1.0 + math.exp(-clamp(p[4], -9.0, 9.0)))
    centre = p[5]
    width = math.exp(clamp(p[6], -9.0, 16.0))
    scale = 0.5 * (core[1] + core[2])
    core_log_density(u, core, work)
    inner = math.log1p(-share)
    outer = math.log(share) - math.log(width) - 0.5 * math.log(2.0 * math.pi)
    total = 0.0
    for i in range(len(u)):
        a = inner + work[i]
        z = (u[i] - centre) / width
        b = outer - 0.5 * z * z
        top = max(a, b)
        total -= top + math.log1p(math.exp(min(a, b) - top))
    distance = math.sqrt((centre - core[0]) ** 2 + width * width) / scale
    near = max(0.0, apart - distance)
    thin = max(0.0, math.log(0.5 * scale) - math.log(width))
    return total + 20.0 * (near * near + thin * thin)


@jit
def one_population_slope(p: Floats, u: Floats, least: float) -> Any:
    """Value and central differences of `one_population`."""
    work, q, slope = np.empty(len(u)), p.copy(), np.empty(len(p))
    value = one_population(p, u, least, work)
    for k in range(len(p)):
        step = 1e-5 * (1.0 + abs(p[k]))
        q[k] = p[k] + step
        above = one_population(q, u, least, work)
        q[k] = p[k] - step
        slope[k] = (above - one_population(q, u, least, work)) / (2.0 * step)
        q[k] = p[k]
    return value, slope


@jit
def two_populations_slope(p: Floats, u: Floats, least: float, apart: float) -> Any:
    """Value and central differences of `two_populations`."""
    work, q, slope = np.empty(len(u)), p.copy(), np.empty(len(p))
    value = two_populations(p, u, least, apart, work)
    for k in range(len(p)):
        step = 1e-5 * (1.0 + abs(p[k]))
        q[k] = p[k] + step
        above = two_populations(q, u, least, apart, work)
        q[k] = p[k] - step
        slope[k] = (above - two_populations(q, u, least, apart, work)) / (2.0 * step)
        q[k] = p[k]
    return value, slope
