"""What flagged rows share: values, missing cells, a stretch of rows."""

from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from ...._typing import Bools, Indices
from ....tables import Column, Table
from ..facts import Finding
from ..numbers import percent
from .base import Context, first_rows

#: A condition needs so many flagged rows, such a share of them, and such a lift over
#: all rows.
FEWEST, SHARE, LIFT = 5, 0.25, 2.0
#: Most conditions told; most levels of a column that are tried.
MOST_TOLD, MOST_LEVELS = 6, 50
#: Ends of a numeric column that are tried, and parts of the order of rows.
TAILS, STRETCHES = (0.05, 0.95), 20


class _Condition(NamedTuple):
    kind: str
    columns: list[str]
    values: dict[str, str]
    inside: Bools
    numbers: dict[str, float]


class Shared:
    """Conditions that many flagged rows and few others meet.

    Each is tested against drawing the flagged rows at random (hypergeometric), with
    Bonferroni's correction for the number of conditions tried.
    """

    name, title = "shared", "What flagged rows share"
    kinds = ("missing", "level", "below", "above", "stretch")
    advice = "Check the source of the rows listed under 'What flagged rows share'."

    def find(self, context: Context) -> list[Finding]:
        """The most telling first; each adds rows to those before."""
        if context.found is None or context.flags is None:
            return []
        rows, flags = context.found.rows, context.flags
        flagged, n = int(flags.sum()), len(rows)
        if flagged < FEWEST or flagged == n:
            return []
        conditions, telling = _conditions(context.table, rows), []
        for condition in conditions:
            both = int(np.sum(condition.inside & flags))
            total = int(condition.inside.sum())
            if both < max(FEWEST, SHARE * flagged) or total == n:
                continue
            lift = (both / flagged) / (total / n)
            accident = float(hypergeom.sf(both - 1, n, total, flagged))
            if lift >= LIFT and accident * len(conditions) < context.level:
                telling.append((both / flagged * np.log(lift), condition))
        telling.sort(key=lambda entry: -entry[0])
        return _unlike(rows, flags, [condition for _, condition in telling])

    def words(self, finding: Finding) -> str:
        """How many flagged rows, how many of all, and what they share."""
        numbers, value = finding.numbers, finding.values.get("value", "")
        name = finding.columns[0][:60] if finding.columns else ""
        if finding.kind == "stretch":
            first, last = int(numbers["first"]), int(numbers["last"])
            what = f"lie between row {first} and row {last}"
        elif finding.kind == "missing":
            what = f"have no {name}"
        elif finding.kind == "level":
            what = f"have {name}={value}" if value else f"share a value of {name}"
        else:
            edge = value or "one of its ends"
            what = f"have {name} {finding.kind} {edge}"
        flagged, total = int(numbers["flagged"]), int(numbers["rows with"])
        return (
            f"{finding.count} of {flagged} flagged rows {what} "
            f"({percent(finding.count / flagged)}; of all rows {total}, "
            f"{percent(total / numbers['rows'])})."
        )


def _unlike(rows: Indices, flags: Bools, conditions: list[_Condition]) -> list[Finding]:
    """Leave out conditions whose flagged rows an earlier one already has."""
    told: list[Bools] = []
    findings = []
    for kind, columns, values, inside, numbers in conditions:
        both = inside & flags
        if any(np.sum(both & other) >= 0.9 * both.sum() for other in told):
            continue
        told.append(both)
        counts = {"flagged": float(flags.sum()), "rows with": float(inside.sum()),
                  "rows": float(len(rows)), **numbers}  # fmt: skip
        where = first_rows(rows[both])
        findings.append(Finding("shared", kind, columns, where, int(both.sum()),
                                counts, values))  # fmt: skip
    return findings[:MOST_TOLD]


def _conditions(table: Table, rows: Indices) -> list[_Condition]:
    conditions = []
    for column in table.columns:
        if column.kind == "constant":
            continue
        if (missing := column.missing[rows]).any():
            conditions.append(_Condition("missing", [column.name], {}, missing, {}))
        conditions += _of_values(column, rows)
    place = rows * STRETCHES // max(table.n_rows, 1)
    for part in np.unique(place):
        inside = place == part
        ends = {"first": rows[inside][0] + 1.0, "last": rows[inside][-1] + 1.0}
        conditions.append(_Condition("stretch", [], {}, inside, ends))
    return conditions


def _of_values(column: Column, rows: Indices) -> list[_Condition]:
    """Each of few values, or the ends of many numbers."""
    values, name = column.values[rows], [column.name]
    if column.has_levels:
        levels = column.levels[:MOST_LEVELS]
        if column.kind in ("identifier", "text"):
            return []
        return [
            _Condition("level", name, {"value": level[:60]}, values == code, {})
            for code, level in enumerate(levels)
        ]
    if column.distinct <= MOST_LEVELS:
        return [
            _Condition("level", name, {"value": column.shown(_first(rows, same))},
                       same, {})
            for value in np.unique(values[~np.isnan(values)])
            if (same := values == value).any()
        ]  # fmt: skip
    if column.kind == "identifier":
        return []
    low, high = np.nanquantile(values, TAILS)
    ends = []
    for inside, kind, at in (
        (values < low, "below", low),
        (values > high, "above", high),
    ):
        if inside.any():
            shown = column.shown(int(rows[np.nanargmin(np.abs(values - at))]))
            ends.append(_Condition(kind, name, {"value": shown}, inside, {}))
    return ends


def _first(rows: Indices, inside: Bools) -> int:
    return int(rows[np.flatnonzero(inside)[0]])
