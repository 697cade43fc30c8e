"""Concentration: fit the rows of lowest loss, look again which they are, repeat.

For a decreasing spectrum Σσ_iℓ_(i) = min_λ λ·ℓ over the weights that the rows can take
by rank, so F(θ) = min_λ Φ(θ, λ). A C-step takes the minimising λ at θ (the lowest
losses get the largest weights) and then the minimising θ for that λ, a convex problem:

    F(θ⁺) ≤ Φ(θ⁺, λ) ≤ Φ(θ, λ) = F(θ).

The objective never rises, and the steps end where λ repeats. For the ranked range
between a and b, F(θ) = min over the kept mass b of the Superquantile(a/b) of what is
kept: the same two halves, the second one solved by the certified solver.
"""

import time

import numpy as np

from ..._params import check_choice, check_count, check_real
from ..._typing import Floats
from ...losses import Squared
from ...objective import Objective, Point
from ..solution import Monitor, Record, Solution, Solver, Status
from .kept import LowestRows
from .refits import Refit, certain, refit_for

#: What rounding leaves of F, as a share of it: sums of a million losses err by less.
ROUNDING = 1e-12
#: Largest change of a score, as a share of the largest score, of a fit that stands
#: still. C-steps that shrink by a tenth each would still move it by ten times that.
STILL = 1e-12


class Concentration(Solver):
    """Exact minimisation over the kept rows in turn with the choice of those rows.

    `solve` takes C-steps from one start. Estimators go further
    (`lrisk.procedures.trimming`): several starts, elimination of rows one by one and
    exchanges of rows for numbers, and a path of penalties for kernels and classes.

    Parameters
    ----------
    tol : float, default=1e-9
        Progress below which no warning is given when `max_iter` ends the steps, as a
        share of the objective. The steps themselves go on until the weights repeat or
        the fit no longer moves, so that the same data give the same fit on every
        machine; where each of them is a fit by a certified solver (ranked ranges), they
        end with such a progress.
    max_iter : int, default=100
        Limit on C-steps from one start.
    starts : int or "auto", default="auto"
        Random elemental starts in linear spaces with squared loss (FAST-LTS): two
        C-steps from each, the best ten to the end. ``"auto"`` is 500, and 3000 for up
        to 150 rows, where they cost little. For classes: fits of random halves beside
        the path of penalties, none under ``"auto"``; they lower the objective, and with
        it often the accuracy. Squared loss in a kernel space has deterministic starts
        only: the path of penalties and, unless this is 0, elimination of rows.
    swaps : int or "auto", default="auto"
        Rounds of exact exchanges in kernel spaces with squared loss; ``"auto"`` allows
        what costs no more than the fit itself.
    class_balanced : bool, default=False
        Trim within each class, so that the classes keep their shares. The objective is
        then the mean over classes, by mass, of each class's own spectral risk.

    See Also
    --------
    SubquantileGradient : Gradient steps on the rows of lowest loss.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import Concentration
    >>> X = np.arange(20.0)[:, None]
    >>> y = 2.0 * X[:, 0]
    >>> y[:4] = 90.0
    >>> solver = Concentration(starts=50)
    >>> model = RiskRegressor("subquantile:0.8", alpha=1e-6, solver=solver)
    >>> model.fit(X, y).coef_.round(3)
    array([2.])
    """

    name = "concentration"
    spectra = frozenset({"flat", "down", "range"})
    requires = frozenset({"scores", "pullback"})

    def __init__(
        self,
        tol: float = 1e-9,
        max_iter: int = 100,
        *,
        starts: int | str = "auto",
        swaps: int | str = "auto",
        class_balanced: bool = False,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.starts = starts
        self.swaps = swaps
        self.class_balanced = class_balanced
        self.validate()

    @classmethod
    def prefers_matrix(cls, objective: Objective) -> bool:
        """For squared loss under a subquantile, where one inverse serves all refits."""
        return objective.ranking.spectrum.keeps and isinstance(objective.loss, Squared)

    def validate(self) -> None:
        """0 ≤ tol, 1 ≤ max_iter, 0 ≤ starts, 0 ≤ swaps."""
        check_real(self, "tol", self.tol, low=0, remedy="1e-9 is the usual choice")
        check_count(self, "max_iter", self.max_iter)
        if self.starts != "auto":
            check_count(self, "starts", self.starts, low=0)
        if self.swaps != "auto":
            check_count(self, "swaps", self.swaps, low=0)
        check_choice(self, "class_balanced", self.class_balanced, (True, False))

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """C-steps from θ = `start` or, failing that, from the rows `weights` keep.

        Without either the start is θ = 0.
        """
        descent = Descent(objective, self.tol, self.max_iter, monitor)
        refit = refit_for(objective)
        if start is None and weights is not None:
            zero = objective.at(np.zeros(objective.space.size))
            return descent.solution(descent.run(refit, refit(weights, zero)))
        theta = np.zeros(objective.space.size) if start is None else start
        return descent.solution(descent.run(refit, objective.at(theta)))


class Descent:
    """C-steps, and the record of them over all starts.

    Parameters
    ----------
    objective : Objective
    tol, max_iter
        Of `Concentration`.
    monitor : callable or None
    """

    def __init__(
        self,
        objective: Objective,
        tol: float,
        max_iter: int,
        monitor: Monitor | None = None,
    ) -> None:
        self.objective = objective
        self.lowest = LowestRows(objective.ranking)
        self.tol = tol
        self.max_iter = max_iter
        self.history: list[Record] = []
        self.n_iter = 0
        self.exhausted = False
        self._monitor = monitor
        self._began = time.perf_counter()

    def value(self, point: Point) -> float:
        """F(θ)."""
        return self.objective.value(point)

    def weights(self, point: Point) -> Floats:
        """λ at a point: kept rows and what each counts."""
        return self.lowest.weights(point.losses)

    def run(
        self, refit: Refit, point: Point, max_iter: int | None = None, label: str = ""
    ) -> Point:
        """C-steps from a point to a fixed point of theirs.

        How much F falls does not say when to stop: where it no longer does beyond
        rounding, 1e-16 of it, θ is right to 1e-8 only.
        """
        value = self.value(point)
        last: Floats | None = None
        limit = self.max_iter if max_iter is None else max_iter
        fall = np.inf
        for _ in range(limit):
            weights = self.weights(point)
            if last is not None and np.array_equal(weights, last):
                return point
            last = weights
            candidate = refit(weights, point)
            new = self.value(candidate)
            self.record(new, label)
            fall = value - new
            if not fall >= -ROUNDING * abs(value):
                return point
            moved = float(np.max(np.abs(candidate.scores - point.scores)))
            still = moved <= STILL * float(np.max(np.abs(candidate.scores)))
            point, value = candidate, new
            if still or (not refit.exact and fall <= self.tol * abs(value)):
                return point
        self.exhausted = max_iter is None and fall > self.tol * abs(value)
        return point

    def lower(self, point: Point, other: Point) -> bool:
        """Whether F is lower at a point than at another, beyond rounding.

        Where two floors are equally deep, as with symmetric data, the one that was
        found first stands, whatever the processor.
        """
        return self.below(self.value(point), self.value(other))

    def below(self, value: float, other: float) -> bool:
        """The same of two values of F."""
        return value < other - ROUNDING * abs(other) - certain(self.objective)

    def record(self, value: float, label: str) -> None:
        """Take note of one C-step."""
        self.n_iter += 1
        entry: Record = {
            "iteration": self.n_iter,
            "objective": value,
            "gap": np.inf,
            "start": label,
            "seconds": time.perf_counter() - self._began,
        }
        self.history.append(entry)
        if self._monitor is not None:
            self._monitor(entry)

    def solution(self, point: Point) -> Solution:
        """A point as the result of the solve."""
        return Solution(
            theta=point.theta,
            objective=self.value(point),
            gap=np.inf,
            dual=-np.inf,
            weights=self.weights(point),
            n_iter=max(self.n_iter, 1),
            status=Status.MAX_ITER if self.exhausted else Status.STATIONARY,
            history=self.history,
        )
