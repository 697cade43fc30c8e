"""Where the noise may be larger, which would make flagged rows false alarms."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom

from ...._typing import Bools, Floats
from ..facts import Finding
from .base import Context, explained, first_rows
from .shared import FEWEST, MOST_LEVELS

#: Where a column is cut in two; the share of the flagged rows that must be on one side;
#: and the share of them above (or below) what was expected under which they are no
#: noise.
CUTS = tuple(float(q) for q in np.linspace(0.05, 0.95, 19))
NEARLY_ALL, ONE_SIDED = 0.8, 0.2


class LargerNoise:
    """One side of a number that nearly all flagged rows are on.

    Rows that do not fit because noise is larger there lie above and below what is
    expected, and nearly all of them on one side of some value of one column. Rows with
    a slip or an odd value of a column have a reason of their own and are not counted.
    """

    name, title = "noise", "Where the noise may be larger"
    kinds = ("below", "above")
    advice = "Check whether the noise is larger there: then these rows fit after all."

    def find(self, context: Context) -> list[Finding]:
        """The side with the largest lift, over all columns and cuts."""
        table, found, flags = context.table, context.found, context.flags
        if table.task != "regression" or found is None or flags is None:
            return []
        rows, n = found.rows, len(found.rows)
        flags = flags & ~np.isin(rows, explained(context.earlier))
        flagged = int(flags.sum())
        if flagged < FEWEST or flagged == n:
            return []
        columns = [
            column
            for column in table.features
            if not column.has_levels and column.distinct > MOST_LEVELS
        ]
        tried = 2 * len(CUTS) * len(columns)
        best, told = 0.0, []
        away = table.y[rows] - found.expected
        for column in columns:
            values = column.values[rows]
            for kind, at, inside in _sides(values):
                both, total = inside & flags, int(inside.sum())
                count = int(both.sum())
                if count < NEARLY_ALL * flagged or total > n / 2:
                    continue
                above = float(np.mean(away[both] > 0.0))
                chance = float(hypergeom.sf(count - 1, n, total, flagged)) * tried
                lift = count / flagged / (total / n)
                two_sided = ONE_SIDED < above < 1 - ONE_SIDED
                if lift > best and chance < context.level and two_sided:
                    shown = column.shown(int(rows[np.nanargmin(np.abs(values - at))]))
                    best, told = lift, [
                        Finding("noise", kind, [column.name], first_rows(rows[both]),
                                count, {"flagged": float(flagged)}, {"value": shown})
                    ]  # fmt: skip
        return told

    def words(self, finding: Finding) -> str:
        """Which rows, and what that may mean."""
        part = finding.values.get("value", "one of its values")
        return (
            f"{finding.count} of {int(finding.numbers['flagged'])} flagged rows have "
            f"{finding.columns[0][:60]} {finding.kind} {part} and lie above and below "
            "what is expected: perhaps the noise is larger there, and nothing else; "
            "then these are false alarms, too."
        )


def _sides(values: Floats) -> Iterator[tuple[str, float, Bools]]:
    for at in np.nanquantile(values, CUTS):
        yield "below", float(at), np.asarray(values < at)
        yield "above", float(at), np.asarray(values > at)
