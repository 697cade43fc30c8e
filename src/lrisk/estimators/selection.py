"""Risk estimators that choose their penalty by the held-out risk."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._params import refused
from .._typing import AnyArray, Floats, Indices
from .._validation import unchanged_on_error, validate_data
from ..losses import Loss
from ..ranking import check_row_weights, risk
from ..solvers import Solver
from ..spectra import Spectrum
from .base import NestedParameters
from .class_weights import ClassWeight, check_class_weight, weighted_by_class
from .linear import RiskClassifier, RiskRegressor
from .path import ALPHAS, check_alphas
from .targets import has_probabilities


class PenaltySearch(NestedParameters):
    """Base of `RiskRegressorCV` and `RiskClassifierCV`."""

    _kind: ClassVar[Any]
    alphas: Sequence[float] | Floats
    cv: Any
    #: Fitted attributes of the final fit that become those of the search.
    _shared = (
        "coef_",
        "intercept_",
        "objective_",
        "dual_gap_",
        "risk_weights_",
        "n_iter_",
        "solver_",
        "classes_",
    )

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Choose the penalty, then fit all rows with it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, in the fits and in the held-out risk.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of the rows, for a `cv` that keeps them together.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            params = self.get_params(deep=False)
            grid = check_alphas(self, params.pop("alphas"))
            params.pop("cv")
            params.pop("class_weight", None)  # in the weights of the rows
            model = clone(self._kind(**params))
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                y_numeric=not is_classifier(self),
            )
            if is_classifier(self):
                check_classification_targets(y)
            weight = self._row_weights(y, sample_weight)
            folds = self._folds(X, y, weight, groups)
            risks = self._held_out(model, grid, X, y, weight, folds)
            self.cv_risks_ = risks
            best = int(np.argmin(risks.mean(axis=1)))
            self.alpha_ = float(grid[best])
            self.best_risk_ = float(risks.mean(axis=1)[best])
            model.set_params(alpha=self.alpha_, warm_start=False)
            self.best_estimator_ = model.fit(X, y, sample_weight=weight)
            for name in self._shared:
                if hasattr(model, name):
                    setattr(self, name, getattr(model, name))
        return self

    def _row_weights(self, y: AnyArray, sample_weight: Any) -> Floats | None:
        """Weights of all rows; None means equal ones."""
        return check_row_weights(sample_weight, len(y))

    def _folds(
        self, X: Any, y: Any, weight: Floats | None, groups: Any
    ) -> list[tuple[Indices, Indices]]:
        """Training and held-out rows; every part has weight, every fit every class."""
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        with warnings.catch_warnings():
            # A class too rare for the folds is refused below, with a remedy.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            folds = list(splitter.split(X, y, groups))
        counts = np.ones(len(y)) if weight is None else weight
        for train, test in folds:
            if min(counts[train].sum(), counts[test].sum()) <= 0.0:
                rule = "positive for some training and some held-out row of every fold"
                remedy = "leave rows of weight 0 out, or pass folds that mix them"
                raise ValueError(refused(self, "sample_weight", rule, 0.0, remedy))
            if is_classifier(self):
                seen = y[train][counts[train] > 0.0]
                missing = np.setdiff1d(y[counts > 0.0], seen)
                if missing.size:
                    rule = "of classes that every fold has among its training rows"
                    remedy = "drop or merge rare classes, or pass other folds as cv"
                    told = f"class {missing[0]!r} in one fold only"
                    raise ValueError(refused(self, "y", rule, told, remedy))
        return folds

    def _held_out(
        self,
        model: Any,
        grid: Floats,
        X: Any,
        y: Any,
        weight: Floats | None,
        folds: list[tuple[Indices, Indices]],
    ) -> Floats:
        """Risk of the held-out rows for every penalty and fold."""
        columns = []
        for train, test in folds:
            fold = clone(model).set_params(warm_start=True)
            inner = None if weight is None else weight[train]
            outer = None if weight is None else weight[test]
            column = np.empty(len(grid))
            for j in np.argsort(-grid, kind="stable"):
                fold.set_params(alpha=float(grid[j]))
                fold.fit(X[train], y[train], sample_weight=inner)
                losses = held_out_losses(fold, X[test], y[test])
                column[j] = risk(losses, self.spectrum, outer)
            columns.append(column)
        return np.column_stack(columns)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=False,
        )

    def predict(self, X: Any) -> AnyArray:
        """Predict by the final fit; shape (n_samples,)."""
        X = self._checked(X)
        return np.asarray(self.best_estimator_.predict(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def held_out_losses(model: Any, X: Any, y: Any) -> Floats:
    """Losses of a fitted model on other rows, by its own loss."""
    loss, _ = model._loss(getattr(model, "classes_", None))
    if is_classifier(model):
        scores = model.decision_function(X)
        return np.asarray(loss.value(model._encode_again(y), scores))
    return np.asarray(loss.value(np.asarray(y, dtype=float), model.predict(X)))


class RiskRegressorCV(RegressorMixin, PenaltySearch):
    """`RiskRegressor` that chooses its penalty by the losses of held-out rows.

    These are sorted and weighted as in the fits themselves, by the same spectrum.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `RiskRegressor`.
    alphas : sequence of floats ≥ 0, default=(0.01, 0.1, 1.0, 10.0, 100.0)
        Penalties to choose from; the first of equally good ones wins.
    loss : str or Loss, default="squared"
        What one row costs, as in `RiskRegressor`.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    solver : str or Solver, default="auto"
        As in `RiskRegressor`.
    tol : float, default=1e-6
        Relative duality gap at which each fit stops.
    max_iter : int or None, default=None
        Limit on the solver's iterations in each fit.
    cv : int, cross-validator, iterable or None, default=None
        As in scikit-learn; None means five folds.
    random_state : int, RandomState instance or None, default=None
        As in `RiskRegressor`; None draws anew in each fit.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    best_risk_ : float
        Its mean held-out risk.
    cv_risks_ : array of shape (n_alphas, n_folds)
    best_estimator_ : RiskRegressor
        The fit of all rows.
    coef_, intercept_, objective_, dual_gap_, risk_weights_, n_iter_, solver_
        Those of `best_estimator_`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RiskRegressor : One fit with a given alpha.
    lrisk.risk_path : Fits for many penalties, without choosing.

    Examples
    --------
    >>> import lrisk
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = lrisk.RiskRegressorCV("superquantile:0.8", alphas=[0.01, 10.0])
    >>> model.fit(X, y).alpha_
    0.01
    """

    _kind = RiskRegressor

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        alphas: Sequence[float] | Floats = ALPHAS,
        loss: str | Loss = "squared",
        fit_intercept: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.spectrum = spectrum
        self.alphas = alphas
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state


class RiskClassifierCV(ClassifierMixin, PenaltySearch):
    """`RiskClassifier` that chooses its penalty by the losses of held-out rows.

    These are sorted and weighted as in the fits themselves, by the same spectrum.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `RiskClassifier`.
    alphas : sequence of floats ≥ 0, default=(0.01, 0.1, 1.0, 10.0, 100.0)
        Penalties to choose from; the first of equally good ones wins.
    loss : str or Loss, default="logistic"
        What one row costs, as in `RiskClassifier`.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class, of all rows together, in the
        fits and in the held-out risk.
    solver : str or Solver, default="auto"
        As in `RiskClassifier`.
    tol : float, default=1e-6
        Relative duality gap at which each fit stops.
    max_iter : int or None, default=None
        Limit on the solver's iterations in each fit.
    cv : int, cross-validator, iterable or None, default=None
        As in scikit-learn; None means five folds that keep the shares of the classes.
    random_state : int, RandomState instance or None, default=None
        As in `RiskRegressorCV`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    alpha_, best_risk_, cv_risks_, best_estimator_
        As for `RiskRegressorCV`.
    coef_, intercept_, objective_, dual_gap_, risk_weights_, n_iter_, solver_
        Those of `best_estimator_`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RiskClassifier : One fit with a given alpha.
    lrisk.risk_path : Fits for many penalties, without choosing.

    Examples
    --------
    >>> import lrisk
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lrisk.RiskClassifierCV("extremile:1.5", alphas=[0.1, 100.0]).fit(X, y)
    >>> model.alpha_
    0.1
    """

    _kind = RiskClassifier
    classes_: AnyArray

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        alphas: Sequence[float] | Floats = ALPHAS,
        loss: str | Loss = "logistic",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.spectrum = spectrum
        self.alphas = alphas
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def _row_weights(self, y: AnyArray, sample_weight: Any) -> Floats | None:
        check_class_weight(self, self.class_weight)
        weight = super()._row_weights(y, sample_weight)
        return weighted_by_class(self, self.class_weight, y, weight)

    def decision_function(self, X: Any) -> Floats:
        """Scores of the final fit."""
        X = self._checked(X)
        return np.asarray(self.best_estimator_.decision_function(X))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the final fit, in the order of `classes_`."""
        X = self._checked(X)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities."""
        X = self._checked(X)
        return np.asarray(self.best_estimator_.predict_log_proba(X))
