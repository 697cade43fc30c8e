"""What is odd within single columns, whatever the target says."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.stats import poisson

from ...._typing import Bools, Floats
from ....procedures._robust.scales import CODE_GAP, spread
from ....tables import Column
from ....tables.columns import short_number
from ..facts import Finding
from ..numbers import counted, number
from .base import ODD_VALUES, Context, first_rows
from .isolation import isolated_values
from .ordered import Ordered
from .related import FEWEST_SCALED, OffTheirRows, off_their_rows
from .repairs import DEGREES, POINTS, UNITS, Repair, either_way, repair_of

#: Known values below which a column is not looked at, so that the quarter of them that
#: is a tail tells a gap; and different ones: fewer are categories.
FEWEST, FEWEST_DIFFERENT = 40, 10
#: What may make values behind a gap usual.
REPAIRS = (*either_way(*POINTS, *UNITS), *DEGREES)
#: How many times as wide as the others, or as narrow, values off by a factor may be:
#: the deviation of five is no farther off in 98 % of Gaussian samples (χ²).
ALIKE = 3.0
#: Different values beside a heap, on each side, the most frequent of which says how
#: many rows a value has: ten hold each last digit. How many times as many a heap has,
#: at least, by choice: digits that people prefer have fewer. And the share of the rows
#: beyond which a value is the rule and no exception.
BESIDE, MANY_TIMES, MOST_OF_HEAP = 10, 5.0, 0.25
#: Rows at one and the same value far beyond all others that are no tail: two may be.
FEWEST_OF_CODE = 3
#: Different values from which on heaps are looked for: of fewer, those beside a heap
#: (twice BESIDE) are nearly all there are.
HEAPED = 30
#: Share of the rows that are equal to the one before beyond which a column rests: it
#: stays more often than it changes, and a stretch is its usual state.
RESTS = 0.5


class ColumnValues:
    """Values behind a gap or off their rows, heaps, and stretches of one value."""

    name, title = "columns", "Odd values of single columns"
    kinds = (*ODD_VALUES, "stretch", "ceiling", "floor", "zero", "heap")
    advice = "Ask what the odd values of single columns mean, whatever the target says."

    def find(self, context: Context) -> list[Finding]:
        """Each kind is tried in every column, at an equal part of the false claims."""
        table, columns = context.table, _looked_at(context)
        in_order = [Ordered.of(column.values) for column in columns]
        level = context.level / max(6 * len(columns), 1)
        features = [o for o, c in zip(in_order, columns) if c is not table.target]
        off = off_their_rows(features, table.n_rows, level)
        found = []
        for i, (column, ordered) in enumerate(zip(columns, in_order, strict=True)):
            if len(ordered.values) < FEWEST or len(ordered.counts) < FEWEST_DIFFERENT:
                continue
            own = [*_isolated(column, ordered, level)]
            own += [_off(column, one) for one in off if one.column == i]
            stuck = list(_stretches(column, ordered, level))
            own += [*stuck, *_heaps(column, _without(ordered, stuck), level)]
            found += _unlike(own)
        return [_without_guess(finding, context.earlier) for finding in found]

    def words(self, finding: Finding) -> str:
        """What it is, how many rows, and what it may mean."""
        name, values, numbers = finding.columns[0][:60], finding.values, finding.numbers
        rows = counted(finding.count, "row")
        shown = f" ({values['range']})" if "range" in values else ""
        if finding.kind in ("far above", "far below"):
            nearest = f", {values['nearest']}" if "nearest" in values else ""
            return (
                f"{name}: {rows} {finding.kind} all others{shown}, "
                f"{number(numbers['ratio'], 2)} times as far from the middle as the "
                f"nearest other value{nearest}.{_undone(numbers)}"
            )
        if finding.kind in ("above its row", "below its row"):
            side = finding.kind.split()[0]
            return (
                f"{name}: {rows} far {side} what their other columns suggest{shown}."
                f"{_undone(numbers)}"
            )
        value = values.get("value", "one value")
        if finding.kind == "stretch":
            return (
                f"{name}: {value} in {finding.count} rows in a row, where it otherwise "
                "changes from row to row."
            )
        meaning = {
            "ceiling": "the largest: values may have been cut off there",
            "floor": "the smallest: values may have been cut off there",
            "zero": "real, or written where a value is missing",
            "code": "far beyond all others: a code for what is missing",
        }.get(finding.kind, "real, or a code")
        if finding.kind == "code":
            return f"{name}: {value} in {rows}, {meaning}."
        return (
            f"{name}: {value} in {rows}, {numbers['times']:.0f} times as often as any "
            f"value near it; {meaning}."
        )


def _undone(numbers: dict[str, float]) -> str:
    """What would make values usual, if something would."""
    repair = repair_of(numbers)
    if repair is None:
        return ""
    words = repair.words()
    return f" {words[0].upper()}{words[1:]} they would be usual."


def _without_guess(finding: Finding, earlier: tuple[Finding, ...]) -> Finding:
    """The same without a repair where a slip of these rows is said already.

    That was told by every row for itself; here the middle of a few values may be as
    near to another factor.
    """
    rows = set(finding.rows)
    told = any(
        slip.section == "slips" and slip.columns == finding.columns
        and rows & set(slip.rows) for slip in earlier
    )  # fmt: skip
    if not told:
        return finding
    kept = {k: v for k, v in finding.numbers.items() if k not in ("factor", "shift")}
    return replace(finding, numbers=kept)


def _unlike(findings: list[Finding]) -> list[Finding]:
    """Leave out what is said of rows of which more, or the same, is said already."""
    rows = [set(finding.rows) for finding in findings]
    return [
        finding
        for i, finding in enumerate(findings)
        if not any(
            rows[i] < other or (rows[i] == other and j < i)
            for j, other in enumerate(rows)
        )
    ]


def _looked_at(context: Context) -> list[Column]:
    table = context.table
    target = [table.target] if table.task == "regression" else []
    return [
        column
        for column in [*table.columns, *target]
        if not column.has_levels and column.kind == "numeric"
    ]


def _finding(
    column: Column, kind: str, inside: Bools, numbers: dict[str, float], **shown: str
) -> Finding:
    rows = np.flatnonzero(inside)
    return Finding("columns", kind, [column.name], first_rows(rows), len(rows),
                   numbers, shown)  # fmt: skip


def _isolated(column: Column, ordered: Ordered, level: float) -> Iterator[Finding]:
    """Values behind a gap that a tail has with a chance below the level."""
    values = ordered.values
    for above in (True, False):
        found = isolated_values(ordered, above)
        if found is None or found.chance > level:
            continue
        outside = np.s_[-found.number :] if above else np.s_[: found.number]
        far, rest = values[outside], np.delete(values, outside)
        nearest = float(rest[-1] if above else rest[0])
        repair = _repair(far, rest)
        numbers = {"ratio": found.ratio, **(repair.numbers if repair else {})}
        inside = np.zeros(len(column.values), dtype=bool)
        inside[ordered.rows[outside]] = True
        ends = sorted({short_number(v) for v in far[[0, -1]].tolist()}, key=float)
        yield _finding(
            column, "far above" if above else "far below", inside, numbers,
            range=" to ".join(ends), nearest=short_number(nearest),
        )  # fmt: skip


def _off(column: Column, off: OffTheirRows) -> Finding:
    kind = "above its row" if off.above else "below its row"
    ends = np.quantile(column.values[off.inside], [0.0, 1.0])
    shown = " to ".join(map(short_number, ends.tolist()))
    repair = Repair(1.0 / off.factor)
    return _finding(column, kind, off.inside, repair.numbers, range=shown)


def _repair(far: Floats, rest: Floats) -> Repair | None:
    """What makes the far values as large, and as spread, as the rest; the best of all.

    Several values moved alike have the spread of the rest only by their own factor.
    """
    if len(np.unique(far)) < FEWEST_SCALED:
        return None
    low, middle, high = np.quantile(rest, [0.25, 0.5, 0.75])
    best, nearest = None, np.inf
    for repair in REPAIRS:
        new = repair.of(far)
        away, deviation = np.median(new), float(np.std(new))
        alike = 1.0 / ALIKE < deviation / max(float(np.std(rest)), 1e-300) < ALIKE
        if alike and low <= away <= high and abs(away - middle) < nearest:
            best, nearest = repair, float(abs(away - middle))
    return best


def _heaps(column: Column, ordered: Ordered, level: float) -> Iterator[Finding]:
    """Values that many times as many rows have as any value near them.

    Were a value as frequent as the most frequent of its neighbours, or as all of them
    together, the rows that have it beside the first were a Poisson number. Or a value
    far beyond all others that several rows have: tails have no ties.
    """
    values, counts, n = ordered.different, ordered.counts, len(ordered.values)
    if len(values) < HEAPED:
        return
    for at in np.flatnonzero(counts >= FEWEST_OF_CODE):
        beside = np.r_[
            counts[max(at - BESIDE, 0) : at], counts[at + 1 : at + 1 + BESIDE]
        ]
        usual, count = float(beside.max()), int(counts[at])
        more = max(usual - 1.0, float(np.sum(beside - 1) + 1) / len(beside))
        chance = len(values) * float(poisson.sf(count - 2, more))
        often = count >= MANY_TIMES * usual and chance <= level
        ends = at in (0, len(values) - 1)
        if count > MOST_OF_HEAP * n or not (often or ends):
            continue
        kind = _kind_of_heap(ordered, int(at))
        if (
            kind == "heap"
            and poisson.sf(count - 1, np.partition(counts, -2)[-2]) > level
        ):
            continue  # one of many, as of sums that people round
        if often or kind == "code":
            numbers = {"times": count / usual, "share": count / n}
            inside = column.values == values[at]
            shown = short_number(float(values[at]))
            yield _finding(column, kind, inside, numbers, value=shown)


def _without(ordered: Ordered, stuck: list[Finding]) -> Ordered:
    """The column without the stretches that were found: they make no heap."""
    if not stuck:
        return ordered
    left = np.ones(len(ordered.rows), dtype=bool)
    for finding in stuck:
        first = finding.rows[0] - 1
        left &= (ordered.rows < first) | (ordered.rows >= first + finding.count)
    return Ordered.of_sorted(ordered.rows[left], ordered.values[left])


def _kind_of_heap(ordered: Ordered, at: int) -> str:
    """Zeros, an end where values are cut off, a code far beyond it, or just a heap."""
    values = ordered.different
    if values[at] == 0.0:
        return "zero"
    if at not in (0, len(values) - 1):
        return "heap"
    next_one = values[1] if at == 0 else values[-2]
    others = ordered.values[ordered.values != values[at]]
    if abs(values[at] - next_one) > CODE_GAP * spread(others):
        return "code"
    return "floor" if at == 0 else "ceiling"


def _stretches(column: Column, ordered: Ordered, level: float) -> Iterator[Finding]:
    """The two longest runs of one value in rows, if chance has none so long.

    A row is equal to the one before with a chance p: the share of the commonest value
    outside a run, or as often as rows there are, whichever is more (tables may be
    sorted). A run of length L then begins at a row with a chance of at most p^(L−1). If
    the table has other runs, as of recipes that are tried one after the other, p is at
    least what makes the third longest of them likely: n·p^(L₃−1) = 1. Of a column that
    rests more often than it changes nothing is said.
    """
    values, n = column.values, len(column.values)
    change = np.flatnonzero(values[1:] != values[:-1]) + 1  # missing cells differ, too
    starts, ends = np.r_[0, change], np.r_[change, n]
    lengths = ends - starts
    if len(lengths) < 3:
        return
    order = np.argsort(-lengths, kind="stable")[:3]
    third = int(lengths[order[2]])
    for run in order[:2]:
        first, length = int(starts[run]), int(lengths[run])
        if length < 2 or length > MOST_OF_HEAP * n:
            continue
        counts = ordered.counts.copy()
        counts[np.searchsorted(ordered.different, values[first])] -= length
        equal = n - len(lengths) - (length - 1)
        often = max(float(counts.max()), equal + 1.0) / (n - length)
        chance = max(often, n ** (-1.0 / (third - 1))) if third > 1 else often
        if often > RESTS or n * chance ** (length - 1) > level:
            continue
        inside = np.zeros(n, dtype=bool)
        inside[first : first + length] = True
        shown = short_number(float(values[first]))
        yield _finding(column, "stretch", inside, {"length": length}, value=shown)
