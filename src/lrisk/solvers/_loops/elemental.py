"""Elemental starts: exact fits of a few rows, then C-steps, in one compiled loop."""

import numpy as np

from ..._jit import jit
from ..._sorting import select
from ..._typing import Floats, Indices


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
    of them, or more where those are collinear.
    """
    starts, (n, m) = len(order), rows.shape
    best, sums = np.zeros((starts, m)), np.full(starts, np.inf)
    # Made here, since to compile the making of an array takes as long as a loop.
    work = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(n), np.empty(n)
    columns = np.ascontiguousarray(rows.T)
    _fit_all(rows, columns, y, ridge, kept, order, steps, *work, best, sums)
    return best, sums


def largest(keys: Floats, width: int) -> Indices:
    """Places of the largest keys of every row, from the largest on; (len(keys), width).

    Of keys U^(1/w), U uniform, these are draws without replacement, by weight.
    """
    places = np.argpartition(-keys, width - 1, axis=1)[:, :width]
    order = np.argsort(-np.take_along_axis(keys, places, 1), axis=1)
    return np.ascontiguousarray(np.take_along_axis(places, order, 1))


@jit(fastmath=False)
def _fit_all(  # type: ignore[no-untyped-def]
    rows, columns, y, ridge, kept, order, steps,
    gram, right, theta, squares, work, best, sums,
):  # fmt: skip
    starts, width = order.shape
    n, m = rows.shape
    for s in range(starts):
        count = m
        solved = False
        while count <= width and not solved:
            clear(gram, right)
            for k in range(count):
                add_row(gram, right, rows, y, order[s, k])
            solved = solve_in_place(gram, right, ridge, theta)
            count += 1
        for step in range(steps + 1):
            if not solved:
                break
            for i in range(n):
                squares[i] = -y[i]
            for j in range(m):
                slope = theta[j]
                for i in range(n):
                    squares[i] += columns[j, i] * slope
            for i in range(n):
                squares[i] = squares[i] * squares[i]
                work[i] = squares[i]
            threshold = select(work, kept - 1)
            cost = 0.0
            for j in range(m):
                cost += ridge[j] * theta[j] * theta[j]
            clear(gram, right)
            taken, last = 0, step == steps
            for i in range(n):
                if squares[i] < threshold:
                    cost += squares[i]
                    taken += 1
                    if not last:
                        add_row(gram, right, rows, y, i)
            for i in range(n):
                if taken < kept and squares[i] == threshold:
                    cost += squares[i]
                    taken += 1
                    if not last:
                        add_row(gram, right, rows, y, i)
            if cost < sums[s]:
                sums[s] = cost
                for j in range(m):
                    best[s, j] = theta[j]
            solved = not last and solve_in_place(gram, right, ridge, theta)


@jit(fastmath=False, inner=True)
def clear(gram: Floats, right: Floats) -> None:
    """Normal equations of no rows."""
    for j in range(right.shape[0]):
        right[j] = 0.0
        for k in range(right.shape[0]):
            gram[j, k] = 0.0


@jit(fastmath=False, inner=True)
def add_row(gram: Floats, right: Floats, rows: Floats, y: Floats, i: int) -> None:
    """Add row i to the normal equations (lower triangle)."""
    m = rows.shape[1]
    for j in range(m):
        right[j] += rows[i, j] * y[i]
        for k in range(j + 1):
            gram[j, k] += rows[i, j] * rows[i, k]


@jit(fastmath=False, inner=True)
def solve_in_place(gram: Floats, right: Floats, ridge: Floats, theta: Floats) -> bool:
    """Solve (gram + ridge)θ = right by Cholesky; False if the rows are collinear."""
    m = right.shape[0]
    for j in range(m):
        scale = gram[j, j] + ridge[j]
        pivot = scale
        for k in range(j):
            pivot -= gram[j, k] * gram[j, k]
        if not pivot > 1e-12 * scale:
            return False
        root = np.sqrt(pivot)
        gram[j, j] = root
        for i in range(j + 1, m):
            total = gram[i, j]
            for k in range(j):
                total -= gram[i, k] * gram[j, k]
            gram[i, j] = total / root
    for j in range(m):
        total = right[j]
        for k in range(j):
            total -= gram[j, k] * theta[k]
        theta[j] = total / gram[j, j]
    for j in range(m - 1, -1, -1):
        total = theta[j]
        for k in range(j + 1, m):
            total -= gram[k, j] * theta[k]
        theta[j] = total / gram[j, j]
    return True
