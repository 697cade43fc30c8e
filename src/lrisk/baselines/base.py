"""What the linear baselines share: validation, the fitted line, prediction."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, check_real
from .._threads import blas_threads_for
from .._typing import Bools, Floats
from .._validation import check_flag, unchanged_on_error, validate_data


class LinearBaseline(RegressorMixin, BaseEstimator):
    """Base of the robust linear regressions."""

    alpha: float
    fit_intercept: bool
    tol: float
    max_iter: int

    coef_: Floats
    intercept_: float
    n_iter_: int

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the robust line.

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
            with blas_threads_for(X.size):
                converged = self._fit(X, y)
        if not converged:
            warn_of_limit(self)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def _check_parameters(self) -> None:
        check_real(self, "alpha", self.alpha, low=0, remedy="0 means no penalty")
        check_flag(self, "fit_intercept", self.fit_intercept)
        check_real(self, "tol", self.tol, low=0, remedy="it says when to stop")
        check_count(self, "max_iter", self.max_iter)

    @abstractmethod
    def _fit(self, X: Floats, y: Floats) -> bool:
        """Set the fitted attributes; whether the stopping rule was met."""


def checked_rows(estimator: Any, X: Any, y: Any) -> tuple[Floats, Floats]:
    """X and y of at least two rows, in float64."""
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
    )
    return X, np.asarray(y, dtype=np.float64)


def check_contamination(owner: object, contamination: float) -> None:
    """Raise unless it is a share of the rows below a half."""
    remedy = "above a half the wrong rows are the majority"
    check_real(
        owner, "contamination", contamination, low=0, high=0.5, high_open=True,
        remedy=remedy,
    )  # fmt: skip


def whole_rows(share: float, n: int) -> int:
    """⌊share·n⌋, where 0.29·100 is 29 and not 28.999…: rounding takes no row away."""
    return int(share * n + 1e-9)


def lowest(sizes: Floats, count: int) -> Bools:
    """Mask of the `count` smallest; the earlier row where they tie."""
    mask = np.zeros(len(sizes), dtype=bool)
    mask[np.argsort(sizes, kind="stable")[:count]] = True
    return mask


def warn_of_limit(estimator: Any) -> None:
    """Tell that the iteration limit came before the stopping rule."""
    message = (
        f"{type(estimator).__name__}: stopped by max_iter={estimator.max_iter} before "
        "its stopping rule was met; raise max_iter or tol, or scale the features."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=3)
