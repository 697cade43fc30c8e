"""Losses above a threshold, from tables: superquantiles without sorting.

    risk = min_t  t + Σw(ℓ − t)₊/(W(1 − q))          (Rockafellar & Uryasev, 2000)

At any t the right-hand side is an upper bound. Its best t is a quantile, at which many
rows tie at an optimum, so the bins round it are zoomed into: passes over the losses,
not over features.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Floats
from .grid import Grid, Table

#: Bins of a zoom: few, since every part sends them.
ZOOM = 4096
#: Zooms that take 64 bits to nothing, at twelve bits each.
MOST_ZOOMS = 6

Asking = Callable[[Grid], Table]


def tail_values(grid: Grid, table: Table, unit: float) -> tuple[Floats, Floats]:
    """The bound above at every edge t of the bins, and those edges.

    `unit` is 1/(W(1 − q)). Excesses are added up from the highest bin downwards, each
    from its own floor: nothing cancels.
    """
    edges = grid.edges(table.lowest, table.highest)
    inside = table.above + table.mass * (grid.floors - edges[:-1])
    higher = np.append(np.cumsum(table.mass[::-1])[::-1], 0.0)
    steps = inside + higher[1:] * np.diff(edges)
    excess = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
    return edges + unit * excess, edges


def superquantile(
    ask: Asking, grid: Grid, table: Table, unit: float, room: float
) -> float:
    """An upper bound on the risk, at most `room` above it where bits allow that."""
    risk = np.inf
    for _ in range(MOST_ZOOMS):
        values, edges = tail_values(grid, table, unit)
        best = int(np.argmin(values))
        risk = min(risk, float(values[best]))
        a, b = max(best - 1, 0), min(best + 1, grid.bins)
        # What a better t can bring: the mass of both bins beside it, times their width.
        gain = float(table.mass[a:b].sum()) * unit * float(edges[b] - edges[a])
        if gain <= room or not edges[a] < edges[b]:
            break
        finer = Grid.between(edges[a], edges[b], ZOOM)
        if finer.shift >= grid.shift:
            break
        grid, table = finer, ask(finer)
    return risk


class Between(NamedTuple):
    """Losses low ≤ ℓ ≤ high, and the mass that they have."""

    low: float
    high: float
    mass: float


def between(
    ask: Asking, grid: Grid, table: Table, place: float, width: float
) -> Between:
    """Losses about the quantile at a mass; `width` of it, or more where losses tie."""
    room = 0.125 * width
    first, k, below = _bin_at(ask, grid, table, place - 0.5 * width, room)
    last, j, above = _bin_at(ask, grid, table, place + 0.5 * width, room)
    high = float(last[j + 1])
    if j + 2 < len(last):  # the end belongs to the next bin, which may hold very many
        high = float(np.nextafter(high, 0.0))
    return Between(float(first[k]), high, float(above[j + 1] - below[k]))


def _bin_at(
    ask: Asking, grid: Grid, table: Table, place: float, room: float
) -> tuple[Floats, int, Floats]:
    """Edges of bins, which of these holds a mass, and the masses below the edges.

    The bin has no more than `room`, unless its losses tie.
    """
    for _ in range(MOST_ZOOMS):
        edges = grid.edges(table.lowest, table.highest)
        below = np.append(0.0, np.cumsum(table.mass))
        k = int(np.searchsorted(below[1:], np.clip(place, 0.0, below[-1])))
        k = min(k, grid.bins - 1)
        if table.mass[k] <= room or not edges[k] < edges[k + 1]:
            break
        finer = Grid.between(edges[k], edges[k + 1], ZOOM)
        if finer.shift >= grid.shift:
            break
        grid, table = finer, ask(finer)
    return edges, k, below
