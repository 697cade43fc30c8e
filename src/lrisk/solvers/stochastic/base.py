"""What the stochastic solvers share: epochs, learning rates, divergence, history.

They work row by row on the raw parameters, return to Python after every epoch (so that
Ctrl-C and progress work) and draw everything from the generator they are given.
"""

import functools
import time
from typing import Any, ClassVar

import numpy as np

from ..._params import check_choice, check_count, check_real, refused
from ..._typing import Floats, Indices
from ...certificate import bound, relative_gap
from ...objective import Objective, Point
from ...permutahedron import proximal_weights
from ...ranking import ascending
from ...spaces.capabilities import row_access
from .._linalg import solve_positive
from ..certified.coordinates import Coordinates, newton_step
from ..solution import Monitor, Record, Solution, Solver, Status
from ._loops.rows import evaluate, weighted_gradient

#: Parameters up to which a certificate is made with a dense Hessian.
DENSE_CERTIFICATE = 2500


class Work:
    """An objective as the compiled loops see it, with the parameters (W, b).

    Sparse rows are not centred (that would make them dense), so for them the intercept
    is the plain one.
    """

    def __init__(self, objective: Objective, start: Floats | None) -> None:
        self.original = objective
        space = row_access(objective.space)
        if space.sparse and space.offset is not None:
            raw = space.uncentred_space()
            if start is not None:
                start = raw.join(*space.uncentred(start))
            objective, space = objective.with_space(raw), raw
        self.objective = objective
        self.space = space
        self.rows = space.rows()
        self.loss = objective.loss.compiled()
        self.y = np.ascontiguousarray(objective.y)
        self.n, self.k, self.mu = space.n_rows, space.n_scores, objective.mu
        theta = np.zeros(space.size) if start is None else start
        coef, intercept = space.split(theta)
        self.W = np.array(coef.T, order="C")
        self.b = np.array(intercept)
        self.losses = np.empty(self.n)
        self.slopes = np.empty((self.n, self.k))
        self.order: Indices = np.arange(self.n)
        self.G = np.empty_like(self.W)
        self.h = np.empty(self.k)
        self._drawn: Indices = np.empty(0, dtype=np.int64)

    def draw(self, count: int, rng: np.random.Generator) -> Indices:
        """Rows drawn uniformly; small numbers are drawn many at a time."""
        if count > len(self._drawn):
            self._drawn = rng.integers(0, self.n, max(count, min(32 * count, 32768)))
        drawn, self._drawn = self._drawn[:count], self._drawn[count:]
        return drawn

    def evaluate(self) -> float:
        """Losses, their order, and slopes of all rows at (W, b); returns F."""
        evaluate(self.loss, self.rows, self.y, self.W, self.b, self.losses, self.slopes)
        penalty = 0.5 * self.mu * float(np.vdot(self.W, self.W))
        self.order = ascending(self.losses)
        sigma = self.objective.ranking.sigma(self.order)
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(sigma @ self.losses[self.order]) + penalty
        return value if np.isfinite(value) else np.inf

    def gradient(self, weights: Floats) -> None:
        """Σ λ_i ∇ℓ_i at the last evaluation, into G and h."""
        weighted_gradient(self.rows, weights, self.slopes, self.G, self.h)

    def theta(self) -> Floats:
        """(W, b) as θ of the original objective."""
        coef, intercept = self.W.T, self.b
        space = row_access(self.original.space)
        if space is not self.space:
            return space.join(coef, intercept)
        table = np.vstack([coef, intercept]) if space.intercept else coef
        return np.ascontiguousarray(table).ravel()

    @functools.cached_property
    def row_smoothness(self) -> Floats:
        """L_i = sup ℓ″·‖x_i‖² for each row; shape (n,)."""
        norms = self.space.squared_norms()
        return np.asarray(self.objective.loss.smoothness * norms)

    def mean_smoothness(self) -> float:
        """Σ n p_i² L_i: the mean of L, with what uneven weights add to its noise."""
        mass = self.objective.ranking.mass
        return float(self.n * (mass**2 @ self.row_smoothness))

    def largest_gain(self) -> float:
        """The largest n λ_i L_i that any order of the rows can give."""
        ranking = self.objective.ranking
        top = ranking.spectrum.increments(np.ones(self.n), ranking.mass)
        return float(self.n * np.max(top * self.row_smoothness))


class StochasticSolver(Solver):
    """Base of the solvers that draw rows at random.

    A subclass prepares its state in `begin` and makes an epoch's steps in `epoch`; the
    loop about them, here, evaluates F after each epoch, keeps the best point, cuts the
    learning rate when F explodes and looks at the duality gap from time to time.

    See Also
    --------
    LSVRG, SOREL, Prospect : With variance that vanishes.
    SGD, SRDA : With small batches.

    Examples
    --------
    >>> from lrisk.solvers import LSVRG, StochasticSolver
    >>> isinstance(LSVRG(), StochasticSolver)
    True
    """

    requires = frozenset({"scores", "pullback", "rows"})
    #: What the iteration limit is called.
    limit: ClassVar[str] = "max_epochs"
    #: F beyond this many times the first value, or the best, counts as divergence.
    explosion: ClassVar[float] = 3.0
    #: Epochs without a new best F after which ``"auto"`` halves the learning rate: on
    #: a non-smooth risk full steps for outdated weights go back and forth for ever.
    patience: ClassVar[int] = 2

    learning_rate: str | float
    max_epochs: int
    certify_every: int | None

    def validate(self) -> None:
        """Positive learning rate, whole numbers of epochs."""
        check_real(self, "tol", self.tol, low=0, remedy="0 means to run all epochs")
        check_count(self, "max_epochs", self.max_epochs)
        if self.certify_every is not None:
            check_count(self, "certify_every", self.certify_every)
        if isinstance(self.learning_rate, str):
            choices = ("auto", "theory")
            check_choice(self, "learning_rate", self.learning_rate, choices)
        else:
            remedy = "'auto' finds one"
            check_real(
                self,
                "learning_rate",
                self.learning_rate,
                low=0,
                low_open=True,
                remedy=remedy,
            )

    # -- what a subclass fills in ------------------------------------------------------

    def begin(self, work: Work, rng: np.random.Generator) -> Any:
        """State for the epochs, once F has been evaluated at the start."""
        raise NotImplementedError

    def epoch(self, work: Work, state: Any, rate: float, rng: Any) -> float:
        """Make the steps of one epoch; returns the passes over the data they cost."""
        raise NotImplementedError

    def automatic_rate(self, work: Work) -> float:
        """First learning rate for ``"auto"``."""
        spread = min(work.objective.ranking.concentration(), 20.0)
        return 1.0 / max(2.0 * spread * work.mean_smoothness() + work.mu, 1e-300)

    def theory_rate(self, work: Work) -> float:
        """Learning rate for ``"theory"``."""
        raise NotImplementedError

    def noted(self, state: Any) -> Record:
        """What the last epoch adds to the history."""
        return {}

    # -- the loop ----------------------------------------------------------------------

    def rate(self, work: Work) -> float:
        """The learning rate as a number."""
        if self.learning_rate == "auto":
            return self.automatic_rate(work)
        if self.learning_rate == "theory":
            return self.theory_rate(work)
        return float(self.learning_rate)

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Run the epochs, from `start` or from zero."""
        return self._run(objective, start, rng, monitor, proof=True)

    def run(
        self,
        objective: Objective,
        start: Floats | None = None,
        *,
        rng: np.random.Generator | None = None,
        monitor: Monitor | None = None,
        proof: bool = True,
    ) -> Solution:
        """`solve`, or without `proof` the same less the certificate at the end."""
        self.check(objective)
        return self._run(objective, start, rng, monitor, proof=proof)

    def _run(
        self,
        objective: Objective,
        start: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
        *,
        proof: bool,
    ) -> Solution:
        rng = np.random.default_rng() if rng is None else rng
        work = Work(objective, start)
        work.evaluate()
        rate = self.rate(work)
        state = self.begin(work, rng)
        run = _Run(self, work, monitor)
        status = Status.MAX_ITER if self.tol > 0 else Status.EPOCHS_DONE
        try:
            for epoch in range(1, self.max_epochs + 1):
                passes = self.epoch(work, state, rate, rng)
                exploded = run.record(epoch, passes, rate, self.noted(state))
                if exploded:
                    if self.learning_rate != "auto":
                        status = Status.DIVERGED
                        break
                    rate *= 0.5
                    run.resume()
                    state = self.begin(work, rng)
                elif run.certified(epoch):
                    status = Status.CONVERGED
                    break
                elif self.learning_rate == "auto" and run.idle >= self.patience:
                    rate *= 0.5
                    run.idle = 0
            if proof:
                run.prove()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return run.solution(status)


class _Run:
    """Best point, history and certificate of one solve."""

    def __init__(
        self, solver: StochasticSolver, work: Work, monitor: Monitor | None
    ) -> None:
        self.solver, self.work, self.monitor = solver, work, monitor
        self.first = self.best = self.last = work.evaluate()
        self.kept = self.good = (work.W.copy(), work.b.copy())
        self.history: list[Record] = []
        self.passes = 1.0
        self.dual, self.weights = -np.inf, work.objective.ranking.mass
        self.began, self.proving = time.perf_counter(), 0.0
        self.n_epochs, self.idle = 0, 0

    def record(self, epoch: int, passes: float, rate: float, noted: Record) -> bool:
        """Evaluate F after an epoch; True if it exploded."""
        value = self.work.evaluate()
        self.n_epochs, self.passes = epoch, self.passes + passes
        exploded = self._exploded(value)
        if not exploded:
            self.last = value
            self.good = (self.work.W.copy(), self.work.b.copy())
            self.idle += 1
            if value < self.best:
                self.best, self.kept, self.idle = value, self.good, 0
        entry: Record = {
            "iteration": epoch,
            "passes": self.passes,
            "objective": value,
            "gap": self.gap(),
            "learning_rate": rate,
            "diverged": exploded,
            "seconds": time.perf_counter() - self.began - self.proving,
            "certificate_seconds": self.proving,
            **noted,
        }
        self.history.append(entry)
        if self.monitor is not None:
            self.monitor(entry)
        return exploded

    def _exploded(self, value: float) -> bool:
        """Whether F has grown beyond what noise explains.

        The theory's first steps are huge by design; there only overflow counts.
        """
        if self.solver.learning_rate == "theory":
            return not np.isfinite(value)
        times = self.solver.explosion
        allowed = max(times * self.best, 1e-3 * times * self.first, times * self.last)
        return not value <= min(allowed, 10.0 * self.first)

    def resume(self) -> None:
        """Go back to the last good checkpoint."""
        self.work.W[:], self.work.b[:] = self.good
        self.work.evaluate()

    def gap(self) -> float:
        """Relative gap of the best point."""
        difference = max(self.best - self.dual, 0.0)
        return relative_gap(self.work.objective, self.best, difference)

    def certified(self, epoch: int) -> bool:
        """Look at the gap if it is time to; True if it is small enough."""
        every = self.solver.certify_every
        if every is None and self.solver.tol > 0:
            every = 8
        if every is None or epoch % every:
            return False
        self.prove()
        self.history[-1]["gap"] = self.gap()
        self.history[-1]["certificate_seconds"] = self.proving
        return self.solver.tol > 0 and self.gap() <= self.solver.tol

    def prove(self) -> None:
        """Raise the lower bound at the best point; its time is kept apart."""
        began = time.perf_counter()
        W, b = self.work.W.copy(), self.work.b.copy()
        self.work.W[:], self.work.b[:] = self.kept
        objective = self.work.original
        point = objective.at(self.work.theta())
        for weights in _dual_candidates(objective, point, self.weights):
            step = _newton_step(objective, point, weights)
            proof = bound(objective, point, weights, step)
            if proof.dual > self.dual:
                self.dual, self.weights = proof.dual, weights
        self.work.W[:], self.work.b[:] = W, b
        self.proving += time.perf_counter() - began

    def solution(self, status: Status) -> Solution:
        """The best point, with what is proven of it."""
        self.work.W[:], self.work.b[:] = self.kept
        if status is Status.MAX_ITER and self.gap() <= self.solver.tol:
            status = Status.CONVERGED
        return Solution(
            theta=self.work.theta(),
            objective=self.best,
            gap=self.gap(),
            dual=self.dual,
            weights=self.weights,
            n_iter=max(self.n_epochs, 1),
            status=status,
            history=self.history,
        )


def _dual_candidates(objective: Objective, point: Point, last: Floats) -> list[Floats]:
    """λ that may bound F from below: by rank, and smoothed where ranks are in doubt.

    At an optimum of a non-smooth risk many losses tie, and no order of them is right;
    smoothing on the scale of the ties gives each its share.
    """
    ranking = objective.ranking
    candidates = [ranking.shared_weights(point.losses)]
    if ranking.spectrum.monotone == "flat":
        return candidates
    unit = ranking.total * float(ranking.mass @ point.losses)
    if unit > 0:
        for size in (1e-2, 1e-3, 1e-4):
            smooth = proximal_weights(ranking, point.losses, last, size * unit)
            candidates.append(smooth.weights)
    return candidates


def _newton_step(objective: Objective, point: Point, weights: Floats) -> Floats:
    gradient = objective.gradient(point, weights)
    if objective.space.size <= DENSE_CERTIFICATE:
        return solve_positive(objective.hessian(point, weights), -gradient)
    scale = Coordinates(objective)
    return newton_step(objective, point, weights, gradient, scale, 100)


def require_penalty(solver: Solver, name: str, objective: Objective) -> None:
    """Refuse a preset that divides by μ where there is no penalty."""
    if objective.mu == 0.0:
        rule, remedy = "a number or 'auto' with alpha=0", "the theory needs a penalty"
        raise ValueError(refused(solver, name, rule, "theory", remedy))


def require_lipschitz(solver: Solver, name: str, objective: Objective) -> float:
    """Lipschitz constant of the losses in θ, or an error where there is none."""
    constant = objective.loss.lipschitz
    if not np.isfinite(constant):
        rule = f"a number with loss={objective.loss.name!r}, which is not Lipschitz"
        remedy = "the theory does not cover it; pass a number or 'auto'"
        raise ValueError(refused(solver, name, rule, "theory", remedy))
    space = row_access(objective.space)
    return constant * float(np.sqrt(space.squared_norms().max()))
