"""Quasi-Newton descent in coordinates in which the Hessian is nearly the identity.

With LLᵀ the Hessian of a sample and θ = L⁻ᵀv, L-BFGS in v starts from Newton's step
instead of the gradient's: it converges in a handful of passes however ill-conditioned
the features are. The direction is the two-loop recursion with (LLᵀ)⁻¹ in the middle;
the scores move along it, so that a step costs one product with X and one with Xᵀ.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ..._typing import Floats, Indices
from ...certificate import Bound, slack_by_gram
from ...objective import Objective, PartialGram
from ...ranking import Ranking
from .._linalg import Factor
from ..line_search import armijo, backtrack
from ..solution import Status
from .newton import mean_fit
from .progress import Progress, Provable
from .sampling import spectral_hessian, stratified

#: Shares of a step that are tried, each a pass over all rows.
HALVINGS = 12
#: Rows of the smallest sample, and of the largest.
SMALLEST, LARGEST = 10_000, 50_000
#: Part of the error of a sample, size/n of its F, to which its minimiser is sought.
ACCURACY = 1e-2
#: Parameters up to which the Hessian of a sample pays.
MOST_WHITENED = 1000


def whitenable(objective: Objective) -> bool:
    """Whether a sample of the rows can stand for all, and prove things about them."""
    space, loss = objective.space, objective.loss
    many = space.n_rows >= max(SMALLEST, 20 * space.size)
    known = loss.self_concordance is not None and not loss.per_class
    return many and known and space.size <= MOST_WHITENED and hasattr(space, "take")


class Memory:
    """The last differences (s, y) of points and gradients, over a first metric."""

    def __init__(self, metric: Factor, pairs: int) -> None:
        self.metric = metric
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=pairs)

    def add(self, s: Floats, y: Floats) -> None:
        """Take note of one step."""
        product = float(s @ y)
        if product > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            self._pairs.append((s, y, 1.0 / product))

    def direction(self, gradient: Floats) -> Floats:
        """−(approximate Hessian)⁻¹ gradient."""
        q = gradient.copy()
        factors = []
        for s, y, inverse in reversed(self._pairs):
            factor = inverse * float(s @ q)
            q -= factor * y
            factors.append(factor)
        q = self.metric.solve(q)
        for (s, y, inverse), factor in zip(self._pairs, reversed(factors)):
            q += (factor - inverse * float(y @ q)) * s
        return -q


class Evaluated(Protocol):
    """F at a point of very many rows."""

    @property
    def theta(self) -> Floats:
        """Where."""

    @property
    def value(self) -> float:
        """F, or a little less."""

    @property
    def missing(self) -> float:
        """A bound on how much less, where one is known."""

    @property
    def doubt(self) -> float:
        """How far bins of ranks may shift the value from one point to the next."""

    @property
    def exact(self) -> bool:
        """Whether F ≤ value + missing."""

    @property
    def gradient(self) -> Floats:
        """∂Φ/∂θ at the weights."""

    @property
    def weights(self) -> Any:
        """λ, or what parts of the rows make it from."""


_At = TypeVar("_At", bound=Evaluated)
_AtWalk = TypeVar("_AtWalk", bound=Evaluated, covariant=True)


class Walking(Protocol[_AtWalk]):
    """F along a direction."""

    def at(self, t: float) -> _AtWalk:
        """F at that share of the direction."""

    def back(self) -> _AtWalk:
        """F where the walk began, as finely as it can be ranked."""


class ManyRows(Provable, Protocol[_At]):
    """What a descent asks of an objective, wherever its rows lie."""

    @property
    def ranking(self) -> Ranking:
        """The spectrum, and how many rows there are; rows may lie elsewhere."""

    @property
    def n_rows(self) -> int:
        """How many there are."""

    def begin(self, theta: Floats) -> _At:
        """F at θ, ranked roughly."""

    def refined(self, now: _At, fall: float) -> _At:
        """The same, ranked as finely as a further fall of F demands."""

    def walk(self, now: _At, direction: Floats, fall: float) -> Walking[_At]:
        """F along a direction on which it is expected to fall by so much."""

    def gram_at(self, now: _At, rows: Indices | None = None) -> PartialGram:
        """The curvature of Φ(·, λ) at a point, by some of the rows."""

    def share_seen(self, rows: Indices) -> float:
        """The share of all rows that this looks at."""

    def sampled(self, rows: Indices) -> Objective:
        """The same objective over some rows, in memory."""


class Descent(Generic[_At]):
    """L-BFGS over a metric on F itself, step by step.

    Parameters
    ----------
    objective : ManyRows
    theta : array of shape (size,)
    metric : Factor
    pairs : int
        Differences that are kept.
    now : Evaluated or None
        F at θ, where it is known.
    """

    def __init__(
        self,
        objective: ManyRows[_At],
        theta: Floats,
        metric: Factor,
        pairs: int,
        now: _At | None = None,
    ) -> None:
        self.objective = objective
        self.memory = Memory(metric, pairs)
        self.now = objective.begin(theta) if now is None else now

    def refine(self, fall: float = 0.0) -> None:
        """Rank the losses as finely as a further fall of F demands."""
        self.now = self.objective.refined(self.now, fall)

    @property
    def decrement(self) -> float:
        """½gᵀH⁻¹g, an estimate of how much F is to fall."""
        gradient = self.now.gradient
        return 0.5 * float(gradient @ self.memory.metric.solve(gradient))

    def tell(self, progress: Progress[Any], slack: float, decrement: float) -> None:
        """Record the point, with a bound on how far Φ(·, λ) can fall."""
        now = self.now
        weights = now.weights if np.isfinite(slack) else None
        proof = Bound(now.value + now.missing, now.missing, slack)
        if proof.primal < progress.primal:
            progress.approximate_ranks = not now.exact
        progress.record(now.theta, weights, proof, decrement, 0.0)

    def step(self) -> bool:
        """Take one step; False if F does not fall along the direction.

        Far from the optimum the ranks need not be exact.
        """
        before, fall = self.now, self.decrement
        direction = self.memory.direction(before.gradient)
        slope = float(before.gradient @ direction)
        value, gradient = before.value, before.gradient
        rounding = 1e-15 * abs(value)
        slack = rounding + before.doubt
        walk = self.objective.walk(before, direction, fall)
        # What else the point holds of very many rows would only take up memory.
        del before
        self.now = None  # type: ignore[assignment]

        def evaluate(t: float) -> tuple[float, _At]:
            found = walk.at(t)
            return found.value, found

        if slope < -rounding:
            trial = backtrack(evaluate, armijo(value, slope, slack), HALVINGS)
            if trial.enough:
                t, self.now = trial.length, trial.found
                self.memory.add(t * direction, self.now.gradient - gradient)
                return True
            del trial
        self.now = walk.back()
        return False


class Sample(NamedTuple):
    """Rows and a metric found with them."""

    rows: Indices
    metric: Factor

    def slack(self, objective: ManyRows[_At], now: _At) -> float:
        """Bound on how far Φ(·, λ) can still fall, from these rows alone."""
        gram = objective.gram_at(now, self.rows)
        return slack_by_gram(objective, gram, now.gradient)


def sample_of(
    objective: ManyRows[_At], theta: Floats | None, pairs: int = 20
) -> tuple[Sample, Floats]:
    """A sample with its metric, and θ: the given one or the sample's own minimiser."""
    n = objective.n_rows
    rows = stratified(n, sample_size(objective.ranking, n))
    return sample_from(objective.sampled(rows), rows, theta, pairs)


def sample_from(
    sample: Objective, rows: Indices, theta: Floats | None, pairs: int = 20
) -> tuple[Sample, Floats]:
    """The same from the objective over the sample."""
    if theta is None:
        theta = _sample_fit(sample, pairs)
    at = sample.evaluate(theta, sample.space.scores(theta))
    return Sample(rows, Factor(spectral_hessian(sample, at))), theta


def sample_size(ranking: Ranking, n_rows: int) -> int:
    """Rows to draw from n: more where the spectrum ignores most of them."""
    least = SMALLEST * (min(ranking.concentration(), 5.0) if ranking.selects else 1.0)
    return int(min(max(n_rows // 10, least), LARGEST))


def _sample_fit(objective: Objective, pairs: int) -> Floats:
    """Minimiser to within a part of the error that sampling has made anyway."""
    n, size = objective.space.n_rows, objective.space.size
    if n > 2 * sample_size(objective.ranking, n):
        sample, theta = sample_of(objective, None, pairs)
        metric = sample.metric
    else:
        theta = mean_fit(objective)
        at = objective.evaluate(theta, objective.space.scores(theta))
        metric = Factor(spectral_hessian(objective, at))
    descent = Descent(objective, theta, metric, pairs)
    goal = ACCURACY * size / n
    for _ in range(30):
        if descent.decrement <= goal * descent.now.value or not descent.step():
            break
    return descent.now.theta


def minimise_whitened(
    objective: ManyRows[_At],
    start: Floats | None,
    progress: Progress[Any],
    *,
    pairs: int,
    max_iter: int,
    sampled: tuple[Sample, Floats] | None = None,
    prove: Callable[[_At], float] | None = None,
) -> Status:
    """Whitened L-BFGS on F, recorded in `progress`, until the gap is proven small.

    `sampled` is a sample with θ, where one has been drawn already; `prove` bounds how
    far Φ(·, λ) can still fall, where the curvature of the loss tells nothing of that.
    """
    sample, theta = sampled or sample_of(objective, start, pairs)
    descent = Descent(objective, theta, sample.metric, pairs)
    share = objective.share_seen(sample.rows)
    best, since = np.inf, 0
    while True:
        progress.n_iter += 1
        decrement, value = descent.decrement, descent.now.value
        slack = np.inf
        if decrement <= 0.5 * progress.tol * value * share:
            descent.refine(progress.tol * value)
            now = descent.now
            slack = sample.slack(objective, now) if prove is None else prove(now)
        descent.tell(progress, slack, decrement)
        if progress.done:
            return Status.CONVERGED
        if progress.n_iter >= max_iter:
            break
        since = 0 if decrement < 0.5 * best else since + 1
        best = min(best, decrement)
        if since >= 5 or not descent.step():
            break
    descent.refine(progress.tol * descent.now.value)
    now = descent.now
    if prove is None:
        slack = slack_by_gram(objective, objective.gram_at(now), now.gradient)
    else:
        slack = prove(now)
    descent.tell(progress, slack, best)
    if progress.done:
        return Status.CONVERGED
    return Status.MAX_ITER if progress.n_iter >= max_iter else Status.STALLED
