"""Steps on minibatches, weighted by rank within the batch: SGD and SRDA."""

from typing import Any

import numpy as np

from ...._jit import jit
from ....losses import row_slopes, row_value
from ....spaces.rows import row_axpy, row_dot


@jit
def batch_gradient(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    batch: Any,
    sigma: Any,
    slopes: Any,
    losses: Any,
    order: Any,
    G: Any,
    h: Any,
) -> Any:
    """Σ_j σ̂_j ∇ℓ_(j) over a minibatch, in G (k, d) and h (k,) (paper 1, equation 30).

    `slopes` (m, k), `losses` (m,) and `order` (m,) are work space. Ties keep the order
    of the batch.
    """
    m, k = batch.shape[0], W.shape[0]
    z = np.empty(k)
    for j in range(m):
        i = batch[j]
        for c in range(k):
            z[c] = row_dot(rows, i, W[c]) + b[c]
        value = row_value(loss, y[i], z)
        row_slopes(loss, y[i], z, slopes[j])
        place = j  # insertion: a batch is short
        while place > 0 and losses[place - 1] > value:
            losses[place] = losses[place - 1]
            order[place] = order[place - 1]
            place -= 1
        losses[place] = value
        order[place] = j
    G[:, :] = 0.0
    h[:] = 0.0
    for j in range(m):
        if sigma[j] != 0.0:
            for c in range(k):
                a = sigma[j] * slopes[order[j], c]
                h[c] += a
                row_axpy(rows, batch[order[j]], a, G[c])


@jit
def sgd_steps(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    batches: Any,
    sigma: Any,
    rates: Any,
    mu: Any,
    intercept: Any,
    W_sum: Any,
    b_sum: Any,
) -> Any:
    """Step w ← (1 − ημ)w − ηv for each batch (Algorithm 1); sums the iterates."""
    m, k = batches.shape[1], W.shape[0]
    slopes, losses = np.empty((m, k)), np.empty(m)
    order = np.empty(m, np.int64)
    G, h = np.empty_like(W), np.empty(k)
    for t in range(batches.shape[0]):
        for c in range(k):
            b_sum[c] += b[c]
            for j in range(W.shape[1]):
                W_sum[c, j] += W[c, j]
        batch_gradient(
            loss, rows, y, W, b, batches[t], sigma, slopes, losses, order, G, h
        )
        rate = rates[t]
        for c in range(k):
            for j in range(W.shape[1]):
                W[c, j] = (1.0 - rate * mu) * W[c, j] - rate * G[c, j]
            if intercept:
                b[c] -= rate * h[c]


@jit
def srda_steps(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    batches: Any,
    sigma: Any,
    rate: Any,
    mu: Any,
    intercept: Any,
    W_sum: Any,
    b_sum: Any,
    passed: Any,
) -> Any:
    """Set w = −ḡ/(μ + 1/(ηt)) with ḡ the mean of the t gradients so far (appendix F.3).

    W_sum and b_sum carry the sums of gradients; `passed` counts those before.
    """
    m, k = batches.shape[1], W.shape[0]
    slopes, losses = np.empty((m, k)), np.empty(m)
    order = np.empty(m, np.int64)
    G, h = np.empty_like(W), np.empty(k)
    for t in range(batches.shape[0]):
        batch_gradient(
            loss, rows, y, W, b, batches[t], sigma, slopes, losses, order, G, h
        )
        count = passed + t + 1
        for c in range(k):
            for j in range(W.shape[1]):
                W_sum[c, j] += G[c, j]
                W[c, j] = -rate * W_sum[c, j] / (rate * mu * count + 1.0)
            if intercept:
                b_sum[c] += h[c]
                b[c] = -rate * b_sum[c]


@jit
def draw_batches(uniforms: Any, pool: Any, batches: Any) -> Any:
    """Independent minibatches without replacement, from numbers drawn beforehand.

    A partial shuffle of `pool` (n,) gives each subset the same chance whatever order
    the last one left behind.
    """
    n = pool.shape[0]
    for t in range(batches.shape[0]):
        for j in range(batches.shape[1]):
            other = j + int(uniforms[t, j] * (n - j))
            pool[j], pool[other] = pool[other], pool[j]
            batches[t, j] = pool[j]
