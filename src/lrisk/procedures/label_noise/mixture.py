"""One likelihood that joins all references and a matrix of label noise.

    P(y | x) = Σ_k q_k(x) T[k, y],     q = softmax(Σ_m w_m log p_m(x) + b),   w ≥ 0.

w, b and T are those of greatest likelihood, less α Σ(w − w̄)² + β (m w̄² + |b|²): which
reference is best is learnt slowly (`alike`), how sharp the classes are is for the
labels to say (`sharp`). T has a Dirichlet prior around uniform
flips: `strength` rows of each class, flipped uniformly, are added to those that are
seen. Without end it makes flips uniform, with one parameter; at little every pair of
classes has its own. A label j that is trusted counts as label K + j: T has K more
columns, T₀ of nearly no flips, which are not fitted. Where trusted labels contradict q,
q must give way: then classes overlap, and T has less to explain.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..._typing import Floats, Indices
from .constants import CONSTANTS
from .likelihood import label_terms, probabilities

#: Limits of log T[k, j]/T[k, k], j ≠ k: any flip is less likely than a right label.
FLIPS = (-12.0, -0.1)


class Mixture(NamedTuple):
    """Weights of references, shape (m,), offsets, shape (K,), T, and log likelihood."""

    weights: Floats
    offsets: Floats
    noise: Floats
    value: float

    def scores(self, logs: Floats) -> Floats:
        """Logarithm of q but for a constant, shape (n, K)."""
        return np.asarray(np.tensordot(self.weights, logs, 1) + self.offsets)

    def truth(self, logs: Floats) -> Floats:
        """q: probabilities of the true classes, shape (n, K)."""
        return probabilities(self.scores(logs))


def fit_mixture(
    logs: Floats,
    codes: Indices,
    weight: Floats,
    noise: Floats | None = None,
    *,
    start: Mixture | None = None,
    strength: float | None = None,
    sure: Floats | None = None,
) -> Mixture:
    """Find w and b of greatest likelihood, and T if its prior has a strength.

    `logs`, shape (m, n, K), are those of the references. `noise` is T, by default I;
    with a strength (rows per class; ∞ for uniform flips) it is the centre of the prior,
    and where T starts. w and b start from those of `start`. `sure` is T₀, needed if
    codes are of trusted labels, from K to 2K − 1.
    """
    m, n, K = logs.shape
    flat = np.ascontiguousarray(logs).reshape(m, n * K)
    centre = np.eye(K) if noise is None else noise
    off, tied = ~np.eye(K, dtype=bool), strength == np.inf
    count = 0 if strength is None else 1 if tied else K * (K - 1)
    sure = np.zeros((K, 0)) if sure is None else sure

    def noise_of(flips: Floats) -> Floats:
        if strength is None:
            return centre
        table = np.ones((K, K))
        table[off] = np.exp(flips)
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    def value(theta: Floats) -> tuple[float, Floats]:
        w, b, T = theta[:m], theta[m : m + K], noise_of(theta[m + K :])
        scores = (w @ flat).reshape(n, K) + b
        rows, truth, posterior = label_terms(scores, codes, np.hstack([T, sure]))
        pull = weight[:, None] * (truth - posterior)
        dear = CONSTANTS.alike * (w - w.mean()) + CONSTANTS.sharp * w.mean()
        loss = float(dear @ w + CONSTANTS.sharp * b @ b - weight @ rows)
        slopes = [flat @ pull.ravel() + 2.0 * dear, pull.sum(axis=0)]
        slopes[1] += 2.0 * CONSTANTS.sharp * b
        if strength is not None:
            seen = np.zeros((K, 2 * K))  # expected rows of true class k labelled j
            np.add.at(seen.T, codes, weight[:, None] * posterior)
            seen = seen[:, :K]
            if not tied:
                loss -= strength * float(np.sum(centre * np.log(T)))
                seen += strength * centre
            flips = (seen.sum(axis=1, keepdims=True) * T - seen)[off]
            slopes.append(flips.sum(keepdims=True) if tied else flips)
        return loss, np.concatenate(slopes)

    w, b = (np.full(m, 1.0 / m), np.zeros(K)) if start is None else start[:2]
    ratio = np.log(np.maximum(centre, 1e-6) / np.diag(centre)[:, None])[off]
    found = minimize(
        value,
        np.concatenate([w, b, ratio[:count]]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * m + [(None, None)] * K + [FLIPS] * count,
        options={"maxiter": 60, "ftol": 1e-7},
    )
    w, b, flips = np.split(found.x, [m, m + K])
    return Mixture(w, b, noise_of(flips), -found.fun)
