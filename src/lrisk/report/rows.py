"""The table of flagged rows, in so many bytes and no more."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._typing import Bools
from ..analysis.audit import FlaggedRow
from .text import fitted, number, printable, size_in_html

#: Rows listed at most.
MOST_ROWS = 500
#: Bytes of markup that a row and a value in it take besides their words.
_ROW_MARKUP, _VALUE_MARKUP = 420, 60


@dataclass(frozen=True)
class ShownRow:
    """A row of the table: words to show, numbers to sort by."""

    row: int
    id: str
    score: str
    score_key: str
    residual: str
    residual_key: str
    observed: str
    expected: str
    reasons: list[str]
    values: list[tuple[str, str]]
    left_out: int
    flagged: bool


def shown_rows(rows: Sequence[FlaggedRow], flags: Bools, budget: int) -> list[ShownRow]:
    """Rows, worst first, with as many of their values as fit into `budget` bytes.

    `flags` holds for each row of the input whether the audit flags it: by the score,
    by a given share of rows, or by a verdict.
    """
    rows = rows[:MOST_ROWS]
    share = budget // max(len(rows), 1) - _ROW_MARKUP
    return [_shown(row, bool(flags[row.row - 1]), share) for row in rows]


def _shown(row: FlaggedRow, flagged: bool, room: int) -> ShownRow:
    room = max(room, 160)  # something is told of every row
    observed, expected = (
        fitted(words, 80, room // 4) for words in (row.observed, row.expected)
    )
    own = printable(row.id, 40)
    room -= size_in_html(observed) + size_in_html(expected) + size_in_html(own)
    reasons: list[str] = []
    for reason in row.reasons[:4]:
        words = printable(reason, 160) if reasons else fitted(reason, 160, room)
        room -= size_in_html(words)
        if room < 0:
            break
        reasons.append(words)
    values = []
    for name, value in _pairs(row):
        room -= size_in_html(name) + size_in_html(value) + _VALUE_MARKUP
        if room < 0:
            break
        values.append((name, value))
    return ShownRow(
        row=row.row,
        id=own,
        score=f"{row.score:.3f}",
        score_key=_key(row.score),
        residual=number(row.residual),
        residual_key=_key(row.residual),
        observed=observed,
        expected=expected,
        reasons=reasons,
        values=values,
        left_out=len(row.values) - len(values),
        flagged=flagged,
    )


def _pairs(row: FlaggedRow) -> Iterator[tuple[str, str]]:
    for name, value in row.values.items():
        yield printable(name, 60), printable(value, 80)


def _key(value: float) -> str:
    """What the page sorts by: a number, or nothing, which comes last."""
    return repr(float(value)) if math.isfinite(value) else ""
