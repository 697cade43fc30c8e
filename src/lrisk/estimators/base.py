"""What the linear estimators share: validate, build the objective, solve, store."""

import sys
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from .._params import check_count, check_real, check_verbose, refused
from .._threads import blas_threads_for
from .._typing import Bools, Floats
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
from .._warnings import CollapsedFitWarning
from ..losses import Loss, parse_loss
from ..objective import Objective
from ..permutahedron import project
from ..procedures import minimise_trimmed
from ..ranking import Ranking, check_row_weights
from ..solvers import (
    SOLVERS,
    Concentration,
    Solution,
    Solver,
    Status,
    automatic_solver,
)
from ..solvers.kept import inliers
from ..solvers.solution import Monitor, Record
from ..spaces import LinearSpace
from ..spectra import Spectrum, parse_spectrum

#: Part of the targets' spread, or of a unit of log-odds, below which predictions differ
#: by rounding only.
CONSTANT = float(np.finfo(np.float64).eps)


class SpectrumEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of estimators that have a spectrum."""

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
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative; a weight k counts like k rows, exactly, and 0 like no row.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self):
            self._check_parameters()
            X, y = self._check_data(X, y)
            weight = check_row_weights(sample_weight, X.shape[0])
            kept = np.ones(X.shape[0], dtype=bool) if weight is None else weight > 0
            if not kept.all():
                X, y = self._rows(X, kept), y[kept]
                weight = None if weight is None else weight[kept]
            target = self._encode(y)
            objective = self._objective(X, target, weight)
            solver = self._solver(objective)
            start, before = self._start(objective, kept)
            monitor = progress(callbacks, self.verbose)
            with blas_threads_for(objective.space.n_rows * objective.space.size):
                solution = self._solve(solver, objective, start, before, monitor)
                if not np.isfinite(solution.objective):
                    rule, remedy = "small enough for its squares", "rescale the data"
                    raise ValueError(refused(self, "X or y", rule, "overflow", remedy))
                collapsed = self._store(objective, solution, kept)
            self.solver_ = solution.solver or solver.name
            self.__dict__.pop("stream_", None)  # a fit ends any stream
        callbacks.end()
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt(solution.status.value)
        for message, kind in self._complaints(
            objective, solution, solver.tol, collapsed
        ):
            warnings.warn(message, kind, stacklevel=FIT_DEPTH)
        return self

    # -- what the two estimators fill in -----------------------------------------------

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        raise NotImplementedError

    def _encode(self, y: Any) -> Floats:
        """Targets as the loss wants them; sets `classes_` for a classifier."""
        raise NotImplementedError

    def _encode_again(self, y: Any) -> Floats:
        """Targets as the loss wants them, by the classes of the last fit."""
        return self._encode(y)

    def _loss(self) -> tuple[Loss, int]:
        """The loss, and how many scores a row has."""
        raise NotImplementedError

    def _store_coefficients(self, coef: Floats, intercept: Floats) -> None:
        """Set `coef_` and `intercept_` from (d, k) and (k,)."""
        raise NotImplementedError

    def _store(self, objective: Objective, solution: Solution, kept: Bools) -> bool:
        """Set the fitted attributes; True if the fit ignores the features."""
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
        if trims(objective):
            self.losses_ = np.full(len(kept), np.nan)
            losses = objective.at(solution.theta).losses
            self.losses_[kept] = losses
            within = getattr(self.solver, "class_balanced", False)
            groups = objective.y if within else np.zeros(len(losses))
            self.inlier_mask_ = np.zeros(len(kept), dtype=bool)
            found = inliers(objective.ranking, losses, solution.weights, groups)
            self.inlier_mask_[kept] = found
        return False

    # -- building
    # ------------------------------------------------------------------------

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
        elif self.solver not in ("auto", *SOLVERS):
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

    def _check_data_again(self, X: Any, y: Any) -> tuple[Any, Floats]:
        """Data for a fitted estimator, targets as the loss wants them."""
        X, y = self._check_data(X, y, reset=False)
        return X, self._encode_again(y)

    def _objective(self, X: Any, target: Floats, weight: Floats | None) -> Objective:
        loss, n_scores = self._loss()
        ranking = Ranking(parse_spectrum(self.spectrum), X.shape[0], weight)
        space = LinearSpace.centred(
            X, ranking.mass, intercept=self.fit_intercept, n_scores=n_scores
        )
        shift = self._shift(target, ranking.mass)
        alpha = float(self.alpha)
        target = target - shift if shift else target
        return Objective(ranking, loss, space, target, alpha, shift)

    def _solver(self, objective: Objective) -> Solver:
        solver: Any = self.solver
        if not isinstance(solver, Solver):
            auto = solver == "auto"
            kind: Any = automatic_solver(objective) if auto else SOLVERS[solver]
            options = {} if self.max_iter is None else {kind.limit: self.max_iter}
            solver = kind(tol=self.tol, **options)
        checked: Solver = solver
        checked.check(objective, type(self).__name__)
        return checked

    def _solve(
        self,
        solver: Solver,
        objective: Objective,
        start: Floats | None,
        before: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Run the solver; concentration from many starts."""
        rng = generator(self.random_state)
        if isinstance(solver, Concentration):
            return minimise_trimmed(objective, solver, start, rng=rng, monitor=monitor)
        return solver.solve(objective, start, weights=before, rng=rng, monitor=monitor)

    def _rows(self, X: Any, kept: Bools) -> Any:
        """The training data of the rows that have weight."""
        return X[kept]

    def _shift(self, target: Floats, mass: Floats) -> float:
        """A constant to take from the targets, which the intercept gives back."""
        return 0.0

    def _linear_coefficients(self) -> tuple[Floats, Floats]:
        """Fitted coefficients (d, k) and intercepts (k,)."""
        return np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)

    def _theta(self, objective: Objective) -> Floats:
        """The fitted coefficients as θ of an objective."""
        coef, intercept = self._linear_coefficients()
        return objective.space.join(coef, intercept - objective.shift)

    def _start(
        self, objective: Objective, kept: Bools
    ) -> tuple[Floats | None, Floats | None]:
        """θ and λ of the last fit, where they fit and are wanted."""
        space = objective.space
        shape = (space.n_scores, space.n_features)
        last = np.atleast_2d(getattr(self, "coef_", np.empty(0)))
        if not self.warm_start or last.shape != shape:
            return None, None
        weights = getattr(self, "risk_weights_", np.empty(0))
        rising = objective.ranking.spectrum.monotone in ("flat", "up")
        fits = rising and weights.shape == kept.shape and weights[kept].sum() > 0
        if not fits:
            return self._theta(objective), None
        weights = weights[kept] / weights[kept].sum()
        return self._theta(objective), project(objective.ranking, weights)

    def _complaints(
        self, objective: Objective, solution: Solution, tol: float, collapsed: bool
    ) -> list[tuple[str, type[Warning]]]:
        """What the user is to be warned of after a fit."""
        gave_up = (Status.MAX_ITER, Status.STALLED, Status.DIVERGED)
        if solution.status not in gave_up or solution.gap <= tol:
            return [] if collapsed else self._constant_complaint(objective, solution)
        reached = f"relative gap {solution.gap:.1e}, tol={tol:g}"
        if not np.isfinite(solution.gap):
            reached = f"tol={tol:g}"
        advice = "raise max_iter, loosen tol, or raise alpha"
        if solution.status is Status.DIVERGED:
            advice = "use learning_rate='auto' or a smaller number"
        message = (
            f"{type(self).__name__}: {solution.status.value} ({reached}); the best fit "
            f"found is kept. To go further {advice}."
        )
        return [(message, ConvergenceWarning)]

    def _constant_complaint(
        self, objective: Objective, solution: Solution
    ) -> list[tuple[str, type[Warning]]]:
        """That the features make no difference, unless there is none in them.

        Of a fit that did not get to its end there are other complaints.
        """
        if solution.status in UNFINISHED:
            return []
        space, theta = objective.space, solution.theta
        spread = 1.0
        if not objective.loss.classifies:
            low, high = np.quantile(objective.y, [0.25, 0.75])
            spread = float(high - low)
            # One absurd target is another matter than targets of an absurd size.
            if np.ptp(objective.y) > 1e3 * spread:
                return []
        if spread == 0.0 or not nearly_constant(space, theta, CONSTANT * spread):
            return []
        somewhere = space.penalised(np.ones(space.size))
        if not np.any(space.penalised(theta)) and nearly_constant(space, somewhere, 0):
            return []
        message = (
            f"{type(self).__name__}: the features do not change a digit of the "
            f"predictions: alpha={self.alpha:g} outweighs features, or targets, of "
            "this size"
        )
        if objective.ranking.spectrum.monotone != "flat":
            message += f", or spectrum={self.spectrum!r} is too strong"
        message += ". Rescale them, with StandardScaler for example, or lower alpha."
        return [(message, CollapsedFitWarning)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


#: How a solve ends that did not get where it was going.
UNFINISHED = (
    Status.MAX_ITER,
    Status.EPOCHS_DONE,
    Status.STEPS_TAKEN,
    Status.DIVERGED,
    Status.INTERRUPTED,
)


def trims(objective: Objective) -> bool:
    """Whether the spectrum gives the largest losses less weight, or none."""
    return objective.ranking.spectrum.monotone in ("down", "none")


def nearly_constant(space: Any, theta: Floats, within: float) -> bool:
    """Whether no two rows' scores differ by more; a few rows may already say no."""
    if hasattr(space, "take") and space.n_rows > 1000:
        some = space.take(np.linspace(0, space.n_rows - 1, 1000).astype(np.intp))
        if np.max(np.ptp(some.scores(theta), axis=0)) > within:
            return False
    return bool(np.max(np.ptp(space.scores(theta), axis=0)) <= within)


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
