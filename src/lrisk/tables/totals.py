"""Rows that are no rows: totals and averages below the table or within it."""

from typing import Any

import numpy as np

from .._typing import Floats
from .numbers import read_numbers

#: What the first cell of such a row says.
TOTAL = r"(?:grand |sub-?\s?)?totals?|sums?|averages?|means?|summe|gesamt"
#: Share of rows above which the word is a value of its column like any other.
RARE = 0.05


def totals_rows(frame: Any) -> list[int]:
    """Positions of rows that sum up others.

    Such a row begins with a word for it, which is rare in its column; and it is blank
    where others have words, or one of its numbers is the sum or mean of those above it.

    Parameters
    ----------
    frame : pandas DataFrame with the index 0, 1, ...
    """
    kinds = [kind.kind for kind in frame.dtypes]
    words = [j for j, kind in enumerate(kinds) if kind not in "biufM"]
    pattern = rf"(?:{TOTAL})\b:?.{{0,20}}"
    found: list[int] = []
    for j in words:
        cells = frame.iloc[:, j].astype(str).str.strip().str.lower()
        is_total = cells.str.fullmatch(pattern).to_numpy(dtype=bool)
        rows = np.flatnonzero(is_total)
        if not 0 < len(rows) <= max(1.0, RARE * len(frame)):
            continue
        found += [row for row in rows.tolist() if _sums_up(frame, row, j, words)]
    return sorted(set(found))


def _sums_up(frame: Any, row: int, label: int, words: list[int]) -> bool:
    cells = frame.iloc[row]
    if not cells.iloc[:label].isna().all():
        return False
    blank = cells.isna().to_numpy()
    others = [j for j in words if j != label and not _numbers(cells.iloc[[j]]).size]
    if others and blank[others].all():
        return True
    return any(
        _is_sum(frame.iloc[: row + 1, j]) for j in np.flatnonzero(~blank) if j != label
    )


def _is_sum(column: Any) -> bool:
    """Whether the last number is the sum or the mean of those before it."""
    *above, last = _numbers(column).tolist() or [np.nan]
    if len(above) < 2:
        return False
    # Totals are often rounded.
    return bool(np.isclose(last, [np.sum(above), np.mean(above)], rtol=1e-3).any())


def _numbers(column: Any) -> Floats:
    """Numbers of the cells that are any, with the decimals that make more of them."""
    cells = [str(cell) for cell in column]
    read = [read_numbers(cells, mark).values for mark in ".,"]
    return max((values[np.isfinite(values)] for values in read), key=len)
