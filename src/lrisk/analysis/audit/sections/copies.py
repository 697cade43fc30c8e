"""Rows that were entered more than once, alone or in blocks."""

import numpy as np

from ...._typing import Indices
from ..result import Finding
from ..tables import Table
from .base import FALSE_CLAIMS, Context, first_rows

#: Rows that follow each other, as their copies do, from which on they are a block.
FEWEST_OF_BLOCK = 3


class Copies:
    """Rows equal to an earlier one in every column but identifiers."""

    name, title = "copies", "Rows that occur more than once"

    def find(self, context: Context) -> list[Finding]:
        """Copies, if chance has none: by the column of which fewest rows are equal.

        Two rows are equal in all columns no more often than in that one. Of a table of
        few values that proves nothing, and nothing is said.
        """
        numbers = _row_numbers(context.table)
        if numbers is None:
            return []
        order = np.argsort(numbers, kind="stable")
        same = numbers[order[1:]] == numbers[order[:-1]]
        copies = np.sort(order[1:][same])
        if not len(copies) or len(copies) < _by_chance(context.table, copies):
            return []
        found, earlier = [], np.zeros(len(numbers), dtype=np.intp)
        earlier[order[1:]] = order[:-1]
        for first, length in _blocks(copies, earlier[copies]):
            rows = range(first, first + length)
            source = int(earlier[first])
            found.append(
                Finding(
                    "copies",
                    "block",
                    [],
                    first_rows(rows),
                    length,
                    {"from row": source + 1.0},
                )
            )
        inside = {row for entry in found for row in entry.rows}
        rest = [int(row) for row in copies if int(row) + 1 not in inside]
        if rest:
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


def _compared(table: Table) -> list[Indices]:
    """Codes of all columns but identifiers, the target included; missing is a value."""
    columns = [c for c in [*table.columns, table.target] if c.kind != "identifier"]
    return [np.unique(c.values, return_inverse=True)[1] for c in columns]


def _row_numbers(table: Table) -> Indices | None:
    """The same number for equal rows; None without columns to compare."""
    columns = _compared(table)
    if len(columns) < 2:
        return None
    number = columns[0]
    for codes in columns[1:]:
        number = np.unique(number * (int(codes.max()) + 1) + codes,
                           return_inverse=True)[1]  # fmt: skip
    return np.asarray(number)


def _by_chance(table: Table, copies: Indices) -> float:
    """Copies that a table may well have, by the other rows.

    As many as there are equal pairs in the column that has fewest, and so many times
    more that a clean table has them with a chance of FALSE_CLAIMS at most (Markov).
    """
    counts = (np.bincount(np.delete(codes, copies)) for codes in _compared(table))
    pairs = min(float(np.sum(count * (count - 1.0))) / 2.0 for count in counts)
    return max(pairs / FALSE_CLAIMS, 1.0)


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
