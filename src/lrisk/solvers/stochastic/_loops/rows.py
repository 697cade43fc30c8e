"""Passes over all rows: losses and slopes, and weighted sums of gradients.

Parameters are held as W of shape (k, d) and b of shape (k,), one row for each score; b
is only moved when the model has an intercept.
"""

from typing import Any

import numpy as np

from ...._jit import jit
from ....losses import row_slopes, row_value
from ....spaces.rows import row_axpy, row_dot


@jit
def evaluate(
    loss: Any, rows: Any, y: Any, W: Any, b: Any, losses: Any, slopes: Any
) -> Any:
    """Losses (n,) and slopes (n, k) of every row at (W, b), in place."""
    k = W.shape[0]
    z = np.empty(k)
    for i in range(y.shape[0]):
        for c in range(k):
            z[c] = row_dot(rows, i, W[c]) + b[c]
        losses[i] = row_value(loss, y[i], z)
        row_slopes(loss, y[i], z, slopes[i])


@jit
def weighted_gradient(rows: Any, weights: Any, slopes: Any, G: Any, h: Any) -> Any:
    """Σ λ_i s_i x_i in G (k, d) and Σ λ_i s_i in h (k,), in place."""
    G[:, :] = 0.0
    h[:] = 0.0
    for i in range(weights.shape[0]):
        if weights[i] != 0.0:
            for c in range(G.shape[0]):
                a = weights[i] * slopes[i, c]
                h[c] += a
                row_axpy(rows, i, a, G[c])


@jit
def row_products(rows: Any, G: Any, products: Any) -> Any:
    """x_i·G_c for every row and score, in `products` (n, k)."""
    for i in range(products.shape[0]):
        for c in range(G.shape[0]):
            products[i, c] = row_dot(rows, i, G[c])
