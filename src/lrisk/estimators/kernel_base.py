"""What the kernel estimators share: the space, the coefficients, the scores."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, check_real, refused
from .._typing import AnyArray, Bools, Floats
from .._validation import generator, validate_data
from ..certificate import relative_gap
from ..objective import Objective
from ..procedures.nystroem import (
    IN_MEMORY,
    Kept,
    Rows,
    RowsToFit,
    begin_trimmed,
    default_steps,
    drawn_centres,
    pilot_solver,
)
from ..ranking import Ranking
from ..solvers import (
    SOLVERS,
    Solution,
    Solver,
    automatic_solver,
)
from ..spaces import (
    FactoredSpace,
    Kernel,
    KernelRows,
    KernelSpace,
    NystroemSpace,
    Space,
)
from ..spaces.nystroem import HELD_ENTRIES, kernel_scores
from ..spectra import parse_spectrum
from .base import RiskEstimator
from .problem import Fit, Problem

KernelParameter = str | Callable[..., float]


class KernelRiskEstimator(RiskEstimator):
    """Base of `KernelRiskRegressor` and `KernelRiskClassifier`."""

    kernel: KernelParameter
    gamma: float | None
    degree: int
    coef0: float
    kernel_params: Mapping[str, Any] | None
    radius: float | None
    n_components: int | None

    _flags = ("warm_start",)
    _ways: Rows = IN_MEMORY

    dual_coef_: Floats
    X_fit_: Any

    # -- fitting -----------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        Kernel.of(self).validate(self)
        if self.radius is not None:
            remedy = "None means no limit"
            check_real(self, "radius", self.radius, low=0, low_open=True, remedy=remedy)
            if not self._takes_radius():
                rule = "None unless solver='subquantile'"
                remedy = "alpha limits ‖f‖ in the other solvers"
                raise ValueError(refused(self, "radius", rule, self.radius, remedy))
        if self.n_components is not None:
            self._check_components()

    def _takes_radius(self) -> bool:
        """Whether the solver is made here and has a parameter of that name."""
        kind = self._kind_given()
        made = not isinstance(self.solver, Solver) and kind is not None
        return made and kind is not None and "radius" in kind.parameter_names()

    def _check_components(self) -> None:
        """n_components is a number, and kernel and solver can do with centres."""
        given = self.n_components
        check_count(self, "n_components", given)
        if Kernel.of(self).precomputed:
            rule = "None for kernel='precomputed'"
            remedy = "pass features, and a kernel of them"
            raise ValueError(refused(self, "n_components", rule, given, remedy))
        kind = self._kind_given()
        if kind is not None and kind.needs_matrix:
            rule = f"None for solver={kind.name!r}, which needs the kernel matrix"
            remedy = "use solver='auto'"
            raise ValueError(refused(self, "n_components", rule, given, remedy))

    def _by_centres(self, n_rows: int) -> bool:
        """Whether the model has fewer centres than rows."""
        return self.n_components is not None and self.n_components < n_rows

    def _dtypes(self, X: Any) -> list[type] | None:
        """Any numbers where X is read in blocks, so that nothing is copied whole."""
        plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf"
        if plain and self._by_centres(len(X)):
            return None
        return super()._dtypes(X)

    def _check_matrix(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        X, y = super()._check_matrix(X, y, **options)
        Kernel.of(self).check_training(self, X)
        return X, y

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
        n_rows, whole = int(np.sum(kept)), bool(kept.all())
        loss, n_scores = self._loss(classes)
        ranking = Ranking(parse_spectrum(self.spectrum), n_rows, weight)
        if self._centred_ if again else self._by_centres(n_rows):
            rows = X if whole else self._ways.selected(X, np.flatnonzero(kept))
            sought = RowsToFit(
                Kernel.of(self),
                rows,
                target,
                ranking,
                loss,
                n_scores,
                float(self.alpha),
                self._ways,
            )
            begun = None
            centres = self.X_fit_ if again else None
            if centres is None:
                centres, begun = self._choose_centres(sought)
            space = self._space_of_centres(sought, centres)
            return Problem(sought.over(space), kept, classes, centres, True, begun)
        rows = X if whole else self._ways.taken(X, np.flatnonzero(kept))
        if Kernel.of(self).precomputed and not whole:
            rows = rows[:, kept]
        space = self._space_of_rows(rows, n_scores)
        objective = Objective(ranking, loss, space, target, float(self.alpha))
        if not self._direct(objective, X.shape[1]):
            objective = self._factored(objective)
        return Problem(objective, kept, classes, X)

    def _space_of_rows(self, rows: Any, n_scores: int) -> Any:
        """The kernel's space over the rows."""
        return KernelSpace(Kernel.of(self), rows, n_scores=n_scores)

    def _space_of_centres(self, sought: RowsToFit, centres: Any) -> Any:
        """The centres' span over all rows, their features held where they fit."""
        held = sought.X.shape[0] * centres.shape[0] <= HELD_ENTRIES
        mu = None if held else sought.alpha / sought.ranking.total
        return self._ways.space(
            sought.kernel, centres, mu, sought.X, sought.n_scores, held
        )

    def _choose_centres(self, sought: RowsToFit) -> tuple[Any, Kept | None]:
        """Rows drawn from those that a pilot keeps, or from all; whom it keeps."""
        first, second = map(int, generator(self.random_state).integers(2**31, size=2))
        assert self.n_components is not None
        count, X = int(self.n_components), sought.X
        if not sought.ranking.spectrum.trims:
            drawn = drawn_centres(X, count, second, self._ways)
            return X[drawn].astype(np.float64), None
        solver = pilot_solver(self.solver)
        begun = begin_trimmed(sought, count, solver, (first, second))
        return X[begun.centres].astype(np.float64), begun.kept

    def _kind_given(self) -> type[Solver] | None:
        """The class of the solver; None if it is to be chosen."""
        if isinstance(self.solver, Solver):
            return type(self.solver)
        return SOLVERS.get(self.solver)

    def _direct(self, objective: Objective, n_features: int) -> bool:
        """Whether the solver works with the kernel matrix, not with its factor."""
        kind = self._kind_given()
        if kind is None:
            if not objective.ranking.spectrum.trims:
                return False
            kind = automatic_solver(objective)
        small = self.kernel == "linear" and n_features <= objective.space.n_rows
        return kind.needs_matrix or (kind.prefers_matrix(objective) and not small)

    @staticmethod
    def _factored(objective: Objective) -> Objective:
        space: Space = objective.space
        assert isinstance(space, KernelSpace)
        return objective.with_space(space.factored())

    def _options(self, kind: type[Solver], problem: Problem) -> dict[str, Any]:
        options = super()._options(kind, problem)
        if "radius" in kind.parameter_names():
            options["radius"] = self.radius
        if problem.centred and self.max_iter is None and "down" in kind.spectra:
            rows, count = problem.objective.space.n_rows, problem.rows.shape[0]
            options[kind.limit] = default_steps(rows, count)
        return options

    def _theta(self, objective: Objective) -> Floats:
        """The fitted coefficients as θ of an objective over the training rows."""
        space: Space = objective.space
        table = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        if isinstance(space, NystroemSpace):
            return space.features_of(table)
        if space.n_rows != len(table):
            table = table[self._has_weight]
        if isinstance(space, FactoredSpace):
            return space.features_of(table)
        return np.ascontiguousarray(table).ravel()

    def _check_data_again(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_data_again(X, y)
        if self._centred_:
            return X, y
        same = X.shape == self.X_fit_.shape
        difference = (self.X_fit_ != X) if same else None
        if difference is None or difference.sum() > 0:
            rule = "the training rows for a kernel model"
            remedy = "its coefficients belong to those rows"
            raise ValueError(refused(self, "X", rule, "other rows", remedy))
        return X, y

    def _start(self, problem: Problem) -> tuple[Floats | None, Floats | None]:
        last, kept = getattr(self, "dual_coef_", None), problem.kept
        shape = (len(kept), problem.objective.space.n_scores)
        if (
            not self.warm_start
            or problem.centred
            or last is None
            or last.reshape(len(last), -1).shape != shape
        ):
            return None, None
        table = np.ascontiguousarray(last.reshape(shape)[kept])
        space: Space = problem.objective.space
        if isinstance(space, FactoredSpace):
            return space.features_of(table), None
        return table.ravel(), None

    def _settle(self, problem: Problem, solution: Solution) -> Fit:
        fit = super()._settle(problem, solution)
        solution, coefficients = self._sparse(problem.objective, fit.solution)
        return Fit(solution, fit.collapsed, coefficients)

    def _store(self, problem: Problem, fit: Fit) -> None:
        n_scores, kept = problem.objective.space.n_scores, problem.kept
        assert fit.coefficients is not None
        table = fit.coefficients.reshape(-1, n_scores)
        if not problem.centred:
            whole = np.zeros((len(kept), n_scores))
            whole[kept] = table
            table = whole
        self.X_fit_, self._centred_ = problem.rows, problem.centred
        self.dual_coef_ = table[:, 0] if table.shape[1] == 1 else table
        self._has_weight = kept
        super()._store(problem, fit)

    def _sparse(
        self, objective: Objective, solution: Solution
    ) -> tuple[Solution, Floats]:
        """A solution that few rows enter where that is as good; its coefficients.

        At an optimum w = −λ∘ℓ′/μ, which is zero where a row does not enter. Else the
        rows that do not enter are left out, if that is as good.
        """
        space: Space = objective.space
        if isinstance(space, NystroemSpace):
            return solution, space.coefficients(solution.theta)
        tol = self.solver.tol if isinstance(self.solver, Solver) else self.tol
        if not isinstance(space, FactoredSpace):
            return solution, solution.theta
        if not solution.theta.any():
            return solution, np.zeros(space.n_rows * space.n_scores)
        if objective.mu > 0.0:
            point = objective.at(solution.theta)
            slopes = solution.slopes  # of a kink, where only the proof knows them
            if slopes is None:
                slopes = objective.loss.derivative(objective.y, point.scores)
            weights = solution.weights
            weights = np.where(weights > 1e-12 * weights.max(), weights, 0.0)
            if slopes.ndim > 1:
                weights = weights[:, None]
            sparse = np.asarray(-weights * slopes / objective.mu).ravel()
            entering = np.broadcast_to(weights > 0, slopes.shape).ravel()
            dense = space.coefficients(solution.theta)
            for candidate in (sparse, np.where(entering, dense, 0.0)):
                theta = space.features_of(candidate)
                away = np.linalg.norm(theta - solution.theta)
                reached = objective.value(objective.at(theta))
                missing = max(reached - solution.dual, 0.0)
                gap = relative_gap(objective, reached, missing)
                same = away <= 1e-9 * np.linalg.norm(theta)
                if gap <= max(tol, solution.gap) or (same and not np.isfinite(gap)):
                    better = replace(solution, theta=theta, objective=reached, gap=gap)
                    return better, candidate
        dense = space.coefficients(solution.theta)
        tiny = 1e-13 * np.abs(dense).max()
        return solution, np.where(np.abs(dense) > tiny, dense, 0.0)

    # -- predicting --------------------------------------------------------------------

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=self._dtypes(X), reset=False
        )
        coefficients = self.dual_coef_
        n_scores = 1 if coefficients.ndim == 1 else coefficients.shape[1]
        if self._centred_:
            table = coefficients.reshape(-1, n_scores)
            scores = kernel_scores(Kernel.of(self), self.X_fit_, X, table)
            return scores[:, 0] if n_scores == 1 else scores
        rows = KernelRows(Kernel.of(self), self.X_fit_, X, n_scores)
        return rows.scores(coefficients)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
