"""Corrected loss, gradient and Gram matrix of squared loss; the corrected fit."""

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from .covariances import CorrectedRows, average, times


def corrected_losses(rows: CorrectedRows, y: Floats, w: Floats) -> Floats:
    """(w·x̄ − y)² − wᵀCw + 2w·c for every row: unbiased for (w·x − y)² plus Var(n_y)."""
    residual = rows.mean @ w - y
    return residual**2 - times(rows.covariance, w) @ w + 2.0 * rows.cross @ w


def corrected_gradients(rows: CorrectedRows, y: Floats, w: Floats) -> Floats:
    """2(w·x̄ − y)x̄ − 2Cw + 2c for every row: unbiased for 2(w·x − y)x; shape (n, d)."""
    residual = rows.mean @ w - y
    pull = times(rows.covariance, w) - rows.cross
    return 2.0 * (residual[:, None] * rows.mean - pull)


def corrected_gram(rows: CorrectedRows, weights: Floats | None = None) -> Floats:
    """Mean of x̄x̄ᵀ − C: unbiased for the Gram matrix of the clean rows, XᵀX/n.

    With weights, shape (n,), of sum one: the weighted mean.
    """
    if weights is None:
        gram = rows.mean.T @ rows.mean / len(rows.mean)
    else:
        gram = (rows.mean * weights[:, None]).T @ rows.mean
    return np.asarray(gram - average(rows.covariance, weights))


class LinearFit(NamedTuple):
    """A corrected least-squares fit.

    Attributes
    ----------
    w : array of shape (d,)
    ridge : float
        λ used, on the scale of the Gram matrix.
    lowest : float
        Smallest eigenvalue of the corrected Gram matrix before clipping, relative to
        the largest; negative if the noise explains more than the rows' variance.
    """

    w: Floats
    ridge: float
    lowest: float


def corrected_least_squares(
    rows: CorrectedRows,
    y: Floats,
    ridge: float | None = None,
    weights: Floats | None = None,
) -> LinearFit:
    """Solve (Γ₊ + λI) w = X̄ᵀy/n − c, Γ₊ the corrected Gram clipped to its cone.

    Parameters
    ----------
    ridge : float or None
        λ; None means the floor ½(2√(σ̄² tr Γ/d) + 2σ̄²)√(d/n) with σ̄² the mean noise
        variance: the size of the error of Γ itself.
    weights : array of shape (n,) or None
        A row of weight k counts as k rows.
    """
    n, d = rows.mean.shape
    shares = None
    if weights is not None:
        n, shares = float(weights.sum()), weights / weights.sum()
    gram = corrected_gram(rows, shares)
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    largest = max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
    lowest = float(values.min(initial=largest)) / largest
    values = values.clip(0.0)
    if ridge is None:
        noise = max(float(np.trace(average(rows.covariance, shares))), 0.0) / d
        signal = float(values.sum()) / d
        ridge = 0.5 * (2.0 * np.sqrt(noise * signal) + 2.0 * noise) * np.sqrt(d / n)
    # Minimum-norm where neither data nor ridge decide, as ordinary least squares does.
    denominator = values + ridge
    usable = denominator > 1e-12 * largest
    # The clipped directions carry no signal: keep their noise out of w.
    weighted = y if weights is None else weights * y
    target = vectors.T @ (rows.mean.T @ weighted / n - rows.cross)
    scaled = np.where(usable, target / np.where(usable, denominator, 1.0), 0.0)
    return LinearFit(vectors @ scaled, float(ridge), lowest)
