"""Loops over the blocks in which rows were pooled."""

import numpy as np

from ...._jit import jit


@jit(fastmath=False)
def center_blocks(rows, w, starts):  # type: ignore[no-untyped-def]
    """Replace each row by √w·(row − weighted mean of its block), in place.

    Parameters
    ----------
    rows : array of shape (m, size)
    w : array of shape (m,)
    starts : array of shape (n_blocks + 1,)
        Where each block begins; the last entry is m.
    """
    size = rows.shape[1]
    mean = np.empty(size)
    for b in range(starts.shape[0] - 1):
        total = 0.0
        for j in range(size):
            mean[j] = 0.0
        for i in range(starts[b], starts[b + 1]):
            total += w[i]
            for j in range(size):
                mean[j] += w[i] * rows[i, j]
        for j in range(size):
            mean[j] /= total
        for i in range(starts[b], starts[b + 1]):
            root = np.sqrt(w[i])
            for j in range(size):
                rows[i, j] = root * (rows[i, j] - mean[j])
