"""How fine the bins of losses need be for what is next to be seen of F.

Bins leave F in doubt. Fine ones cost time for each of them, and above some number a
second read of the features; coarse ones hide by how much F falls. So they are as fine
as the fall that is expected next demands.
"""

import numpy as np

from ..spectra import Spectrum
from .at import At
from .grid import Grid, floor_within

#: Binary digits of the coarsest bins, and of the finest.
ROUGH_DIGITS, MOST_DIGITS = 7, 17
#: Floor of the first bins, as a share of the risk; what it costs is seen at once.
FLOOR = 1e-4
#: Share of an expected fall of F that ranks may leave in doubt; the most of it, where
#: finer ranks would cost a read; and the share of a gap that is to be proven.
DOUBT, MOST_DOUBT, PROOF_DOUBT = 3e-3, 0.1, 0.05
#: Falls that may be the last, in units of the gap that is to be proven, and the part of
#: what a proof leaves in doubt that they aim at.
NEAR, AHEAD = 30.0, 0.25


class Fineness:
    """What grids a descent takes.

    Parameters
    ----------
    spectrum : Spectrum
    columns : int
        Entries of a gradient.
    most_binned : int
        Entries of the gradients by bin up to which one read serves for F and its slope.

    Attributes
    ----------
    goal : float
        Relative gap that is to be proven: ranks need not be much finer.
    """

    def __init__(self, spectrum: Spectrum, columns: int, most_binned: int) -> None:
        self._spectrum, self._columns = spectrum, columns
        self._most_binned, self.goal = most_binned, 0.0

    def first(self, largest: float, risk: float) -> Grid:
        """Rough bins for losses like those of some rows, with room above these."""
        return Grid.below(4.0 * largest, ROUGH_DIGITS, FLOOR * risk)

    def of_walk(self, now: At, fall: float) -> tuple[int, float]:
        """Digits for a fall that is expected, and the fall that they are made for."""
        if fall <= NEAR * self.goal * now.value:  # the next point may be the last
            fall = min(fall, self._last(now))
        return max(self._digits(now, fall), ROUGH_DIGITS), fall

    def near(self, near: At, digits: int, fall: float) -> Grid:
        """Bins for losses like those of a point; fewer where one read then serves."""
        grid = self._grid(near, digits, fall)
        fall = min(fall * MOST_DOUBT / DOUBT, max(fall, self._last(near)))
        least = max(self._digits(near, fall), ROUGH_DIGITS)
        if self.binnable(grid) or least >= digits:
            return grid
        coarse = self._grid(near, least, fall)
        return coarse if self.binnable(coarse) else grid

    def finer(self, now: At, fall: float) -> Grid | None:
        """Bins at which what is missing is a small part of a gap, if they are finer."""
        fall *= PROOF_DOUBT / DOUBT
        digits = self._digits(now, fall)
        return self._grid(now, digits, fall) if digits > now.digits else None

    def binnable(self, grid: Grid) -> bool:
        """Whether one read may bring the gradients of all bins."""
        return grid.bins * self._columns <= self._most_binned

    def _digits(self, now: At, fall: float) -> int:
        """Digits at which what is missing is a small part of a fall; 4 times each."""
        least = np.finfo(float).tiny
        doubt = np.log2(max(now.doubt, least)) - np.log2(max(DOUBT * fall, least))
        more = max(np.ceil(0.5 * doubt), -now.digits)
        return int(min(now.digits + more, MOST_DIGITS))

    def _grid(self, near: At, digits: int, fall: float) -> Grid:
        """Bins for losses like those of a point; the floor takes part of the doubt."""
        room = 0.25 * DOUBT * fall
        floor = floor_within(self._spectrum, near.ranks.grid, near.table, room)
        return Grid.below(near.table.highest, digits, floor)

    def _last(self, near: At) -> float:
        """The fall for which ranks are as fine as a proof may need them to be."""
        return AHEAD * PROOF_DOUBT / DOUBT * self.goal * near.value
