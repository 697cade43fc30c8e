"""λ of a superquantile, held but for the rows of a band: rows in parts.

The counterpart of rows in memory: the parts hold λ, rows of the band are gathered, and
one pass brings the table, λ·ℓ, the gradient and a Gram matrix of a new point.
"""

import numpy as np

from .._typing import Floats, Indices
from ..objective import Held, PartialGram, Split
from ..spaces.capabilities import linear
from .answers import Band, Gram
from .answers import Held as HeldPart
from .at import At
from .engine import call, summed
from .gathering import together
from .grid import joined
from .objective import PartitionedObjective
from .tail import between, superquantile

#: Share of the value that an upper bound on the risk may be above it.
ROOM = 1e-11
#: Rows of a band, at most, as a multiple of those asked for: where more tie, only
#: all of them together could tell who counts, and they may be larger than memory.
MOST_TIED = 20


class HeldWeights:
    """λ as the parts held it in a round; that of the last round they hold still."""


class HeldWalk:
    """F along a step from held rows, one read of the features for each point."""

    def __init__(
        self, objective: PartitionedObjective, rows: "HeldParts", step: Floats
    ) -> None:
        self._objective, self._rows, self._step = objective, rows, step

    def value_at(self, t: float) -> float:
        """F at that share of the step, or a little more."""
        objective, rows = self._objective, self._rows
        self.theta = rows.theta + t * self._step
        pass_ = (objective.raw(self.theta), rows.grid, objective.offset)
        told = call(objective.engine, "at_held", *pass_, objective.every)
        objective.moved_to(self.theta)
        self.told: list[HeldPart] = told
        self.table = joined([part.table for part in told])
        room = ROOM * rows.value
        self.risk = superquantile(
            objective.table, rows.grid, self.table, rows.unit, room
        )
        inner = objective.space.inner(self.theta, self.theta)
        self.penalty = 0.5 * objective.mu * inner
        return self.risk + self.penalty


class HeldParts:
    """Where the rounds of a band stand, with everything of the rows in the parts.

    Parameters
    ----------
    objective : PartitionedObjective
        Under a superquantile.
    now : At
    """

    def __init__(self, objective: PartitionedObjective, now: At) -> None:
        self.objective, self.theta = objective, now.theta
        self._start = objective.ranking.spectrum.support[0]
        #: λ of a row above the band, per unit of its weight.
        self.unit = 1.0 / (objective.total * (1.0 - self._start))
        objective.stand_at(now)
        self.grid, self.value = now.ranks.grid, now.value + now.missing
        self._table, self._gradient = now.table, now.gradient
        call(objective.engine, "hold", self.grid, now.ranks.density)
        objective.holds = None
        told = call(objective.engine, "gram_some", objective.offset, objective.every)
        self._told: list[Gram] = told
        self._counts: list[int] = []
        self._weights = HeldWeights()

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.objective.n_rows

    def split(self, width: int) -> Split | None:
        """Part the rows; λ of those outside the band is held. None without a band."""
        objective, unit = self.objective, self.unit
        place, share_of_row = self._start * objective.total, 1.0 / self.n_rows
        near = between(
            objective.table,
            self.grid,
            self._table,
            place,
            width * share_of_row * objective.total,
        )
        many = near.mass > MOST_TIED * width * share_of_row * objective.total
        if many or near.mass <= 0.0:
            return None
        told: list[Band] = call(objective.engine, "band", near.low, near.high, unit)
        objective.holds = None
        above = sum(part.mass for part in told)
        share, rows = 1.0 - above, together([part.inside for part in told])
        self._counts = [len(part.inside.ids) for part in told]
        self._ids = [part.inside.ids for part in told]
        if len(rows.ids) == 0 or not share > 0.0:
            return None
        moved = objective.centred(summed((part.moved for part in told), np.add))
        base = objective.gathered(rows)
        small = base.with_tail(share / (unit * base.ranking.total))
        gram = summed((gram.matrix for gram in self._told), np.add)
        mass = sum(gram.mass for gram in self._told)
        size = objective.size
        matrix = gram[:size, :size] * (above / max(mass, 1e-300))
        diagonal = np.arange(size - objective.space.intercept)
        matrix[diagonal, diagonal] += objective.mu
        risk = small.ranking.risk(rows.losses)
        return Split(small, risk, share, self._gradient + moved, matrix)

    def assign(self, weights: Floats) -> None:
        """Set the held λ of the rows of the band."""
        own = np.split(weights, np.cumsum(self._counts)[:-1])
        arguments = list(zip(self._ids, own, strict=True))
        self.objective.engine.call_each("assign", arguments)
        self.objective.holds = self._weights = HeldWeights()

    def walk(self, step: Floats) -> HeldWalk:
        """F along a step."""
        return HeldWalk(self.objective, self, step)

    def arrive(self, walk: HeldWalk) -> Held:
        """Stand where a walk has ended."""
        objective = self.objective
        value = sum(part.value for part in walk.told)
        pulled = summed((part.gradient for part in walk.told), np.add)
        self.theta, self.value = walk.theta, walk.risk + walk.penalty
        self._gradient = objective.centred(pulled)
        self._gradient += objective.mu * objective.space.penalised(walk.theta)
        self._table, self._told = walk.table, [part.gram for part in walk.told]
        gram: PartialGram = objective.gram_of(self._told, objective.every)
        excess = max(walk.risk - value, 0.0)
        weights = self._weights
        return Held(self.theta, self.value, excess, self._gradient, gram, weights)


def moved_across(
    objective: PartitionedObjective, now: At, rows: Indices, step: Floats
) -> int:
    """How many losses a step may move across the threshold of a superquantile.

    The reach of the step is thrice the root mean square by which it moves the
    losses of some rows that are near the threshold.
    """
    some = objective.some
    there = some.evaluate(now.theta, some.space.scores(now.theta))
    edges = now.ranks.grid.edges(now.table.lowest, now.table.highest)
    mass = np.append(0.0, np.cumsum(now.table.mass))
    start = objective.ranking.spectrum.support[0]
    threshold = float(np.interp(start * mass[-1], mass, edges))
    away = np.abs(there.point.losses - threshold)
    near = np.argsort(away)[: max(100, len(away) // 100)]
    changes = linear(some.space).take(near).scores(step) * there.slopes[near]
    largest = max(float(np.abs(changes).max()), np.finfo(float).tiny)
    reach = 3.0 * largest * float(np.sqrt(np.mean((changes / largest) ** 2)))
    low, high = np.interp([threshold - reach, threshold + reach], edges, mass)
    return int((high - low) * objective.n_rows / mass[-1])
