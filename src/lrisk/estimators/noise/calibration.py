"""Regression calibration: estimates of the clean features for any estimator."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._typing import Floats
from ..._validation import unchanged_on_error
from ...corrections import corrected_gram, corrected_rows
from ...corrections.covariances import average, centred, matrix_of, scaled
from ...noise import KnownCovariance, Noise
from .base import NoiseEstimator


class RegressionCalibration(OneToOneFeatureMixin, TransformerMixin, NoiseEstimator):
    r"""Replace noisy rows by the best linear estimate of the clean ones.

    .. math:: \hat x = \mu + \Gamma (\Gamma + C)^{-1} (\bar x - \mu)

    with μ and Γ the mean and covariance of the clean features and C the noise
    covariance of the mean x̄ of a row's copies. Linear regression on x̂ has the
    coefficients of the corrected normal equations; other estimators gain most of what
    there is to gain.

    The downstream estimator learns from x̂ and must be given **clean rows as they are**
    to predict. A pipeline calibrates those too, which shrinks its predictions: use the
    pipeline for rows as noisy as the training rows, and its last step,
    ``pipeline[-1].predict(X)``, for clean ones.

    Parameters
    ----------
    noise : Noise or None, default=None
        Of known covariance; None needs `X2`, from which the covariance is estimated.
    correction : float in [0, 1], default=1.0
        Factor on the correction.

    Attributes
    ----------
    location_ : array of shape (n_features,)
        μ.
    covariance_ : array of shape (n_features, n_features)
        Γ.
    noise_covariance_ : array of shape (n_features, n_features)
        Σ of a single copy.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    NoiseCorrectedRegressor : Corrects a linear fit itself, for clean rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RegressionCalibration
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 2))
    >>> noisy = x + rng.normal(size=x.shape)
    >>> estimate = RegressionCalibration(KnownCovariance(1.0)).fit_transform(noisy)
    >>> bool(np.mean((estimate - x) ** 2) < 0.6 * np.mean((noisy - x) ** 2))
    True
    """

    standardize = False  # affine equivariant: there is nothing to scale

    def __init__(self, noise: Noise | None = None, *, correction: float = 1.0) -> None:
        self.noise = noise
        self.correction = correction

    def fit(
        self, X: Any, y: Any = None, X2: Any = None, noise_scale: Any = None
    ) -> Self:
        """Estimate mean and covariance of the clean features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy rows.
        y : ignored, default=None
        X2 : array-like of shape (n_samples, n_features) or None, default=None
            A second copy; shape (n_samples, m, n_features) for m further copies.
        noise_scale : array-like or None, default=None
            For each row a factor on the noise's covariance, shape (n_samples,), or its
            own variances (n_samples, n_features) or covariance matrix.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_shared_parameters()
            noise = self._check_noise(X2)
            copies, _ = self._check_copies(X, X2, reset=True)
            scale = self._check_noise_scale(noise_scale, noise, copies[0].shape)
            if scale is None:
                self._warn_of_excess(noise, copies[0], depth=3)
            copies, noise = self._deducted(noise, copies), noise.centred()
            rows = corrected_rows(np.stack(copies), noise, scale)
            self.location_ = rows.mean.mean(axis=0)
            self.noise_covariance_ = average(rows.covariance) * len(copies)
            share = scaled(rows.covariance, self.correction)
            gram = corrected_gram(centred(rows._replace(covariance=share)))
            n = len(rows.mean)
            gram = gram * (n / max(n - 1, 1))  # without bias, as sample covariances
            values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
            self.covariance_ = (vectors * values.clip(0.0)) @ vectors.T
        return self

    def transform(self, X: Any, X2: Any = None, noise_scale: Any = None) -> Floats:
        """Estimate the clean rows; parameters as in `fit`."""
        check_is_fitted(self)
        copies, _ = self._check_copies(X, X2, reset=False)
        noise = self.noise
        copies = self._deducted(noise, copies)
        if noise is None or not noise.knows_covariance:
            noise = KnownCovariance(self.noise_covariance_)
        scale = self._check_noise_scale(noise_scale, noise, copies[0].shape)
        noise = noise.centred()
        rows = corrected_rows(np.stack(copies), noise, scale, self.correction)
        distance, cov = rows.mean - self.location_, rows.covariance
        if scale is None:
            shrink = self._shrinkage(average(cov))
            return np.asarray(self.location_ + distance @ shrink.T)
        out = np.empty_like(distance)
        for i, row in enumerate(distance):
            out[i] = self.location_ + self._shrinkage(matrix_of(cov, i)) @ row
        return out

    def fit_transform(
        self, X: Any, y: Any = None, X2: Any = None, noise_scale: Any = None
    ) -> Floats:
        """`fit`, then `transform` of the same rows with all their copies."""
        return self.fit(X, y, X2, noise_scale).transform(X, X2, noise_scale)

    def _shrinkage(self, C: Floats) -> Floats:
        """Γ(Γ + C)⁻¹, the identity where nothing is known to vary."""
        total = self.covariance_ + C
        values, vectors = np.linalg.eigh(0.5 * (total + total.T))
        kept = values > 1e-12 * max(float(values[-1]), 1e-300)
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        rest = vectors[:, ~kept] @ vectors[:, ~kept].T
        return np.asarray(self.covariance_ @ inverse + rest)
