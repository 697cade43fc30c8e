"""Files of the command line, each written whole or not at all."""

import csv
import io
import os
import secrets
from pathlib import Path

from .._typing import AnyArray
from ..report.writing import harmless


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then rename."""
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        temporary.write_text(text, "utf-8", newline="")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def predictions_csv(predicted: AnyArray) -> str:
    """Rows, counted from 1, and predictions; text is safe in a spreadsheet."""
    cells = [
        harmless(value) if isinstance(value, str) else f"{value:.10g}"
        for value in predicted.tolist()
    ]
    rows = [[str(row), cell] for row, cell in enumerate(cells, start=1)]
    return _csv([["row", "prediction"], *rows])


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
