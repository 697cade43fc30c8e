"""One part of the rows, with everything as long as they are.

Scores, losses, slopes and weights never leave the part; what solvers ask of it is
answered in numbers that are added up over parts. θ is *raw*, d coefficients and a
constant: offset, intercept, penalty and metric are the business of who asks. What is
kept from `at` is a cache that one more pass rebuilds, and every call that changes
something may be made twice.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._typing import Floats, Indices
from ..losses import Loss
from ._loops import count, pull_by_bin, weigh
from .answers import Band, Description, Dual, Gram, Held, Spread, Taken
from .grid import Grid, Table
from .rows import BLOCK, Block, RowSource, taken

_NONE, _NOWHERE = np.empty(0), np.empty(0, dtype=np.intp)
#: Rows whose vectors are passed over together: some megabytes.
STRETCH = 1 << 17


class Part:
    """Rows in memory or in a file, with their vectors.

    Parameters
    ----------
    rows : RowSource
    y : array or VectorFile of length n
        Targets, as the loss wants them.
    weight : array or VectorFile of length n, or None
        Positive; None means one each.
    loss : Loss
        Of one score.
    vector : callable or None
        A new vector of zeros of a length, where vectors do not lie in memory. Losses
        and slopes are then made from the scores whenever they are needed.
    """

    def __init__(
        self,
        rows: RowSource,
        y: Any,
        weight: Any,
        loss: Loss,
        vector: Callable[[int], Any] | None = None,
    ) -> None:
        self.rows, self.loss = rows, loss
        self.n, self.d = rows.shape
        self._shift, self._lean = 0.0, vector is not None
        self._given, self._weight = y, _NONE if weight is None else weight
        if vector is None:
            vector = np.zeros
            self._given = np.asarray(y, dtype=np.float64)
            self._weight = np.asarray(self._weight, np.float64)
            self.losses, self.slopes = np.zeros(self.n), np.zeros(self.n)
        self.y = self._given
        self.scores, self.weights = vector(self.n), vector(self.n)
        #: Passes over all features so far; those over a part of them count as a part.
        self.reads = 0.0

    # -- before the first pass ---------------------------------------------------------

    def describe(self) -> Description:
        """Facts of the targets as they were given."""
        total, weighted, low, high = 0.0, 0.0, np.inf, -np.inf
        for here in self._stretches():
            y, w = self._given[here], self._weight_of(here)
            total += float(w.sum()) if len(w) else float(len(y))
            weighted += float(w @ y) if len(w) else float(y.sum())
            low, high = min(low, float(y.min())), max(high, float(y.max()))
        return Description(self.n, total, weighted, low, high)

    def prepare(self, shift: float) -> None:
        """Take a shift from the targets as they were given."""
        self._shift = shift
        if not self._lean:
            self.y = self._given - shift if shift else self._given

    # -- passes over all features ------------------------------------------------------

    def at(self, theta: Floats, grid: Grid) -> Table:
        """Losses and slopes at θ, and their table."""
        table = _Filling(grid)
        for block in self._read():
            here = slice(block.start, block.stop)
            losses, _ = self._evaluate(theta, here, block.X)
            table.add(losses, self._weight_of(here))
        return table.filled()

    def pull(self, grid: Grid, density: Floats) -> Floats:
        """Σλℓ′·(x, 1), λ by rank; shape (d + 1,)."""
        gradient, own = np.zeros(self.d + 1), np.empty(BLOCK)
        for block in self._read():
            here = slice(block.start, block.stop)
            losses, slopes = self._kept(here)
            lam = self._weigh(grid, density, here, losses, own)
            _add_pull(gradient, block.X, lam * slopes)
        return gradient

    def at_binned(self, theta: Floats, grid: Grid) -> tuple[Table, Floats]:
        """As `at`, and Σwℓ′·(x, 1) of each bin, shape (bins, d + 1).

        With the density by bins that makes a gradient: one read for F and its slope.
        """
        table, pulls = _Filling(grid), np.zeros((grid.bins, self.d + 1))
        for block in self._read():
            here = slice(block.start, block.stop)
            losses, slopes = self._evaluate(theta, here, block.X)
            weight = self._weight_of(here)
            table.add(losses, weight)
            pull_by_bin(block.X, losses.view(np.int64), slopes, weight, grid, pulls)
        return table.filled(), pulls

    def at_held(self, theta: Floats, grid: Grid, offset: Floats, every: int) -> Held:
        """As `at`, and value, gradient and a Gram matrix at the held λ: one read."""
        table, gram = _Filling(grid), np.zeros((self.d + 1, self.d + 1))
        gradient, value, mass = np.zeros(self.d + 1), 0.0, 0.0
        few = taken(every)
        for block in self._read():
            here = slice(block.start, block.stop)
            losses, slopes = self._evaluate(theta, here, block.X)
            lam = self.weights[here]
            table.add(losses, self._weight_of(here))
            value += float(lam @ losses)
            _add_pull(gradient, block.X, lam * slopes)
            first = slice(block.start, min(block.start + few, block.stop))
            mass += self._add_gram(gram, block.X[:few], lam[:few], first, offset)
        return Held(table.filled(), value, gradient, Gram(gram, mass))

    def dual(
        self,
        step: Floats,
        shift: float,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Dual:
        """Dual points a = clip(ℓ′ + ℓ″·(Δ, (x, 1)) − c) and what they add up to.

        Δ, of shape (d + 1,), is raw as θ is. λ by rank or, without a grid, as held.
        """
        found, own = Dual(np.zeros(self.d + 1), 0.0, 0.0, 0.0, 0.0), np.empty(BLOCK)
        for block in self._read():
            here = slice(block.start, block.stop)
            y, z = self._targets(here), self.scores[here]
            lam = self._lam(grid, density, here, own)
            slopes, bends = self.loss.slope_and_curvature(y, z)
            linear = block.X @ step[:-1]
            linear += step[-1]
            linear *= bends
            linear += slopes
            linear -= shift
            a = self.loss.to_dual_domain(y, linear)
            fitted = float(lam @ self.loss.fenchel_young(y, z, a))
            size, inside = float(lam @ np.abs(a)), lam[a == linear]
            bend = float(inside @ bends[a == linear])
            pulled = np.zeros(self.d + 1)
            _add_pull(pulled, block.X, lam * a)
            found = found.joined(Dual(pulled, fitted, size, bend, float(inside.sum())))
        return found

    # -- passes over a part of the features --------------------------------------------

    def gram_some(
        self,
        offset: Floats,
        every: int,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Gram:
        """The same over one of `every` rows, λ by rank or, without a grid, as held."""
        matrix, mass = np.zeros((self.d + 1, self.d + 1)), 0.0
        own = np.empty(BLOCK)
        for block in self._read(every):
            here = slice(block.start, block.stop)
            lam = self._lam(grid, density, here, own)
            mass += self._add_gram(matrix, block.X, lam, here, offset)
        return Gram(matrix, mass)

    def spread(
        self, offset: Floats, every: int, grid: Grid, density: Floats, kappa: Floats
    ) -> Spread:
        """What the curvature of F is made from, over one of `every` rows.

        λ by rank follows the losses: κ by bin is dλ/dℓ per unit of weight.
        """
        matrix, seen = np.zeros((self.d + 1, self.d + 1)), _Filling(grid)
        sums = np.zeros((grid.bins, self.d + 1))
        own, rising = np.empty(BLOCK), np.empty(BLOCK)
        for block in self._read(every):
            here = slice(block.start, block.stop)
            weight, (losses, slopes) = self._weight_of(here), self._kept(here)
            scale = self._weigh(grid, density, here, losses, own)
            scale *= self.loss.curvature(self._targets(here), self.scores[here])
            scale += self._weigh(grid, kappa, here, losses, rising) * slopes**2
            _add_outer(matrix, block.X, scale, offset)
            seen.add(losses, weight)
            pull_by_bin(block.X, losses.view(np.int64), slopes, weight, grid, sums)
        return Spread(matrix, sums, seen.filled().mass)

    def longest(self, offset: Floats, every: int, whiten: Floats) -> float:
        """Largest ‖T(x − m, 1)‖² of the rows of `gram_some`; T (k, d + 1)."""
        most = 0.0
        for block in self._read(every):
            white = (block.X - offset) @ whiten[:, :-1].T + whiten[:, -1]
            most = max(most, float(np.max(np.einsum("ij,ij->i", white, white))))
        return most

    def take(self, ids: Indices) -> Taken:
        """Rows by their places, ascending."""
        weight = self._weight[ids] if len(self._weight) else None
        losses, _ = self._kept(ids)
        return Taken(ids, self._some(ids), self._targets(ids), weight, losses)

    # -- passes over vectors only ------------------------------------------------------

    def table(self, grid: Grid) -> Table:
        """The present losses in the bins of another grid."""
        table = _Filling(grid)
        for here in self._stretches():
            table.add(self._kept(here)[0], self._weight_of(here))
        return table.filled()

    def hold(self, grid: Grid, density: Floats) -> None:
        """Keep the λ that ranks give now, whatever the losses become."""
        own = np.empty(min(self.n, STRETCH))
        for here in self._stretches():
            losses, _ = self._kept(here)
            self.weights[here] = self._weigh(grid, density, here, losses, own)

    def assign(self, ids: Indices, weights: Floats) -> None:
        """Set the held λ of some rows."""
        self.weights[ids] = weights

    def band(self, low: float, high: float, unit: float) -> Band:
        """Rows with low ≤ ℓ ≤ high; λ is held anew: unit·w above, zero elsewhere."""
        moved, mass, inside = np.zeros(self.d + 1), 0.0, [_NOWHERE]
        for here in self._stretches():
            losses, slopes = self._kept(here)
            above, weight = np.where(losses > high, unit, 0.0), self._weight_of(here)
            if len(weight):
                above *= weight
            before = self.weights[here]
            changed = np.flatnonzero(above != before)
            for k in range(0, len(changed), BLOCK):  # they may be very many
                own = changed[k : k + BLOCK]
                scale = (above[own] - before[own]) * slopes[own]
                _add_pull(moved, self._some(here.start + own), scale)
            if len(changed):
                self.weights[here] = above
            mass += float(above.sum())
            near = np.flatnonzero((losses >= low) & (losses <= high))
            inside.append(here.start + near)
        return Band(self.take(np.concatenate(inside)), moved, mass)

    # -- inner -------------------------------------------------------------------------

    def _read(self, every: int = 1) -> Iterator[Block]:
        self.reads += 1.0 / every
        return self.rows.blocks(every)

    def _some(self, ids: Indices) -> Floats:
        self.reads += len(ids) / max(self.n, 1)
        return self.rows.some(ids)

    def _stretches(self) -> Iterator[slice]:
        for start in range(0, self.n, STRETCH):
            yield slice(start, min(start + STRETCH, self.n))

    def _weight_of(self, rows: slice) -> Floats:
        found: Floats = self._weight[rows] if len(self._weight) else _NONE
        return found

    def _targets(self, rows: slice | Indices) -> Floats:
        found: Floats = self._given[rows] - self._shift if self._lean else self.y[rows]
        return found

    def _kept(self, rows: slice | Indices) -> tuple[Floats, Floats]:
        """Losses and slopes of some rows at the last θ."""
        if self._lean:
            y, z = self._targets(rows), self.scores[rows]
            return self.loss.value_and_derivative(y, z)
        return self.losses[rows], self.slopes[rows]

    def _evaluate(self, theta: Floats, here: slice, X: Floats) -> tuple[Floats, Floats]:
        z = X @ theta[:-1]
        z += theta[-1]
        self.scores[here] = z
        found = self.loss.value_and_derivative(self._targets(here), z)
        if not self._lean:
            self.losses[here], self.slopes[here] = found
        return found

    def _lam(
        self, grid: Grid | None, density: Floats | None, here: slice, into: Floats
    ) -> Floats:
        """λ by rank or, without a grid, as held."""
        if grid is None or density is None:
            held: Floats = self.weights[here]
            return held
        return self._weigh(grid, density, here, self._kept(here)[0], into)

    def _weigh(
        self, grid: Grid, density: Floats, here: slice, losses: Floats, into: Floats
    ) -> Floats:
        bits = losses.view(np.int64)
        weigh(bits, self._weight_of(here), grid, density, into)
        return into[: len(bits)]

    def _add_gram(
        self, matrix: Floats, X: Floats, lam: Floats, here: slice, offset: Floats
    ) -> float:
        scale = lam * self.loss.curvature(self._targets(here), self.scores[here])
        _add_outer(matrix, X, scale, offset)
        return float(lam.sum())


def _add_pull(gradient: Floats, X: Floats, scale: Floats) -> None:
    """Add Σ scale·(x, 1)."""
    gradient[:-1] += scale @ X
    gradient[-1] += scale.sum()


def _add_outer(matrix: Floats, X: Floats, scale: Floats, offset: Floats) -> None:
    """Add Σ scale·xxᵀ, x = (x − m, 1)."""
    own = np.flatnonzero(scale)  # many a λ is zero
    block = np.empty((len(own), X.shape[1] + 1))
    np.subtract(X[own], offset, out=block[:, :-1])
    block[:, -1] = 1.0
    block *= np.sqrt(scale[own])[:, None]
    matrix += block.T @ block


class _Filling:
    """A table that is being filled."""

    def __init__(self, grid: Grid) -> None:
        self._grid, self._floors = grid, grid.floors
        self._mass, self._above = np.zeros(grid.bins), np.zeros(grid.bins)
        self._lowest, self._highest = np.inf, 0.0

    def add(self, losses: Floats, weight: Floats) -> None:
        """Rows of some losses."""
        if not len(losses):
            return
        bits = losses.view(np.int64)
        count(bits, losses, weight, self._grid, self._floors, self._mass, self._above)
        self._lowest = min(self._lowest, float(losses.min()))
        self._highest = max(self._highest, float(losses.max()))

    def filled(self) -> Table:
        """The table of these rows."""
        return Table(self._mass, self._above, self._lowest, self._highest)
