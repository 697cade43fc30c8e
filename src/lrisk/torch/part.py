"""Rows on a device, answering what `lrisk.partitions` asks of parts of the rows.

The questions, and which rows a share of them are, are those of `Part`; the answers
agree with its to rounding. Everything as long as the rows is a tensor of 64 bits on the
device of X, and stays there.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._typing import Floats, Indices
from ..losses import Loss
from ..partitions.answers import Band, Description, Dual, Gram, Held, Spread, Taken
from ..partitions.grid import Grid, Table
from .losses import on_tensors
from .rows import TensorRows, in_memory, on_device, places_of

#: Sums that a GPU keeps close by, 32 MB of 64 bits, and those of one bin at most.
SUMS, COPIES = 1 << 22, 1 << 10


class TorchPart:
    """Rows of a tensor, with their vectors beside them.

    Numbers of rows are exact whatever the order they are counted in; sums of losses in
    bins, and of weights that are given, are added up on a GPU in an order that changes,
    and so in their last digit.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Of 32 or 64 bits.
    y : tensor of shape (n,)
        Targets, as the loss wants them; of 64 bits, as the weights.
    weight : tensor of shape (n,) or None
        Positive; None means one each.
    loss : Loss
        Of one score.
    """

    def __init__(self, X: Tensor, y: Tensor, weight: Tensor | None, loss: Loss) -> None:
        self.rows, self.loss = TensorRows(X), loss
        self.n, self.d = self.rows.shape
        self._device, self._form = X.device, on_tensors(loss)
        self._given, self._weight = y, weight
        self.y = y
        nothing = torch.zeros_like(y)
        self.scores, self.losses, self.slopes = nothing, nothing, nothing
        self.weights = torch.zeros_like(y)
        # The bins of the present losses, in the grid that was asked for last.
        self._placed: tuple[Grid, Tensor] | None = None
        #: Passes over all features so far; those over a part of them count as a part.
        self.reads = 0.0

    def sampled(self, ids: Indices, offset: Floats) -> "TorchPart":
        """Some rows as a part of their own, an offset taken from their features."""
        own = places_of(ids, self._device)
        self.reads += len(ids) / max(self.n, 1)
        X = self.rows.some(own) - self._tensor(offset)
        weight = None if self._weight is None else self._weight[own]
        return TorchPart(X, self.y[own], weight, self.loss)

    def even(self) -> Tensor:
        """The weights of the rows, as they were given."""
        return torch.ones_like(self.y) if self._weight is None else self._weight

    # -- before the first pass ---------------------------------------------------------

    def describe(self) -> Description:
        """Facts of the targets as they were given."""
        if self.n == 0:
            return Description(0, 0.0, 0.0, np.inf, -np.inf)
        y, w = self._given, self._weight
        total = float(self.n) if w is None else float(w.sum())
        weighted = y.sum() if w is None else w @ y
        ends = torch.aminmax(y)
        return Description(
            self.n, total, float(weighted), float(ends.min), float(ends.max)
        )

    def prepare(self, shift: float) -> None:
        """Take a shift from the targets as they were given."""
        self.y = self._given - shift if shift else self._given

    # -- passes over all features ------------------------------------------------------

    def at(self, theta: Floats, grid: Grid) -> Table:
        """Losses and slopes at θ, and their table."""
        self._evaluate(theta)
        return self.table(grid)

    def pull(self, grid: Grid, density: Floats) -> Floats:
        """Σλℓ′·(x, 1), λ by rank; shape (d + 1,)."""
        return self._pulled(self._by_rank(grid, density).mul_(self.slopes))

    def at_binned(self, theta: Floats, grid: Grid) -> tuple[Table, Floats]:
        """As `at`, and Σwℓ′·(x, 1) of each bin, shape (bins, d + 1)."""
        table = self.at(theta, grid)
        pulls = torch.zeros((grid.bins, self.d + 1), dtype=torch.float64)
        pulls = pulls.to(self._device)
        self.reads += 1.0
        for places, X in self.rows.pieces():
            self._pull_by_bin(pulls, X, places, grid)
        return table, in_memory(pulls)

    def at_held(self, theta: Floats, grid: Grid, offset: Floats, every: int) -> Held:
        """As `at`, and value, gradient and a Gram matrix at the held λ."""
        table = self.at(theta, grid)
        value = float(self.weights @ self.losses)
        gradient = self._pulled(self.weights * self.slopes)
        return Held(table, value, gradient, self.gram_some(offset, every))

    def dual(
        self,
        step: Floats,
        shift: float,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Dual:
        """Dual points a = clip(ℓ′ + ℓ″·(Δ, (x, 1)) − c) and what they add up to."""
        y, z, lam = self.y, self.scores, self._lam(grid, density)
        bends = self._form.curvature(y, z)
        self.reads += 1.0
        linear = self.rows.scores(self._tensor(step)).mul_(bends)
        linear.add_(self.slopes).sub_(shift)
        a = self._form.to_dual_domain(y, linear)
        inside = torch.where(a == linear, lam, 0.0)
        sums = [
            lam @ self._form.fenchel_young(y, z, a),
            lam @ a.abs(),
            inside @ bends,
            inside.sum(),
        ]
        fitted, size, bend, free = (float(total) for total in sums)
        return Dual(self._pulled(lam * a), fitted, size, bend, free)

    # -- passes over a part of the features --------------------------------------------

    def gram_some(
        self,
        offset: Floats,
        every: int,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Gram:
        """Σλℓ″xxᵀ of one of `every` rows, λ by rank or, without a grid, as held."""
        matrix, mass = self._square(), torch.zeros((), dtype=torch.float64)
        mass, middle = mass.to(self._device), self._tensor(offset)
        lam = self._lam(grid, density)
        self.reads += 1.0 / every
        for places, X in self.rows.pieces(every):
            own = lam[places]
            scale = own * self._form.curvature(self.y[places], self.scores[places])
            _add_outer(matrix, X, scale, middle)
            mass += own.sum()
        return Gram(in_memory(matrix), float(mass))

    def spread(
        self, offset: Floats, every: int, grid: Grid, density: Floats, kappa: Floats
    ) -> Spread:
        """What the curvature of F is made from, of one of `every` rows."""
        matrix, middle = self._square(), self._tensor(offset)
        pulls = torch.zeros((grid.bins, self.d + 1), dtype=torch.float64)
        pulls, mass = pulls.to(self._device), np.zeros(grid.bins)
        lam, rising = self._by_rank(grid, density), self._by_rank(grid, kappa)
        even = self.even()
        self.reads += 1.0 / every
        for places, X in self.rows.pieces(every):
            slopes = self.slopes[places]
            scale = self._form.curvature(self.y[places], self.scores[places])
            scale = scale.mul_(lam[places]).addcmul_(rising[places], slopes.square())
            _add_outer(matrix, X, scale, middle)
            self._pull_by_bin(pulls, X, places, grid)
            mass += in_memory(
                sums_by_bin(self._places(grid)[places], even[places], grid.bins)
            )
        return Spread(in_memory(matrix), in_memory(pulls), mass)

    def longest(self, offset: Floats, every: int, whiten: Floats) -> float:
        """Largest ‖T(x − m, 1)‖² of the rows of `gram_some`; T (k, d + 1)."""
        middle, T = self._tensor(offset), self._tensor(whiten)
        most = [torch.zeros((), dtype=torch.float64, device=self._device)]
        for _, X in self.rows.pieces(every):
            white = torch.addmm(T[:, -1], X - middle, T[:, :-1].T)
            most.append(white.square_().sum(dim=1).max())
        self.reads += 1.0 / every
        return float(torch.stack(most).max())

    def take(self, ids: Indices) -> Taken:
        """Rows by their places, ascending."""
        own = places_of(ids, self._device)
        self.reads += len(ids) / max(self.n, 1)
        vectors = torch.stack([self.y[own], self.losses[own]])
        y, losses = in_memory(vectors)
        weight = None if self._weight is None else in_memory(self._weight[own])
        return Taken(ids, in_memory(self.rows.some(own)), y, weight, losses)

    # -- passes over vectors only ------------------------------------------------------

    def table(self, grid: Grid) -> Table:
        """The present losses in the bins of another grid."""
        if self.n == 0:
            return Table(np.zeros(grid.bins), np.zeros(grid.bins), np.inf, 0.0)
        places, w, bins = self._places(grid), self._weight, grid.bins
        above = self.losses - torch.take(self._tensor(grid.floors), places)
        above = above if w is None else above.mul_(w)
        w = above.new_ones(()).expand(self.n) if w is None else w
        sums = [sums_by_bin(places, w, bins), sums_by_bin(places, above, bins)]
        ends = torch.stack(torch.aminmax(self.losses))
        told = in_memory(torch.cat([*sums, ends]))
        return Table(told[:bins], told[bins:-2], float(told[-2]), float(told[-1]))

    def hold(self, grid: Grid, density: Floats) -> None:
        """Keep the λ that ranks give now, whatever the losses become."""
        self.weights = self._by_rank(grid, density)

    def assign(self, ids: Indices, weights: Floats) -> None:
        """Set the held λ of some rows."""
        self.weights[places_of(ids, self._device)] = self._tensor(weights)

    def band(self, low: float, high: float, unit: float) -> Band:
        """Rows with low ≤ ℓ ≤ high; λ is held anew: unit·w above, zero elsewhere."""
        above = (self.losses > high).double().mul_(unit)
        above = above if self._weight is None else above.mul_(self._weight)
        changed = torch.nonzero(above != self.weights)[:, 0]
        scale = (above - self.weights).mul_(self.slopes)
        if len(changed) > self.n // 8:  # to read all is faster than to look for these
            moved = self._pulled(scale)
        else:
            self.reads += len(changed) / max(self.n, 1)
            moved = in_memory(self.rows.pull_some(changed, scale[changed]))
        self.weights = above
        near = torch.nonzero((self.losses >= low) & (self.losses <= high))[:, 0]
        return Band(self.take(in_memory(near)), moved, float(above.sum()))

    # -- inner -------------------------------------------------------------------------

    def _tensor(self, values: Any) -> Tensor:
        return on_device(values, self._device)

    def _square(self) -> Tensor:
        size = self.d + 1
        return torch.zeros((size, size), dtype=torch.float64, device=self._device)

    def _evaluate(self, theta: Floats) -> None:
        self.reads += 1.0
        self.scores = self.rows.scores(self._tensor(theta))
        self._placed = None
        self.losses, self.slopes = self._form.value_and_derivative(self.y, self.scores)

    def _pulled(self, r: Tensor) -> Floats:
        self.reads += 1.0
        pulled: Floats = in_memory(self.rows.pull(r))
        return pulled

    def _places(self, grid: Grid) -> Tensor:
        """As `Grid.places` of the present losses."""
        if self._placed is None or self._placed[0] is not grid:
            self._placed = None  # before there is another as long
            self._placed = grid, _places(grid, self.losses.view(torch.int64))
        return self._placed[1]

    def _by_rank(self, grid: Grid, density: Floats) -> Tensor:
        lam = torch.take(self._tensor(density), self._places(grid))
        return lam if self._weight is None else lam.mul_(self._weight)

    def _lam(self, grid: Grid | None, density: Floats | None) -> Tensor:
        """λ by rank or, without a grid, as held."""
        if grid is None or density is None:
            return self.weights
        return self._by_rank(grid, density)

    def _pull_by_bin(self, pulls: Tensor, X: Tensor, places: Any, grid: Grid) -> None:
        """Add Σwℓ′·(x, 1) of some rows to their bins."""
        slopes = self.slopes[places]
        slopes = slopes if self._weight is None else slopes * self._weight[places]
        own = torch.cat([X * slopes[:, None], slopes[:, None]], dim=1)
        pulls.index_add_(0, self._places(grid)[places], own)


def sums_by_bin(places: Tensor, values: Tensor, bins: int) -> Tensor:
    """Sum of the values of each bin; shape (bins,)."""
    if places.is_cuda:
        return sums_in_copies(places, values, bins)
    return torch.bincount(places, values, bins)


def sums_in_copies(places: Tensor, values: Tensor, bins: int) -> Tensor:
    """The same on a GPU, where rows of one bin wait for each other to add to its sum.

    Half of 5·10⁷ rows in one bin took 44 ms on an H200. With as many sums of each bin
    as memory close by has room for all rows take .7 ms, whatever the bins are.
    """
    copies = max(min(COPIES, SUMS // bins), 1)
    whole = len(places) // copies * copies
    sums = values.new_zeros((bins, copies))
    index = places[:whole].view(-1, copies)
    sums.scatter_add_(0, index, values[:whole].view(-1, copies))
    found = sums.sum(dim=1)
    return found.scatter_add_(0, places[whole:], values[whole:])


def _places(grid: Grid, bits: Tensor) -> Tensor:
    plain = (bits - grid.least).bitwise_right_shift_(grid.shift)
    if not len(grid.first):
        return plain.clamp_(0, grid.bins - 1)
    first, low, fine = (
        on_device(part, bits.device) for part in (grid.first, grid.low, grid.fine)
    )
    plain.clamp_(0, len(low) - 1)
    pieces = (bits - low[plain]).bitwise_right_shift_(fine[plain])
    most = first[plain + 1] - first[plain] - 1
    return torch.minimum(pieces.clamp_(min=0), most).add_(first[plain])


def _add_outer(matrix: Tensor, X: Tensor, scale: Tensor, offset: Tensor) -> None:
    """Add Σ scale·xxᵀ, x = (x − m, 1)."""
    root = scale.sqrt()[:, None]
    own = torch.cat([(X - offset).mul_(root), root], dim=1)
    matrix.addmm_(own.T, own)
