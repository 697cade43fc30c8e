"""`RiskRegressor` and `RiskClassifier` of rows that are tensors."""

from typing import Any

import numpy as np
import torch
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor

from .. import estimators as memory
from ..estimators.class_weights import ClassWeight, weighted_by_class
from ..estimators.targets import has_probabilities
from ..losses import Loss
from ..spectra import Spectrum
from .base import RiskEstimator, Target
from .given import check_numbers, check_two, check_vector, check_weight, labels_of
from .rows import in_memory, on_device


class NumberScores(RegressorMixin):
    """The score of regressors of tensors."""

    def predict(self, X: Any) -> Tensor:
        """Predict targets."""
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions."""
        away = self.predict(X)
        y = check_numbers(self, y, X)
        w = check_weight(self, sample_weight, X)
        w = torch.ones_like(y) if w is None else w
        left = float(w @ (y - away).square_())
        spread = float(w @ (y - (w @ y) / w.sum()).square_())
        if spread == 0.0:  # as scikit-learn's
            return 1.0 if left == 0.0 else 0.0
        return 1.0 - left / spread


class RiskRegressor(NumberScores, RiskEstimator):
    """`lrisk.RiskRegressor` of tensors, fitted on the device on which they lie.

    The same objective and the same certificate. Sums are of 64 bits whatever the rows
    are, so that gaps below 1e-6 are proofs for rows of 32 bits too.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"squared", "huber"} or Loss, default="squared"
        What one row costs; Huber's takes its width as ``"huber:1.35"``.
    alpha : float ≥ 0, default=1.0
        Penalty, as of `Ridge`; a proof needs it but for squared loss.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    coef_ : tensor of shape (n_features,)
        As all tensors here of float64, on the device of the rows.
    intercept_ : tensor of shape ()
    risk_weights_ : tensor of shape (n_samples,)
        λ, the weight of each row at the optimum.
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskRegressor`.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int

    See Also
    --------
    lrisk.RiskRegressor : For arrays, with more losses, spectra and solvers.
    SpectralRisk : For models that are not linear.

    Notes
    -----
    Up to 10,000 rows are fetched and fitted in memory. An interrupted fit (Ctrl-C)
    keeps the best point it has found, with what is proven of it, and raises
    `KeyboardInterrupt`.

    Examples
    --------
    >>> import torch
    >>> from lrisk.torch import RiskRegressor
    >>> rng = torch.Generator().manual_seed(0)
    >>> X = torch.randn(2000, 3, generator=rng)
    >>> y = X @ torch.tensor([1.0, 2.0, 3.0]) + torch.randn(2000, generator=rng)
    >>> model = RiskRegressor("extremile:2").fit(X, y)
    >>> model.coef_.round().tolist(), model.dual_gap_ <= 1e-6
    ([1.0, 2.0, 3.0], True)
    """

    _memory = memory.RiskRegressor

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "squared",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def predict(self, X: Any) -> Tensor:
        """Predict targets; a tensor of shape (n_samples,)."""
        return self._scores(X)

    def _target(self, y: Any, weight: Tensor | None, X: Tensor) -> Target:
        return Target(check_numbers(self, y, X), weight)


class RiskClassifier(ClassifierMixin, RiskEstimator):
    """`lrisk.RiskClassifier` of two classes for tensors, fitted where they lie.

    See `lrisk.torch.RiskRegressor` for what that changes.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"logistic", "squared_hinge"} or Loss, default="logistic"
        What one row costs; the squared hinge has no probabilities.
    alpha : float ≥ 0, default=1.0
        Penalty, 1/C of `LogisticRegression`; a proof needs it.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    classes_ : tensor of shape (2,)
        Of the type of y.
    coef_ : tensor of shape (1, n_features)
    intercept_ : tensor of shape (1,)
    risk_weights_ : tensor of shape (n_samples,)
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskClassifier`.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int

    See Also
    --------
    lrisk.RiskClassifier : For arrays, with more classes, spectra and solvers.

    Examples
    --------
    >>> import torch
    >>> from lrisk.torch import RiskClassifier
    >>> rng = torch.Generator().manual_seed(0)
    >>> X = torch.randn(2000, 2, generator=rng)
    >>> y = X[:, 0] + 0.1 * torch.randn(2000, generator=rng) > 0
    >>> model = RiskClassifier("extremile:2").fit(X, y)
    >>> model.predict(X[:2]).dtype, model.predict_proba(X[:2]).shape
    (torch.bool, torch.Size([2, 2]))
    """

    _memory = memory.RiskClassifier
    classes_: Tensor

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def decision_function(self, X: Any) -> Tensor:
        """Scores, positive for the second class; a tensor of shape (n_samples,)."""
        return self._scores(X)

    def predict(self, X: Any) -> Tensor:
        """Predict classes; a tensor of shape (n_samples,)."""
        return self.classes_[(self.decision_function(X) > 0.0).long()]

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Tensor:
        """Probabilities in the order of `classes_`; shape (n_samples, 2)."""
        scores = self.decision_function(X)
        return torch.stack([torch.sigmoid(-scores), torch.sigmoid(scores)], dim=1)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Tensor:
        """Logarithms of the probabilities; shape (n_samples, 2)."""
        scores = self.decision_function(X)
        log = torch.nn.functional.logsigmoid
        return torch.stack([log(-scores), log(scores)], dim=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the weight of rows that are predicted right."""
        predicted = self.predict(X)
        right = (predicted == check_vector(self, "y", y, X)).double()
        w = check_weight(self, sample_weight, X)
        return float(right.mean() if w is None else (w @ right) / w.sum())

    def _target(self, y: Any, weight: Tensor | None, X: Tensor) -> Target:
        labels, codes = labels_of(self, y, X)
        check_classification_targets(labels)
        mass = in_memory(torch.bincount(codes, weight, len(labels)).double())
        weighted = weighted_by_class(self, self.class_weight, labels, mass)
        after = mass if weighted is None else weighted
        seen = after > 0.0
        classes = check_two(self, labels[seen])
        factors = np.divide(after, mass, out=np.zeros_like(mass), where=mass > 0.0)
        if np.any(factors[seen] != 1.0) or not seen.all():
            own = on_device(factors, X.device)[codes]
            weight = own if weight is None else own.mul_(weight)
        if len(labels) > 2:  # some of no weight
            codes = on_device(np.cumsum(seen) - 1, X.device)[codes]
        return Target(codes.double(), weight, classes)
