"""The dual set of a spectral risk, and projections onto it.

For an increasing spectrum the risk is a maximum over a permutahedron,

    Σ σ_i ℓ_(i) = max { λ·ℓ : λ ∈ P },   P = {λ : λ(A) ≥ S(p(A)) for all A, Σλ = 1}

(paper 1, proposition 2). Subtracting νΩ(λ) inside the maximum smooths it (equation 6);
the maximiser is the gradient and is found by isotonic regression, that is by pooling
adjacent violators after sorting (appendix D.2; for unequal masses the pooling must be
weighted, or a row of weight k is no longer k rows).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._jit import jit
from ._params import check_choice, check_real, refused
from ._typing import Floats, Indices
from .ranking import Ranking, ascending, check_losses, check_row_weights
from .spectra import SMOOTHINGS as SMOOTHINGS
from .spectra import Spectrum, parse_spectrum


class Projection(NamedTuple):
    """A maximiser λ over the permutahedron and the blocks in which rows were pooled.

    Attributes
    ----------
    weights : array of shape (n,)
        λ in the order of the rows.
    rows : array of shape (m,)
        The rows of all blocks of two rows or more, one block after the other. There may
        be blocks of a single row among them.
    starts : array of shape (n_blocks + 1,)
        Where each block begins in `rows`; the last entry is m. Within a block B
        ∂λ/∂ℓ = (1/ν)(diag w_B − w_B w_Bᵀ/Σw_B); otherwise it is zero.
    """

    weights: Floats
    rows: Indices
    starts: Indices


def proximal_weights(
    ranking: Ranking, losses: Floats, center: Floats, nu: float
) -> Projection:
    """Maximise λ·ℓ − (ν/2) Σ(λ_i − c_i)²/w_i over the permutahedron.

    With c = p this is the gradient of the L2-smoothed risk; with c the last λ it is the
    step of the augmented Lagrangian. The maximiser is λ_i = w_i(κ_i − u_i) with keys
    κ_i = c_i/w_i + ℓ_i/ν in ascending order and u the isotonic regression of κ − σ/w
    with weights w.
    """
    w = ranking.row_weight
    # As losses.mean(), without what numpy adds to it in Python.
    key = losses - np.add.reduce(losses) / ranking.n_rows
    key /= nu
    key += center / w
    order = ascending(key)
    sigma = ranking.sigma(order)
    starts = np.empty(ranking.n_rows + 1, dtype=np.int64)
    weights = np.empty(ranking.n_rows)
    n_blocks = _pool_l2(order, key, center, losses, w, sigma, 1.0 / nu, weights, starts)
    pooled, starts = order[: starts[n_blocks]], starts[: n_blocks + 1].copy()
    return Projection(weights, pooled, starts)


@jit(fastmath=False)  # see `lrisk._jit.jit` on bits
def _pool_l2(order, key, center, loss, w, sigma, inverse_nu, weights, starts):  # type: ignore[no-untyped-def]
    """Pool adjacent violators for the L2 term; σ is in the given order, by key.

    Returns the number of blocks of two rows or more. In the end `starts` says where
    these begin among their rows, which come first in `order`.

    The block means decide what is pooled; the weights are then computed anew from
    losses centred within their block, because w(κ − u) cancels badly for small ν.
    """
    n = order.shape[0]
    total = np.empty(n)
    weight = np.empty(n)
    k = -1
    for i in range(n):
        k += 1
        starts[k] = i
        total[k] = w[order[i]] * key[order[i]] - sigma[i]
        weight[k] = w[order[i]]
        while k > 0 and total[k - 1] * weight[k] >= total[k] * weight[k - 1]:
            total[k - 1] += total[k]
            weight[k - 1] += weight[k]
            k -= 1
    starts[k + 1] = n
    pooled, even = total, np.empty(n)
    whole = 0.0
    for b in range(k + 1):
        first, last = starts[b], starts[b + 1]
        if last - first == 1:  # most rows are alone, and keep their σ
            pooled[first] = sigma[first]
            whole += pooled[first]
            continue
        level, block = 0.0, 0.0
        for i in range(first, last):
            row = order[i]
            even[i] = w[row]
            block += w[row]
            pooled[i] = center[row] / w[row]
            pooled[i] += (loss[row] - loss[order[first]]) * inverse_nu
            level += w[row] * pooled[i] - sigma[i]
        level /= block
        for i in range(first, last):
            pooled[i] = max(even[i] * (pooled[i] - level), 0.0)
        _settle(first, last, even, sigma, pooled)
        for i in range(first, last):
            whole += pooled[i]
    for i in range(n):
        weights[order[i]] = pooled[i] / whole
    blocks, rows = 0, 0
    for b in range(k + 1):
        first, last = starts[b], starts[b + 1]
        if last - first > 1:
            starts[blocks] = rows  # never ahead of what is read
            blocks += 1
            for i in range(first, last):
                order[rows] = order[i]
                rows += 1
    starts[blocks] = rows
    return blocks


@jit(fastmath=False)
def proximity(weights, center, w):  # type: ignore[no-untyped-def]
    """½Σ(λ − c)²/w, compiled."""
    total = 0.0
    for i in range(weights.shape[0]):
        away = weights[i] - center[i]
        total += away * away / w[i]
    return 0.5 * total


@jit(fastmath=False, inner=True)
def _settle(first, last, w, sigma, pooled):  # type: ignore[no-untyped-def]
    """Give a block its weight Σσ exactly, and keep its λ in the permutahedron.

    Rounding may put λ outside the set, and a dual bound from there would be false: the
    block is mixed with its own even share until no prefix falls short of σ.
    """
    if last - first == 1:
        pooled[first] = sigma[first]
        return
    block_sigma = 0.0
    block_w = 0.0
    total = 0.0
    for i in range(first, last):
        block_sigma += sigma[i]
        block_w += w[i]
        total += pooled[i]
    share = block_sigma / block_w
    mix = 1.0
    if total > 0.0:
        mix = 0.0
        scale = block_sigma / total
        has, needs, even = 0.0, 0.0, 0.0
        for i in range(first, last):
            pooled[i] *= scale
        for i in range(first, last - 1):  # over the whole block all three agree
            has += pooled[i]
            needs += sigma[i]
            even += share * w[i]
            if has < needs and even > has:
                mix = max(mix, min((needs - has) / (even - has), 1.0))
    if mix > 0.0:
        for i in range(first, last):
            pooled[i] += mix * (share * w[i] - pooled[i])


def entropic_weights(ranking: Ranking, losses: Floats, nu: float) -> Projection:
    """Maximise λ·ℓ − ν Σ λ_i log(λ_i/p_i) over the permutahedron.

    Within a pooled block B the weight Σ_B σ is shared by a softmax, λ_i ∝ p_i
    e^{ℓ_i/ν}; block values are log Σ_B p e^{ℓ/ν} − log Σ_B σ.
    """
    order = ascending(losses)
    sigma = ranking.sigma(order)
    mass, ordered = ranking.mass[order], losses[order]
    starts = np.empty(ranking.n_rows + 1, dtype=np.int64)
    pooled = np.empty(ranking.n_rows)
    n_blocks = _pool_entropy(ordered, mass, sigma, 1.0 / nu, pooled, starts)
    weights = np.empty(ranking.n_rows)
    weights[order] = pooled / pooled.sum()
    return Projection(weights, order, starts[: n_blocks + 1])


@jit(fastmath=False)
def _pool_entropy(loss, mass, sigma, inverse_nu, pooled, starts):  # type: ignore[no-untyped-def]
    """Pool adjacent violators for the entropy term; arrays in ascending order of loss.

    A block without weight (leading σ = 0) has the value +∞ and so always joins the
    next. As for L2, what a block shares is computed from losses centred within it.
    """
    n = loss.shape[0]
    log_sum = np.empty(n)
    weight = np.empty(n)
    value = np.empty(n)
    k = -1
    for i in range(n):
        k += 1
        starts[k] = i
        log_sum[k] = np.log(mass[i]) + (loss[i] - loss[n - 1]) * inverse_nu
        weight[k] = sigma[i]
        value[k] = np.inf if sigma[i] <= 0.0 else log_sum[k] - np.log(sigma[i])
        while k > 0 and value[k - 1] >= value[k]:
            high = max(log_sum[k - 1], log_sum[k])
            low = min(log_sum[k - 1], log_sum[k])
            log_sum[k - 1] = high + np.log1p(np.exp(low - high))
            weight[k - 1] += weight[k]
            k -= 1
            value[k] = np.inf
            if weight[k] > 0.0:
                value[k] = log_sum[k] - np.log(weight[k])
    starts[k + 1] = n
    for b in range(k + 1):
        first, last = starts[b], starts[b + 1]
        for i in range(first, last):
            pooled[i] = mass[i] * np.exp((loss[i] - loss[last - 1]) * inverse_nu)
        _settle(first, last, mass, sigma, pooled)
    return k + 1


def smoothed_weights(
    ranking: Ranking, losses: Floats, smoothing: str | None, nu: float
) -> Floats:
    """Gradient λ of the smoothed risk; without smoothing, the weights by rank."""
    if smoothing is None or nu == 0:
        return ranking.shared_weights(losses)
    if smoothing == "l2":
        return proximal_weights(ranking, losses, ranking.mass, nu).weights
    return entropic_weights(ranking, losses, nu).weights


def smoothed_risk(
    ranking: Ranking, losses: Floats, smoothing: str | None, nu: float
) -> tuple[float, Floats]:
    """h_ν(ℓ) = max λ·ℓ − νΩ(λ) and its gradient λ (paper 1, equation 6)."""
    weights = smoothed_weights(ranking, losses, smoothing, nu)
    if smoothing is None or nu == 0:
        return ranking.risk(losses), weights
    penalty = smoothing_penalty(ranking, weights, smoothing)
    return float(weights @ losses) - nu * penalty, weights


def smoothing_penalty(ranking: Ranking, weights: Floats, smoothing: str) -> float:
    """Ω(λ), ½Σ(λ − p)²/w or Σλ log(λ/p)."""
    p = ranking.mass
    if smoothing == "l2":
        return 0.5 * float(np.sum((weights - p) ** 2 / ranking.row_weight))
    positive = weights > 0
    ratio = weights[positive] / p[positive]
    return float(np.sum(weights[positive] * np.log(ratio)))


def project(ranking: Ranking, weights: Floats) -> Floats:
    """Nearest point of the permutahedron, in the norm Σ(·)²/w."""
    nothing = np.zeros(ranking.n_rows)
    return proximal_weights(ranking, nothing, weights, 1.0).weights


def risk_and_excess(
    ranking: Ranking, losses: Floats, weights: Floats
) -> tuple[float, float]:
    """The risk Σσ_iℓ_(i), and by how much it exceeds λ·ℓ for a λ in the permutahedron.

    The excess is summed by parts, Σ (Λ_i − Σ_i)(ℓ_(i+1) − ℓ_(i)) with Λ and Σ the
    partial sums of λ and σ in ascending order of loss: its terms are non-negative,
    where the plain difference of the two values would cancel.
    """
    if ranking.spectrum.monotone == "flat":
        return float(ranking.mass @ losses), 0.0
    if ranking.selects and ranking.equal:
        return ranking.superquantile_and_excess(losses, weights)
    order = ascending(losses)
    value, excess = _by_parts(order, losses, weights, ranking.sigma(order))
    return float(value), float(excess)


@jit(fastmath=False)
def _by_parts(order, losses, weights, sigma):  # type: ignore[no-untyped-def]
    """The two sums of `risk_and_excess`; σ is in the given order.

    The value is summed in parts, which keeps the digits of very many rows.
    """
    value, part, excess, ahead, lower = 0.0, 0.0, 0.0, 0.0, losses[order[0]]
    for i in range(order.shape[0]):
        loss = losses[order[i]]
        excess += max(ahead, 0.0) * (loss - lower)
        ahead += weights[order[i]] - sigma[i]
        part += sigma[i] * loss
        lower = loss
        if i % 512 == 511:
            value += part
            part = 0.0
    return value + part, excess


def majorisation_excess(ranking: Ranking, weights: Floats) -> float:
    """By how much λ leaves the permutahedron: max_A S(p(A)) − λ(A), 0 inside.

    The worst set A of each size is a prefix in ascending order of λ/p.
    """
    order = ascending(weights / ranking.mass)
    missing = np.cumsum(ranking.sigma(order)) - np.cumsum(weights[order])
    return float(max(missing.max(), abs(weights.sum() - 1.0), 0.0))


def risk_weights(
    losses: ArrayLike,
    spectrum: str | Spectrum = "superquantile",
    *,
    sample_weight: ArrayLike | None = None,
    smoothing: str | None = None,
    nu: float = 0.0,
) -> Floats:
    """Compute the weight of each row in a weighted mean of the sorted losses.

    These are the weights λ with which rows enter the (sub)gradient of the spectral
    risk: Σ λ_i ∇ℓ_i is a subgradient of the risk Σ σ_i ℓ_(i) in whatever the losses
    depend on.

    Parameters
    ----------
    losses : array-like of shape (n,)
        The losses, one for each row, in any order.
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `RiskRegressor`.
    sample_weight : array-like of shape (n,) or None, default=None
        A weight k counts like k rows.
    smoothing : {"l2", "entropy"} or None, default=None
        Smooth the risk first, which needs a non-decreasing spectrum.
    nu : float ≥ 0, default=0.0
        How much; 0 means not at all.

    Returns
    -------
    array of shape (n,)
        Non-negative, of sum one. Tied losses share by mass.

    See Also
    --------
    risk : The weighted mean itself.
    lrisk.boosting.objective : Uses these weights in boosted trees.

    Examples
    --------
    >>> import lrisk
    >>> lrisk.risk_weights([3.0, 1.0, 2.0, 10.0], "superquantile:0.5")
    array([0.5, 0. , 0. , 0.5])
    """
    losses = check_losses(losses)
    family = parse_spectrum(spectrum)
    weight = check_row_weights(sample_weight, losses.size)
    check_choice("lrisk", "smoothing", smoothing, (None, *SMOOTHINGS))
    check_real("lrisk", "nu", nu, low=0, remedy="0 means no smoothing")
    if smoothing is not None and nu > 0 and family.monotone not in ("flat", "up"):
        rule, remedy = (
            "None for a spectrum that is not increasing",
            "drop the smoothing",
        )
        raise ValueError(refused("lrisk", "smoothing", rule, smoothing, remedy))
    kept = np.ones(losses.size, bool) if weight is None else weight > 0
    inner = None if weight is None else weight[kept]
    ranking = Ranking(family, int(kept.sum()), inner)
    result = np.zeros(losses.size)
    result[kept] = smoothed_weights(ranking, losses[kept], smoothing, float(nu))
    return result
