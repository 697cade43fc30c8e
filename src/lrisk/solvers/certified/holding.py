"""λ of a superquantile, held but for the rows of a band: rows in memory."""

import numpy as np

from ..._typing import Floats, Indices
from ...objective import Evaluation, Held, Objective, Split
from ...spaces.capabilities import linear
from .sampling import stratified
from .whitening import LARGEST


class HeldRows:
    """Where the rounds of a band stand: θ with its scores and losses, λ, F, ∂Φ/∂θ.

    Parameters
    ----------
    objective : Objective
        Under a superquantile.
    now : Evaluation
    """

    def __init__(self, objective: Objective, now: Evaluation) -> None:
        self.objective = objective
        self.theta, self.value, self._gradient = now.theta, now.value, now.gradient
        self._scores, self._losses = now.point.scores, now.point.losses
        self._weights = now.weights
        self._length = 1.0 - objective.ranking.spectrum.support[0]
        active = np.flatnonzero(now.weights)
        self._some = active[stratified(len(active), min(len(active), LARGEST))]
        self._band: Indices = active[:0]

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.objective.n_rows

    def split(self, width: int) -> Split | None:
        """Part the rows; λ of those outside the band is held. None without a band."""
        band, fixed, share = self._parted(width)
        if len(band) == 0 or not share > 0.0:
            return None
        objective, rows = self.objective, self._some
        changed = np.flatnonzero(self._weights != fixed)
        y, scores = objective.y, self._scores
        slopes = objective.loss.derivative(y[changed], scores[changed])
        scale = (fixed[changed] - self._weights[changed]) * slopes
        moved = linear(objective.space).take(changed).pullback(self.theta, scale)
        curvature = objective.loss.curvature(y[rows], scores[rows])
        counted = fixed[rows]
        boost = float(fixed.sum()) / max(float(counted.sum()), 1e-300)
        space = linear(objective.space).take(rows)
        matrix = space.gram(boost * counted * curvature)
        diagonal = np.arange(space.size - space.intercept)
        matrix[diagonal, diagonal] += objective.mu
        mass = float(objective.ranking.mass[band].sum())
        small = objective.sampled(band).with_tail(share * self._length / mass)
        risk = small.ranking.risk(self._losses[band])
        self._band, self._weights = band, fixed
        # What is not needed any more makes room for the next point.
        self._losses = self._losses[:0]
        return Split(small, risk, share, self._gradient + moved, matrix)

    def assign(self, weights: Floats) -> None:
        """Set the held λ of the rows of the band."""
        self._weights[self._band] = weights

    def walk(self, step: Floats) -> "HeldWalk":
        """F along a step; the scores are moved in place."""
        return HeldWalk(self.objective, self.theta, self._scores, step)

    def arrive(self, walk: "HeldWalk") -> Held:
        """Stand where a walk has ended."""
        objective, rows = self.objective, self._some
        point, self._scores, self._losses = walk.point, walk.scores, walk.point.losses
        lam = self._weights
        excess = max(walk.risk - float(lam @ point.losses), 0.0)
        self.theta, self.value = point.theta, walk.risk + point.penalty
        self._gradient = objective.gradient(point, lam)
        gram = objective.sampled(rows).partial_gram(self._scores[rows], lam[rows])
        return Held(self.theta, self.value, excess, self._gradient, gram, lam)

    def _parted(self, width: int) -> tuple[Indices, Floats, float]:
        """Rows of the band, λ of those above it, and the weight left for the band."""
        ranking, losses = self.objective.ranking, self._losses
        n = ranking.n_rows
        if ranking.equal:
            place = int(n * (1.0 - self._length))
            low, high = max(place - width // 2, 0), place + width // 2
            edges = np.partition(losses, [low, min(high, n - 1)])
            bottom, top = edges[low], edges[min(high, n - 1)]
        else:
            order = np.argsort(losses)
            cumulative = np.cumsum(ranking.mass[order])
            place = int(np.searchsorted(cumulative, 1.0 - self._length))
            bottom = losses[order[max(place - width // 2, 0)]]
            top = losses[order[min(place + width // 2, n - 1)]]
        fixed = np.where(losses > top, ranking.mass, 0.0)
        share = 1.0 - float(fixed.sum()) / self._length
        fixed /= self._length
        return np.flatnonzero((losses >= bottom) & (losses <= top)), fixed, share


class HeldWalk:
    """F along a step from held rows."""

    def __init__(
        self, objective: Objective, theta: Floats, scores: Floats, step: Floats
    ) -> None:
        self._objective, self._theta, self._step = objective, theta, step
        self.scores, self._moved = scores, objective.space.scores(step)
        self.scores += self._moved

    def value_at(self, t: float) -> float:
        """F at that share of the step: 1, ½, ¼ and so on."""
        objective = self._objective
        if t < 1.0:
            np.subtract(self.scores, t * self._moved, out=self.scores)
        self.point = objective.evaluate_losses(
            self._theta + t * self._step, self.scores
        )
        self.risk = objective.ranking.superquantile(self.point.losses)
        return self.risk + self.point.penalty


def moved_across(
    objective: Objective, now: Evaluation, rows: Indices, step: Floats
) -> int:
    """How many losses are so near the threshold that the step may move them beyond it.

    The reach of the step is thrice the root mean square by which it moves the losses
    of those rows that are near the threshold.
    """
    losses = now.point.losses
    threshold = float(losses[now.weights > 0.0].min())
    away = np.abs(losses[rows] - threshold)
    count = max(100, len(rows) // 100)
    near = np.argpartition(away, count)[:count]
    changes = linear(objective.space).take(rows[near]).scores(step)
    changes *= now.slopes[rows[near]]
    reach = 3.0 * float(np.sqrt(np.mean(changes**2)))
    return int(np.count_nonzero(np.abs(losses - threshold) <= reach))
