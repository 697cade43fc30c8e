"""Tilted empirical risk minimisation (TERM), linear and in kernel spaces."""

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, check_real
from .._threads import blas_threads_for
from .._typing import Floats
from .._validation import (
    check_flag,
    classes_and_codes,
    unchanged_on_error,
    validate_data,
)
from ..class_scores import ClassScores
from ..spaces import FactoredSpace, Kernel, KernelRows, KernelSpace, LinearSpace
from .base import checked_rows, warn_of_limit
from .weighted import WeightedCurve, WeightedFit, WeightedLine, WeightedScores

#: Weights below this share of the largest count as zero.
NEGLIGIBLE = 1e-14


def tilted_weights(losses: Floats, t: float) -> Floats:
    """exp(tℓ) for t ≤ 0, scaled to mean 1; rows of negligible weight get none."""
    weights = np.exp(t * (losses - losses.min()))
    weights = np.where(weights > NEGLIGIBLE, weights, 0.0)
    return np.asarray(weights * (len(losses) / weights.sum()))


def tilted_mean(losses: Floats, t: float) -> float:
    """(1/t) log mean exp(tℓ); the mean for t = 0."""
    if t == 0:
        return float(losses.mean())
    return float((logsumexp(t * losses) - np.log(len(losses))) / t)


class TiltedEstimator(BaseEstimator):
    """Base of `TiltedRegressor` and `TiltedClassifier`.

    (1/t) log mean exp(tℓ) is concave in the losses for t < 0, so it lies below its
    tangents: fitting with weights ∝ exp(tℓ) and taking the losses anew never raises it.
    """

    kernel: Any
    t: float
    alpha: float
    gamma: float | None
    degree: int
    coef0: float
    fit_intercept: bool
    tol: float
    max_iter: int

    n_iter_: int
    weights_: Floats
    dual_coef_: Floats
    X_fit_: Any
    coef_: Floats
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        Kernel.of(self).validate(self)
        remedy = "a positive tilt raises the largest losses: use a superquantile"
        check_real(self, "t", self.t, high=0, remedy=remedy)
        linear = self.kernel == "linear"
        remedy = "0 means no penalty" if linear else "a kernel fit needs a penalty"
        check_real(self, "alpha", self.alpha, low=0, low_open=not linear, remedy=remedy)
        check_flag(self, "fit_intercept", self.fit_intercept)
        check_real(self, "tol", self.tol, low=0, remedy="it says when to stop")
        check_count(self, "max_iter", self.max_iter)

    def _reweighted(self, problem: WeightedFit) -> bool:
        """Alternate weights and weighted fits; whether the objective settled."""
        value = tilted_mean(problem.losses, self.t) + problem.penalty
        converged = False
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration + 1
            self.weights_ = tilted_weights(problem.losses, self.t)
            problem.fit(self.weights_)
            before = value
            value = tilted_mean(problem.losses, self.t) + problem.penalty
            if self.t == 0 or abs(before - value) <= self.tol * abs(value):
                converged = True
                break
        self.objective_ = value
        return converged

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.kernel == "linear":
            scores = X @ self.coef_.T + self.intercept_
        else:
            table = self.dual_coef_
            columns = 1 if table.ndim == 1 else table.shape[1]
            scores = KernelRows(Kernel.of(self), self.X_fit_, X, columns).scores(table)
        return np.asarray(scores)


class TiltedRegressor(RegressorMixin, TiltedEstimator):
    r"""Regression that weights rows by an exponential of their loss (TERM).

    Minimises over f, for t < 0,

    .. math:: \frac1t \log \frac1n \sum_i e^{t \ell_i} + \frac{\alpha}{n} \|f\|^2,
              \qquad \ell_i = (y_i - f(x_i))^2

    by reweighting: weights ∝ exp(tℓ), then a weighted ridge fit, from f = 0 (the median
    with an intercept). The squared loss has no ½ here, since that is the one for which
    the authors' t = −2 is meant; t is in one over the units of the loss, so standardise
    the target.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"laplacian"``, ``"cosine"`` and
        ``"precomputed"``. ``"linear"`` has an intercept, the others none, as
        ``KernelRidge``.
    t : float ≤ 0, default=-2.0
        Tilt; the more negative, the less large losses count. 0 is the ordinary fit.
    alpha : float ≥ 0, default=1.0
        Penalty; at ``t=0`` the fit is that of ``Ridge(alpha)`` or
        ``KernelRidge(alpha)``. Positive unless the kernel is linear.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    fit_intercept : bool, default=True
        Only used by the linear kernel.
    tol : float ≥ 0, default=1e-9
        Relative change of the objective at which to stop.
    max_iter : int, default=500
        Limit on weighted fits.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
        Both for the linear kernel only.
    dual_coef_ : array of shape (n_samples,)
    X_fit_ : array of shape (n_samples, n_features)
        Both for other kernels only.
    weights_ : array of shape (n_samples,)
        ∝ exp(tℓ), mean 1: those of the last fit.
    objective_ : float
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    TiltedClassifier : The same for classes.
    lrisk.RobustRegressor : Needs no tilt, and says which rows are wrong.
    lrisk.RiskRegressor : Also for caring more, not less, about large losses.

    References
    ----------
    Li, Beirami, Sanjabi, Smith (2021). Tilted empirical risk minimization.

    Examples
    --------
    >>> from lrisk.baselines import TiltedRegressor
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(300, fraction=0.0, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> model = TiltedRegressor().fit(bad.X, bad.y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        t: float = -2.0,
        alpha: float = 1.0,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 500,
    ) -> None:
        self.kernel = kernel
        self.t = t
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the tilted squared loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            X, y = checked_rows(self, X, y)
            Kernel.of(self).check_training(self, X)
            with blas_threads_for(X.size):
                if self.kernel == "linear":
                    line = WeightedLine(X, y, self.alpha, self.fit_intercept)
                    converged = self._reweighted(line)
                    self.coef_, self.intercept_ = line.coef, line.intercept
                else:
                    curve = WeightedCurve(Kernel.of(self)(X, X), y, self.alpha)
                    converged = self._reweighted(curve)
                    self.dual_coef_, self.X_fit_ = curve.coef, X
        if not converged:
            warn_of_limit(self)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,)."""
        return self._scores(X)


class TiltedClassifier(ClassScores, TiltedEstimator):
    r"""Classification that weights rows by an exponential of their loss (TERM).

    Minimises over f, for t < 0,

    .. math:: \frac1t \log \frac1n \sum_i e^{t \ell_i} + \frac{\alpha}{2n} \|f\|^2

    with ℓ the logistic loss (two classes) or the multinomial one, by reweighting:
    weights ∝ exp(tℓ), that is the power −t of the probability of the observed class,
    then a weighted fit. The first fit is the ordinary one.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"laplacian"``, ``"cosine"`` and
        ``"precomputed"``. ``"linear"`` has an intercept, the others none.
    t : float ≤ 0, default=-2.0
        Tilt; the more negative, the less large losses count. 0 is the ordinary fit.
    alpha : float > 0, default=1.0
        Penalty; at ``t=0`` the fit is that of ``LogisticRegression(C=1/alpha)``.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    fit_intercept : bool, default=True
        Only used by the linear kernel.
    tol : float ≥ 0, default=1e-6
        Relative change of the objective at which to stop.
    max_iter : int, default=200
        Limit on weighted fits.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1 or n_classes, n_features)
    intercept_ : array of shape (1 or n_classes,)
        Both for the linear kernel only.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_classes)
    X_fit_ : array of shape (n_samples, n_features)
        Both for other kernels only.
    weights_ : array of shape (n_samples,)
    objective_ : float
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    TiltedRegressor : The same for numbers.
    lrisk.RobustClassifier : Needs no tilt, and says which labels are wrong.
    lrisk.RiskClassifier : Also for caring more, not less, about large losses.

    References
    ----------
    Li, Beirami, Sanjabi, Smith (2021). Tilted empirical risk minimization.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from lrisk.baselines import TiltedClassifier
    >>> from lrisk.datasets import corrupt_classes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bad = corrupt_classes(scale(X), y, fraction=0.2, random_state=0)
    >>> model = TiltedClassifier().fit(bad.X, bad.y)
    >>> model.score(bad.X, y) > 0.9
    True
    """

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        t: float = -2.0,
        alpha: float = 1.0,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        self.kernel = kernel
        self.t = t
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the tilted logistic loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            remedy = "separable classes have no fit without a penalty"
            check_real(self, "alpha", self.alpha, low=0, low_open=True, remedy=remedy)
            X, y = validate_data(self, X, y, dtype=np.float64)
            Kernel.of(self).check_training(self, X)
            check_classification_targets(y)
            self.classes_, codes = classes_and_codes(self, y)
            with blas_threads_for(X.size):
                converged = self._fit_scores(X, codes)
        if not converged:
            warn_of_limit(self)
        return self

    def _fit_scores(self, X: Floats, codes: Floats) -> bool:
        k = 1 if len(self.classes_) == 2 else len(self.classes_)
        if self.kernel == "linear":
            space = LinearSpace.centred(
                X, np.full(len(X), 1.0 / len(X)),
                intercept=self.fit_intercept, n_scores=k,
            )  # fmt: skip
        else:
            space = KernelSpace(Kernel.of(self), X, n_scores=k).factored()
        problem = WeightedScores(space, codes, self.alpha)
        converged = self._reweighted(problem)
        if isinstance(space, FactoredSpace):
            table = space.coefficients(problem.theta).reshape(len(X), k)
            self.dual_coef_, self.X_fit_ = table[:, 0] if k == 1 else table, X
        else:
            coef, self.intercept_ = space.uncentred(problem.theta)
            self.coef_ = coef.T.copy()
        return converged

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores
