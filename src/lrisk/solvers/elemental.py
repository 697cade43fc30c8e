"""Elemental starts: exact fits of a few rows, then C-steps, many starts at a time."""

import numpy as np

from .._typing import Bools, Floats, Indices

#: Numbers in an array over starts, rows and columns: what a processor's cache holds.
BLOCK = 1 << 17
#: Share of a column's square that others must leave, or it is a sum of them.
COLLINEAR = 1e-12


def elemental_fits(
    rows: Floats,
    y: Floats,
    ridge: Floats,
    kept: int,
    order: Indices,
    steps: int,
) -> tuple[Floats, Floats]:
    """Coefficients and sums of the lowest squared residuals, one for each start.

    rows (n, m) hold [x, 1], ridge (m,) the penalty of each column in units of squared
    residuals. order (starts, width) holds rows for each start: it uses the first m
    of them, or more where those are collinear. 1 ≤ kept ≤ n, m ≥ 1.
    """
    best, sums = np.zeros((len(order), rows.shape[1])), np.full(len(order), np.inf)
    block = max(1, BLOCK // (max(kept, order.shape[1]) * rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # such fits are not the best
        for first in range(0, len(order), block):
            some = slice(first, first + block)
            fits = _first_fits(rows, y, ridge, order[some])
            best[some], sums[some] = _concentrate(rows, y, ridge, kept, *fits, steps)
    return best, sums


def largest(keys: Floats, width: int) -> Indices:
    """Places of the largest keys of every row, from the largest on; (len(keys), width).

    Of keys U^(1/w), U uniform, these are draws without replacement, by weight.
    """
    places = np.argpartition(-keys, width - 1, axis=1)[:, :width]
    order = np.argsort(-np.take_along_axis(keys, places, 1), axis=1)
    return np.ascontiguousarray(np.take_along_axis(places, order, 1))


def _first_fits(
    rows: Floats, y: Floats, ridge: Floats, order: Indices
) -> tuple[Floats, Bools]:
    """θ of each start, and whether there is one."""
    m = rows.shape[1]
    theta, solved = _ridge_fits(rows, y, ridge, order[:, :m])
    for width in range(m + 1, order.shape[1] + 1):
        left = np.flatnonzero(~solved)
        if len(left) == 0:
            break
        found = _ridge_fits(rows, y, ridge, order[left, :width])
        theta[left], solved[left] = found
    return theta, solved


def _concentrate(
    rows: Floats,
    y: Floats,
    ridge: Floats,
    kept: int,
    theta: Floats,
    solved: Bools,
    steps: int,
) -> tuple[Floats, Floats]:
    """The lowest sum on the way of each start, and where."""
    best, sums = np.zeros_like(theta), np.full(len(theta), np.inf)
    going = np.flatnonzero(solved)
    theta = theta[going]
    for step in range(steps + 1):
        squares = (theta @ rows.T - y) ** 2
        nearest = _nearest(squares, kept)
        whole = np.sum(nearest, axis=1) == kept  # else some are no numbers
        going, theta = going[whole], theta[whole]
        chosen = np.nonzero(nearest[whole])[1].reshape(len(going), kept)
        cost = np.sum(np.take_along_axis(squares[whole], chosen, 1), axis=1)
        cost += theta**2 @ ridge
        lower = cost < sums[going]
        sums[going[lower]], best[going[lower]] = cost[lower], theta[lower]
        if step < steps:
            theta, solved = _ridge_fits(rows, y, ridge, chosen)
            going, theta = going[solved], theta[solved]
    return best, sums


def _nearest(squares: Floats, kept: int) -> Bools:
    """The rows of the smallest squares of each start; of equal ones the first rows."""
    threshold = np.partition(squares, kept - 1, axis=1)[:, kept - 1 : kept]
    below, tied = squares < threshold, squares == threshold
    missing = kept - np.sum(below, axis=1, keepdims=True)
    return np.asarray(below | (tied & (np.cumsum(tied, axis=1) <= missing)))


def _ridge_fits(
    rows: Floats, y: Floats, ridge: Floats, chosen: Indices
) -> tuple[Floats, Bools]:
    """Solutions of (XᵀX + ridge)θ = Xᵀy by Cholesky, and which are not collinear.

    One system for each row of `chosen`, which holds the places of X's rows.
    """
    some = rows[chosen]
    factor = some.transpose(0, 2, 1) @ some
    theta = np.einsum("sij,si->sj", some, y[chosen])
    m = rows.shape[1]
    pivots = np.einsum("sjj->sj", factor)
    pivots += ridge
    least = COLLINEAR * pivots
    solved = np.ones(len(chosen), dtype=np.bool_)
    for j in range(m):
        column = factor[:, j:, j]
        if j:
            column -= (factor[:, j:, :j] @ factor[:, j, :j, None])[:, :, 0]
        solved &= column[:, 0] > least[:, j]
        column[:, 0] = np.where(solved, column[:, 0], 1.0)
        column /= np.sqrt(column[:, :1])
        theta[:, j] /= column[:, 0]
        theta[:, j + 1 :] -= column[:, 1:] * theta[:, j, None]
    for j in range(m - 1, -1, -1):
        theta[:, j] /= factor[:, j, j]
        theta[:, :j] -= factor[:, j, :j] * theta[:, j, None]
    return theta, solved
