"""The table of flagged rows, in so many bytes and no more."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..analysis.audit import AuditResult, FlaggedRow
from ..analysis.audit.numbers import number
from ..analysis.audit.sections import in_words
from .text import fitted, printable, size_in_html

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
    suggested: str
    reasons: list[str]
    values: list[tuple[str, str]]
    left_out: int
    flagged: bool


def shown_rows(result: AuditResult, budget: int) -> list[ShownRow]:
    """Rows, worst first, with as many of their values as fit into `budget` bytes.

    After the flagged ones those that a lower threshold would flag.
    """
    rows = result.flagged[:MOST_ROWS]
    rows += result.nearly[: MOST_ROWS - len(rows)] if rows else []
    share = budget // max(len(rows), 1) - _ROW_MARKUP
    after = result.suggested
    return [_shown(result, row, after.get(row.row, ""), share) for row in rows]


def row_groups(
    result: AuditResult, rows: list[ShownRow]
) -> list[tuple[str, list[ShownRow]]]:
    """Rows by the slip that would explain them; first those that none explains."""
    slips = [finding for finding in result.findings if finding.section == "slips"]
    slip_of = {row: k for k, slip in enumerate(slips) for row in slip.rows}
    groups: dict[int, list[ShownRow]] = {-1: [], **{k: [] for k in range(len(slips))}}
    for row in rows:
        groups[slip_of.get(row.row, -1)].append(row)
    titles = {-1: "Not explained by a slip"}
    titles |= {k: printable(in_words(slip), 200) for k, slip in enumerate(slips)}
    filled = [(titles[k], own) for k, own in groups.items() if own]
    return filled if any(groups[k] for k in range(len(slips))) else [("", rows)]


def _shown(result: AuditResult, row: FlaggedRow, after: str, room: int) -> ShownRow:
    room = max(room, 160)  # something is told of every row
    observed, expected = (
        fitted(words, 80, room // 4) for words in (row.observed, row.expected)
    )
    own = printable(row.id, 40)
    suggested = fitted(after, 120, room // 4)
    for words in (observed, expected, own, suggested):
        room -= size_in_html(words)
    reasons: list[str] = []
    for reason in result.reason_words(row.row)[:4]:
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
        suggested=suggested,
        reasons=reasons,
        values=values,
        left_out=len(row.values) - len(values),
        flagged=bool(result.flags[row.row - 1]),
    )


def _pairs(row: FlaggedRow) -> Iterator[tuple[str, str]]:
    for name, value in row.values.items():
        yield printable(name, 60), printable(value, 80)


def _key(value: float) -> str:
    """What the page sorts by: a number, or nothing, which comes last."""
    return repr(float(value)) if math.isfinite(value) else ""
