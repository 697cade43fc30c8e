"""What the linear estimators share: validate, build the objective, solve, store."""

import sys
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._params import check_count, check_real, check_verbose, refused
from .._threads import blas_threads_for
from .._typing import AnyArray, Bools, Floats
from .._validation import (
    FIT_DEPTH,
    CallbackSupportMixin,
    IterationCallbacks,
    check_flag,
    default_of,
    generator,
    unchanged_on_error,
    validate_data,
    with_callbacks,
)
from ..losses import Loss, parse_loss
from ..objective import Objective
from ..permutahedron import project
from ..procedures import minimise
from ..procedures.nystroem import Kept
from ..ranking import Ranking, check_row_weights
from ..solvers import (
    SOLVERS,
    Solution,
    Solver,
    Status,
    automatic_solver,
)
from ..solvers.solution import Monitor, Record
from ..solvers.trimming.kept import inliers
from ..spaces import LinearSpace
from ..spaces.capabilities import linear
from ..spectra import Spectrum, parse_spectrum
from .complaints import complaints
from .problem import Fit, Problem

#: Objective of a start over the risk without features above which it is none: scores
#: of a hundred times their size have lost two digits.
HOPELESS = 1e4


class NestedParameters(BaseEstimator):
    """Base of estimators whose spectrum and loss have parameters of their own."""

    spectrum: str | Spectrum

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``spectrum__q``, ``loss__tau`` and the like reach into these.

        A spectrum or a loss given by name becomes an object for that, so that a grid
        search over its parameter changes the fits.
        """
        parsers: dict[str, Any] = {"spectrum": parse_spectrum, "loss": parse_loss}
        for owner, parse in parsers.items():
            nested = any(name.startswith(f"{owner}__") for name in params)
            value = params.get(owner, getattr(self, owner, None))
            if nested and isinstance(value, str):
                params = {**params, owner: parse(value)}
        with unchanged_on_error(self):
            super().set_params(**params)
        return self


class SpectrumEstimator(CallbackSupportMixin, NestedParameters):
    """Base of estimators that minimise a spectral risk in iterations."""


class RiskEstimator(SpectrumEstimator):
    """Base of `RiskRegressor` and `RiskClassifier`."""

    loss: str | Loss
    alpha: float
    fit_intercept: bool
    solver: str | Solver
    tol: float
    max_iter: int | None
    warm_start: bool
    random_state: Any
    verbose: int
    risk_weights_: Floats
    weight_sum_: float

    #: Parameters that are True or False.
    _flags: ClassVar[tuple[str, ...]] = ("fit_intercept", "warm_start")

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the spectral risk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; a weight k counts like k rows, exactly, and 0 like no row.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self):
            self._check_parameters()
            X, y = self._check_data(X, y)
            problem = self._prepare(X, y, sample_weight)
            space, solver = problem.objective.space, self._solver(problem)
            start, before = self._start(problem)
            if start is not None and _hopeless(problem.objective, start):
                start = before = None
            monitor = progress(callbacks, self.verbose)
            with blas_threads_for(space.n_rows * space.size):
                solution = self._solve(solver, problem, start, before, monitor)
                if not np.isfinite(solution.objective):
                    rule, remedy = "small enough for its squares", "rescale the data"
                    raise ValueError(refused(self, "X or y", rule, "overflow", remedy))
                fitted = self._settle(problem, solution)
                self._store(problem, fitted)
            self.solver_ = solution.solver or solver.name
            self.__dict__.pop("_stream", None)  # a fit ends any stream
        callbacks.end()
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt(solution.status.value)
        for message, kind in self._complaints(problem.objective, fitted, solver.tol):
            warnings.warn(message, kind, stacklevel=FIT_DEPTH)
        return self

    # -- what the two estimators fill in -----------------------------------------------

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        raise NotImplementedError

    def _encode(self, y: Any) -> tuple[AnyArray | None, Floats]:
        """The classes, if any, and targets as the loss wants them."""
        raise NotImplementedError

    def _encode_again(self, y: Any) -> Floats:
        """Targets as the loss wants them, by the classes of the last fit."""
        return self._encode(y)[1]

    def _loss(self, classes: AnyArray | None) -> tuple[Loss, int]:
        """The loss, and how many scores a row has."""
        raise NotImplementedError

    def _settle(self, problem: Problem, solution: Solution) -> Fit:
        """What is to be stored of a solution."""
        return Fit(solution)

    def _store_coefficients(self, coef: Floats, intercept: Floats) -> None:
        """Set `coef_` and `intercept_` from (d, k) and (k,)."""
        raise NotImplementedError

    def _store(self, problem: Problem, fit: Fit) -> None:
        """Set the fitted attributes."""
        objective, solution, kept = problem.objective, fit.solution, problem.kept
        self.objective_ = solution.objective
        self.dual_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.history_ = solution.history
        self.weight_sum_ = objective.ranking.total
        self.risk_weights_ = np.zeros(len(kept))
        self.risk_weights_[kept] = solution.weights
        for name in ("losses_", "inlier_mask_"):
            if hasattr(self, name):
                delattr(self, name)
        if objective.ranking.spectrum.trims:
            self.losses_ = np.full(len(kept), np.nan)
            losses = objective.at(solution.theta).losses
            self.losses_[kept] = losses
            within = getattr(self.solver, "class_balanced", False)
            groups = objective.y if within else np.zeros(len(losses))
            self.inlier_mask_ = np.zeros(len(kept), dtype=bool)
            found = inliers(objective.ranking, losses, solution.weights, groups)
            self.inlier_mask_[kept] = found

    # -- building ----------------------------------------------------------------------

    def _check_parameters(self) -> None:
        remedy = "0 means no penalty; 1.0 is Ridge's default"
        check_real(self, "alpha", self.alpha, low=0, remedy=remedy)
        check_real(self, "tol", self.tol, low=0, remedy="1e-6 is the usual choice")
        if self.max_iter is not None:
            check_count(self, "max_iter", self.max_iter)
        for name in self._flags:
            check_flag(self, name, getattr(self, name))
        check_verbose(self, self.verbose)
        parse_spectrum(self.spectrum)
        if isinstance(self.solver, Solver):
            for name in ("tol", "max_iter"):
                if getattr(self, name) != default_of(self, name):
                    rule = "left alone when solver is an object, which has its own"
                    value, remedy = getattr(self, name), f"set it on {self.solver!r}"
                    raise ValueError(refused(self, name, rule, value, remedy))
        elif not isinstance(self.solver, str) or self.solver not in ("auto", *SOLVERS):
            known = ", ".join(repr(name) for name in ("auto", *SOLVERS))
            rule = f"one of {known} or a solver object"
            raise ValueError(refused(self, "solver", rule, self.solver, "choose one"))

    def _check_matrix(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=self._dtypes(X),
            **options,
        )
        return (as_csr(X) if sp.issparse(X) else X), y

    def _dtypes(self, X: Any) -> list[type] | None:
        """Types of numbers that X may keep; None means its own."""
        return [np.float64, np.float32]

    def _check_data_again(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Data for a fitted estimator."""
        return self._check_data(X, y, reset=False)

    def _row_weights(self, y: Any, sample_weight: Any) -> Floats | None:
        """Weights of all rows; None means equal ones."""
        return check_row_weights(sample_weight, len(y))

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The problem of a fit to checked data; the estimator is not changed."""
        weight, kept = _kept(self._row_weights(y, sample_weight), X.shape[0])
        classes, target = self._encode(y if kept.all() else y[kept])
        return self._problem(X, target, weight, kept, classes)

    def _prepare_again(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The problem of which a fitted estimator is to be a solution, on any data."""
        X, y = self._check_data_again(X, y)
        weight, kept = _kept(self._row_weights(y, sample_weight), X.shape[0])
        target = self._encode_again(y)
        classes = getattr(self, "classes_", None)
        target = target if kept.all() else target[kept]
        return self._problem(X, target, weight, kept, classes, again=True)

    def _problem(
        self,
        X: Any,
        target: Floats,
        weight: Floats | None,
        kept: Bools,
        classes: AnyArray | None,
        *,
        again: bool = False,
    ) -> Problem:
        """The objective over the rows that are kept.

        Parameters
        ----------
        X : array or CSR array of shape (n, d)
        target, weight : arrays of shape (m,)
            Of the kept rows only; a weight of None means equal ones.
        kept : array of shape (n,)
        classes : array of shape (n_classes,) or None
        again : bool, default=False
            Whether it is that of an earlier fit, whose centres stay.
        """
        loss, n_scores = self._loss(classes)
        rows = X if kept.all() else X[kept]
        ranking = Ranking(parse_spectrum(self.spectrum), rows.shape[0], weight)
        space = LinearSpace.centred(
            rows, ranking.mass, intercept=self.fit_intercept, n_scores=n_scores
        )
        shift = self._shift(loss, target, ranking.mass)
        alpha = float(self.alpha)
        target = target - shift if shift else target
        objective = Objective(ranking, loss, space, target, alpha, shift)
        return Problem(objective, kept, classes)

    def _solver(self, problem: Problem) -> Solver:
        solver: Any = self.solver
        objective = problem.objective
        if not isinstance(solver, Solver):
            auto = solver == "auto"
            kind: Any = automatic_solver(objective) if auto else SOLVERS[solver]
            solver = kind(tol=self.tol, **self._options(kind, problem))
        checked: Solver = solver
        checked.check(objective, type(self).__name__)
        return checked

    def _options(self, kind: type[Solver], problem: Problem) -> dict[str, Any]:
        """What a solver that was given by name, or not at all, is made with."""
        return {} if self.max_iter is None else {kind.limit: self.max_iter}

    def _solve(
        self,
        solver: Solver,
        problem: Problem,
        start: Floats | None,
        before: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Run the solver, or a search round it."""
        return minimise(
            problem.objective,
            solver,
            start,
            weights=before,
            begun=self._begun(problem),
            rng=generator(self.random_state),
            monitor=monitor,
        )

    def _begun(self, problem: Problem) -> Kept | None:
        """Which rows a trimmed fit keeps at first, where that is known."""
        return problem.begun

    def _shift(self, loss: Loss, target: Floats, mass: Floats) -> float:
        """A constant to take from the targets, which the intercept gives back."""
        return 0.0

    def _linear_coefficients(self) -> tuple[Floats, Floats]:
        """Fitted coefficients (d, k) and intercepts (k,)."""
        return np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)

    def _theta(self, objective: Objective) -> Floats:
        """The fitted coefficients as θ of an objective."""
        coef, intercept = self._linear_coefficients()
        return linear(objective.space).join(coef, intercept - objective.shift)

    def _start(self, problem: Problem) -> tuple[Floats | None, Floats | None]:
        """θ and λ of the last fit, where they fit and are wanted."""
        objective, kept = problem.objective, problem.kept
        space = linear(objective.space)
        shape = (space.n_scores, space.n_features)
        last = np.atleast_2d(getattr(self, "coef_", np.empty(0)))
        if not self.warm_start or last.shape != shape:
            return None, None
        weights = getattr(self, "risk_weights_", np.empty(0))
        convex = not objective.ranking.spectrum.trims
        fits = convex and weights.shape == kept.shape and weights[kept].sum() > 0
        if not fits:
            return self._theta(objective), None
        weights = weights[kept] / weights[kept].sum()
        return self._theta(objective), project(objective.ranking, weights)

    def _complaints(
        self, objective: Objective, fit: Fit, tol: float
    ) -> list[tuple[str, type[Warning]]]:
        """What the user is to be warned of after a fit."""
        return complaints(self, objective, fit, tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _kept(weight: Floats | None, n_rows: int) -> tuple[Floats | None, Bools]:
    """Weights of the rows that have any, and which these are."""
    if weight is None:
        return None, np.ones(n_rows, dtype=bool)
    kept = weight > 0
    return (weight if kept.all() else weight[kept]), kept


def _hopeless(objective: Objective, theta: Floats) -> bool:
    """Whether a start is so far off that the way back would cost digits.

    Scores move by steps, and where these once were 10¹² they are right to 10⁻⁴ only.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return not objective.value_at(theta) <= HOPELESS * objective.constant_risk


def as_csr(X: Any) -> Any:
    """Any sparse matrix as a CSR array, whose slices keep two dimensions."""
    return sp.csr_array(X)


def progress(callbacks: IterationCallbacks, verbose: int) -> Monitor:
    """What to do after each iteration: tell the callbacks, and print if wanted."""

    def tell(record: Record) -> None:
        callbacks.iteration()
        if verbose:
            proof = f"gap {record['gap']:.1e}  " if "gap" in record else ""
            sys.stdout.write(
                f"iteration {record['iteration']:>4}  "
                f"objective {record['objective']:.10g}  {proof}"
                f"{record['seconds']:.2f} s\n"
            )

    return tell
