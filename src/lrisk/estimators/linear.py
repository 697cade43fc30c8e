"""Linear models under a spectral risk, solved to a certified optimum."""

from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._params import refused
from .._typing import Floats
from .._validation import streams_by_sgd, unchanged_on_error, validate_data
from ..losses import Loss
from ..solvers import Solver
from ..spaces.capabilities import linear
from ..spectra import Spectrum
from .class_weights import ClassWeight
from .problem import Fit, Problem
from .streaming import Streaming
from .targets import ClassTargets, NumberTargets


class RiskRegressor(NumberTargets, Streaming):
    r"""Linear regression for the largest errors, or against them, as you choose.

    ``Ridge`` minimises the mean of the squared errors. This minimises a weighted mean
    of the *sorted* ones, a spectral risk: ``"superquantile:0.9"`` is the mean of the
    worst tenth (CVaR), ``"mean"`` is ``Ridge``, and ``"subquantile:0.8"`` leaves the
    worst fifth out. For tails the fit is the best one there is, with a proof of that.
    It minimises over w and b

    .. math:: \sum_i \sigma_i \ell_{(i)} + \frac{\alpha}{2W} \|w\|^2,
              \qquad \ell_i = \ell(y_i, x_i \cdot w + b)

    with :math:`\ell_{(1)} \le \dots \le \ell_{(n)}` the sorted losses, σ the weights of
    the spectrum and W the sum of the sample weights (paper 1, equation 5).

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How sorted losses are weighted, for example ``"superquantile:0.9"`` (the mean of
        the worst tenth), ``"extremile:2"``, ``"esrm:1"``, ``"mean"``, ``"worst_case"``;
        ``"subquantile:0.8"`` trims the worst fifth, ``"ranked_range:a:b"`` both ends.
        By default the mean of the worse half; see Notes.
    loss : {"squared", "huber", "absolute", "pinball"} or Loss, default="squared"
        What one row costs: ½r² of its residual r, or `lrisk.losses.Huber`, ``|r|``, or
        `lrisk.losses.Pinball`. Parameters follow a colon, as in ``"huber:1.35"`` and
        ``"pinball:0.9"``, or come with an object and are then searched as
        ``loss__delta`` and ``loss__tau``. Absolute and pinball loss, which have a kink,
        need an increasing spectrum and a certified solver, and a positive alpha for a
        proof.
    alpha : float ≥ 0, default=1.0
        Penalty. With ``spectrum="mean"`` the fit is that of ``Ridge(alpha=alpha)``; the
        papers' μ is alpha/n. The intercept is never penalised.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    solver : str or Solver, default="auto"
        For increasing spectra ``"newton"``, ``"lbfgs"`` and, for superquantiles of many
        rows, ``"band"`` solve to a certified optimum; ``"lsvrg"``, ``"sorel"``,
        ``"prospect"``, ``"sgd"`` and ``"srda"`` are stochastic. For decreasing ones,
        whose objective is not convex, ``"concentration"`` and the paper's
        ``"subquantile"``. ``"auto"`` chooses. A solver object brings its own ``tol``
        and limit.
    tol : float, default=1e-6
        Relative duality gap at which to stop. Trimmed fits, which have no such proof,
        go on until the same rows are kept; there it only decides on a warning.
    max_iter : int or None, default=None
        Limit on the solver's iterations (Newton steps, L-BFGS iterations, epochs of a
        stochastic solver, C-steps from one start, gradient steps); None means the
        solver's own default.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    random_state : int, RandomState instance or None, default=None
        For the random starts of concentration; the certified solvers draw nothing.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    objective_ : float
        The minimum reached, penalty included.
    dual_gap_ : float
        Proven bound on how far `objective_` is above the best possible value, relative
        to it, or to 1e-12 of the risk of the fit without features where that is more;
        infinite where no proof exists (``alpha=0`` with collinear features or with
        another loss than the squared one).
    risk_weights_ : array of shape (n_samples,)
        λ, the weight of each training row at the optimum: the fit is that of the mean
        loss with these weights, a ridge regression if the loss is squared.
    weight_sum_ : float
        W, the weight of all training rows.
    losses_, inlier_mask_ : arrays of shape (n_samples,)
        Only under spectra that leave rows out: the loss of every training row at the
        fit (NaN where a row has no weight), and which rows are not left out for their
        large losses.
    n_iter_ : int
    solver_ : str
        The solver that ran, the last one if it was changed.
    history_ : list of dict
        Objective, gap (infinite until one is proven) and time after each iteration; a
        ``"note"`` says why the solver was changed.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RiskClassifier : The same for classes.
    KernelRiskRegressor : The same for relations that are not linear.
    RiskRegressorCV : Chooses alpha by the held-out risk.
    RobustRegressor : For an unknown share of wrong rows.
    lrisk.certify : Recompute the certificate.

    Notes
    -----
    The default, the worse half of the losses, is milder than the worst tenth that an
    audit compares with: a tenth of a few hundred rows says little of the tail on new
    rows, and a stronger spectrum should be chosen for a reason, by held-out risk
    (`lrisk.metrics.make_risk_scorer`). The audit does that, and says which fit wins.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", alpha=0.1).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6)
    True

    The mean of the worst tenth of absolute errors, just as certain:

    >>> model = RiskRegressor("superquantile:0.9", loss="absolute").fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "squared",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @available_if(streams_by_sgd)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RiskRegressor":
        """Take stochastic steps on the next rows of a stream (``solver="sgd"`` only).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Cut into batches of the solver's `batch_size`, in the order they come.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self
        """
        self._partial_fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return np.asarray(safe_sparse_dot(X, self.coef_) + self.intercept_)

    def _shift(self, loss: Loss, target: Floats, mass: Floats) -> float:
        if not self.fit_intercept:
            return 0.0
        return float(loss.constant_scores(target, mass, 1))

    def _store(self, problem: Problem, fit: Fit) -> None:
        objective = problem.objective
        space = linear(objective.space)
        coef, intercept = space.uncentred(fit.solution.theta)
        self._store_coefficients(coef, intercept + objective.shift)
        super()._store(problem, fit)

    def _store_coefficients(self, coef: Floats, intercept: Floats) -> None:
        self.coef_ = np.ascontiguousarray(coef[:, 0])
        self.intercept_ = float(intercept[0])


class RiskClassifier(ClassTargets, Streaming):
    r"""Linear classification for the rows predicted worst, or without them.

    ``LogisticRegression`` minimises the mean loss of the rows. This minimises a
    weighted mean of the *sorted* losses, a spectral risk: ``"superquantile:0.9"`` is
    the mean of the worst tenth (CVaR), ``"mean"`` is ``LogisticRegression``, and
    ``"subquantile:0.8"`` leaves the worst fifth out. It minimises over w and b

    .. math:: \sum_i \sigma_i \ell_{(i)} + \frac{\alpha}{2W} \|w\|^2

    where :math:`\ell_i` is the logistic loss of row i for two classes and the
    multinomial one for more (paper 1, equation 5), or the squared hinge loss.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How sorted losses are weighted, for example ``"superquantile:0.9"`` (the mean of
        the worst tenth), ``"extremile:2"``, ``"esrm:1"``, ``"mean"``, ``"worst_case"``;
        ``"subquantile:0.8"`` trims the worst fifth, ``"ranked_range:a:b"`` both ends.
        By default the mean of the worse half; see Notes.
    loss : {"logistic", "squared_hinge"} or Loss, default="logistic"
        What one row costs; the squared hinge, on the scale of ``LinearSVC(C=1/alpha)``,
        is for two classes only and has no probabilities.
    alpha : float ≥ 0, default=1.0
        Penalty. With ``spectrum="mean"`` the fit is that of
        ``LogisticRegression(C=1/alpha)``; the papers' μ is alpha/n. Intercepts are
        never penalised.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class: the fit is the one with these
        sample weights. ``"balanced"`` gives all classes the same weight in sum.
    solver : str or Solver, default="auto"
        For increasing spectra ``"newton"``, ``"lbfgs"`` and, for superquantiles of many
        rows, ``"band"`` solve to a certified optimum; ``"lsvrg"``, ``"sorel"``,
        ``"prospect"``, ``"sgd"`` and ``"srda"`` are stochastic. For decreasing ones,
        whose objective is not convex, ``"concentration"`` and the paper's
        ``"subquantile"``. ``"auto"`` chooses. A solver object brings its own ``tol``
        and limit.
    tol : float, default=1e-6
        Relative duality gap at which to stop. Trimmed fits, which have no such proof,
        go on until the same rows are kept; there it only decides on a warning.
    max_iter : int or None, default=None
        Limit on the solver's iterations (Newton steps, L-BFGS iterations, epochs of a
        stochastic solver, C-steps from one start, gradient steps); None means the
        solver's own default.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    random_state : int, RandomState instance or None, default=None
        For the random starts of concentration; the certified solvers draw nothing.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    objective_ : float
        The minimum reached, penalty included.
    dual_gap_ : float
        Proven bound on how far `objective_` is above the best possible value, relative
        to it, or to 1e-12 of the risk of the fit without features where that is more;
        infinite where no proof exists (``alpha=0``).
    risk_weights_ : array of shape (n_samples,)
        λ, the weight of each training row at the optimum: the fit is that of the mean
        loss with these weights, a logistic regression unless the loss is the hinge.
    weight_sum_ : float
        W, the weight of all training rows.
    losses_, inlier_mask_ : arrays of shape (n_samples,)
        Only under spectra that leave rows out: the loss of every training row at the
        fit (NaN where a row has no weight), and which rows are not left out for their
        large losses.
    n_iter_ : int
    solver_ : str
        The solver that ran, the last one if it was changed; ``"collapse"`` where the
        constant fit was proven best right away.
    history_ : list of dict
        Objective, gap (infinite until one is proven) and time after each iteration; a
        ``"note"`` says why the solver was changed.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RiskRegressor : The same for numbers.
    KernelRiskClassifier : The same for classes that no plane divides.
    RiskClassifierCV : Chooses alpha by the held-out risk.
    RobustClassifier : For an unknown share of wrong labels.

    Notes
    -----
    Under a strong spectrum and overlapping classes the best fit is often the constant
    one: no use of the features lowers the largest losses. Such a fit warns with
    `lrisk.CollapsedFitWarning`. Trimming many rows of a model with an intercept invites
    the opposite: all of one class is left out. ``fit_intercept=False`` or
    ``solver=Concentration(class_balanced=True)`` prevents it. Probabilities of
    tail-risk fits are not calibrated: they answer to the worst rows, not to
    frequencies. Why the worse half is the default: see `RiskRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lrisk import RiskClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RiskClassifier("extremile:2").fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> hinge = RiskClassifier("mean", loss="squared_hinge").fit(X, y == 0)
    >>> hasattr(hinge, "predict_proba")
    False
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "logistic",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @available_if(streams_by_sgd)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "RiskClassifier":
        """Take stochastic steps on the next rows of a stream (``solver="sgd"`` only).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Cut into batches of the solver's `batch_size`, in the order they come.
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,) or None, default=None
            All classes of the stream; needed in the first call.
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            if isinstance(self.class_weight, str):
                rule = "a dict or None in partial_fit"
                remedy = "a stream does not say how often its classes will come"
                value = self.class_weight
                raise ValueError(refused(self, "class_weight", rule, value, remedy))
            first = not hasattr(self, "coef_")
            if first and (classes is None or len(np.unique(classes)) < 2):
                rule = "two or more in the first call to partial_fit"
                remedy = "pass every class that may come"
                raise ValueError(refused(self, "classes", rule, classes, remedy))
            later = not first and classes is not None
            if later and not np.array_equal(np.unique(classes), self.classes_):
                rule, remedy = "those of the first call", "leave them out"
                raise ValueError(refused(self, "classes", rule, classes, remedy))
            self._partial_fit(X, y, sample_weight, classes)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = np.asarray(safe_sparse_dot(X, self.coef_.T) + self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _store(self, problem: Problem, fit: Fit) -> None:
        space = linear(problem.objective.space)
        self._store_coefficients(*space.uncentred(fit.solution.theta))
        super()._store(problem, fit)

    def _store_coefficients(self, coef: Floats, intercept: Floats) -> None:
        if len(intercept) > 1:  # a constant added to all scores changes nothing
            intercept = intercept - intercept.mean()
        self.coef_ = np.ascontiguousarray(coef.T)
        self.intercept_ = np.array(intercept, dtype=np.float64)
