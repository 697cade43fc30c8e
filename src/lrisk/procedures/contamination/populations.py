"""One population or two: the shape of standardised residuals.

(A) a two-piece t, skewed and as heavy-tailed on either side as it needs to be, explains
all rows; or (B) a two-piece t with lighter tails explains most of them and a wide
Gaussian far from it the rest. Only if B is clearly the better are there outliers.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..._typing import Floats
from ._likelihood import (
    MOST_OUTLIERS,
    core_log_density,
    freedom_of,
    one_population,
    two_populations,
)
from .robust_scale import half_scale, shortest_half

#: Least degrees of freedom: of one population, of the core beside outliers.
LEAST_ALONE, LEAST_CORE = 1.5, 3.0
#: Least distance of outliers from the core, in core scales (root mean square).
APART = 6.0
#: Within this many core scales no row is an outlier.
NEVER_WITHIN = 2.0


class Populations(NamedTuple):
    """The two-population fit: core, share ε, centre and width of the outliers."""

    core: Floats
    share: float
    centre: float
    width: float
    loss: float
    parameters: Floats

    def outlier_probability(self, u: Floats) -> Floats:
        """Posterior of the outlying population; zero inside, never falling outwards.

        Beyond the place where the Gaussian of the outliers ends, the heavier tail of
        the core would win again; a row farther out is not less of an outlier.
        """
        mode, left, right = self.core[:3]
        reach = np.concatenate(
            [
                mode - left * np.geomspace(1e4, NEVER_WITHIN, 400),
                mode + right * np.geomspace(NEVER_WITHIN, 1e4, 400),
            ]
        )
        chance = self._raw(reach)
        chance[399::-1] = np.maximum.accumulate(chance[399::-1])
        chance[400:] = np.maximum.accumulate(chance[400:])
        out = np.interp(u, reach, chance)
        inside = (u > reach[399]) & (u < reach[400])
        return np.where(inside, 0.0, out)

    def _raw(self, u: Floats) -> Floats:
        inner = np.empty(len(u))
        core_log_density(u, self.core, inner)
        inner += np.log1p(-self.share)
        z = (u - self.centre) / self.width
        outer = np.log(self.share / self.width) - 0.5 * (z * z + np.log(2.0 * np.pi))
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(inner - outer, -500.0, 500.0))))


def _descend(slope: Any, start: Floats, *args: object) -> tuple[float, Floats]:
    found = minimize(
        slope, start, args=args, jac=True, method="L-BFGS-B", options={"maxiter": 200}
    )
    return float(found.fun), np.asarray(found.x)


def alone(u: Floats, least: float = LEAST_ALONE) -> float:
    """−log likelihood of the best single population."""
    middle = float(np.median(u))
    scale = np.log(max(half_scale(u - middle), 1e-6))
    starts = [
        (middle, scale, scale, 1.0, 1.0),
        (middle, scale - 0.3, scale - 0.3, -1.0, -1.0),
    ]
    return min(
        _descend(one_population, np.array(start), u, least)[0] for start in starts
    )


def together(
    u: Floats, least: float = LEAST_CORE, start: Floats | None = None
) -> Populations | None:
    """The best fit of two populations; None where too few rows are far out to start."""
    starts = _mixture_starts(u) if start is None else [start]
    best: tuple[float, Floats] | None = None
    for point in starts:
        found = _descend(two_populations, point, u, least, APART)
        if np.isfinite(found[0]) and (best is None or found[0] < best[0]):
            best = found
    if best is None:
        return None
    p = best[1]
    freedom = float(freedom_of(p[3], least))
    left, right = np.exp(np.clip(p[1:3], -9.0, 9.0))
    share = MOST_OUTLIERS / (1.0 + np.exp(-np.clip(p[4], -9.0, 9.0)))
    core = np.array([p[0], left, right, freedom, freedom])
    width = float(np.exp(np.clip(p[6], -9.0, 16.0)))
    return Populations(core, float(share), float(p[5]), width, best[0], p)


def _mixture_starts(u: Floats) -> list[Floats]:
    """Cores of several sizes round the shortest half; the rest as outliers.

    One of them ends where residuals are far out: a few far rows are lost among the
    ordinary rows outside the other cores.
    """
    low, high = shortest_half(u)
    middle = float(np.median(u[(u >= low) & (u <= high)]))
    distance = np.abs(u - middle)
    ends = [float(np.quantile(distance, size)) for size in (0.55, 0.75, 0.9)]
    ends.append(APART * max(half_scale(u - middle), 1e-6))
    starts = []
    for end in ends:
        inside = distance <= end
        if not 3 <= np.sum(~inside) < len(u) / 2:
            continue
        scale = max(float(np.std(u[inside])), 1e-6)
        centre = float(np.median(u[~inside]))
        share = float(np.mean(~inside))
        width = max(half_scale(u[~inside] - centre), float(np.std(u[~inside])))
        starts.append(
            np.array(
                [
                    float(np.median(u[inside])),
                    np.log(scale),
                    np.log(scale),
                    1.5,
                    np.log(share / max(MOST_OUTLIERS - share, 1e-2)),
                    centre,
                    np.log(max(width, 4.0 * scale)),
                ]
            )
        )
    return starts
