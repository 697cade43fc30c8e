"""Files of the command line, each written whole or not at all."""

import csv
import io
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from .._typing import AnyArray
from ..report.writing import harmless, harmless_cell


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then rename."""
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        temporary.write_text(text, "utf-8", newline="")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def predictions_csv(columns: Mapping[str, AnyArray]) -> str:
    """Rows, counted from 1, and what is said of them; safe in a spreadsheet.

    Numbers are written with as many digits as it takes to read back the same.
    """
    cells = [[_cell(value) for value in values.tolist()] for values in columns.values()]
    rows = [[str(row), *line] for row, line in enumerate(zip(*cells), start=1)]
    return _csv([["row", *map(harmless, columns)], *rows])


def _cell(value: object) -> str:
    return harmless_cell(value) if isinstance(value, str) else repr(value)


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
