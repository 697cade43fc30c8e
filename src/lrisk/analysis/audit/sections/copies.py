"""Rows that were entered more than once, alone or in blocks."""

import numpy as np

from ...._typing import AnyArray, Indices
from ....tables import Column, Table
from ..facts import Finding
from .base import Context, first_rows

#: Rows that follow each other, as their copies do, from which on they are a block.
FEWEST_OF_BLOCK = 3
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
        of few values that proves nothing, and nothing is said.
        """
        columns = _compared(context.table)
        if len(columns) < 2:
            return []
        numbers = _row_numbers(columns)
        order = np.argsort(numbers, kind="stable")
        same = numbers[order[1:]] == numbers[order[:-1]]
        copies = np.sort(order[1:][same])
        if not len(copies) or len(copies) < _by_chance(context, copies):
            return []
        found, earlier = [], np.zeros(len(numbers), dtype=np.intp)
        firsts = np.unique(numbers, return_index=True)[1]
        earlier[:] = firsts[numbers]  # a row pasted five times has one source
        inside = np.zeros(len(numbers), dtype=bool)
        for first, length in _blocks(copies, earlier[copies]):
            rows = range(first, first + length)
            inside[first : first + length] = True
            source = {"from row": int(earlier[first]) + 1.0}
            shown = first_rows(rows)
            found.append(Finding("copies", "block", [], shown, length, source))
        rest = copies[~inside[copies]]
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
