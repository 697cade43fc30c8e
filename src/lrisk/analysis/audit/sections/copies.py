"""Rows that were entered more than once, alone or in blocks."""

import numpy as np

from ...._typing import AnyArray, Floats, Indices
from ....tables import Column, Table
from ..facts import Finding
from .base import Context, first_rows

#: Rows that follow each other, as their copies do, from which on they are a block.
FEWEST_OF_BLOCK = 3
#: Share of the rows above which single copies are how a table is: a list of purchases,
#: say, of products that fix every column.
MOST_COPIES = 0.1
#: Part of a column's largest number below which two numbers are taken as equal.
ROUNDING = 1e-11
#: Shifts and factors that mix 64 bits (the finaliser of MurmurHash3).
MIXING = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))


class Copies:
    """Rows equal to an earlier one in every column but identifiers."""

    name, title = "copies", "Rows that occur more than once"
    kinds = ("block", "copy")
    advice = "Find out whether the repeated rows were entered twice."

    def find(self, context: Context) -> list[Finding]:
        """Copies, if chance has none: by half of the columns.

        Two rows are equal in all columns no more often than in half of them. Of a table
        of few values that proves nothing, and nothing is said. Nor do single rows if
        they are many or all columns follow from one, whose values may well repeat;
        blocks do, as chance keeps no order.
        """
        columns = _compared(context.table)
        if len(columns) < 2:
            return []
        numbers = _row_numbers(columns)
        n, firsts = len(numbers), np.unique(numbers, return_index=True)[1]
        copies = np.setdiff1d(np.arange(n), firsts)
        if not len(copies) or len(copies) < _by_chance(context, copies):
            return []
        earlier = firsts[numbers]  # a row pasted five times has one source
        blocks = _blocks(copies, earlier[copies])
        sure = [block for block in blocks if _chance(numbers, block[1]) < context.level]
        rest = _outside(copies, sure)
        enough = _by_one_column(columns, np.sort(firsts), n) / context.level
        if enough <= len(rest) <= MOST_COPIES * n:
            sure, rest = blocks, _outside(copies, blocks)
        else:
            rest = rest[:0]
        found = []
        for first, length in sure:
            source = {"from row": int(earlier[first]) + 1.0}
            shown = first_rows(range(first, first + length))
            found.append(Finding("copies", "block", [], shown, length, source))
        if len(rest):
            found.append(Finding("copies", "copy", [], first_rows(rest), len(rest)))
        return found

    def words(self, finding: Finding) -> str:
        """How many rows, and of which."""
        if finding.kind == "block":
            first, source = finding.rows[0], int(finding.numbers["from row"])
            last = source + finding.count - 1
            return (
                f"Rows {first} to {first + finding.count - 1} repeat rows {source} to "
                f"{last} in every column."
            )
        if finding.count == 1:
            return "1 row is equal to an earlier one in every column."
        return f"{finding.count} rows are equal to an earlier one in every column."


def _compared(table: Table) -> list[Column]:
    """All columns but identifiers, the target included."""
    return [c for c in [*table.columns, table.target] if c.kind != "identifier"]


def _row_numbers(columns: list[Column]) -> Indices:
    """The same number for rows equal in these columns, missing cells included.

    Rows are told apart by 64 bits that all their cells are mixed into: of a million
    rows two different ones agree with a chance of 3·10⁻⁸.
    """
    key = np.zeros(len(columns[0].values), dtype=np.uint64)
    for column in columns:
        cells = column.values + 0.0  # no negative zero, and codes as numbers
        key ^= np.where(np.isnan(cells), np.nan, cells).view(np.uint64)
        for shift, factor in MIXING:
            key ^= key >> np.uint64(shift)
            key *= np.uint64(factor)
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _by_chance(context: Context, copies: Indices) -> float:
    """Copies that a table may well have, by the other rows.

    As many as there are pairs of them that are equal in half of the columns, those of
    which fewest rows are equal; and so many times more that a clean table has them with
    a chance of the level at most (Markov).
    """

    def pairs(numbers: AnyArray) -> float:
        counts = np.unique(np.delete(numbers, copies), return_counts=True)[1]
        return float(np.sum(counts * (counts - 1.0))) / 2.0

    columns = sorted(_compared(context.table), key=lambda c: pairs(c.values))
    telling = columns[: (len(columns) + 1) // 2]
    return max(pairs(_row_numbers(telling)) / context.level, 1.0)


def _by_one_column(columns: list[Column], firsts: Indices, n: int) -> float:
    """Copies expected of n rows whose columns all follow from one; else none.

    They follow from a column of numbers that are all different in different rows if
    they rise, fall or stay as it rises (words: if equal ones stay together). Its
    numbers are multiples of a step, and rows are equal as often as the steps between
    its quartiles, twice, are few.
    """
    expected = [0.0]
    for column in columns:
        values = column.values[firsts] + 0.0
        if column.has_levels or len(np.unique(values)) < max(len(values), 3):
            continue
        order = firsts[np.argsort(values, kind="stable")]
        if all(_follows(other, order) for other in columns):
            known = values[~np.isnan(values)]
            low, high = np.quantile(known, [0.25, 0.75])
            steps = 2.0 * (high - low) / _step(known)
            expected.append(n * (n - 1) / 2.0 / steps)
    return max(expected)


def _follows(column: Column, order: Indices) -> bool:
    """Whether numbers rise or fall, or equal words stay together, in this order."""
    values = column.values[order]
    if column.has_levels:
        return int(np.sum(np.diff(values) != 0)) < len(np.unique(values))
    moves = np.diff(values[~np.isnan(values)])
    return bool(np.all(moves >= 0) or np.all(moves <= 0))


def _step(values: Floats) -> float:
    """The largest number that all differences are multiples of (Euclid)."""
    rounding = ROUNDING * float(np.max(np.abs(values)))
    gaps = np.diff(np.unique(values))
    step = float(np.min(gaps))
    while step > rounding:
        gaps = np.abs(gaps - step * np.round(gaps / step))
        gaps = np.append(gaps[gaps > rounding], step)
        if len(gaps) == 1:
            return step
        step = float(np.min(gaps))
    return max(rounding, step)


def _chance(numbers: Indices, length: int) -> float:
    """Expected blocks of so many rows if the rows stood in random order."""
    n, counts = len(numbers), np.unique(numbers, return_counts=True)[1]
    equal = float(np.sum(counts * (counts - 1.0))) / (n * (n - 1.0))
    return float(n * (n - 1) / 2.0 * equal**length)


def _outside(copies: Indices, blocks: list[tuple[int, int]]) -> Indices:
    """Copies that are in none of the blocks."""
    inside = [np.arange(first, first + length) for first, length in blocks]
    return copies[~np.isin(copies, np.concatenate([*inside, copies[:0]]))]


def _blocks(copies: Indices, sources: Indices) -> list[tuple[int, int]]:
    """First row and length of runs whose sources follow each other as they do."""
    if not len(copies):
        return []
    broken = (np.diff(copies) != 1) | (np.diff(sources) != 1)
    starts = np.r_[0, np.flatnonzero(broken) + 1]
    ends = np.r_[starts[1:], len(copies)]
    return [
        (int(copies[start]), int(end - start))
        for start, end in zip(starts, ends, strict=True)
        if end - start >= FEWEST_OF_BLOCK
    ]
