"""What flagged rows share: groups, stretches of time, values, missing cells."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom

from ..._typing import Bools, Floats, Indices
from ...tables import Column, Table
from .result import Cause, GroupRate

#: Most groups and most stretches of time.
MOST_GROUPS, MOST_TIMES = 30, 24
#: A shared cause needs so many flagged rows, such a share of them, such a lift over all
#: rows, and such a chance (over all conditions tried) of coming up by accident.
FEWEST, SHARE, LIFT, ACCIDENT = 5, 0.25, 2.0, 0.01
#: Most causes told; most levels of a column that are tried.
MOST_CAUSES, MOST_LEVELS = 6, 50
#: Ends of a numeric column that are tried, and parts of the order of rows.
TAILS, STRETCHES = (0.05, 0.95), 20
#: Where a column is cut in two to find larger noise on one side; the share of the
#: flagged rows that must be there; and the share of them above (or below) what was
#: expected under which they are no noise.
CUTS = tuple(float(q) for q in np.linspace(0.05, 0.95, 19))
NEARLY_ALL, ONE_SIDED = 0.8, 0.2


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


def shared_causes(table: Table, rows: Indices, flags: Bools) -> list[Cause]:
    """Conditions that many flagged rows and few others meet, the most telling first.

    Each is tested against drawing the flagged rows at random (hypergeometric), with
    Bonferroni's correction for the number of conditions tried.
    """
    flagged, n = int(flags.sum()), len(rows)
    if flagged < FEWEST or flagged == n:
        return []
    conditions = _conditions(table, rows)
    found = []
    for text, inside in conditions:
        both, total = int(np.sum(inside & flags)), int(inside.sum())
        if both < max(FEWEST, SHARE * flagged) or total == n:
            continue
        lift = (both / flagged) / (total / n)
        accident = float(hypergeom.sf(both - 1, n, total, flagged)) * len(conditions)
        if lift >= LIFT and accident < ACCIDENT:
            words = f"{both} of {flagged} flagged rows {text} ({total} of all {n} do)."
            found.append((both / flagged * np.log(lift), inside,
                          Cause(words, both, flagged, total, n)))  # fmt: skip
    found.sort(key=lambda entry: -entry[0])
    return _unlike([(inside & flags, cause) for _, inside, cause in found])


def _unlike(found: list[tuple[Bools, Cause]]) -> list[Cause]:
    """Leave out causes whose flagged rows an earlier one already has."""
    told: list[tuple[Bools, Cause]] = []
    for inside, cause in found:
        if all(np.sum(inside & other) < 0.9 * inside.sum() for other, _ in told):
            told.append((inside, cause))
    return [cause for _, cause in told[:MOST_CAUSES]]


def _conditions(table: Table, rows: Indices) -> list[tuple[str, Bools]]:
    conditions: list[tuple[str, Bools]] = []
    for column in table.columns:
        values = column.values[rows]
        if column.kind == "constant":
            continue
        name = column.name[:60]
        missing = column.missing[rows]
        if missing.any():
            conditions.append((f"have no {name}", missing))
        if column.has_levels:
            if column.kind in ("identifier", "text"):
                continue
            for code, level in enumerate(column.levels[:MOST_LEVELS]):
                conditions.append((f"have {name}={level[:60]}", values == code))
        elif column.distinct <= MOST_LEVELS:
            for value in np.unique(values[~missing]):
                at = int(rows[np.flatnonzero(values == value)[0]])
                conditions.append((f"have {name}={column.shown(at)}", values == value))
        elif column.kind != "identifier":
            conditions += _ends(column, rows)
    place = rows * STRETCHES // max(table.n_rows, 1)
    for part in np.unique(place):
        inside = place == part
        first, last = rows[inside][0] + 1, rows[inside][-1] + 1
        conditions.append((f"lie between row {first} and row {last}", inside))
    return conditions


def noisy_region(
    table: Table, rows: Indices, flags: Bools, away: Floats
) -> tuple[str, str, int]:
    """Where the noise may be larger: one side of a number, flagged rows on both sides.

    Rows that do not fit because noise is larger there lie above and below what is
    expected, and nearly all of them on one side of some value of one column.

    Returns
    -------
    column, part : str
        Its name and which side of which value; empty if there is none.
    count : int
        How many flagged rows are in it.
    """
    flagged, n = int(flags.sum()), len(rows)
    if flagged < FEWEST or flagged == n:
        return "", "", 0
    columns = [
        column
        for column in table.features
        if not column.has_levels and column.distinct > MOST_LEVELS
    ]
    sides = (
        (column, *side) for column in columns for side in _sides(column.values[rows])
    )
    tried = 2 * len(CUTS) * len(columns)
    best, told = 0.0, ("", "", 0)
    for column, words, at, inside in sides:
        both, total = inside & flags, int(inside.sum())
        count = int(both.sum())
        if count < NEARLY_ALL * flagged or total > n / 2:
            continue
        above = float(np.mean(away[both] > 0.0))
        accident = float(hypergeom.sf(count - 1, n, total, flagged)) * tried
        lift = count / flagged / (total / n)
        if lift > best and accident < ACCIDENT and ONE_SIDED < above < 1 - ONE_SIDED:
            nearest = int(np.nanargmin(np.abs(column.values[rows] - at)))
            shown = column.shown(int(rows[nearest]))
            best, told = lift, (column.name, f"{words} {shown}", count)
    return told


def _sides(values: Floats) -> Iterator[tuple[str, float, Bools]]:
    for at in np.nanquantile(values, CUTS):
        yield "below", float(at), np.asarray(values < at)
        yield "above", float(at), np.asarray(values > at)


def _ends(column: Column, rows: Indices) -> list[tuple[str, Bools]]:
    values = column.values[rows]
    low, high = np.nanquantile(values, TAILS)
    bottom, top = values < low, values > high
    ends = []
    for inside, words, at in ((bottom, "below", low), (top, "above", high)):
        if inside.any():
            edge = np.nanargmin(np.abs(values - at))
            text = column.shown(int(rows[edge]))
            ends.append((f"have {column.name[:60]} {words} {text}", inside))
    return ends
