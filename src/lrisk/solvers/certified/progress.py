"""The best point and the best bound of a search, and when to stop."""

import time
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..._typing import Floats
from ...certificate import Bound, Curved, Measured, relative_gap
from ..solution import Monitor, Record, Solution, Status

#: Relative gaps below this are rounding; a smaller tolerance means "as far as it goes".
ROUNDING = 20 * float(np.finfo(np.float64).eps)
#: F at a point over the best F, above which a bound from there counts as zero: it is a
#: difference of numbers as large as F, of which rounding, magnified by the condition of
#: a metric, leaves anything, also what is above the minimum.
FAR = 100.0


class Provable(Curved, Measured, Protocol):
    """An objective whose best point and best bound can be kept."""

    @property
    def even_weights(self) -> Any:
        """λ of the mean, in the form in which this objective keeps weights."""

    def value_at(self, theta: Floats) -> float:
        """F(θ)."""

    def constant_fit(self) -> Floats:
        """θ without features."""


_Objective = TypeVar("_Objective", bound=Provable)


class Progress(Generic[_Objective]):
    """The best point and the best bound so far, and when to stop.

    The two may come from different iterations: any λ bounds the minimum from below and
    any θ from above.
    """

    def __init__(
        self, objective: _Objective, tol: float, monitor: Monitor | None
    ) -> None:
        self.objective = objective
        self.tol = max(tol, ROUNDING)
        self.primal = np.inf
        self.dual = -np.inf
        self._below = -np.inf
        self._proven_at = 0.0
        self.theta = np.zeros(objective.size)
        self.weights: Any = objective.even_weights
        self.slopes: Floats | None = None
        self.stationarity = np.inf
        #: Whether the best value was found with ranks that were not exact.
        self.approximate_ranks = False
        self.n_iter = 0
        self.history: list[Record] = []
        self._monitor = monitor
        self._began = time.perf_counter()

    def record(
        self,
        theta: Floats,
        weights: Any,
        bound: Bound,
        decrement: float,
        nu: float,
    ) -> None:
        """Take note of one iteration; weights that prove nothing may be left out.

        Of rows in parts weights are what their parts can make them from.
        """
        if bound.primal < self.primal:
            self.primal, self.theta = bound.primal, theta
        if self._proven_at > FAR * self.primal:
            self.dual, self._below = min(self.dual, 0.0), min(self._below, 0.0)
        below, dual = bound.primal - bound.excess - bound.slack, bound.dual
        if bound.primal > FAR * self.primal:
            below, dual = min(below, 0.0), min(dual, 0.0)
        if dual > self.dual and weights is not None:
            self.dual, self.weights = dual, weights
            self._proven_at = bound.primal
            if self.objective.loss.flat:
                self.slopes = bound.slopes
        if weights is not None:
            self._below = max(self._below, below)
        self.stationarity = min(self.stationarity, bound.excess + decrement)
        if self.dual == -np.inf and weights is not None:
            self.weights = weights
        entry: Record = {
            "iteration": self.n_iter,
            "objective": bound.primal,
            "gap": self.gap,
            "stationarity": bound.excess + decrement,
            "nu": nu,
            "seconds": self.seconds,
        }
        self.history.append(entry)
        if self._monitor is not None:
            self._monitor(entry)

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.perf_counter() - self._began

    @property
    def gap(self) -> float:
        """Relative gap between the best point and the best bound."""
        difference = max(self.primal - self.dual, 0.0)
        return relative_gap(self.objective, self.primal, difference)

    @property
    def distance(self) -> float:
        """As `gap`, but against lower bounds that may be below zero.

        While these are, the gap stands still at one, and progress is seen here.
        """
        scale = max(self.primal, np.finfo(np.float64).tiny)
        return max(self.primal - self._below, 0.0) / scale

    @property
    def certified(self) -> bool:
        """Whether there is a finite lower bound at all."""
        return self.dual > -np.inf

    @property
    def done(self) -> bool:
        """Whether the gap, or without one the stationarity, is small enough."""
        if self.certified or self.primal <= self.objective.resolution:
            return self.gap <= self.tol
        scale = max(self.primal, np.finfo(np.float64).tiny)
        return self.objective.mu == 0.0 and self.stationarity <= self.tol * scale

    def settle(self) -> None:
        """Evaluate the best point anew, where its value may be a little too small."""
        if self.approximate_ranks:
            self.primal = self.objective.value_at(self.theta)
            self.approximate_ranks = False

    def joined(self, solution: Solution) -> Solution:
        """The best point and the best bound of this search and of one that went on."""
        if self.primal < solution.objective:
            solution = replace(solution, theta=self.theta, objective=self.primal)
        near = self._proven_at <= FAR * solution.objective
        if near and self.dual > solution.dual:
            solution = replace(
                solution, dual=self.dual, weights=self.weights, slopes=self.slopes
            )
        gap = max(solution.objective - solution.dual, 0.0)
        gap = relative_gap(self.objective, solution.objective, gap)
        return replace(
            solution,
            gap=gap,
            status=Status.CONVERGED if gap <= self.tol else solution.status,
            history=self.history + solution.history,
            n_iter=solution.n_iter + self.n_iter,
        )

    def solution(self, status: Status | None = None) -> Solution:
        """What was found, as it stands; never worse than the fit without features."""
        if status in (Status.STALLED, Status.MAX_ITER):
            constant = self.objective.constant_fit()
            value = self.objective.value_at(constant)
            if value < self.primal:
                self.primal, self.theta = value, constant
            if self.gap <= self.tol:
                status = Status.CONVERGED
        if status is None:
            proven = self.gap <= self.tol
            status = Status.CONVERGED if proven else Status.UNCERTIFIED
        return Solution(
            theta=self.theta,
            objective=self.primal,
            gap=self.gap,
            dual=self.dual,
            weights=self.weights,
            n_iter=max(self.n_iter, 1),
            status=status,
            history=self.history,
            slopes=self.slopes,
        )


def resumed(progress: Progress[Any], monitor: Monitor | None) -> Monitor:
    """A monitor for a search that goes on: its records count from the first one."""
    iterations, seconds = progress.n_iter, progress.seconds

    def tell(record: Record) -> None:
        record["iteration"] += iterations
        record["seconds"] += seconds
        if monitor is not None:
            monitor(record)

    return tell
