"""Kernel models under a spectral risk: robust by trimming, or careful of the tail."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import check_real, refused
from .._typing import AnyArray, Bools, Floats
from .._validation import validate_data
from ..certificate import relative_gap
from ..losses import Squared
from ..objective import Objective
from ..ranking import Ranking
from ..solvers import (
    Concentration,
    Solution,
    Solver,
    SubquantileGradient,
)
from ..solvers.kept import LowestRows
from ..spaces import FactoredSpace, Kernel, KernelRows, KernelSpace, Space
from ..spectra import Spectrum, parse_spectrum
from .base import RiskEstimator, trims
from .targets import ClassTargets, NumberTargets

KernelParameter = str | Callable[..., float]


class KernelRiskEstimator(RiskEstimator):
    """Base of `KernelRiskRegressor` and `KernelRiskClassifier`."""

    kernel: KernelParameter
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    radius: float | None

    _flags = ("warm_start",)

    dual_coef_: Floats
    X_fit_: Any

    # -- fitting -----------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        return Kernel(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._kernel().validate(self)
        if self.radius is not None:
            remedy = "None means no limit"
            check_real(self, "radius", self.radius, low=0, low_open=True, remedy=remedy)
            if self.solver != "subquantile":
                rule = "None unless solver='subquantile'"
                remedy = "alpha limits ‖f‖ in the other solvers"
                raise ValueError(refused(self, "radius", rule, self.radius, remedy))

    def _check_matrix(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        X, y = super()._check_matrix(X, y, **options)
        if self._kernel().precomputed and X.shape[0] != X.shape[1]:
            rule = "a square matrix for kernel='precomputed'"
            remedy = "pass k(x_i, x_j) of the training rows"
            raise ValueError(refused(self, "X", rule, X.shape, remedy))
        if options.get("reset", True):
            self.X_fit_ = X
        return X, y

    def _rows(self, X: Any, kept: Bools) -> Any:
        return X[kept][:, kept] if self._kernel().precomputed else X[kept]

    def _objective(self, X: Any, target: Floats, weight: Floats | None) -> Objective:
        loss, n_scores = self._loss()
        ranking = Ranking(parse_spectrum(self.spectrum), X.shape[0], weight)
        kernel = KernelSpace(self._kernel(), X, n_scores=n_scores)
        objective = Objective(ranking, loss, kernel, target, float(self.alpha))
        return objective if self._direct(objective) else self._factored(objective)

    def _direct(self, objective: Objective) -> bool:
        """Whether the solver works with the kernel matrix, not with its factor."""
        solver = self.solver
        if isinstance(solver, SubquantileGradient) or solver == "subquantile":
            return True
        if isinstance(solver, Solver) and not isinstance(solver, Concentration):
            return False
        rows = objective.space.n_rows
        primal = self.kernel == "linear" and self.X_fit_.shape[1] <= rows
        down = trims(objective) or isinstance(solver, Concentration)
        down = down or solver == "concentration"
        trimmed = LowestRows(objective.ranking).trimmed if down else False
        return trimmed and isinstance(objective.loss, Squared) and not primal

    @staticmethod
    def _factored(objective: Objective) -> Objective:
        space: Space = objective.space
        assert isinstance(space, KernelSpace)
        return objective.with_space(space.factored())

    def _solver(self, objective: Objective) -> Solver:
        given = self.solver
        if given != "subquantile":
            return super()._solver(objective)
        own = SubquantileGradient(tol=self.tol, radius=self.radius)
        if self.max_iter is not None:
            own.set_params(max_iter=self.max_iter)
        return self._checked(own, objective)

    def _theta(self, objective: Objective) -> Floats:
        """The fitted coefficients as θ of an objective over the training rows."""
        space: Space = objective.space
        table = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        if space.n_rows != len(table):
            table = table[self._has_weight]
        if isinstance(space, FactoredSpace):
            return space.features_of(table)
        return np.ascontiguousarray(table).ravel()

    def _check_data_again(self, X: Any, y: Any) -> tuple[Any, Floats]:
        X, y = super()._check_data_again(X, y)
        same = X.shape == self.X_fit_.shape
        difference = (self.X_fit_ != X) if same else None
        if difference is None or difference.sum() > 0:
            rule = "the training rows for a kernel model"
            remedy = "its coefficients belong to those rows"
            raise ValueError(refused(self, "X", rule, "other rows", remedy))
        return X, y

    def _start(
        self, objective: Objective, kept: Bools
    ) -> tuple[Floats | None, Floats | None]:
        last = getattr(self, "dual_coef_", None)
        shape = (len(kept), objective.space.n_scores)
        if (
            not self.warm_start
            or last is None
            or last.reshape(len(last), -1).shape != shape
        ):
            return None, None
        table = np.ascontiguousarray(last.reshape(shape)[kept])
        space: Space = objective.space
        if isinstance(space, FactoredSpace):
            return space.features_of(table), None
        return table.ravel(), None

    def _store(self, objective: Objective, solution: Solution, kept: Bools) -> bool:
        coefficients = self._coefficients(objective, solution)
        table = np.zeros((len(kept), objective.space.n_scores))
        table[kept] = coefficients.reshape(-1, objective.space.n_scores)
        self.dual_coef_ = table[:, 0] if table.shape[1] == 1 else table
        self._has_weight = kept
        return super()._store(objective, solution, kept)

    def _coefficients(self, objective: Objective, solution: Solution) -> Floats:
        """Kernel coefficients of a solution, from stationarity where that is as good.

        At an optimum w = −λ∘ℓ′/μ, which is zero where a row does not enter.
        """
        space: Space = objective.space
        tol = self.solver.tol if isinstance(self.solver, Solver) else self.tol
        if not isinstance(space, FactoredSpace):
            return solution.theta
        if objective.mu > 0.0:
            point = objective.at(solution.theta)
            slopes = objective.loss.derivative(objective.y, point.scores)
            weights = solution.weights
            weights = np.where(weights > 1e-12 * weights.max(), weights, 0.0)
            scaled = slopes * (weights if slopes.ndim == 1 else weights[:, None])
            sparse = np.asarray(-scaled / objective.mu).ravel()
            theta = space.features_of(sparse)
            away = np.linalg.norm(theta - solution.theta)
            reached = objective.value(objective.at(theta))
            gap = relative_gap(objective, reached, max(reached - solution.dual, 0.0))
            if gap <= tol or away <= 1e-9 * np.linalg.norm(theta):
                solution.theta, solution.objective, solution.gap = theta, reached, gap
                return sparse
        dense = space.coefficients(solution.theta)
        return np.where(np.abs(dense) > 1e-13 * np.abs(dense).max(), dense, 0.0)

    # -- predicting --------------------------------------------------------------------

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        coefficients = self.dual_coef_
        n_scores = 1 if coefficients.ndim == 1 else coefficients.shape[1]
        rows = KernelRows(self._kernel(), self.X_fit_, X, n_scores)
        return rows.scores(coefficients)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


class KernelRiskRegressor(KernelRiskEstimator, NumberTargets):
    r"""Kernel regression that minimises a spectral risk of its losses.

    Minimises over f in the kernel's space

    .. math:: \sum_i \sigma_i \ell_{(i)} + \frac{\alpha}{2W} \|f\|^2,
              \qquad \ell_i = \tfrac12 (y_i - f(x_i))^2

    with :math:`\ell_{(1)} \le \dots \le \ell_{(n)}` the sorted losses, σ the weights of
    the spectrum and W the sum of the sample weights. ``"subquantile:p"`` fits the rows
    of lowest loss and leaves out the others, which may be wrong (paper 2, equation 6
    with its missing 1/(np)); increasing spectra care for the largest losses.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        For example ``"subquantile:0.8"``, ``"superquantile:0.9"``, ``"mean"``,
        ``"ranked_range:0.1:0.8"``.
    loss : {"squared"}, default="squared"
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"} or \
            callable, default="rbf"
        As in scikit-learn's ``KernelRidge``; positive definite kernels only. A callable
        takes two rows.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
    coef0 : float ≥ 0, default=1
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    alpha : float > 0, default=1.0
        Penalty. With ``spectrum="mean"`` the fit is that of
        ``KernelRidge(alpha=alpha)``; the papers' μ is alpha/n.
    radius : float or None, default=None
        Largest ‖f‖, for ``solver="subquantile"``.
    solver : {"auto", "newton", "lbfgs", "concentration", "subquantile"} or Solver, \
            default="auto"
        For decreasing spectra ``"auto"`` is exact concentration from several starts and
        ``"subquantile"`` the paper's gradient method; for increasing ones the certified
        solvers run on a factor of the kernel matrix.
    tol : float, default=1e-6
        Relative duality gap at which to stop; without proof, relative progress.
    max_iter : int or None, default=None
        Limit on what the solver counts (Newton steps, L-BFGS iterations, C-steps from
        one start, gradient steps); None means the solver's own default.
    warm_start : bool, default=False
        Start from the last fit's coefficients if the rows are as many.
    random_state : int, RandomState instance or None, default=None
        For random starts.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,)
        f = Σ dual_coef_i k(x_i, ·), zero where a row does not enter.
    X_fit_ : array or CSR array of shape (n_samples, n_features)
    losses_, inlier_mask_ : arrays of shape (n_samples,)
        Only under spectra that leave rows out: the loss of every training row at the
        fit (NaN where a row has no weight), and which rows count.
    risk_weights_ : array of shape (n_samples,)
        λ, the weight of each training row.
    objective_ : float
        The value reached, penalty included.
    dual_gap_ : float
        Proven relative distance from the minimum; infinite for decreasing spectra,
        whose objective is not convex.
    n_iter_, solver_, history_
        As in `RiskRegressor`.

    See Also
    --------
    lrisk.displays.LossDisplay : The losses and the cut between kept and left out.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import KernelRiskRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[::6] = 8.0  # a sixth of the labels is wrong
    >>> model = KernelRiskRegressor("subquantile:0.8", alpha=0.1).fit(X, y)
    >>> bool(model.inlier_mask_[::6].any())
    False
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str = "squared",
        kernel: KernelParameter = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        radius: float | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.radius = radius
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,). k(x, x_i) if precomputed."""
        return self._scores(X)


class KernelRiskClassifier(KernelRiskEstimator, ClassTargets):
    r"""Kernel classification that minimises a spectral risk of its losses.

    Minimises Σσ_iℓ_(i) + α/(2W)‖f‖² over f in the kernel's space, with the logistic
    loss for two classes and the multinomial one for more (paper 2, algorithm 1).

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        For example ``"subquantile:0.8"``, which leaves the fifth of largest loss out.
    loss : {"logistic"}, default="logistic"
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"} or \
            callable, default="rbf"
        As in scikit-learn; positive definite kernels only. A callable takes two rows.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
    coef0 : float ≥ 0, default=1
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    alpha : float > 0, default=1.0
        Penalty, on the scale of ``LogisticRegression(C=1/alpha)`` without intercept.
    radius : float or None, default=None
        Largest ‖f‖, for ``solver="subquantile"``.
    solver : {"auto", "newton", "lbfgs", "concentration", "subquantile"} or Solver, \
            default="auto"
        As in `KernelRiskRegressor`. ``Concentration(class_balanced=True)`` trims within
        classes.
    tol, max_iter, warm_start, random_state, verbose
        As in `KernelRiskRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_samples,), or (n_samples, n_classes) for more classes
    X_fit_, losses_, inlier_mask_, risk_weights_, objective_, dual_gap_
        As in `KernelRiskRegressor`.
    n_iter_, solver_, history_
        As in `RiskClassifier`.

    Notes
    -----
    Trimming rows by their loss can remove a class as a whole: the fit then warns with
    `lrisk.CollapsedFitWarning`. Under heavy label noise a flexible kernel fits wrong
    labels as easily as right ones; compare with ``spectrum="mean"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lrisk import KernelRiskClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRiskClassifier("subquantile:0.9", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str = "logistic",
        kernel: KernelParameter = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        radius: float | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.radius = radius
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def decision_function(self, X: Any) -> AnyArray:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        return self._scores(X)
