"""Logistic regression from features observed with Gaussian noise."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..._params import check_count, check_real, refused
from ..._typing import Floats
from ..._validation import (
    check_flag,
    classes_and_codes,
    unchanged_on_error,
    validate_data,
)
from ...class_scores import ClassScores
from ...corrections import ConditionalScore, MultinomialScore
from ...corrections.checks import refuse_target_covariance
from ...corrections.covariances import Deviations, SharedFull, average
from ...noise import Exact, KnownCovariance, Noise, Replicates
from .base import NoiseEstimator


class NoiseCorrectedClassifier(ClassScores, NoiseEstimator):
    r"""Logistic regression of the clean features, learned from noisy ones.

    Finds the root of the conditional score. For two classes,

    .. math:: \frac1n \sum_i (y_i - H(\Delta_i \cdot w + b)) (\Delta_i, 1)
              - \frac{\alpha}{n} (w, 0), \qquad
              \Delta_i = \tilde x_i + (y_i - \tfrac12) \Sigma w

    and for more, with one w_k and b_k for each class,

    .. math:: \frac1n \sum_i (1\{y_i = k\} - P_k(\Delta_i)) (\Delta_i, 1)
              - \frac{\alpha}{n} (w_k, 0), \qquad
              \Delta_i = \tilde x_i + \Sigma w_{y_i}, \quad
              P_k(\Delta) \propto e^{w_k \cdot \Delta + b_k - w_k^T \Sigma w_k / 2}

    Both are free of bias for Gaussian noise whatever the distribution of the clean
    features.

    Parameters
    ----------
    noise : Noise or None, default=None
        `GaussianNoise`, `KnownCovariance` (taken for Gaussian) or `Exact`; None or
        `Replicates` estimates Σ from the copies in `X2`.
    alpha : float, default=1.0
        Penalty; without noise the fit is that of ``LogisticRegression(C=1/alpha)``. The
        intercept is never penalised.
    correction : float in [0, 1], default=1.0
        Factor on the correction.
    standardize : bool, default=False
        Standardise the features inside, with the noise.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    tol : float, default=1e-8
        Largest entry of the score at which to stop.
    max_iter : int, default=200
        Limit on Newton steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    correction_ : float
        Share of the noise that was corrected: `correction`, or less if the score has
        no root that far (then the fit warns).
    n_iter_ : int
    location_, scale_ : arrays of shape (n_features,)
        As in `NoiseCorrectedRegressor`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    NoiseCorrectedRegressor : The same for numbers.
    RegressionCalibration : Clean-feature estimates for any classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import NoiseCorrectedClassifier
    >>> from lrisk.noise import GaussianNoise
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(5000, 1))
    >>> y = rng.random(5000) < 1 / (1 + np.exp(-2 * x[:, 0]))
    >>> noisy = x + 0.7 * rng.normal(size=x.shape)
    >>> model = NoiseCorrectedClassifier(GaussianNoise(0.49)).fit(noisy, y)
    >>> bool(abs(model.coef_[0, 0] - 2.0) < 0.3)  # an ordinary fit finds 1.1
    True
    """

    def __init__(
        self,
        noise: Noise | None = None,
        *,
        alpha: float = 1.0,
        correction: float = 1.0,
        standardize: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int = 200,
    ) -> None:
        self.noise = noise
        self.alpha = alpha
        self.correction = correction
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        X: Any,
        y: Any,
        X2: Any = None,
        noise_scale: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the root of the conditional score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy rows.
        y : array-like of shape (n_samples,)
        X2 : array-like of shape (n_samples, n_features) or None, default=None
            A second, independent copy of the rows; shape (n_samples, m, n_features) for
            m further copies.
        noise_scale : array-like or None, default=None
            For each row a factor on the noise's covariance, shape (n_samples,), or its
            own variances (n_samples, n_features) or covariance matrix.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A row of weight k counts as k rows, each with noise of its own.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            noise = self._check_noise(X2)
            copies, y = self._check_copies(X, X2, y, reset=True)
            check_classification_targets(y)
            refuse_target_covariance(self, noise, copies[0].shape[1])
            scale = self._check_noise_scale(noise_scale, noise, copies[0].shape)
            if scale is None:
                self._warn_of_excess(noise, copies[0], depth=3)
            copies, y, scale, weights = self._weighted(sample_weight, copies, y, scale)
            copies, noise = self._deducted(noise, copies), noise.centred()
            self.classes_, codes = classes_and_codes(self, y)
            self._set_standard(copies[0], weights)
            _, rows = self._corrected(copies, noise, scale)
            weights = np.ones(len(y)) if weights is None else weights
            n = float(weights.sum())
            cov = rows.covariance
            if isinstance(cov, Deviations):  # one row's spread is no covariance
                cov = SharedFull(average(cov, weights / n), np.ones(len(y)))
            kind = ConditionalScore if len(self.classes_) == 2 else MultinomialScore
            mu, intercept = self.alpha / n, self.fit_intercept
            score = kind(rows.mean, codes, cov, mu, intercept, weights)
            root = score.solve(self.tol, self.max_iter)
            d = self.n_features_in_
            table = root.theta.reshape(-1, d + int(intercept))
            b = table[:, d] if intercept else np.zeros(len(table))
            self.coef_ = table[:, :d] / self.scale_
            self.intercept_ = b - self.coef_ @ self.location_
            self.correction_ = self.correction * root.correction
            self.n_iter_ = root.n_iter
        if root.correction < 1.0 or not np.isfinite(root.residual):
            warnings.warn(
                f"{type(self).__name__}: the conditional score has a root only up to "
                f"{root.correction:.2f} of the correction asked for; that fit is kept. "
                "The noise may be over-stated, or alpha too small.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of clean rows; shape (n_samples,), or (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        check_flag(self, "fit_intercept", self.fit_intercept)
        remedy = "1.0 is LogisticRegression's default"
        check_real(self, "alpha", self.alpha, low=0, remedy=remedy)
        check_real(self, "tol", self.tol, low=0, low_open=True, remedy="try 1e-8")
        check_count(self, "max_iter", self.max_iter)

    def _check_noise(self, X2: Any) -> Noise:
        noise = super()._check_noise(X2)
        if noise.target_mean != 0.0:
            rule, remedy = "without target_mean: classes have none", "leave it out"
            raise ValueError(refused(self, "noise", rule, noise, remedy))
        if isinstance(noise, Exact | KnownCovariance | Replicates):
            return noise
        rule = "Gaussian for the conditional score"
        remedy = "KnownCovariance(cov) of the same covariance comes closest"
        raise ValueError(refused(self, "noise", rule, noise, remedy))
