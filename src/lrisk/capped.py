"""Projections onto the dual set of a superquantile, without sorting.

There the permutahedron is a box with a sum, P = {0 ≤ λ_i ≤ p_i/(1 − q), Σλ = 1}, and a
maximiser is a clipped line, so that one number has to be found and no order.
"""

import numpy as np

from ._jit import jit
from ._typing import Floats, Indices
from .permutahedron import Projection
from .ranking import Ranking

#: How near to one a sum of λ is that only rounding keeps away from it: a million terms
#: err by a few hundred units.
EXACT = 1e-13


def capped_weights(
    ranking: Ranking, losses: Floats, center: Floats, nu: float
) -> Floats:
    """The weights of `capped_projection` alone."""
    weights, rows = np.empty(ranking.n_rows), np.empty(0, dtype=np.int64)
    _project(ranking, losses, center, nu, np.nan, weights, rows)
    return weights


def capped_projection(
    ranking: Ranking, losses: Floats, center: Floats, nu: float
) -> Projection:
    """`permutahedron.proximal_weights` under a superquantile.

    The maximiser of λ·ℓ − (ν/2) Σ(λ_i − c_i)²/w_i is
    λ_i = clip(c_i + w_i(ℓ_i − τ)/ν, 0, p_i/(1 − q)) with τ such that the sum is one;
    the rows that are not clipped are the one block that is pooled. For a small ν that τ
    is near the loss where the tail begins.
    """
    weights, rows = np.empty(ranking.n_rows), np.empty(ranking.n_rows, dtype=np.int64)
    guess = ranking.quantile(losses)
    pooled = _project(ranking, losses, center, nu, guess, weights, rows)
    starts = np.array([0, pooled]) if pooled else np.zeros(1, dtype=np.int64)
    return Projection(weights, rows[:pooled].copy(), starts)


def _project(
    ranking: Ranking,
    losses: Floats,
    center: Floats,
    nu: float,
    guess: float,
    weights: Floats,
    rows: Indices,
) -> int:
    """Set λ and, where there is room for them, the rows that are pooled; their number.

    A guess of NaN is none.
    """
    inverse = 1.0 / (1.0 - ranking.spectrum.support[0])
    w, mass = ranking.row_weight, ranking.mass
    return int(_cap(center, losses, w, mass, inverse, 1.0 / nu, guess, weights, rows))


@jit(fastmath=False)
def _cap(center, loss, w, mass, inverse, inverse_nu, guess, weights, rows):  # type: ignore[no-untyped-def]
    """Set λ; returns how many rows are pooled, which come first in `rows`."""
    n = loss.shape[0]
    low, high = np.inf, -np.inf  # all are at their caps at low, at zero at high
    for i in range(n):
        low = min(low, loss[i] + (center[i] - inverse * mass[i]) / (w[i] * inverse_nu))
        high = max(high, loss[i] + center[i] / (w[i] * inverse_nu))
    # Near τ the differences ℓ − τ are exact. A small ν makes much of the digits that τ
    # lacks, so what is missing is then sought as a number of its own.
    tau, total, anchor = guess, 0.0, 0.0
    if not low < tau < high:
        tau = 0.5 * (low + high)
    for _ in range(2):
        for _ in range(200):
            total, free = _clipped_sum(
                center, loss, w, mass, inverse, inverse_nu, anchor, tau, weights
            )
            if abs(total - 1.0) <= EXACT:
                break
            if total > 1.0:
                low = tau
            else:
                high = tau
            after = tau
            if free > 0.0:
                after = tau + (total - 1.0) / (free * inverse_nu)
                if after == tau:
                    break
            if not low < after < high:
                after = 0.5 * (low + high)
                if not low < after < high:
                    break
            tau = after
        anchor, low, high, tau = anchor + tau, low - tau, high - tau, 0.0
    pooled = 0
    for i in range(n):
        cap = inverse * mass[i]
        if 0.0 < weights[i] < cap and rows.shape[0]:
            rows[pooled] = i
            pooled += 1
        if total > 0.0:
            weights[i] = min(weights[i] / total, cap)
    return pooled if pooled > 1 else 0


@jit(fastmath=False, inner=True)
def _clipped_sum(center, loss, w, mass, inverse, inverse_nu, anchor, tau, weights):  # type: ignore[no-untyped-def]
    """Set λ for anchor + τ; its sum, and Σw over the rows that are not clipped."""
    total, free = 0.0, 0.0
    for i in range(loss.shape[0]):
        cap = inverse * mass[i]
        value = center[i] + w[i] * ((loss[i] - anchor) - tau) * inverse_nu
        if value >= cap:
            value = cap
        elif value > 0.0:
            free += w[i]
        else:
            value = 0.0
        weights[i] = value
        total += value
    return total, free
