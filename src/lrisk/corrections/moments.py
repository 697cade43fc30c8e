"""Corrected loss, gradient and Gram matrix of squared loss; the corrected fit."""

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from .covariances import CorrectedRows, average, times


def corrected_losses(rows: CorrectedRows, y: Floats, w: Floats) -> Floats:
    """Estimate each row's squared error at the clean row.

    It is (w·x̄ − y)² − wᵀCw + 2w·c: unbiased for (w·x − y)² plus Var(n_y).

    Parameters
    ----------
    rows : CorrectedRows
        The noisy rows and their covariances.
    y : array of shape (n,)
        Targets.
    w : array of shape (d,)
        Coefficients of the model to judge.

    Returns
    -------
    array of shape (n,)
        One estimate for each row; single ones may be negative.

    See Also
    --------
    corrected_gradients : Their gradients.
    lrisk.metrics.corrected_risk : Their mean, for a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_losses, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rows = corrected_rows(np.ones((1, 1, 1)), KnownCovariance(0.25))
    >>> corrected_losses(rows, np.zeros(1), np.ones(1))  # 1 − ¼
    array([0.75])
    """
    residual = rows.mean @ w - y
    return residual**2 - times(rows.covariance, w) @ w + 2.0 * rows.cross @ w


def corrected_gradients(rows: CorrectedRows, y: Floats, w: Floats) -> Floats:
    """Estimate each row's gradient of the squared error at the clean row.

    It is 2(w·x̄ − y)x̄ − 2Cw + 2c: unbiased for 2(w·x − y)x.

    Parameters
    ----------
    rows : CorrectedRows
        The noisy rows and their covariances.
    y : array of shape (n,)
        Targets.
    w : array of shape (d,)
        Coefficients at which to take the gradients.

    Returns
    -------
    array of shape (n, d)
        One gradient for each row.

    See Also
    --------
    corrected_losses : The errors themselves.
    corrected_rows : Makes the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_gradients, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rows = corrected_rows(np.ones((1, 1, 1)), KnownCovariance(0.25))
    >>> corrected_gradients(rows, np.ones(1), np.array([2.0]))  # 2·1·1 − 2·¼·2
    array([[1.]])
    """
    residual = rows.mean @ w - y
    pull = times(rows.covariance, w) - rows.cross
    return 2.0 * (residual[:, None] * rows.mean - pull)


def corrected_gram(rows: CorrectedRows, weights: Floats | None = None) -> Floats:
    """Estimate the Gram matrix XᵀX/n of the clean rows.

    It is the mean of x̄x̄ᵀ − C, which has no bias; with weights the weighted mean.

    Parameters
    ----------
    rows : CorrectedRows
        The noisy rows and their covariances.
    weights : array of shape (n,) or None, default=None
        How much each row counts; of sum one.

    Returns
    -------
    array of shape (d, d)
        The estimate; unlike a Gram matrix it may have negative eigenvalues.

    See Also
    --------
    corrected_least_squares : Uses it in a fit.
    corrected_rows : Makes the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_gram, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> corrected_gram(corrected_rows(np.ones((1, 5, 1)), KnownCovariance(0.25)))
    array([[0.75]])
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
    """Fit a linear model of the clean features by least squares, from noisy ones.

    It solves (Γ₊ + λI) w = X̄ᵀy/n − c, Γ₊ the corrected Gram clipped to its cone.

    Parameters
    ----------
    rows : CorrectedRows
        The noisy rows and their covariances.
    y : array of shape (n,)
        Targets.
    ridge : float or None, default=None
        Penalty λ; None means the floor ½(2√(σ̄² tr Γ/d) + 2σ̄²)√(d/n) with σ̄² the mean
        noise variance: the size of the error of Γ itself.
    weights : array of shape (n,) or None, default=None
        A row of weight k counts as k rows.

    Returns
    -------
    LinearFit
        Coefficients `w`, the `ridge` used, and the `lowest` eigenvalue of Γ relative to
        the largest.

    See Also
    --------
    lrisk.NoiseCorrectedRegressor : The estimator that uses it.
    corrected_gram : The matrix Γ.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_least_squares, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 1))
    >>> noisy = x + 0.5 * rng.normal(size=x.shape)
    >>> rows = corrected_rows(noisy[None], KnownCovariance(0.25))
    >>> fit = corrected_least_squares(rows, x[:, 0], ridge=0.0)
    >>> bool(0.95 < fit.w[0] < 1.05)  # without correction it is 0.8
    True
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
