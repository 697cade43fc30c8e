"""The inner loop of Prospect: tables of losses, slopes and weights."""

from typing import Any

import numpy as np

from ...._jit import jit
from ....losses import row_slopes, row_value
from ....spaces.rows import row_axpy, row_dot


@jit
def prospect_steps(
    loss: Any,
    rows: Any,
    y: Any,
    W: Any,
    b: Any,
    indices: Any,
    rate: Any,
    mu: Any,
    intercept: Any,
    sigma: Any,
    tracked: Any,
    losses: Any,
    order: Any,
    places: Any,
    weights: Any,
    table_weights: Any,
    slopes: Any,
    G: Any,
    h: Any,
) -> Any:
    """Steps w ← w − η(n q_i ∇ℓ_i − n ρ_i g_i + ḡ + μw) with tables kept up to date.

    The tables are changed in place: `losses` (n,) l, `slopes` (n, k) the slopes of g,
    `table_weights` ρ, `weights` q, and ḡ = Σρ_i g_i in G (k, d) and h (k,). With
    `tracked` the rows stay sorted by l: `order` lists them, `places` is its inverse,
    and q_i = σ at the place of i changes only between the old and the new place of the
    row that was visited.
    """
    n, k = losses.shape[0], W.shape[0]
    z, s, a = np.empty(k), np.empty(k), np.empty(k)
    for t in range(indices.shape[0]):
        i = indices[t]
        for c in range(k):
            z[c] = row_dot(rows, i, W[c]) + b[c]
        row_slopes(loss, y[i], z, s)
        value = row_value(loss, y[i], z)
        for c in range(k):
            a[c] = weights[i] * s[c] - table_weights[i] * slopes[i, c]
            for j in range(W.shape[1]):
                W[c, j] -= rate * (mu * W[c, j] + G[c, j])
            row_axpy(rows, i, -rate * n * a[c], W[c])
            row_axpy(rows, i, a[c], G[c])
            if intercept:
                b[c] -= rate * (n * a[c] + h[c])
                h[c] += a[c]
            slopes[i, c] = s[c]
        table_weights[i] = weights[i]
        losses[i] = value
        if tracked:
            _move(i, value, losses, order, places, weights, sigma)


@jit
def _move(
    i: Any, value: Any, losses: Any, order: Any, places: Any, weights: Any, sigma: Any
) -> Any:
    """Bring row i to its place after its loss changed, giving out σ on the way."""
    n, place = losses.shape[0], places[i]
    while place > 0 and losses[order[place - 1]] > value:
        order[place] = order[place - 1]
        places[order[place]] = place
        weights[order[place]] = sigma[place]
        place -= 1
    while place < n - 1 and losses[order[place + 1]] < value:
        order[place] = order[place + 1]
        places[order[place]] = place
        weights[order[place]] = sigma[place]
        place += 1
    order[place] = i
    places[i] = place
    weights[i] = sigma[place]
