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
from typing import Protocol

import numpy as np

from ..._params import check_choice, check_count, check_real, refused
from ..._typing import Floats
from ...losses import Squared
from ...objective import Objective, Point
from ...ranking import Ranking
from ...spaces.capabilities import linear, moments
from ...spectra import Mean, Spectrum
from .._linalg import solve_positive
from ..certified.coordinates import Coordinates, newton_step
from ..certified.newton import HALVINGS, MOST_PARAMETERS, Newton
from ..line_search import armijo, backtrack
from ..solution import Monitor, Record, Solution, Solver, Status
from .kept import FRACTION, LowestRows
from .trimmed_ridge import TrimmedFit, TrimmedRidge

#: What rounding leaves of F, as a share of it: sums of a million losses err by less.
ROUNDING = 1e-12
#: Largest change of a score, as a share of the largest score, of a fit that stands
#: still. C-steps that shrink by a tenth each would still move it by ten times that.
STILL = 1e-12
#: Promised fall of Φ, as a share of it, below which a Newton step is taken whole: an
#: eighth digit of Φ says nothing of the sixteenth digit of θ.
CLOSE = 1e-8
#: Promised fall of Φ after which, Newton's error being squared, θ has all its digits.
LAST = 1e-16


class Refit(Protocol):
    """Gives the minimiser of Φ(·, λ), or a lower point, from λ and the point before."""

    #: Whether to rounding, not only to a tolerance.
    exact: bool

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""


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
        only.
    swaps : int or "auto", default="auto"
        Rounds of exact exchanges in kernel spaces with squared loss; ``"auto"`` allows
        what costs no more than the fit itself.
    class_balanced : bool, default=False
        Trim within each class, so that the classes keep their shares. The objective is
        then the mean over classes, by mass, of each class's own spectral risk.
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


# -- refits ----------------------------------------------------------------------------


def certain(objective: Objective) -> float:
    """A risk of classes below which every row is told with certainty; 0 for numbers.

    1e-16 of that of scores of zero. Kept rows of one class, or classes apart without a
    penalty, have no minimum, and the fit would wander on for ever.
    """
    if not objective.loss.classifies:
        return 0.0
    k = objective.space.n_scores
    zero = np.zeros((1, k)) if objective.loss.per_class else np.zeros(1)
    return 1e-16 * float(objective.loss.value(objective.y[:1], zero)[0])


def refit_for(objective: Objective) -> Refit:
    """The exact refit for a space, a loss and a spectrum."""
    spectrum = objective.ranking.spectrum
    if spectrum.shape == "range":
        return RangeRefit(objective)
    if objective.loss.flat:
        return MeanRefit(objective)
    if hasattr(objective.space, "moments") and isinstance(objective.loss, Squared):
        return MomentRefit(objective)
    if hasattr(objective.space, "gram"):
        return NewtonRefit(objective)
    return RidgeRefit(objective)


class RidgeRefit:
    """Squared loss in a kernel space under a subquantile, by one inverse for all."""

    exact = True

    def __init__(self, objective: Objective, mu: float | None = None) -> None:
        self.objective = objective
        spectrum = objective.ranking.spectrum
        if objective.mu == 0.0:
            rule = "positive for trimmed kernel regression"
            remedy = "a tiny one, such as 1e-6, comes near interpolation"
            raise ValueError(refused("lrisk", "alpha", rule, 0.0, remedy))
        if not spectrum.keeps and spectrum.monotone != "flat":
            rule = "a subquantile in a kernel space as it is"
            remedy = "factor the kernel first"
            raise ValueError(refused("lrisk", "spectrum", rule, spectrum, remedy))
        self.ridge = TrimmedRidge(objective, spectrum.support[1], mu)

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""
        return self.point(weights, self.ridge.fit(weights))

    def point(self, weights: Floats, fit: TrimmedFit) -> Point:
        """A fit as a point of the objective (at its own penalty)."""
        losses = 0.5 * fit.residuals**2
        # ‖f‖² = c·f, and f = y − residuals.
        scores = self.objective.y - fit.residuals
        penalty = 0.5 * self.ridge.mu * float(fit.coefficients @ scores)
        return Point(fit.coefficients, scores, losses, max(penalty, 0.0))


class MomentRefit:
    """Squared loss over features that are read in blocks: one pass, one solve."""

    exact = True

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ): (Σλφφᵀ + μ)θ = Σλyφ."""
        gram, right = moments(self.objective.space).moments(weights, self.objective.y)
        gram[np.diag_indices_from(gram)] += self.objective.mu
        return self.objective.at(solve_positive(gram, right))


class NewtonRefit:
    """Any loss in a linear space: Newton's method on Φ(·, λ), one step if squared."""

    exact = True
    #: Limit on Newton steps in one refit; five to ten are usual, and where the kept
    #: classes can be told apart and nothing is penalised there is no end.
    steps = 50
    _certain = 0.0

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._dense = objective.space.size <= MOST_PARAMETERS
        self._scale = None if self._dense else Coordinates(objective)
        self._certain = certain(objective)

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ) from a point.

        Near the minimum Φ cannot tell whether a step is good, but the fall it promises
        can: steps are taken whole as long as that shrinks. Where there is no minimum
        they end there: a class that has lost all its rows sends its intercept away by
        one in each step, however little that promises.
        """
        objective = self.objective
        value = float(weights @ point.losses) + point.penalty
        before = np.inf
        for _ in range(2 if isinstance(objective.loss, Squared) else self.steps):
            gradient = objective.gradient(point, weights)
            step = self._step(point, weights, gradient)
            if objective.loss.per_class:
                # What all classes gain alike changes nothing: there it is all rounding.
                table = step.reshape(-1, objective.space.n_scores)
                step = (table - table.mean(axis=1, keepdims=True)).ravel()
            promised = -float(gradient @ step)
            if not 0.0 < promised < 0.5 * before or value <= self._certain:
                return point
            if promised > CLOSE * abs(value):
                moved = self._search(point, weights, step, value, -promised)
                if moved is None:
                    return point
                point, value = moved
                continue
            dz = objective.space.scores(step)
            if objective.loss.classifies and float(np.max(np.abs(dz))) > 0.5:
                return point
            point = objective.along(point, step, dz, 1.0)
            del dz  # as long as the rows, and the Hessian needs room
            if promised <= LAST * abs(value):
                return point
            before = promised
        return point

    def _step(self, point: Point, weights: Floats, gradient: Floats) -> Floats:
        objective = self.objective
        if self._scale is None:
            return solve_positive(objective.hessian(point, weights), -gradient)
        return newton_step(objective, point, weights, gradient, self._scale, 200)

    def _search(
        self, point: Point, weights: Floats, step: Floats, value: float, slope: float
    ) -> tuple[Point, float] | None:
        """Halve the step until Φ falls."""
        dz = self.objective.space.scores(step)

        def evaluate(t: float) -> tuple[float, tuple[Point, float]]:
            candidate = self.objective.along(point, step, dz, t)
            new = float(weights @ candidate.losses) + candidate.penalty
            return new, (candidate, new)

        trial = backtrack(evaluate, armijo(value, slope), HALVINGS)
        return trial.found if trial.enough else None


class RangeRefit:
    """Ranked range: the certified Superquantile(a/b) fit of the lowest b of the mass.

    The weights it is given tell only where it stands; which rows are kept follows from
    the losses of the point.
    """

    exact = False

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        lowest, self.tail = objective.ranking.spectrum.in_two_steps()
        self.kept = LowestRows(objective.ranking.with_spectrum(lowest))

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise over the rows that the point keeps."""
        return _certified(
            self.objective, self.tail, self.kept.weights(point.losses), point
        )


class MeanRefit:
    """Losses with flat pieces: the certified fit of the mean loss under λ."""

    exact = False

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""
        return _certified(self.objective, Mean(), weights, point)


def _certified(
    objective: Objective, spectrum: Spectrum, shares: Floats, point: Point
) -> Point:
    """The fit under an increasing spectrum of rows with these shares."""
    rows = np.flatnonzero(shares > FRACTION * shares.max())
    # The total is that of all rows, so that the penalty stays what it is.
    weight = shares[rows] * objective.ranking.total
    convex = Objective(
        Ranking(spectrum, len(rows), weight),
        objective.loss,
        linear(objective.space).restricted(rows),
        objective.y[rows],
        objective.alpha,
        objective.shift,
    )
    solved = Newton(tol=1e-10).solve(convex, point.theta)
    return objective.at(solved.theta)
