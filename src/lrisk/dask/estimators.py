"""`RiskRegressor` and `RiskClassifier` of rows on a cluster."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .. import estimators as memory
from .._params import refused
from .._typing import Floats
from .._validation import classes_and_codes
from ..estimators.class_weights import ClassWeight, weighted_by_class
from ..losses import Loss
from ..spectra import Spectrum
from .base import RiskEstimator
from .chunks import Facts, Recipe


class RiskRegressor(RegressorMixin, RiskEstimator):
    """`lrisk.RiskRegressor` for rows on a Dask cluster.

    The same objective and the same certificate, proven over all rows where they lie.
    Every worker keeps its chunks in memory and answers in sums; the result depends on
    the chunks and on how many threads the cluster has, never on timing. Where a worker
    dies its chunks are computed again by their graph, and the fit goes on.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"squared", "huber"} or Loss, default="squared"
    alpha : float ≥ 0, default=1.0
        Penalty; that of `Ridge`, and 1/C of `LogisticRegression`.
    fit_intercept : bool, default=True
        Learn a constant besides the slopes; it is not penalised.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskRegressor`.
    risk_weights_ : dask array of shape (n_samples,)
        λ, computed from the rows when it is asked for. It holds on to the graph of the
        rows; `to_memory` gives an estimator that does not.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    See Also
    --------
    lrisk.RiskRegressor : The same for rows in memory, with more spectra and losses.
    lrisk.outofcore.fit : For files that are larger than memory, on one machine.

    Notes
    -----
    An interrupted fit (Ctrl-C) keeps the best point it has found, with what is proven
    of it, and raises `KeyboardInterrupt`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from lrisk.dask import RiskRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.standard_t(4, size=2000)
    >>> X, y = da.from_array(X, chunks=(500, 3)), da.from_array(y, chunks=500)
    >>> model = RiskRegressor("extremile:2").fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> model.predict(X).chunks
    ((500, 500, 500, 500),)
    """

    _memory = memory.RiskRegressor
    _numeric = True

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "squared",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def predict(self, X: Any) -> Any:
        """Predict targets, lazily: an array, series or list of Delayed, as X is."""
        return self._mapped("predict", X, np.float64)


class RiskClassifier(ClassifierMixin, RiskEstimator):
    """`lrisk.RiskClassifier` of two classes for rows on a Dask cluster.

    See `lrisk.dask.RiskRegressor` for what a cluster changes.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"logistic", "squared_hinge"} or Loss, default="logistic"
    alpha : float ≥ 0, default=1.0
        Penalty; that of `Ridge`, and 1/C of `LogisticRegression`.
    fit_intercept : bool, default=True
        Learn a constant besides the slopes; it is not penalised.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskClassifier`.
    risk_weights_ : dask array of shape (n_samples,)
        λ, computed from the rows when it is asked for.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    See Also
    --------
    lrisk.RiskClassifier : The same for rows in memory, with more spectra and losses.
    lrisk.outofcore.fit : For files that are larger than memory, on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from lrisk.dask import RiskClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] + 0.1 * rng.normal(size=2000) > 0, "yes", "no")
    >>> X, y = da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
    >>> model = RiskClassifier("extremile:2").fit(X, y)
    >>> model.predict_proba(X).chunks
    ((500, 500, 500, 500), (2,))
    """

    _memory = memory.RiskClassifier
    _numeric = False

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "logistic",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def predict(self, X: Any) -> Any:
        """Predict classes, lazily: an array, series or list of Delayed, as X is."""
        check_is_fitted(self)
        return self._mapped("predict", X, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Log-odds of the second class, lazily."""
        return self._mapped("decision_function", X, np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities in the order of `classes_`, lazily."""
        check_is_fitted(self)
        return self._mapped("predict_proba", X, np.float64, self.classes_.tolist())

    def _recipe(self, plain: Any, loss: Loss, facts: list[Facts]) -> Recipe:
        given = super()._recipe(plain, loss, facts).weighted
        some = [fact for fact in facts if len(fact.labels)]
        labels = np.concatenate([fact.labels for fact in some])
        masses = np.concatenate([fact.masses for fact in some])
        check_classification_targets(labels)
        names, codes = np.unique(labels, return_inverse=True)
        before: Floats = np.bincount(codes, masses).astype(np.float64)
        weighted = weighted_by_class(self, self.class_weight, names, before)
        after = before if weighted is None else weighted
        kept = after > 0.0
        classes, _ = classes_and_codes(self, names[kept])
        if len(classes) > 2:
            rule, seen = "of two classes on a cluster", f"{len(classes)} or more"
            remedy = "fit each against the others, or fit in memory"
            raise ValueError(refused(self, "y", rule, seen, remedy))
        self.classes_ = classes
        factors = after[kept] / before[kept]
        own = given or not kept.all() or bool(np.any(factors != 1.0))
        return Recipe(loss, own, classes, factors)
