"""How far out noise alone reaches, told by the rows that nobody doubts.

Residuals in noise scales are compared with Student's t, from heavy to Gaussian. Its
degrees of freedom ν and its scale s are fitted to the rows inside a cut, by the
likelihood of |u| given that |u| < cut, so that rows beyond the cut, wrong or not, have
no say. What the fitted law then puts beyond the cut is what noise would bring.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import poisson
from scipy.stats import t as student_t

from ..._typing import Bools, Floats

#: Noise scales from which on a row is looked at as far out.
FAR_OUT = 6.0
#: Degrees of freedom and scales (in units of the median) that are tried.
FREEDOMS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 30.0, 200.0)
SCALES = np.geomspace(0.5, 2.2, 25)
#: Fall of the log-likelihood within which a law is still plausible (99 %, χ² with one
#: degree of freedom), and the chance below which a number of far rows is none of it.
PLAUSIBLE, ACCIDENT = 3.32, 0.01
#: Fewest rows inside the cut, and most that are used.
FEWEST, MOST = 20, 4000


class NoiseTail(NamedTuple):
    """The law of |u| in `rows` rows: |u|/scale is |t| with `freedom`."""

    freedom: float
    scale: float
    rows: float

    def beyond(self, size: Floats | float) -> Floats:
        """How many rows noise alone is expected to bring beyond a size."""
        tail = 2.0 * student_t.sf(np.asarray(size) / self.scale, self.freedom)
        return np.asarray(self.rows * tail)


def noise_tail(
    sizes: Floats, cut: float, *, heaviest: bool = False
) -> NoiseTail | None:
    """The likeliest law of the sizes inside the cut, or the heaviest plausible one.

    None if too few rows are inside, or if they are all alike.
    """
    inside = sizes[sizes < cut]
    some = inside[:: -(-len(inside) // MOST)] if len(inside) > MOST else inside
    middle = float(np.median(some)) if len(some) else 0.0
    if len(some) < FEWEST or middle <= 0.0:
        return None
    freedom, scale = (part.ravel() for part in np.meshgrid(FREEDOMS, SCALES * middle,
                                                           indexing="ij"))  # fmt: skip
    within = np.asarray(2.0 * student_t.cdf(cut / scale, freedom) - 1.0)
    fits = student_t.logpdf(0.0, freedom) - np.log(scale * within)
    for at, (nu, s) in enumerate(zip(freedom, scale)):
        fits[at] -= (nu + 1.0) / 2.0 * np.mean(np.log1p((some / s) ** 2 / nu))
    fits *= len(some)
    best = int(np.argmax(fits))
    if heaviest:
        best = int(np.flatnonzero(fits >= fits[best] - PLAUSIBLE)[0])
    rows = len(inside) / float(within[best])
    return NoiseTail(float(freedom[best]), float(scale[best]), rows)


def far_rows(scaled: Floats) -> Bools:
    """Rows beyond six noise scales that even heavy-tailed noise does not explain.

    `scaled` are residuals in noise scales, with their signs: skewed noise reaches
    farther to one side, so each side is judged by the rows on it. The k farthest rows
    of a side are far if the heaviest plausible law of the rows inside would bring as
    many so far out with a chance below ½ % (Poisson).
    """
    far = np.zeros(len(scaled), dtype=bool)
    for side in (scaled >= 0.0, scaled < 0.0):
        far[side] = _far_on_one_side(np.abs(scaled[side]))
    return far


def _far_on_one_side(sizes: Floats) -> Bools:
    far = np.zeros(len(sizes), dtype=bool)
    out = np.flatnonzero(sizes >= FAR_OUT)
    if not len(out):
        return far
    tail = noise_tail(sizes, FAR_OUT, heaviest=True)
    if tail is None:
        return far
    out = out[np.argsort(-sizes[out], kind="stable")]
    count = np.arange(len(out))
    chance = poisson.sf(count, tail.beyond(sizes[out]))
    unlikely = np.asarray(chance < 0.5 * ACCIDENT)
    if unlikely.any():
        far[out[: int(np.flatnonzero(unlikely)[-1]) + 1]] = True
    return far
