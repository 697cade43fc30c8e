"""What a person said of rows, and how often the flags agreed."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._params import refused
from ..._typing import Bools, Indices
from .share import wilson

#: What a person may write (lower case) for "this row is wrong" and "this row is right".
WRONG = {"wrong", "error", "bad", "yes", "y", "true", "1", "x"}
RIGHT = {"right", "ok", "okay", "good", "fine", "no", "n", "false", "0", "keep"}


def parse_verdicts(verdicts: Any, n_rows: int) -> Indices:
    """One number per row: 1 wrong, −1 right, 0 not judged.

    Parameters
    ----------
    verdicts : None, mapping of row (from 1) to word, or sequence of n_rows words
    n_rows : int
    """
    said = np.zeros(n_rows, dtype=np.int64)
    if verdicts is None:
        return said
    if isinstance(verdicts, Mapping):
        pairs = [(int(row), word) for row, word in verdicts.items()]
    else:
        words = list(verdicts)
        if len(words) != n_rows:
            rule, remedy = f"one per row, {n_rows}", "give the file of the same table"
            raise ValueError(refused("audit", "verdicts", rule, len(words), remedy))
        pairs = list(enumerate(words, 1))
    for row, word in pairs:
        text = "" if word is None else str(word).strip().lower()
        if not 1 <= row <= n_rows:
            rule, remedy = f"of rows 1 to {n_rows}", "give the file of the same table"
            raise ValueError(refused("audit", "verdicts", rule, row, remedy))
        if text in WRONG:
            said[row - 1] = 1
        elif text in RIGHT:
            said[row - 1] = -1
        elif text not in ("", "nan"):
            rule, remedy = "'wrong', 'right' or empty", f"change it in row {row}"
            raise ValueError(refused("audit", "verdicts", rule, text[:40], remedy))
    return said


def verdicts_of(text: str) -> dict[int, str]:
    """Words by row from the ``verdict`` column of a ``rows.csv``, as text.

    A spreadsheet may have saved it with semicolons, and rows as ``4.0``.
    """
    return {row: word for row, word, _ in rows_of(text) if word}


def rows_of(text: str) -> list[tuple[int, str, str]]:
    """Row, verdict and residual of every line of a ``rows.csv``."""
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    names = reader.fieldnames or []
    if "row" not in names or "verdict" not in names:
        raise ValueError("verdicts need the columns 'row' and 'verdict'")
    found = []
    for line in reader:
        shown = line["row"] or ""
        try:
            row = float(shown.replace(",", "."))
            if row != int(row):
                raise ValueError
        except (ValueError, OverflowError):
            raise ValueError(f"{shown[:40]!r} is no row number") from None
        found.append(
            (int(row), (line["verdict"] or "").strip(), line.get("residual") or "")
        )
    return found


def in_words(said: Indices) -> dict[int, str]:
    """What was said, as "wrong" or "right", by row counted from 1."""
    return {
        int(i) + 1: "wrong" if said[i] > 0 else "right" for i in np.flatnonzero(said)
    }


def measured(said: Indices, flags: Bools) -> dict[str, float] | None:
    """Precision of the flags among judged rows, with Wilson's 90 % interval."""
    if not np.any(said):
        return None
    judged = flags & (said != 0)
    n, hits = int(judged.sum()), int(np.sum(judged & (said > 0)))
    wrong = int(np.sum(said > 0))
    precision, low, high = np.nan, 0.0, 1.0
    if n:
        precision = hits / n
        low, high = wilson(precision, n)
    return {
        "judged": float(np.sum(said != 0)),
        "judged_flagged": float(n),
        "confirmed": float(hits),
        "wrong": float(wrong),
        "precision": float(precision),
        "low": float(low),
        "high": float(high),
    }
