"""One part of the rows, with everything as long as they are.

Scores, losses, slopes and weights never leave the part; what solvers ask of it is
answered in numbers that are added up over parts. θ is *raw*, d coefficients and a
constant: offset, intercept, penalty and metric are the business of who asks. What is
kept from `at` is a cache that one more pass rebuilds, and every call that changes
something may be made twice.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._typing import Floats, Indices
from ..losses import Loss
from ._loops import count, pull_by_bin, weigh
from .grid import Grid, Table
from .rows import BLOCK, Block, RowSource, taken

_NONE = np.empty(0)


class Description(NamedTuple):
    """n, Σw, Σwy, min y and max y of a part; nothing of X is read."""

    rows: int
    total: float
    weighted: float
    low: float
    high: float


class Taken(NamedTuple):
    """Some rows by their places in the part: features, targets, weights, losses."""

    ids: Indices
    X: Floats
    y: Floats
    weight: Floats | None
    losses: Floats


class Band(NamedTuple):
    """Rows near a threshold, and what changed when λ was held anew.

    moved : Σ(λ′ − λ)ℓ′·(x, 1) over the rows whose λ changed; shape (d + 1,)
    mass : Σλ′
    """

    inside: Taken
    moved: Floats
    mass: float


class Gram(NamedTuple):
    """Σλℓ″xxᵀ over some rows, x = (x − m, 1), and their Σλ."""

    matrix: Floats
    mass: float


class Spread(NamedTuple):
    """Σ(λℓ″ + κwℓ′²)xxᵀ over some rows, x = (x − m, 1), and of each bin what is tied.

    pulls, mass : Σwℓ′·(x, 1) of each bin, shape (bins, d + 1), and Σw, shape (bins,)
    """

    matrix: Floats
    pulls: Floats
    mass: Floats


class Held(NamedTuple):
    """What a pass at the held λ finds: the table, λ·ℓ, Σλℓ′·(x, 1), a Gram matrix."""

    table: Table
    value: float
    gradient: Floats
    gram: Gram


class Part:
    """Rows in memory or in a file; vectors in memory.

    Parameters
    ----------
    rows : RowSource
    y : array of shape (n,)
        Targets, as the loss wants them.
    weight : array of shape (n,) or None
        Positive; None means one each.
    loss : Loss
        Of one score.
    """

    def __init__(
        self, rows: RowSource, y: Floats, weight: Floats | None, loss: Loss
    ) -> None:
        self.rows, self.loss = rows, loss
        self.n, self.d = rows.shape
        self._given = np.asarray(y, dtype=np.float64)
        self._weight = _NONE if weight is None else np.asarray(weight, np.float64)
        self.y = self._given
        self.scores, self.losses, self.slopes = (np.zeros(self.n) for _ in range(3))
        self.weights = np.zeros(self.n)
        #: Passes over all features so far; those over a part of them count as a part.
        self.reads = 0.0

    # -- before the first pass ---------------------------------------------------------

    def describe(self) -> Description:
        """Facts of the targets as they were given."""
        y, w = self._given, self._weight
        if self.n == 0:
            return Description(0, 0.0, 0.0, np.inf, -np.inf)
        total = float(w.sum()) if len(w) else float(self.n)
        weighted = float(w @ y) if len(w) else float(y.sum())
        return Description(self.n, total, weighted, float(y.min()), float(y.max()))

    def prepare(self, shift: float) -> None:
        """Take a shift from the targets as they were given."""
        self.y = self._given - shift if shift else self._given

    # -- passes over all features ------------------------------------------------------

    def at(self, theta: Floats, grid: Grid) -> Table:
        """Losses and slopes at θ, and their table."""
        table = _Filling(grid)
        for block in self._read():
            here = slice(block.start, block.stop)
            self._evaluate(theta, here, block.X)
            table.add(self.losses[here], self._weight_of(here))
        return table.filled(self.losses)

    def pull(self, grid: Grid, density: Floats) -> Floats:
        """Σλℓ′·(x, 1), λ by rank; shape (d + 1,)."""
        gradient, own = np.zeros(self.d + 1), np.empty(BLOCK)
        for block in self._read():
            here = slice(block.start, block.stop)
            lam = self._weigh(grid, density, here, own)
            self._add_pull(gradient, block.X, lam, here)
        return gradient

    def at_binned(self, theta: Floats, grid: Grid) -> tuple[Table, Floats]:
        """As `at`, and Σwℓ′·(x, 1) of each bin, shape (bins, d + 1).

        With the density by bins that makes a gradient: one read for F and its slope.
        """
        table, pulls = _Filling(grid), np.zeros((grid.bins, self.d + 1))
        for block in self._read():
            here = slice(block.start, block.stop)
            self._evaluate(theta, here, block.X)
            weight, losses = self._weight_of(here), self.losses[here]
            table.add(losses, weight)
            pull_by_bin(
                block.X, losses.view(np.int64), self.slopes[here], weight, grid, pulls
            )
        return table.filled(self.losses), pulls

    def at_held(self, theta: Floats, grid: Grid, offset: Floats, every: int) -> Held:
        """As `at`, and value, gradient and a Gram matrix at the held λ: one read."""
        table, gram = _Filling(grid), np.zeros((self.d + 1, self.d + 1))
        gradient, value, mass = np.zeros(self.d + 1), 0.0, 0.0
        few = taken(every)
        for block in self._read():
            here = slice(block.start, block.stop)
            self._evaluate(theta, here, block.X)
            losses, lam = self.losses[here], self.weights[here]
            table.add(losses, self._weight_of(here))
            value += float(lam @ losses)
            self._add_pull(gradient, block.X, lam, here)
            first = slice(block.start, min(block.start + few, block.stop))
            mass += self._add_gram(gram, block.X[:few], lam[:few], first, offset)
        return Held(table.filled(self.losses), value, gradient, Gram(gram, mass))

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
            lam = self.weights[here]
            if grid is not None and density is not None:
                lam = self._weigh(grid, density, here, own)
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
            weight, slopes = self._weight_of(here), self.slopes[here]
            scale = self._weigh(grid, density, here, own)
            scale *= self.loss.curvature(self.y[here], self.scores[here])
            scale += self._weigh(grid, kappa, here, rising) * slopes**2
            _add_outer(matrix, block.X, scale, offset)
            seen.add(self.losses[here], weight)
            bits = self.losses[here].view(np.int64)
            pull_by_bin(block.X, bits, slopes, weight, grid, sums)
        return Spread(matrix, sums, seen.filled(_NONE).mass)

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
        X = self.rows.some(ids)
        return Taken(ids, X, self.y[ids], weight, self.losses[ids])

    # -- passes over vectors only ------------------------------------------------------

    def table(self, grid: Grid) -> Table:
        """The present losses in the bins of another grid."""
        table = _Filling(grid)
        table.add(self.losses, self._weight)
        return table.filled(self.losses)

    def hold(self, grid: Grid, density: Floats) -> None:
        """Keep the λ that ranks give now, whatever the losses become."""
        weigh(self.losses.view(np.int64), self._weight, grid, density, self.weights)

    def assign(self, ids: Indices, weights: Floats) -> None:
        """Set the held λ of some rows."""
        self.weights[ids] = weights

    def band(self, low: float, high: float, unit: float) -> Band:
        """Rows with low ≤ ℓ ≤ high; λ is held anew: unit·w above, zero elsewhere."""
        above = np.where(self.losses > high, unit, 0.0)
        if len(self._weight):
            above *= self._weight
        changed = np.flatnonzero(above != self.weights)
        scale = (above[changed] - self.weights[changed]) * self.slopes[changed]
        moved = np.append(scale @ self.rows.some(changed), scale.sum())
        self.weights = above
        inside = np.flatnonzero((self.losses >= low) & (self.losses <= high))
        return Band(self.take(inside), moved, float(above.sum()))

    # -- inner -------------------------------------------------------------------------

    def _read(self, every: int = 1) -> Iterator[Block]:
        self.reads += 1.0 / every
        return self.rows.blocks(every)

    def _weight_of(self, rows: slice) -> Floats:
        return self._weight[rows] if len(self._weight) else _NONE

    def _evaluate(self, theta: Floats, here: slice, X: Floats) -> None:
        z = X @ theta[:-1]
        z += theta[-1]
        self.scores[here] = z
        found = self.loss.value_and_derivative(self.y[here], z)
        self.losses[here], self.slopes[here] = found

    def _weigh(self, grid: Grid, density: Floats, here: slice, into: Floats) -> Floats:
        bits = self.losses[here].view(np.int64)
        weigh(bits, self._weight_of(here), grid, density, into)
        return into[: len(bits)]

    def _add_pull(self, gradient: Floats, X: Floats, lam: Floats, here: slice) -> None:
        scale = lam * self.slopes[here]
        gradient[:-1] += scale @ X
        gradient[-1] += scale.sum()

    def _add_gram(
        self, matrix: Floats, X: Floats, lam: Floats, here: slice, offset: Floats
    ) -> float:
        scale = lam * self.loss.curvature(self.y[here], self.scores[here])
        _add_outer(matrix, X, scale, offset)
        return float(lam.sum())


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

    def add(self, losses: Floats, weight: Floats) -> None:
        """Rows of some losses."""
        bits = losses.view(np.int64)
        count(bits, losses, weight, self._grid, self._floors, self._mass, self._above)

    def filled(self, losses: Floats) -> Table:
        """The table of rows with these losses."""
        lowest, highest = np.inf, 0.0
        if len(losses):
            lowest, highest = float(losses.min()), float(losses.max())
        return Table(self._mass, self._above, lowest, highest)
