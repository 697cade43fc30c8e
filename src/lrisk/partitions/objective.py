"""The objective over parts of the rows: what is known here, and how parts are asked.

Parameters, penalty, offset and spectrum are here; everything as long as the rows stays
with the parts. Ranks come from bins (see `grid`), as fine as the fall of F that is
expected next: F lies between `value` and `value + missing`, and the gradient is that
of a λ in the permutahedron, so every bound is one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats, Indices
from ..losses import Loss
from ..objective import Objective, PartialGram, Whitening
from ..ranking import Ranking
from ..spaces import LinearSpace
from ..spaces.capabilities import linear
from ..spectra import Spectrum
from .answers import Description, Dual, Gram, Spread, Taken
from .at import At, RankWeights
from .engine import Engine, Local, call, summed
from .fineness import PROOF_DOUBT, Fineness
from .gathering import spaced, together
from .grid import Grid, Ranks, Table, joined, prices
from .part import Part
from .pooling import WINDOW, Bends, Pooled
from .rows import ArrayRows
from .targets import Targets

#: Entries of the gradients by bin up to which one read serves for F and its slope: what
#: stays in a processor's cache, where rows are in memory and a second read costs less.
MOST_BINNED = 500_000
#: Bins of losses that nearly tie, and the share of ν that they may leave in doubt.
TIED_BINS, TIED_DOUBT = 4096, 1e-2
#: Looks at the losses until bins are as fine as they need be, at most.
MOST_ZOOMS = 6
#: Rows that set the offset, and the scale of the first bins.
FIRST_ROWS = 6400
#: Rows that a proof looks at, at least, and the least share of them.
PROOF_ROWS, MOST_SKIPPED = 50_000, 16

#: Makes an engine of some rows; see `PartitionedObjective`.
Sampler = Callable[[Indices, Floats], Engine]


class PartitionedWalk:
    """F along a direction, each point a pass over the parts."""

    def __init__(
        self,
        objective: "PartitionedObjective",
        now: At,
        direction: Floats,
        fall: float,
        digits: int,
    ) -> None:
        self._objective, self._now, self._direction = objective, now, direction
        self._fall, self._digits = fall, digits

    def at(self, t: float) -> At:
        """F at that share of the direction."""
        theta = self._now.theta + t * self._direction
        return self._objective.evaluate(theta, self._digits, self._fall, self._now)

    def back(self) -> At:
        """F where the walk began."""
        theta = self._now.theta
        return self._objective.evaluate(theta, self._digits, self._fall, self._now)


class PartitionedObjective:
    """Spectral risk of a linear model over parts of the rows.

    Parameters
    ----------
    engine : Engine
    spectrum : Spectrum
        Increasing, with a density.
    loss : Loss
        Of one score.
    alpha : float ≥ 0
        As of `Objective`.
    intercept : bool
    centred : bool, default=False
        Whether features and targets have been centred and shifted already.
    most_binned : int
        Entries of the gradients by bin up to which one read serves for F and its slope.
    sampler : callable or None
        Makes an engine of some rows, by their places, with an offset taken from their
        features, for a sample that is not fetched.
    """

    def __init__(
        self,
        engine: Engine,
        spectrum: Spectrum,
        loss: Loss,
        alpha: float,
        intercept: bool,
        *,
        centred: bool = False,
        most_binned: int = MOST_BINNED,
        sampler: Sampler | None = None,
    ) -> None:
        self.engine, self.loss, self.alpha = engine, loss, alpha
        self._sampler, self._most_binned = sampler, most_binned
        self._centred = centred
        told: list[Description] = call(engine, "describe")
        self._starts = np.cumsum([0, *(part.rows for part in told)])
        self.n_rows = int(self._starts[-1])
        total = sum(part.total for part in told)
        self.mu = alpha / total
        self.targets = Targets.of(told, spectrum, loss, intercept, centred)
        call(engine, "prepare", self.targets.shift)
        first = self._take(spaced(self.n_rows, FIRST_ROWS))
        if self.targets.follows_some:
            before, self.targets = self.targets.shift, self.targets.moved_by(first.y)
            call(engine, "prepare", self.targets.shift)
            first = first._replace(y=first.y - (self.targets.shift - before))
        self.shift = self.targets.shift
        self.ranking = Ranking(spectrum, self.n_rows)
        self.total, d = total, first.X.shape[1]
        #: How fine ranks are to be.
        self.fineness = Fineness(spectrum, d + 1, most_binned)
        offset = None
        if intercept:
            offset = np.zeros(d) if centred else first.X.mean(axis=0)
        self.space = LinearSpace(np.empty((0, d)), intercept=intercept, offset=offset)
        self.offset = np.zeros(d) if offset is None else offset
        self.every = int(np.clip(self.n_rows // PROOF_ROWS, 1, MOST_SKIPPED))
        #: A few rows, in memory.
        self.some = self.gathered(first)
        self._present: Floats | None = None
        #: ν of the smoothed risk that is evaluated in the place of F; 0 means F.
        self.nu = 0.0
        #: The handle to the λ that the parts hold now.
        self.holds: object = None

    # -- what is known without the rows ------------------------------------------------

    @property
    def size(self) -> int:
        """Parameters of the space."""
        return int(self.space.size)

    @property
    def even_weights(self) -> None:
        """Nothing: parts make the λ of the mean of their own weights."""

    @property
    def resolution(self) -> float:
        """An F that is nothing but rounding in targets of their own size."""
        return self.loss.resolution(np.array([self.targets.largest]))

    @property
    def largest_constant_loss(self) -> float:
        """The largest loss of the best constant for the mean."""
        return self.targets.largest_constant_loss

    @property
    def constant_risk(self) -> float:
        """Risk of the model without features."""
        known = self.targets.constant_value
        return self.value_at(self.constant_fit()) if known is None else known

    def constant_fit(self) -> Floats:
        """θ without features, with the best intercept: of numbers that for the mean."""
        theta = np.zeros(self.size)
        if self.space.intercept:
            theta[-1] = self.targets.constant
        return theta

    # -- rows in memory ----------------------------------------------------------------

    def sampled(self, rows: Indices) -> Objective:
        """The same objective over some rows, gathered, with the same μ."""
        return self.gathered(self._take(rows))

    def sampled_apart(self, rows: Indices) -> "PartitionedObjective | None":
        """The same with the rows where they are; None where they must be gathered."""
        if self._sampler is None:
            return None
        engine = self._sampler(rows, self.offset)
        told: list[Description] = call(engine, "describe")
        return PartitionedObjective(
            engine,
            self.ranking.spectrum,
            self.loss,
            self.mu * sum(part.total for part in told),
            self.space.intercept,
            centred=True,
            most_binned=self._most_binned,
        )

    def with_spectrum(self, spectrum: Spectrum) -> "PartitionedObjective":
        """The same rows and θ under another spectrum."""
        return PartitionedObjective(
            self.engine,
            spectrum,
            self.loss,
            self.alpha,
            self.space.intercept,
            centred=self._centred,
            most_binned=self._most_binned,
            sampler=self._sampler,
        )

    def gathered(self, rows: Taken) -> Objective:
        """The same objective over these rows."""
        ranking = Ranking(self.ranking.spectrum, len(rows.y), rows.weight)
        space = LinearSpace(rows.X - self.offset, intercept=self.space.intercept)
        alpha = self.mu * ranking.total
        return Objective(ranking, self.loss, space, rows.y, alpha, self.shift)

    def _take(self, rows: Indices) -> Taken:
        """Rows by their places in the whole, ascending."""
        ends = np.searchsorted(rows, self._starts)
        own = [
            (rows[a:b] - start,)
            for a, b, start in zip(ends, ends[1:], self._starts, strict=False)
        ]
        return together(self.engine.call_each("take", own))

    # -- F -----------------------------------------------------------------------------

    def begin(self, theta: Floats) -> At:
        """F at θ, ranked roughly, with bins for losses like those of some rows."""
        losses = self.some.at(theta).losses
        risk = self.some.ranking.risk(losses)
        return self._evaluate(theta, self.fineness.first(float(losses.max()), risk))

    def evaluate(self, theta: Floats, digits: int, fall: float, near: At) -> At:
        """F at θ, with bins for losses like those of a point near by."""
        if self.nu == 0.0:
            return self._evaluate(theta, self.fineness.near(near, digits, fall))
        grid = near.ranks.grid
        tied = grid if len(grid.first) else Grid.round(near.table, TIED_BINS)
        return self._evaluate(theta, tied)

    def refined(self, now: At, fall: float) -> At:
        """The same, ranked as finely as a further fall of F demands."""
        while self.nu == 0.0 and (grid := self.fineness.finer(now, fall)) is not None:
            self.stand_at(now)
            now = self._found(now.theta, grid, self.table(grid), None)
        return now

    def walk(self, now: At, direction: Floats, fall: float) -> PartitionedWalk:
        """F along a direction on which it is expected to fall by so much."""
        digits, fall = self.fineness.of_walk(now, fall)
        return PartitionedWalk(self, now, direction, fall, digits)

    def value_at(self, theta: Floats) -> float:
        """F(θ), or a little more."""
        nu, self.nu = self.nu, 0.0
        there = self.begin(theta)
        there = self.refined(there, 1e-9 * there.value / PROOF_DOUBT)
        self.nu = nu
        return there.value + there.missing

    def curvature(self, now: At) -> Floats:
        """The Hessian of F, or of a smoothed risk, from one of so many rows."""
        self.stand_at(now)
        spectrum, row = self.ranking.spectrum, self.every * self.total / self.n_rows
        if now.pooled is not None:
            ranks = now.ranks
            bends = Bends.of(now.pooled, now.table, self.nu, WINDOW * row)
        else:
            grid = Grid.round(now.table, TIED_BINS)
            table = self.table(grid)
            ranks = Ranks.of(spectrum, grid, table)
            rows = WINDOW
            if spectrum.selects:  # enough for a covariance at one place
                rows = max(10 * self.size, self.n_rows // self.every // 25)
            bends = Bends.by_rank(spectrum, grid, table, rows * row)
        rule = (self.offset, self.every, ranks.grid, ranks.density, bends.kappa)
        told: list[Spread] = call(self.engine, "spread", *rule)
        matrix, mass = bends.joined(told, self.offset)
        matrix = matrix[: self.size, : self.size] * (self.total / mass)
        diagonal = np.arange(self.size - self.space.intercept)
        matrix[diagonal, diagonal] += self.mu
        return matrix

    def gram_at(self, now: At, rows: Indices | None = None) -> PartialGram:
        """The curvature of Φ(·, λ) at a point, by one of so many rows, or by all."""
        self.stand_at(now)
        every = 1 if rows is None else self.every
        rule = (self.offset, every, now.ranks.grid, now.ranks.density)
        return self.gram_of(call(self.engine, "gram_some", *rule), every)

    def gram_of(self, told: list[Gram], every: int) -> PartialGram:
        """What parts tell of one of so many rows, added up."""
        matrix = summed((gram.matrix for gram in told), np.add)

        def longest(whiten: Whitening) -> float:
            columns = np.zeros((self.size, len(self.offset) + 1))
            columns[:, : self.size] = whiten(np.eye(self.size))
            told = call(self.engine, "longest", self.offset, every, columns)
            return float(max(told))

        return PartialGram(matrix[: self.size, : self.size], longest)

    def rule_at(self, now: At) -> tuple[Any, ...]:
        """What parts are told to take λ by rank at a point, where they then stand."""
        self.stand_at(now)
        return now.ranks.grid, now.ranks.density

    def dual(self, step: Floats, shift: float, rule: tuple[Any, ...]) -> Dual:
        """Dual points by a step Δ and a shift, at the point where the parts stand.

        λ is as they hold it, or by the rule of `rule_at`.
        """
        told: list[Dual] = call(self.engine, "dual", self.raw(step), shift, *rule)
        found = summed(told, Dual.joined)
        return found._replace(pulled=self.centred(found.pulled))

    def share_seen(self, rows: Indices) -> float:
        """The share of all rows that `gram_at` looks at."""
        return 1.0 / self.every

    # -- the parts as they stand -------------------------------------------------------

    def stand_at(self, now: At) -> None:
        """Let the parts have the losses of a point, if they have others."""
        if self._present is not now.theta:
            self._at(now.theta, now.ranks.grid)

    def moved_to(self, theta: Floats) -> None:
        """Take note of where the parts were brought by a call of somebody else's."""
        self._present = theta

    def table(self, grid: Grid) -> Table:
        """The present losses in the bins of a grid."""
        return joined(call(self.engine, "table", grid))

    def hold(self, weights: object, *, read: bool = False) -> bool:
        """Let the parts hold λ of a solution, by a read at most if that is allowed.

        False where they cannot: that of a round but the last is gone.
        """
        if isinstance(weights, RankWeights):
            ranks = weights.ranks
            if self._present is not weights.theta:
                if not read:
                    return False
                self._at(weights.theta, ranks.grid)
            call(self.engine, "hold", ranks.grid, ranks.density)
            self.holds = weights
        if isinstance(weights, np.ndarray):  # of all rows, gathered since so few
            own = np.split(weights, self._starts[1:-1])
            arguments = [(np.arange(len(part)), part) for part in own]
            self.engine.call_each("assign", arguments)
            self.holds = weights
        return weights is not None and self.holds is weights

    def raw(self, theta: Floats) -> Floats:
        """Coefficients and constant of the same function of x itself."""
        coef, constant = self.space.uncentred(theta)
        return np.append(coef[:, 0], constant[0])

    def centred(self, pulled: Floats) -> Floats:
        """Σr·(x − m, 1) from Σr·(x, 1)."""
        centred = pulled[:-1] - self.offset * pulled[-1]
        return np.append(centred, pulled[-1]) if self.space.intercept else centred

    # -- inner -------------------------------------------------------------------------

    def _evaluate(self, theta: Floats, grid: Grid) -> At:
        if not self.fineness.binnable(grid):
            now = self._found(theta, grid, self._at(theta, grid), None)
            return now if self.nu == 0.0 else self._untied(now)
        told = call(self.engine, "at_binned", self.raw(theta), grid)
        self._present = theta
        table = joined([table for table, _ in told])
        pulls = summed((pulls for _, pulls in told), np.add)
        now = self._found(theta, grid, table, pulls)
        return now if self.nu == 0.0 else self._untied(now)

    def _untied(self, now: At) -> At:
        """The same by bins that tell apart what differs by a small part of ν."""
        room = TIED_DOUBT * self.nu
        if now.doubt <= room:
            return now
        grid = Grid.round(now.table, TIED_BINS)
        for _ in range(MOST_ZOOMS):
            table = self.table(grid)
            price = prices(self.ranking.spectrum, grid, table)
            if float(price.sum()) <= room:
                break
            finer = grid.zoomed(price, room)
            if finer is grid:
                break
            grid = finer
        else:
            table = self.table(grid)
            price = prices(self.ranking.spectrum, grid, table)
        if float(price.sum()) > 0.5 * now.doubt:
            return now
        return self._found(now.theta, grid, table, None)

    def _at(self, theta: Floats, grid: Grid) -> Table:
        tables = call(self.engine, "at", self.raw(theta), grid)
        self._present = theta
        return joined(tables)

    def _found(
        self, theta: Floats, grid: Grid, table: Table, pulls: Floats | None
    ) -> At:
        pooled, spectrum = None, self.ranking.spectrum
        if self.nu > 0.0:
            pooled = Pooled.of(spectrum, grid, table, self.nu)
            ranks, doubt = pooled.ranks, pooled.doubt
        else:
            ranks = Ranks.of(spectrum, grid, table)
            doubt = ranks.missing
        if pulls is None:
            pulled = summed(call(self.engine, "pull", grid, ranks.density), np.add)
        else:
            pulled = ranks.density @ pulls
        gradient = self.centred(pulled) + self.mu * self.space.penalised(theta)
        penalty = 0.5 * self.mu * self.space.inner(theta, theta)
        value = ranks.value + penalty
        return At(theta, value, ranks.missing, gradient, ranks, table, doubt, pooled)


def one_part(sample: Objective) -> PartitionedObjective:
    """Rows in memory as one part, with the same θ."""
    space = linear(sample.space)
    weight = None if sample.ranking.equal else sample.ranking.row_weight
    part = Part(ArrayRows(space.X), sample.y, weight, sample.loss)
    # Equal weights are one each there, and μ is to be the same.
    alpha = sample.mu * part.describe().total
    spectrum, intercept = sample.ranking.spectrum, space.intercept
    engine = Local([part])
    return PartitionedObjective(
        engine, spectrum, sample.loss, alpha, intercept, centred=True
    )
