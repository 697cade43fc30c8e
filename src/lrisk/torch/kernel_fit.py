"""The steps of a kernel fit in memory, over rows that lie on a device."""

from typing import Any

import numpy as np

from .. import estimators as memory
from .._typing import Floats
from ..estimators.problem import Problem
from ..objective import Objective
from ..procedures.nystroem import Kept
from ..solvers import Concentration, Solution, Solver
from ..spaces import Kernel
from .centres import DeviceRows, RowsOnDevice
from .kernel_space import TensorKernelSpace


class KernelRiskRegressor(memory.KernelRiskRegressor):
    """`lrisk.KernelRiskRegressor`, its matrices elsewhere.

    Fitted by `_problem`, `_solver`, `_solve`, `_settle` and `_store` alone, of which it
    changes the solver, where it begins and the space.
    """

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "KernelRiskRegressor":
        """With parameters of an estimator of tensors."""
        made = cls(**parameters)
        made._ways = RowsOnDevice()
        return made

    def _space_of_rows(self, rows: DeviceRows, n_scores: int) -> Any:
        return TensorKernelSpace(Kernel.of(self), rows.tensor)

    def _begun(self, problem: Problem) -> Kept | None:
        """A step of the descent is the whole fit where all rows count alike."""
        ranking = problem.objective.ranking
        if ranking.spectrum.monotone != "flat":
            return super()._begun(problem)
        all_rows = np.ones(ranking.n_rows, dtype=bool)
        return Kept(np.zeros(ranking.n_rows), np.array(ranking.mass), all_rows)

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
