"""How well the rows of groups, and of stretches of time, fit."""

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...tables import Column
from .facts import GroupRate

#: Most groups and most stretches of time.
MOST_GROUPS, MOST_TIMES = 30, 24


def group_rates(column: Column, rows: Indices, flags: Bools, losses: Floats
                ) -> list[GroupRate]:  # fmt: skip
    """Flag rate and losses by group, the largest groups first."""
    if column.has_levels:
        codes = column.values[rows]
        names = [*column.levels, "(missing)"]
    else:
        values, codes = np.unique(column.values[rows], return_inverse=True)
        firsts = [int(rows[np.flatnonzero(codes == c)[0]]) for c in range(len(values))]
        names = [column.shown(row) or "(missing)" for row in firsts]
    names = [name[:80] for name in names]
    kept, counts = np.unique(codes, return_counts=True)
    order = kept[np.argsort(-counts, kind="stable")]
    shown = order if len(order) <= MOST_GROUPS else order[: MOST_GROUPS - 1]
    rates = [_rate(names[code], codes == code, flags, losses) for code in shown]
    rest = ~np.isin(codes, shown)
    if rest.any():
        count = len(order) - len(shown)
        rates.append(_rate(f"({count} other groups)", rest, flags, losses))
    return rates


def time_rates(
    column: Column, rows: Indices, flags: Bools, losses: Floats
) -> list[GroupRate]:
    """Flag rate and losses over stretches of equal numbers of rows."""
    if column.has_levels:
        return group_rates(column, rows, flags, losses)
    values = column.values[rows]
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    parts = min(MOST_TIMES, max(1, len(order) // 20), len(np.unique(values[known])))
    rates = []
    # Equal times stay together.
    cuts = np.unique(np.searchsorted(
        values[order], values[order[[len(order) * p // parts for p in range(parts)]]]
    ))  # fmt: skip
    for part in np.split(order, cuts[1:]):
        inside = np.zeros(len(rows), dtype=bool)
        inside[part] = True
        first, last = (
            column.shown(int(rows[part[0]])),
            column.shown(int(rows[part[-1]])),
        )
        name = first if first == last else f"{first} to {last}"
        rates.append(_rate(name, inside, flags, losses))
    return rates


def _rate(name: str, inside: Bools, flags: Bools, losses: Floats) -> GroupRate:
    own = losses[inside]
    return GroupRate(
        name,
        int(inside.sum()),
        float(flags[inside].mean()),
        float(own.mean()),
        float(np.quantile(own, 0.95)),
    )
