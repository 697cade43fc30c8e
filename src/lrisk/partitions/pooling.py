"""Losses that tie: weights of a smoothed risk, and how they bend, from tables.

Near a fit that leaves its features unused very many losses tie, and F has a kink there
for which no metric is right. The smoothed risk

    max_λ  λ·ℓ − (ν/2) Σ(λ_i − p_i)²/p_i   over the permutahedron     (paper 1, eq. 6)

has none. Over λ alike within each bin it is that of the bins' masses and mean losses:
their λ, shared by mass, lies in the permutahedron of the rows. Where bins are pooled λ
rises with the loss at 1/ν per mass, elsewhere as fast as the spectrum does.
"""

from typing import NamedTuple

import numpy as np

from .._typing import Floats, Indices
from ..permutahedron import proximal_weights, proximity
from ..ranking import Ranking
from ..spectra import Spectrum
from .answers import Spread
from .engine import summed
from .grid import Grid, Ranks, Table

#: Rows of a window over which weights that are not pooled are seen to rise.
WINDOW = 40
#: Ends of a window that differ by less than this part of all losses are tied: how fast
#: weights rise between them is nothing but rounding.
TIED = 1e-9


class Pooled(NamedTuple):
    """The smoothed risk by a table.

    ranks : its λ; its value, and what that is short of the risk itself
    doubt : the part of this that bins leave, not ν
    starts : where each block begins among the bins that have rows, pooled or alone;
        the last entry is how many there are
    """

    ranks: Ranks
    doubt: float
    starts: Indices

    @classmethod
    def of(cls, spectrum: Spectrum, grid: Grid, table: Table, nu: float) -> "Pooled":
        """Pool the bins of a table."""
        plain = Ranks.of(spectrum, grid, table)
        used = np.flatnonzero(table.mass > 0.0)
        mass = table.mass[used]
        losses = grid.floors[used] + table.above[used] / mass
        ranking = Ranking(spectrum, len(used), mass)
        unit = nu * ranking.total
        pooled = proximal_weights(ranking, losses, ranking.mass, unit)
        density = np.zeros(grid.bins)
        density[used] = pooled.weights / mass
        away = proximity(pooled.weights, ranking.mass, ranking.row_weight)
        value = float(pooled.weights @ losses) - unit * away
        missing = max(plain.value + plain.missing - value, 0.0)
        ranks = Ranks(grid, density, value, missing)
        first = np.ones(len(used) + 1, dtype=bool)
        # The losses of bins ascend, so blocks are intervals; rounding may have changed
        # the order within one.
        first[pooled.rows] = False
        if len(pooled.rows):
            first[np.minimum.reduceat(pooled.rows, pooled.starts[:-1])] = True
        return cls(ranks, plain.missing, np.flatnonzero(first))


class Bends(NamedTuple):
    """How λ follows the losses: dλ = κw(dℓ − the mean of dℓ over a group).

    kappa : of each bin, per unit of weight; shape (bins,)
    group : of each bin, ascending; shape (bins,)
    """

    kappa: Floats
    group: Indices

    @classmethod
    def of(cls, pooled: Pooled, table: Table, nu: float, least: float) -> "Bends":
        """Pooled blocks, and windows of at least so much mass between them."""
        grid, density = pooled.ranks.grid, pooled.ranks.density
        used = np.flatnonzero(table.mass > 0.0)
        mass = table.mass[used]
        losses = grid.floors[used] + table.above[used] / mass
        steep = 1.0 / (nu * float(table.mass.sum()))
        blocks = np.repeat(np.arange(len(pooled.starts) - 1), np.diff(pooled.starts))
        alone = np.diff(pooled.starts)[blocks] == 1
        # A window ends where its mass is enough, and where a pooled block begins.
        filled = np.floor(np.cumsum(np.where(alone, mass, 0.0)) / least)
        both = alone[1:] & alone[:-1]
        changes = (np.diff(blocks) > 0) & (~both | (np.diff(filled) > 0.0))
        group = np.append(0, np.cumsum(changes))
        first = np.flatnonzero(np.diff(group, prepend=-1))
        last = np.append(first[1:], len(used)) - 1
        rise = density[used[last]] - density[used[first]]
        run = losses[last] - losses[first]
        slope = np.where(run > 0.0, rise / np.where(run > 0.0, run, 1.0), 0.0)
        slope = np.clip(slope, 0.0, steep)
        slope[~alone[first]] = steep
        kappa, groups = np.zeros(grid.bins), np.zeros(grid.bins, dtype=np.intp)
        kappa[used] = slope[group]
        groups[used] = group
        return cls(kappa, groups)

    @classmethod
    def by_rank(
        cls, spectrum: Spectrum, grid: Grid, table: Table, least: float
    ) -> "Bends":
        """By windows of at least so much mass, of a risk that is not smoothed.

        With the density s of the spectrum λ is ws(P(ℓ))/W, and between the ends of a
        window it rises by what s does. That of a superquantile rises at one place, so
        a window has it in its middle.
        """
        used = np.flatnonzero(table.mass > 0.0)
        mass = table.mass[used]
        below = np.cumsum(mass) - mass
        total = float(mass.sum())
        middle = spectrum.support[0] * total if spectrum.selects else 0.5 * least
        filled = np.floor((below + 0.5 * mass - middle) / least + 0.5)
        group = np.append(0, np.cumsum(np.diff(filled) > 0.0))
        first = np.flatnonzero(np.diff(group, prepend=-1))
        edges = grid.edges(table.lowest, table.highest)[used[first]]
        ends = np.append(np.maximum(edges, table.lowest), table.highest)
        shares = np.append(np.minimum(below[first] / total, 1.0), 1.0)
        rise, run = np.diff(spectrum.density(shares)) / total, np.diff(ends)
        apart = run > TIED * (table.highest - table.lowest)
        slope = np.where(apart, rise / np.where(apart, run, 1.0), 0.0)
        kappa, groups = np.zeros(grid.bins), np.zeros(grid.bins, dtype=np.intp)
        kappa[used] = np.maximum(slope, 0.0)[group]
        groups[used] = group
        return cls(kappa, groups)

    def joined(self, told: list[Spread], offset: Floats) -> tuple[Floats, float]:
        """Σ(λℓ″ + κwℓ′²)xxᵀ less what rows of a group share, and their weight.

        Of the rows that were seen, x = (x − offset, 1).
        """
        matrix = summed((part.matrix for part in told), np.add)
        pulls = summed((part.pulls for part in told), np.add)
        mass = summed((part.mass for part in told), np.add)
        pulls[:, :-1] -= offset * pulls[:, -1:]
        own = np.flatnonzero((mass > 0.0) & (self.kappa > 0.0))
        group, places = np.unique(self.group[own], return_inverse=True)
        tied = np.zeros((len(group), pulls.shape[1] + 1))
        np.add.at(tied, places, np.column_stack([pulls[own], mass[own]]))
        kappa = np.zeros(len(group))
        kappa[places] = self.kappa[own]
        means = tied[:, :-1] * np.sqrt(kappa / tied[:, -1])[:, None]
        return matrix - means.T @ means, float(mass.sum())
