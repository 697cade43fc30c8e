"""The weighted ridge fits that the baselines repeat.

    minimise over f     Σ w_i (y_i − f(x_i))² + α‖f‖²

for f linear with a free intercept, or in the space of a kernel.
"""

import numpy as np
import scipy.linalg

from .._typing import Floats

#: Below this pivot of a correlation matrix its columns count as collinear.
SMALLEST_PIVOT = 1e-6


def weighted_ridge(
    X: Floats, y: Floats, weights: Floats, alpha: float, intercept: bool
) -> tuple[Floats, float]:
    """Coefficients (d,) and intercept; the shortest solution where many are as good.

    With all weights 1 this is scikit-learn's ``Ridge(alpha)``.
    """
    used = weights > 0
    if not used.all():
        X, y, weights = X[used], y[used], weights[used]
    mean, level = np.zeros(X.shape[1]), 0.0
    if intercept:
        mass = weights / weights.sum()
        mean, level = mass @ X, float(mass @ y)
    root = np.sqrt(weights)
    rows, right = root[:, None] * (X - mean), root * (y - level)
    coef = _least_squares(rows, right, alpha)
    return coef, float(level - mean @ coef)


def _least_squares(rows: Floats, right: Floats, alpha: float) -> Floats:
    n, d = rows.shape
    if d <= n or alpha > 0:
        gram = rows.T @ rows
        gram[np.diag_indices(d)] += alpha
        size = np.sqrt(np.diag(gram))
        if np.all(size > 0):
            factor, info = scipy.linalg.lapack.dpotrf(gram / np.outer(size, size))
            if info == 0 and np.min(np.diag(factor)) > SMALLEST_PIVOT:
                solution = scipy.linalg.cho_solve(
                    (factor, False), (rows.T @ right) / size
                )
                return np.asarray(solution / size)
    if alpha > 0:
        rows = np.vstack([rows, np.sqrt(alpha) * np.eye(d)])
        right = np.concatenate([right, np.zeros(d)])
    return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


def kernel_ridge(K: Floats, y: Floats, weights: Floats, alpha: float) -> Floats:
    """Coefficients a of f = Σ a_i k(x_i, ·), zero where the weight is zero.

    a = R(RKR + αI)⁻¹Ry with R the root of the weights; α > 0.
    """
    coefficients = np.zeros(len(y))
    used = np.flatnonzero(weights)
    root = np.sqrt(weights[used])
    system = root[:, None] * K[np.ix_(used, used)] * root
    system[np.diag_indices(len(used))] += alpha
    solved = scipy.linalg.solve(system, root * y[used], assume_a="pos")
    coefficients[used] = root * solved
    return coefficients
