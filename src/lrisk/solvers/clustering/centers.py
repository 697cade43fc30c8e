"""Solvers in the space of centres: alternating (k-means with sorting) and SGD.

With λ the weights by rank and z the nearest centres, the objective is

    F(C) = Σ_i λ_i ‖x_i − c_{z_i}‖²,     λ, z functions of C

Both solvers stop at a local minimum at best, and there is no certificate.
"""

import time
from typing import NamedTuple, cast

import numpy as np

from ..._params import check_choice, check_count, check_real
from ..._typing import Bools, Floats, Indices
from ...losses import NearestCentre
from ...objective import Objective
from ...ranking import Ranking
from ...spaces import CenterSpace
from ..line_search import backtrack
from ..solution import Monitor, Record, Solution, Solver, Status
from ..stochastic.sgd import SGD
from ..stochastic.stream import Stream

#: Spectra of every shape.
ALL = frozenset({"flat", "up", "down", "range", "none"})


def clustering(space: CenterSpace, ranking: Ranking) -> Objective:
    """THE objective with this space and the nearest-centre loss, without penalty."""
    targets = np.zeros(space.n_rows)
    return Objective(ranking, NearestCentre(), space, targets, 0.0)


class Assignment(NamedTuple):
    """θ with what was computed there: nearest centres, distances, λ and F."""

    theta: Floats
    labels: Indices
    losses: Floats
    weights: Floats
    value: float


def assign(objective: Objective, theta: Floats) -> Assignment:
    """Assign the rows to their nearest centres and weight them by rank."""
    labels, losses = _space(objective).nearest(theta)
    weights = objective.ranking.weights(losses)
    return Assignment(theta, labels, losses, weights, float(weights @ losses))


class Alternating(Solver):
    """Assign, sort, move each centre to the λ-mean of its rows (Maurer et al., 2021).

    For decreasing spectra and the mean the sorted weights are the *smallest* of all
    pairings of σ with the losses, so each of the three steps minimises F exactly in one
    of its arguments and F never rises; the mean is Lloyd's k-means, the subquantile
    trimmed k-means. For other spectra a full step may raise F: it is halved until it
    does not. F never rises then either, but where losses tie at a kink of the spectrum
    the solver may stop short of a local minimum (with one centre, by 1e-4 of F under
    the worst case, 1e-5 under superquantiles, not at all under smooth spectra).

    A centre that has lost its rows takes the kept row that is farthest from its own.

    Parameters
    ----------
    tol : float ≥ 0, default=1e-6
        Stop when F falls by no more than this share of itself; 0: when it does not.
    max_iter : int, default=300
        Counts moves of the centres.
    """

    name = "alternating"
    spectra = ALL
    requires = frozenset({"nearest", "sums"})
    #: Shares of a step that are tried.
    halvings = 30

    def __init__(self, tol: float = 1e-6, max_iter: int = 300) -> None:
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
        """Minimise from the given centres; without any, all at zero."""
        began, history = time.perf_counter(), list[Record]()
        theta = np.zeros(objective.space.size) if start is None else start
        now = assign(objective, theta)
        status, iteration = Status.MAX_ITER, 0
        while iteration < self.max_iter:
            better = self._step(objective, now)
            if better is None:
                status = Status.UNCERTIFIED
                break
            iteration += 1
            fall, now = now.value - better.value, better
            _note(history, monitor, iteration, now.value, began)
            if fall <= self.tol * now.value:
                status = Status.UNCERTIFIED
                break
        return _solution(now, iteration, status, history)

    def _step(self, objective: Objective, now: Assignment) -> Assignment | None:
        """A point with a lower F, or None."""
        exact = objective.ranking.spectrum.monotone in ("flat", "down")
        target = self._means(objective, now, exact)
        step = target - now.theta

        def evaluate(t: float) -> tuple[float, Assignment]:
            theta = target if t == 1.0 else now.theta + t * step
            new = assign(objective, theta)
            return new.value, new

        most = 1 if exact else self.halvings
        trial = backtrack(evaluate, lambda new, t: new < now.value, most)
        return trial.found if trial.enough else None

    def _means(self, objective: Objective, now: Assignment, exact: bool) -> Floats:
        space, labels = _space(objective), now.labels
        counts = np.bincount(labels, minlength=space.n_scores)
        if exact:  # rows without weight do not hold a centre
            kept = now.weights > 0
            counts = np.bincount(labels[kept], minlength=space.n_scores)
        if not counts.all():
            labels = _refilled(now, np.flatnonzero(counts == 0))
        sums, totals = space.sums(labels, now.weights)
        centers = space.centers(now.theta).copy()
        moved = totals > 0
        centers[moved] = sums[moved] / totals[moved, None]
        return centers.ravel()


class CenterSGD(Solver):
    """Minibatch stochastic subgradients on the centres (paper 1, section 4.3).

        C ← C − η Σ_j σ̂_j ∇ℓ_(j)(C)        over the m rows of a batch, in their order

    by the steps of a `Stream`. A centre that no kept row is nearest to after an epoch
    takes the kept row that is farthest from its own.

    Parameters
    ----------
    batch_size : int, default=64
        m. Rows of unequal weight are drawn in proportion to it, with replacement.
    learning_rate : "auto" or float, default="auto"
        η; automatic is 1/8, by which a batch that falls to one centre whole moves it a
        quarter of the way. Above 1 the steps may diverge.
    average : bool, default=True
        Return the mean of the iterates, later ones weighing more, not the last.
    max_epochs : int, default=64
        An epoch is ⌊n/m⌋ steps. All are run.
    """

    name = "sgd"
    spectra = ALL
    requires = frozenset({"nearest", "scores", "pullback"})
    limit = "max_epochs"

    def __init__(
        self,
        batch_size: int = 64,
        learning_rate: str | float = "auto",
        average: bool = True,
        max_epochs: int = 64,
    ) -> None:
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.average = average
        self.max_epochs = max_epochs
        self.validate()

    def validate(self) -> None:
        """Counts, a rate, a flag."""
        check_count(self, "batch_size", self.batch_size)
        check_count(self, "max_epochs", self.max_epochs)
        check_choice(self, "average", self.average, (True, False))
        if self.learning_rate != "auto":
            remedy = "use 'auto' or a number such as 0.1"
            check_real(
                self,
                "learning_rate",
                self.learning_rate,
                low=0,
                low_open=True,
                remedy=remedy,
            )

    def stepper(self) -> SGD:
        """What a `Stream` asks for the learning rate and the averaging."""
        rate = self.learning_rate
        return SGD(self.batch_size, average=self.average, learning_rate=rate)

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Run all epochs from the given centres; without any, all at zero."""
        began, history = time.perf_counter(), list[Record]()
        rng = np.random.default_rng() if rng is None else rng
        space, spectrum = _space(objective), objective.ranking.spectrum
        theta = np.zeros(space.size) if start is None else start
        stream, stepper = Stream.begin(theta), self.stepper()
        now = assign(objective, theta)
        for epoch in range(1, self.max_epochs + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                for rows in _batches(objective.ranking, self.batch_size, rng):
                    batch = clustering(
                        space.at(space.X[rows]), Ranking(spectrum, len(rows))
                    )
                    stream.step(stepper, batch)
                if np.all(np.isfinite(stream.theta)) and epoch < self.max_epochs:
                    _revive(stream, objective)
                new = assign(objective, stream.finish(stepper))
            if not np.isfinite(new.value):
                return _solution(now, epoch, Status.DIVERGED, history)
            now = new
            _note(history, monitor, epoch, now.value, began)
        return _solution(now, self.max_epochs, Status.EPOCHS_DONE, history)


def _space(objective: Objective) -> CenterSpace:
    return cast(CenterSpace, objective.space)


def _refilled(now: Assignment, empty: Indices) -> Indices:
    """Labels in which the farthest rows that count belong to the empty centres."""
    labels = now.labels.copy()
    far = np.where(now.weights > 0, now.losses, 0.0)
    rows = np.argsort(-far, kind="stable")[: len(empty)]
    rows = rows[far[rows] > 0]
    labels[rows] = empty[: len(rows)]
    return labels


def _revive(stream: Stream, objective: Objective) -> None:
    """Move centres without kept rows to the kept rows farthest from their own."""
    space = _space(objective)
    now = assign(objective, stream.theta)
    held: Bools = np.bincount(now.labels, now.weights, minlength=space.n_scores) > 0
    if objective.ranking.spectrum.monotone not in ("flat", "down"):
        held = np.bincount(now.labels, minlength=space.n_scores) > 0
    if held.all():
        return
    labels = _refilled(now, np.flatnonzero(~held))
    for row in np.flatnonzero(labels != now.labels):
        point = space.points([row])[0]
        for theta in (stream.theta, stream.mean):
            space.centers(theta)[labels[row]] = point


def _batches(ranking: Ranking, size: int, rng: np.random.Generator) -> Indices:
    """An epoch's minibatches: without replacement, or by weight with it."""
    n = ranking.n_rows
    size = min(size, n)
    shape = (max(1, n // size), size)
    if ranking.equal:
        return rng.permutation(n)[: shape[0] * size].reshape(shape)
    return rng.choice(n, shape, p=ranking.mass)


def _note(
    history: list[Record],
    monitor: Monitor | None,
    iteration: int,
    value: float,
    began: float,
) -> None:
    seconds = time.perf_counter() - began
    record = {"iteration": iteration, "objective": value, "seconds": seconds}
    history.append(record)
    if monitor is not None:
        monitor(record)


def _solution(
    now: Assignment, n_iter: int, status: Status, history: list[Record]
) -> Solution:
    return Solution(
        now.theta,
        now.value,
        gap=np.inf,
        dual=-np.inf,
        weights=now.weights,
        n_iter=n_iter,
        status=status,
        history=history,
    )
