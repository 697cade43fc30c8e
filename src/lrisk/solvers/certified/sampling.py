"""Samples of the rows: where a fit of very many rows begins, and its metric.

A sample of m rows gives the minimiser of the whole to within O(√(size/m)) and its
Hessian as well. Both only decide how many passes over all rows are needed: what is
proven at the end does not depend on them.
"""

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...objective import Evaluation, Objective
from ...spaces.capabilities import linear
from ._loops.blocks import center_blocks

#: Neighbours by loss whose gradients are taken for draws at one loss.
WINDOW = 40
#: Windows above which half of them are left out.
ENOUGH = 5000
#: Entries of gathered gradient rows held at a time.
CHUNK = 500_000
#: Consecutive rows that are fetched together.
RUN = 16
#: Losses that differ by less than this part of their spread are tied: how fast the
#: weights rise between them is nothing but rounding, and may overflow.
TIED = 1e-9


def stratified(n_rows: int, size: int) -> Indices:
    """About `size` rows, ascending: a short run from each stretch of equal length.

    Runs, because single rows are slow to fetch; at random places, because data may be
    periodic.
    """
    if size >= n_rows:
        return np.arange(n_rows)
    run = min(RUN, size)
    stretches = size // run
    edges = np.linspace(0, n_rows, stretches + 1).astype(np.int64)
    room = np.diff(edges) - run + 1
    starts = edges[:-1] + np.random.default_rng(0).integers(0, room)
    return np.asarray((starts[:, None] + np.arange(run)).ravel())


def spectral_hessian(sample: Objective, at: Evaluation) -> Floats:
    """Estimate of the Hessian of F where its spectrum is smooth.

    Beside ∂²Φ/∂θ² it has the part that comes from rows changing ranks. For a density
    s = S′ the weights are λ = p·s(P(ℓ)), so that rows near one loss contribute
    (ds/dℓ)·Cov(ℓ′x | ℓ); windows of neighbours estimate both factors.
    """
    hessian = sample.hessian(at.point, at.weights)
    if sample.ranking.spectrum.monotone == "flat":
        return hessian
    spread = _spread(sample, at)
    total = hessian if spread is None else hessian + spread
    return total if np.all(np.isfinite(total)) else hessian


def _spread(sample: Objective, at: Evaluation) -> Floats | None:
    """The part that comes from rows changing ranks; None if there is no window."""
    mass, losses = sample.ranking.mass, at.point.losses
    order = np.argsort(losses)
    starts = _windows(sample, at.weights[order] > 0.0)
    if len(starts) < 2:
        return None
    order = order[starts[0] : starts[-1]]
    starts = starts - starts[0]
    first, last = order[starts[:-1]], order[starts[1:] - 1]
    density = at.weights / mass
    rise = density[last] - density[first]
    run = losses[last] - losses[first]
    lengths = np.diff(starts)
    least = TIED * float(losses[order[-1]] - losses[order[0]])
    usable = (run > least) & (rise > 0.0)
    slope = np.where(usable, rise / np.where(usable, run, 1.0), 0.0)
    slope *= lengths / np.maximum(lengths - 1.0, 1.0)
    if len(lengths) > ENOUGH:  # every other one will do
        slope *= 2.0 * (np.arange(len(lengths)) % 2)
    scale = np.repeat(slope, lengths) * mass[order]
    rows = order[scale > 0.0]
    scale, lengths = scale[scale > 0.0], lengths[slope > 0.0]
    most = max(1, CHUNK // sample.space.size // WINDOW)
    spread = np.zeros((sample.space.size, sample.space.size))
    for begin in range(0, len(lengths), most):
        edges = np.concatenate([[0], np.cumsum(lengths[begin : begin + most])])
        offset = int(lengths[:begin].sum())
        chosen = slice(offset, offset + int(edges[-1]))
        space, within = linear(sample.space), rows[chosen]
        gathered = space.gradient_rows(within, at.slopes[within])
        center_blocks(gathered, scale[chosen], edges)
        spread += gathered.T @ gathered
    return spread


def _windows(sample: Objective, counts: Bools) -> Indices:
    """Where windows of neighbours begin in ascending order of loss; the end last.

    A superquantile changes its weights at one place only, so it has one window, wide
    enough for a covariance.
    """
    n = len(counts)
    if not sample.ranking.selects:
        return np.append(np.arange(0, n - WINDOW + 1, WINDOW), n)
    middle = int(np.argmax(counts))
    half = max(5 * sample.space.size, n // 50)
    return np.array([max(middle - half, 0), min(middle + half, n)])
