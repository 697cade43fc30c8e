"""Ranks without sorting: losses in bins by their bits, weights from the bins' masses.

The bits of floats ≥ 0 ascend with the floats, so that

    bin(ℓ) = clip((bits(ℓ) − least) >> shift, 0, bins − 1)

is a histogram of equal *relative* width 2^(shift − 52); a grid that zooms into an
interval is a grid like any other. Rows of a bin share its σ mass by their weights.
That λ is an average of vertices of the permutahedron, so it lies in it whatever the
bins are, and every lower bound made with it is a proof.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from .._typing import Floats, Indices
from ..spectra import Spectrum

#: Bits of the mantissa of a float.
MANTISSA = 52
#: Smallest number that bins are told apart by: below, halvings leave normal floats.
SMALLEST = 1e-290
#: Losses below this part of the largest are not told apart.
FAR_BELOW = 1e-12
#: Pieces of one bin that is cut further, and bins of such a grid, at most.
TIED_PIECES, MOST_PIECES = 1 << 12, 1 << 16
#: Of a grid whose bins are all of one width.
_PLAIN = np.empty(0, dtype=np.int64)


class Grid(NamedTuple):
    """Bins of losses ≥ 0 by their bits.

    least : bits of the lower end of what would be bin 0, which takes all below as well
    shift : bits of a loss that do not count
    bins : how many; the last takes all above as well
    first, low, fine : where some of these are cut further: the place of the first piece
        of each, and the end; bits of the lower end of what would be that piece, which
        takes all below as well; and what is a piece's `shift`. Else without entries.
    """

    least: int
    shift: int
    bins: int
    first: Indices = _PLAIN
    low: Indices = _PLAIN
    fine: Indices = _PLAIN

    @classmethod
    def below(cls, top: float, digits: int, floor: float) -> "Grid":
        """Bins that halve every binade `digits` times, from a floor up to the top.

        All losses below the floor share one bin. What that loses is at most
        ¼(s₁ − s₀)·floor, so the floor is a part of the *gap* that is wanted, not of the
        largest loss: with heavy tails that is thousands of times the mean.
        """
        top, floor = max(float(top), SMALLEST), max(float(floor), SMALLEST)
        halvings = max(int(np.ceil(np.log2(top) - np.log2(floor))), 1)
        least = _bits(top * 2.0**-halvings)
        return cls(least, MANTISSA - digits, (halvings << digits) + 2)

    @classmethod
    def between(cls, low: float, high: float, bins: int) -> "Grid":
        """At most so many bins, as narrow as they can be, that part an interval."""
        first, last = _bits(low), _bits(high)
        shift = 0
        while (last - first) >> shift >= bins - 2:
            shift += 1
        # Bin 0 takes all that lies below: it shall hold nothing of the interval.
        return cls(max(first - (1 << shift), 0), shift, bins)

    @classmethod
    def round(cls, table: "Table", bins: int) -> "Grid":
        """Bins for all losses of a table, with room for them to move."""
        low = max(table.lowest, FAR_BELOW * table.highest)
        ratio = np.sqrt(table.highest / low) if low > 0.0 else 1.0
        return cls.between(low / ratio, table.highest * ratio, bins)

    def places(self, losses: Floats) -> Indices:
        """The bin of each loss; shape (n,)."""
        bits = np.ascontiguousarray(losses).view(np.int64)
        plain = (bits - self.least) >> self.shift
        if not len(self.first):
            return np.asarray(np.clip(plain, 0, self.bins - 1))
        plain = np.clip(plain, 0, len(self.low) - 1)
        pieces = (bits - self.low[plain]) >> self.fine[plain]
        most = self.first[plain + 1] - self.first[plain] - 1
        return np.asarray(self.first[plain] + np.clip(pieces, 0, most))

    def zoomed(self, price: Floats, room: float) -> "Grid":
        """Bins cut where they cost most, and there where their rows are.

        Parameters
        ----------
        price : array of shape (bins,)
            What each costs now.
        room : float
            What all may cost.
        """
        first, low, fine = (np.array(part) for part in self._pieces())
        total = np.add.reduceat(price, first[:-1])
        hot = total > 0.5 * room / max(int(np.count_nonzero(total)), 1)
        hot[[0, -1]] = False  # these have no ends of their own
        most = min(MOST_PIECES // max(int(hot.sum()), 1), TIED_PIECES)
        counts, changed = np.diff(first), False
        for c in np.flatnonzero(hot) if most >= 8 else []:
            begin = self.least + (int(c) << self.shift)
            end, shift = begin + (1 << self.shift), int(fine[c])
            held = np.flatnonzero(price[first[c] : first[c + 1]])
            a = int(low[c]) + (int(held[0]) << shift) if held[0] else begin
            b = int(low[c]) + (int(held[-1] + 1) << shift)
            b = end if held[-1] == first[c + 1] - first[c] - 1 else b
            # They may move by as much as they are apart.
            margin = b - a
            a, b = max(a - margin, begin), min(b + margin, end)
            while shift > 0 and (b - a) >> (shift - 1) <= most:
                shift -= 1
            if shift < fine[c]:
                low[c], fine[c], changed = a, shift, True
                counts[c] = max((b - a) >> shift, 1)
        if not changed:
            return self
        first = np.append(0, np.cumsum(counts))
        return Grid(self.least, self.shift, int(first[-1]), first, low, fine)

    def _pieces(self) -> tuple[Indices, Indices, Indices]:
        """`first`, `low` and `fine`, whether anything is cut or not."""
        if len(self.first):
            return self.first, self.low, self.fine
        places = np.arange(self.bins + 1, dtype=np.int64)
        low = self.least + (places[:-1] << self.shift)
        return places, low, np.full(self.bins, self.shift, dtype=np.int64)

    @property
    def floors(self) -> Floats:
        """Lower end of each bin, 0 for the first: what sums of losses are counted from.

        Ten million equal losses added up one by one are off in the ninth digit, and
        would "prove" a risk below the minimum.
        """
        floors = self._ends(self.bins)
        floors[0] = 0.0
        return floors

    def edges(self, lowest: float, highest: float) -> Floats:
        """Ends of all bins, shape (bins + 1,); the outer ones end at the extremes."""
        ends = self._ends(self.bins + 1)
        ends[0], ends[-1] = min(lowest, ends[1]), max(highest, ends[-2])
        return ends

    def _ends(self, count: int) -> Floats:
        """Lower ends of as many bins, the next after the last being one more."""
        places = np.arange(count, dtype=np.int64)
        if not len(self.first):
            return (self.least + (places << self.shift)).view(np.float64).copy()
        plain = np.searchsorted(self.first, places, side="right") - 1
        within = np.minimum(plain, len(self.low) - 1)
        pieces = places - self.first[plain]
        cut = self.low[within] + (pieces << self.fine[within])
        bits = np.where(pieces > 0, cut, self.least + (plain << self.shift))
        return np.asarray(bits.view(np.float64))


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


class Table(NamedTuple):
    """What rows tell of their losses in the bins of a grid.

    mass : sum of the weights in each bin; shape (bins,)
    above : Σw(ℓ − floor of the bin); shape (bins,)
    lowest, highest : of all losses; ∞ and 0 without rows
    """

    mass: Floats
    above: Floats
    lowest: float
    highest: float

    def joined(self, other: "Table") -> "Table":
        """The table of both sets of rows."""
        return Table(
            self.mass + other.mass,
            self.above + other.above,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
        )


class Ranks(NamedTuple):
    """Weights by rank, from the table of all rows.

    density : λ of a row per unit of its weight, bin by bin; shape (bins,)
    value : λ·ℓ ≤ Σσ_iℓ_(i)
    missing : bound on what λ·ℓ falls short of that by
    """

    grid: Grid
    density: Floats
    value: float
    missing: float

    @classmethod
    def of(cls, spectrum: Spectrum, grid: Grid, table: Table) -> "Ranks":
        """σ of each bin shared by mass; its loss by Grüss' inequality, bin by bin.

            Σσ_iℓ_(i) − λ·ℓ ≤ ¼ Σ_b (s₁ − s₀)·p_b·(ℓ₁ − ℓ₀)

        with the density s of the spectrum at both ends of the bin's cumulative mass,
        its share p_b of the mass, and its ends ℓ₀, ℓ₁. For increasing spectra.
        """
        used, share, cumulative = _masses(table)
        mass = table.mass[used]
        sigma = spectrum.increments(cumulative, share)
        sigma = sigma / sigma.sum()
        density = np.zeros(grid.bins)
        density[used] = sigma / mass
        inner = table.above[used] + mass * grid.floors[used]
        missing = float(np.sum(prices(spectrum, grid, table)))
        return cls(grid, density, float(density[used] @ inner), missing)


def prices(spectrum: Spectrum, grid: Grid, table: Table) -> Floats:
    """What each bin hides at most, ¼(s₁ − s₀)·p_b·(ℓ₁ − ℓ₀); shape (bins,)."""
    used, share, cumulative = _masses(table)
    rise = np.diff(spectrum.density(np.append(0.0, cumulative)))
    ends = grid.edges(table.lowest, table.highest)
    low = np.maximum(ends[used], table.lowest)
    width = np.minimum(ends[used + 1], table.highest) - low
    found = np.zeros(grid.bins)
    found[used] = 0.25 * np.maximum(rise, 0.0) * share * width
    return found


def _masses(table: Table) -> tuple[Indices, Floats, Floats]:
    """Bins with rows, their shares of the mass, and these added up."""
    used = np.flatnonzero(table.mass > 0.0)
    share = table.mass[used] / table.mass.sum()
    # As in `Ranking.sigma`: only the last bin completes the mass.
    cumulative = np.minimum(np.cumsum(share), np.nextafter(1.0, 0.0))
    cumulative[-1] = 1.0
    return used, share, cumulative


def floor_within(spectrum: Spectrum, grid: Grid, table: Table, room: float) -> float:
    """A loss below which all may share one bin for no more than a loss of `room`.

    With P the share of the mass below f that is ¼(s(P) − s(0))·P·f: almost nothing
    where few losses are small, as squared ones are.
    """
    mass = np.cumsum(table.mass)
    edges = grid.edges(table.lowest, table.highest)[1:]
    share = mass / mass[-1]
    rise = spectrum.density(share) - spectrum.density(0.0)
    price = 0.25 * np.maximum(rise, 0.0) * share * edges
    most = int(np.searchsorted(price, room, side="right"))
    if most > 0:
        return float(edges[most - 1])
    return float(edges[0] * (room / price[0]))  # both may be squares of huge targets


def joined(tables: list[Table]) -> Table:
    """The table of all rows."""
    return reduce(Table.joined, tables)
