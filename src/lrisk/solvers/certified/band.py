"""Band Newton: superquantiles of very many rows, to a certified optimum.

Under a superquantile a row counts fully or not at all, except for the few whose losses
tie at the threshold; near the optimum only those in a narrow band of losses round it
are undecided. Away from the optimum F is as good as smooth and `whitening` descends on
it; then each round solves for the rows of the band exactly, by `Newton`, with all
others as one quadratic, and looks at all rows once.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..._typing import Floats, Indices
from ...certificate import Bound, Curved, slack_by_gram
from ...objective import Held, Objective, Point, Split
from ...permutahedron import risk_and_excess
from ..line_search import backtrack
from ..solution import Monitor, Solution, Solver, Status
from .fallback import changed_to_newton, minimise_or_newton
from .holding import HeldRows, moved_across
from .newton import Newton
from .progress import Progress
from .whitening import Descent, Evaluated, ManyRows, Sample, sample_of, whitenable

#: Shares of a round's step that are tried; the last, a thousandth, is taken all the
#: same, and the band made wider.
HALVINGS = 11


_At = TypeVar("_At", bound=Evaluated)


class Band(Solver):
    """Newton's method on the rows near the threshold of a superquantile.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=200
        Limit on passes over all rows.

    See Also
    --------
    Newton : For any convex objective; Band hands over to it.
    LBFGS : For spectra that weight every row, and many rows.

    Notes
    -----
    For superquantiles of losses of one score; anything else goes to `Newton`, and so
    does a fit that stalls.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import Band
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", solver=Band(tol=1e-8)).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-8)
    True
    """

    name = "band"
    kinks = True
    requires = frozenset({"scores", "pullback", "gram", "gradient_rows", "take"})
    #: Rows of the narrowest band, and of the widest, for each parameter.
    narrow, wide = 8, 60
    #: Limit on the steps of `Newton` after a stall.
    steps = 1000

    def __init__(self, tol: float = 1e-6, max_iter: int = 200) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.validate()

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Minimise from `start`, or from the fit of a sample."""
        if not whitenable(objective) or not objective.ranking.selects:
            return changed_to_newton(
                objective,
                "a band is for a superquantile of many rows and one smooth score",
                start,
                weights,
                tol=self.tol,
                max_iter=self.steps,
                monitor=monitor,
            )

        def descend(progress: Progress[Objective]) -> Status:
            return approach(
                objective,
                start,
                progress,
                self.max_iter,
                inside=functools.partial(moved_across, objective),
                hold=functools.partial(HeldRows, objective),
            )

        return minimise_or_newton(
            objective, descend, tol=self.tol, max_iter=self.steps, monitor=monitor
        )


def approach(
    objective: ManyRows[_At],
    start: Floats | None,
    progress: Progress[Any],
    max_iter: int,
    *,
    inside: Callable[[_At, Indices, Floats], int],
    hold: Callable[[_At], "Holding[Any]"],
    sampled: tuple[Sample, Floats] | None = None,
    prove: Callable[[Held], float] | None = None,
) -> Status:
    """Descend on F until the band is narrow, then go round by round.

    Parameters
    ----------
    objective : ManyRows
        Under a superquantile.
    start : array of shape (size,) or None
    progress : Progress
    max_iter : int
        Limit on passes over all rows.
    inside : callable
        How many losses are so near the threshold that a step may move them beyond it,
        from a point, some rows and the step.
    hold : callable
        Rows with the weights of a point held.
    sampled : tuple or None
        A sample with θ, where one has been drawn already.
    prove : callable or None
        Bounds how far Φ(·, λ) can still fall, where the curvature of the loss tells
        nothing of that.
    """
    sample, theta = sampled or sample_of(objective, start)
    descent = Descent(objective, theta, sample.metric, 20)
    least = max(Band.narrow * objective.size, 200)
    most = max(Band.wide * objective.size, 2000)
    best, unmoved, width = np.inf, 0, most
    while progress.n_iter < max_iter:
        progress.n_iter += 1
        decrement = descent.decrement
        descent.tell(progress, np.inf, decrement)
        direction = descent.memory.direction(descent.now.gradient)
        width = inside(descent.now, sample.rows, direction)
        unmoved = 0 if decrement < 0.5 * best else unmoved + 1
        best = min(best, decrement)
        if width <= most or unmoved >= 3 or not descent.step():
            break
    rows = hold(descent.now)
    del descent
    width = min(max(width, least), most)
    return Rounds(objective, rows, progress, width, prove).run(max_iter)


class _Quadratic(NamedTuple):
    """c + g·(θ − θ₀) + ½(θ − θ₀)ᵀA(θ − θ₀)."""

    anchor: Floats
    constant: float
    gradient: Floats
    matrix: Floats


class _BandObjective(Objective):
    """The risk of the band plus a quadratic in the place of the penalty."""

    def __init__(self, base: Objective, quadratic: _Quadratic) -> None:
        super().__init__(base.ranking, base.loss, base.space, base.y, 0.0)
        self._quadratic = quadratic

    def _away(self, theta: Floats) -> tuple[Floats, Floats]:
        away = theta - self._quadratic.anchor
        return away, self._quadratic.matrix @ away

    def _point(self, theta: Floats, scores: Floats) -> Point:
        away, bent = self._away(theta)
        linear = float(self._quadratic.gradient @ away)
        rest = self._quadratic.constant + linear + 0.5 * float(away @ bent)
        return Point(theta, scores, self.loss.value(self.y, scores), rest)

    def _penalty_slope(self, theta: Floats) -> Floats:
        return np.asarray(self._quadratic.gradient + self._away(theta)[1])

    def _with_penalty(self, matrix: Floats) -> Floats:
        return matrix + self._quadratic.matrix


class _BandNewton(Newton):
    """`Newton` for the band, where an estimate of the slack is enough.

    It begins so near to the minimum that flat pieces of a loss need no softening.
    """

    def _continue(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        return self._minimise(objective, start, weights, monitor)

    def _prove(
        self,
        progress: Progress[Objective],
        point: Point,
        weights: Floats,
        step: Floats,
        gradient: Floats,
        decrement: float,
        *,
        certainly: bool = False,
    ) -> Bound:
        ranking = progress.objective.ranking
        risk, excess = risk_and_excess(ranking, point.losses, weights)
        return Bound(risk + point.penalty, excess, decrement)


class Walking(Protocol):
    """F along a step with λ held."""

    def value_at(self, t: float) -> float:
        """F at that share of the step: 1, ½, ¼ and so on."""


_Walk = TypeVar("_Walk", bound=Walking)


class Holding(Protocol[_Walk]):
    """Rows with a held λ, wherever they lie."""

    @property
    def n_rows(self) -> int:
        """How many there are."""

    @property
    def theta(self) -> Floats:
        """Where they stand."""

    @property
    def value(self) -> float:
        """F there, or a little more."""

    def split(self, width: int) -> Split | None:
        """Part the rows; λ of those outside the band is held. None without a band."""

    def assign(self, weights: Floats) -> None:
        """Set the held λ of the rows of the band."""

    def walk(self, step: Floats) -> _Walk:
        """F along a step."""

    def arrive(self, walk: _Walk) -> Held:
        """Stand where a walk has ended."""


class Rounds:
    """Rounds of solving the band and looking at all rows.

    Parameters
    ----------
    objective : Curved
    rows : Holding
    progress : Progress
    width : int
        Rows of the first band.
    prove : callable or None
        As of `approach`.
    """

    def __init__(
        self,
        objective: Curved,
        rows: Holding[Any],
        progress: Progress[Any],
        width: int,
        prove: Callable[[Held], float] | None = None,
    ) -> None:
        self.objective, self.rows, self.progress = objective, rows, progress
        self.width, self._prove = width, prove

    def run(self, max_iter: int) -> Status:
        """Go on until the gap closes."""
        progress, unmoved = self.progress, 0
        while progress.n_iter < max_iter:
            progress.n_iter += 1
            before = progress.gap
            good = self._round()
            if good is None:  # nothing was looked at
                progress.n_iter -= 1
            if progress.done:
                return Status.CONVERGED
            # No bound at all is no progress either.
            moved = np.isfinite(progress.gap) and progress.gap <= 0.5 * before
            unmoved = 0 if moved else unmoved + 1
            if good is None or unmoved >= 4:
                return Status.STALLED
            if not good:
                self.width = min(3 * self.width, self.rows.n_rows)
        return Status.MAX_ITER

    def _round(self) -> bool | None:
        """One round; False if the band was too narrow, None if there is none."""
        rows, value = self.rows, self.rows.value
        band = rows.split(self.width)
        if band is None:
            return None
        newton = _BandNewton(tol=0.05 * self.progress.tol, max_iter=200)
        fitted = newton.solve(_model(band, rows.theta, value), rows.theta)
        rows.assign(band.share * fitted.weights)
        walk = rows.walk(fitted.theta - rows.theta)
        # At a kink no slope promises anything: any value that is not higher will do.
        searched = backtrack(
            lambda t: (walk.value_at(t), None),
            lambda new, t: new <= value * (1.0 + 1e-14),
            HALVINGS,
        )
        held = rows.arrive(walk)
        if self._prove is None:
            slack = slack_by_gram(self.objective, held.gram, held.gradient)
        else:
            slack = self._prove(held)
        proof = Bound(held.primal, held.excess, slack)
        self.progress.record(held.theta, held.weights, proof, slack, 0.0)
        return searched.length == 1.0


def _model(band: Split, theta: Floats, value: float) -> _BandObjective:
    """The band's risk, and the other rows to second order, all over its share."""
    share = band.share
    constant = value / share - band.risk
    gradient, matrix = band.gradient / share, band.matrix / share
    return _BandObjective(band.rows, _Quadratic(theta, constant, gradient, matrix))
