"""The steps of a kernel fit in memory, over rows that lie on a device."""

from dataclasses import replace
from typing import Any

import numpy as np

from .. import estimators as memory
from .._typing import AnyArray, Bools, Floats
from ..estimators.problem import Problem
from ..objective import Objective
from ..procedures.nystroem import Kept
from ..solvers import Concentration, Solution, Solver
from ..spaces import Kernel
from .centres import DeviceRows, RowsOnDevice
from .kernel_space import TensorKernelSpace


class KernelRiskRegressor(memory.KernelRiskRegressor):
    """`lrisk.KernelRiskRegressor`, its matrices elsewhere.

    Fitted by `_problem`, `_solver`, `_solve`, `_settle` and `_store` alone.
    """

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "KernelRiskRegressor":
        """With parameters of an estimator of tensors."""
        made = cls(**parameters)
        made._ways = RowsOnDevice()
        return made

    def _space_of_rows(self, rows: DeviceRows, n_scores: int) -> Any:
        return TensorKernelSpace(Kernel.of(self), rows.tensor)

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
        problem = super()._problem(X, target, weight, kept, classes, again=again)
        ranking = problem.objective.ranking
        if ranking.spectrum.monotone != "flat":
            return problem
        all_rows = np.ones(ranking.n_rows, dtype=bool)
        begun = Kept(np.zeros(ranking.n_rows), np.array(ranking.mass), all_rows)
        return replace(problem, begun=begun)

    def _direct(self, objective: Objective, n_features: int) -> bool:
        """Whether the solver works with the kernel matrix: the only way here."""
        return True

    def _solver(self, problem: Problem) -> Solver:
        solver: Any = self.solver
        if not isinstance(solver, Concentration):
            options = self._options(Concentration, problem)
            if problem.objective.ranking.spectrum.monotone == "flat":
                options["max_iter"] = 1
            solver = Concentration(tol=self.tol, starts=0, swaps=0, **options)
        checked: Solver = solver
        checked.check(problem.objective, type(self).__name__)
        return checked

    def _sparse(
        self, objective: Objective, solution: Solution
    ) -> tuple[Solution, Floats]:
        space: Any = objective.space
        return solution, space.coefficients(solution.theta)
