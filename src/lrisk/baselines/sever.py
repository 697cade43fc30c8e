"""SEVER: drop the rows whose gradients stand out, fit again."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, refused
from .._typing import AnyArray, Bools, Floats, Indices
from .._validation import unchanged_on_error, validate_data
from .base import check_contamination


def _has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", None) or self._inner(), name)
        return True

    return check


class Sever(MetaEstimatorMixin, BaseEstimator):
    r"""Fit any smooth model to the rows whose gradients agree (SEVER).

    In each of `rounds` rounds: fit, take each kept row's gradient of the loss at the
    fit, centre the gradients, take their top singular vector v and drop the share ε/2
    of the kept rows with the largest score

    .. math:: \tau_i = \bigl( (g_i - \bar g) \cdot v \bigr)^2

    then fit a last time. For squared, logistic and multinomial losses
    :math:`g_i = s_i \otimes x_i` with slopes s = f(x) − y or p(x) − onehot(y), and x
    extended by 1 if there is an intercept. In a kernel's space the gradients are
    :math:`s_i k(x_i, \cdot)`, whose products :math:`\langle s_i, s_j\rangle K_{ij}`,
    centred on both sides, give the same scores.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A linear regressor with squared loss (``Ridge``, ``LinearRegression``), a linear
        classifier with logistic loss (``LogisticRegression``), or either with a kernel
        (``KernelRidge``, ``lrisk.KernelRiskRegressor("mean")``,
        ``lrisk.KernelRiskClassifier("mean")``). None means ``Ridge()``.
    contamination : float in [0, 0.5), default=0.2
        Share ε of wrong rows, which the paper takes as known.
    rounds : int, default=4
        How often rows are dropped before the last fit.

    Attributes
    ----------
    estimator_ : estimator
        The last fit.
    inlier_mask_ : array of bool of shape (n_samples,)
        The rows it was fitted to.
    scores_ : array of shape (n_samples,)
        τ of the last round in which a row was still there, over the largest of that
        round.
    n_iter_ : int
        Rounds made; fewer than `rounds` if all scores were zero or a class would have
        vanished.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    lrisk.RobustRegressor : Needs no share of wrong rows; for numbers.
    lrisk.RobustClassifier : The same for classes.
    TorrentRegressor : Judges rows by their residuals, in one linear fit.

    References
    ----------
    Diakonikolas, Kamath, Kane, Li, Steinhardt, Stewart (2019). Sever: a robust
    meta-algorithm for stochastic optimization. Algorithm 1 with the filter of its
    experiments.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from lrisk.baselines import Sever
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(300, fraction=0.0, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> model = Sever(Ridge()).fit(bad.X, bad.y)
    >>> model.score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        contamination: float = 0.2,
        rounds: int = 4,
    ) -> None:
        self.estimator = estimator
        self.contamination = contamination
        self.rounds = rounds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = True
        return tags

    def _inner(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, drop, and fit again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            check_contamination(self, self.contamination)
            check_count(self, "rounds", self.rounds)
            classes = is_classifier(self._inner())
            X, y = validate_data(
                self, X, y, dtype=np.float64, y_numeric=not classes,
                ensure_min_samples=2,
            )  # fmt: skip
            self._filter(X, y, classes)
        return self

    def _filter(self, X: Floats, y: AnyArray, classes: bool) -> None:
        rows: Indices = np.arange(len(y))
        self.scores_ = np.zeros(len(y))
        self.n_iter_ = 0
        self.estimator_ = clone(self._inner()).fit(X, y)
        for _ in range(self.rounds):
            tau = _outlier_scores(self.estimator_, X[rows], y[rows])
            largest = tau.max()
            drop = round(self.contamination / 2 * len(rows))
            if not largest > 0 or drop == 0:
                break
            order = np.argsort(tau, kind="stable")
            kept = np.sort(rows[order[: len(rows) - drop]])
            if classes and len(np.unique(y[kept])) < len(np.unique(y)):
                break
            self.scores_[rows] = tau / largest
            rows = kept
            self.n_iter_ += 1
            self.estimator_ = clone(self._inner()).fit(X[rows], y[rows])
        mask: Bools = np.zeros(len(y), dtype=bool)
        mask[rows] = True
        self.inlier_mask_ = mask
        if classes:
            self.classes_ = self.estimator_.classes_

    def _forward(self, X: Any) -> tuple[Any, Floats]:
        check_is_fitted(self)
        return self.estimator_, validate_data(self, X, dtype=np.float64, reset=False)

    def predict(self, X: Any) -> AnyArray:
        """Predict with the last fit; shape (n_samples,)."""
        estimator, X = self._forward(X)
        return np.asarray(estimator.predict(X))

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the last fit; shape (n_samples, n_classes)."""
        estimator, X = self._forward(X)
        return np.asarray(estimator.predict_proba(X))

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Scores of the last fit."""
        estimator, X = self._forward(X)
        return np.asarray(estimator.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² or accuracy of the last fit."""
        estimator, X = self._forward(X)
        return float(estimator.score(X, y, sample_weight))


def _outlier_scores(model: Any, X: Floats, y: AnyArray) -> Floats:
    """Squared projection of each centred gradient on the top singular vector."""
    slopes = _slopes(model, X, y)
    if hasattr(model, "coef_"):
        design = X
        if getattr(model, "fit_intercept", False):
            design = np.column_stack([X, np.ones(len(X))])
        gradients = (slopes[:, :, None] * design[:, None, :]).reshape(len(X), -1)
        gradients -= gradients.mean(axis=0)
        if gradients.shape[1] <= len(X):
            direction = _top(gradients.T @ gradients)[0]
            return np.asarray((gradients @ direction) ** 2)
        products = gradients @ gradients.T
    elif hasattr(model, "dual_coef_") and hasattr(model, "X_fit_"):
        products = _kernel_matrix(model, X) * (slopes @ slopes.T)
        products -= products.mean(axis=0)
        products -= products.mean(axis=1)[:, None]
    else:
        rule = "a linear model (coef_) or one with a kernel (dual_coef_ and X_fit_)"
        remedy = "gradients of other models are not known"
        shown = type(model).__name__
        raise ValueError(refused("Sever", "estimator", rule, shown, remedy))
    left, size = _top(products)
    return np.asarray(size * left**2)


def _slopes(model: Any, X: Floats, y: AnyArray) -> Floats:
    """∂ℓ/∂f of each row, shape (n, k)."""
    if not is_classifier(model):
        return np.asarray(model.predict(X) - y, dtype=np.float64)[:, None]
    if not hasattr(model, "predict_proba"):
        rule, remedy = "a classifier with predict_proba", "use LogisticRegression"
        shown = type(model).__name__
        raise ValueError(refused("Sever", "estimator", rule, shown, remedy))
    observed = (y[:, None] == model.classes_).astype(np.float64)
    slopes = np.asarray(model.predict_proba(X) - observed)
    return slopes[:, 1:] if slopes.shape[1] == 2 else slopes


def _kernel_matrix(model: Any, X: Floats) -> Floats:
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        rule, remedy = "of a kernel other than 'precomputed'", "name the kernel"
        raise ValueError(refused("Sever", "estimator", rule, model.kernel, remedy))
    names = ("gamma", "degree", "coef0")
    options = {name: getattr(model, name) for name in names if hasattr(model, name)}
    if callable(model.kernel):
        options = dict(model.kernel_params or {})
    K = pairwise_kernels(X, metric=model.kernel, filter_params=True, **options)
    return np.asarray(K)


def _top(matrix: Floats) -> tuple[Floats, float]:
    """Eigenvector and eigenvalue, the largest of a symmetric matrix."""
    last = len(matrix) - 1
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[last, last])
    return vectors[:, 0], max(float(values[0]), 0.0)
