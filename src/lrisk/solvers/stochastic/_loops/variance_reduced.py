"""Variance-reduced steps about a checkpoint: the inner loop of LSVRG and SOREL."""

from typing import Any

import numpy as np

from ...._jit import jit
from ....losses import row_slopes
from ....spaces.rows import row_axpy, row_dot
from .rows import row_products, weighted_gradient


@jit
def epoch_steps(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    indices: Any,
    weights: Any,
    uniform: Any,
    slopes: Any,
    rate: Any,
    mu: Any,
    pull: Any,
    intercept: Any,
    drift: Any,
    products: Any,
    gains: Any,
) -> Any:
    """Full gradient at the checkpoint (W, b), then variance-reduced steps from it.

    Parameters
    ----------
    weights : array of shape (n,)
        λ. Rows were drawn uniformly, or (`uniform` false) with these probabilities.
    slopes : array of shape (n, k)
        ℓ′ at the checkpoint.
    pull : float
        Strength of a term (pull/2)‖w − w̄‖² in every step, intercepts included.
    drift, products, gains : arrays of shape (k, d), (n, k) and (n,)
        Work space.
    """
    n, k = weights.shape[0], W.shape[0]
    drift_b = np.empty(k)
    weighted_gradient(rows, weights, slopes, drift, drift_b)
    for c in range(k):
        drift_b[c] = rate * (drift_b[c] - pull * b[c])
        for j in range(W.shape[1]):
            drift[c, j] = rate * (drift[c, j] - pull * W[c, j])
    row_products(rows, drift, products)
    for i in range(n):
        gains[i] = rate * n * weights[i] if uniform else rate
    variance_reduced_steps(
        loss,
        rows,
        y,
        W,
        b,
        indices,
        gains,
        slopes,
        drift,
        products,
        drift_b,
        1.0 - rate * (mu + pull),
        1.0 - rate * pull,
        intercept,
    )


@jit
def variance_reduced_steps(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    indices: Any,
    gains: Any,
    slopes: Any,
    drift: Any,
    drift_products: Any,
    drift_b: Any,
    decay: Any,
    decay_b: Any,
    intercept: Any,
) -> Any:
    """Step w ← decay·w − gain_i (ℓ′_i(w) − ℓ′_i(w̄)) x_i − drift, for i in `indices`.

    Parameters
    ----------
    W, b : arrays of shape (k, d) and (k,)
        Changed in place.
    indices : array of shape (T,)
        Rows, drawn beforehand.
    gains : array of shape (n,)
        Step size times the row's weight over its probability, η·nλ_i.
    slopes : array of shape (n, k)
        ℓ′ at the checkpoint.
    drift : array of shape (k, d)
        η times what is added in every step, the full gradient at the checkpoint.
    drift_products : array of shape (n, k)
        x_i·drift, so that a sparse row costs only its own entries: w is held as
        scale·V + shift·drift, and only V and the two numbers move.
    drift_b, decay, decay_b
        The same for the intercept; 1 − ημ, and the intercept's.
    """
    k = W.shape[0]
    z = np.empty(k)
    s = np.empty(k)
    scale, shift = 1.0, 0.0
    for t in range(indices.shape[0]):
        i = indices[t]
        if gains[i] == 0.0:  # a row without weight: nothing of it need be read
            scale *= decay
            shift = decay * shift - 1.0
            if intercept:
                for c in range(k):
                    b[c] = decay_b * b[c] - drift_b[c]
            continue
        for c in range(k):
            z[c] = scale * row_dot(rows, i, W[c]) + shift * drift_products[i, c] + b[c]
        row_slopes(loss, y[i], z, s)
        scale *= decay
        shift = decay * shift - 1.0
        if scale < 1e-8:  # fold the number into V before it underflows
            for c in range(k):
                for j in range(W.shape[1]):
                    W[c, j] *= scale
            scale = 1.0
        for c in range(k):
            a = gains[i] * (s[c] - slopes[i, c])
            row_axpy(rows, i, -a / scale, W[c])
            if intercept:
                b[c] = decay_b * b[c] - a - drift_b[c]
    for c in range(k):
        for j in range(W.shape[1]):
            W[c, j] = scale * W[c, j] + shift * drift[c, j]
