"""Writing an audit: all of its files, or none."""

import contextlib
import csv
import io
import json
import math
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from ..analysis.audit import AuditResult
from .page import render
from .redaction import redacted

#: Columns of ``rows.csv``; a person may fill the last.
COLUMNS = ("row", "score", "flag", "residual", "reasons", "verdict")

#: Where a spreadsheet begins to read a formula: at the start of a cell, and, where
#: it takes another separator for granted, after that.
_FORMULA = re.compile(r"(^|[;\"])(\s*)(?=[=+\-@＝＋－＠])")


def write_audit(
    result: AuditResult, folder: str | os.PathLike[str], redact: bool = False
) -> list[Path]:
    """Write ``report.html``, ``rows.csv`` and ``audit.json`` into a folder.

    Parameters
    ----------
    result : AuditResult
    folder : path
        Made if it is not there. Files of an earlier audit are replaced.
    redact : bool, default=False
        Leave cell values and names of groups out of all three files.

    Returns
    -------
    list of Path
        What was written, the report first.

    Raises
    ------
    OSError
        If the folder cannot be written; then nothing is left behind.
    """
    html = render(result, redact=redact)
    shown = redacted(result) if redact else result
    contents = {
        "report.html": html,
        "rows.csv": rows_csv(shown),
        "audit.json": json.dumps(shown.to_dict(), allow_nan=False, ensure_ascii=False),
    }
    return _write_together(Path(folder), contents)


def rows_csv(result: AuditResult) -> str:
    """Every row in input order, as CSV that is safe to open in a spreadsheet.

    Numbers stay numbers; unknown ones are empty. Words that a spreadsheet would take
    for a formula get an apostrophe in front.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(result))
    return table.getvalue()


def _rows(result: AuditResult) -> Iterator[tuple[object, ...]]:
    columns = (
        result.scores.tolist(),
        result.flags.tolist(),
        result.residuals.tolist(),
        result.reasons,
    )
    for row, (score, flag, residual, reasons) in enumerate(zip(*columns), start=1):
        words = harmless("; ".join(reasons)) if reasons else ""
        yield row, _cell(score), "true" if flag else "false", _cell(residual), words, ""


def _cell(value: float) -> str:
    return f"{value:.8g}" if math.isfinite(value) else ""


def harmless(text: str) -> str:
    """Words in which no spreadsheet finds a formula.

    Examples
    --------
    >>> harmless("=cmd()"), harmless("price; @sum"), harmless("a-b = c")
    ("'=cmd()", "price; '@sum", 'a-b = c')
    """
    line = re.sub(r"[\x00-\x1f\x7f]+", " ", text).strip()
    line = line.encode("utf-8", "replace").decode("utf-8")
    return _FORMULA.sub(r"\1\2'", line)


def _write_together(folder: Path, contents: dict[str, str]) -> list[Path]:
    """Write files under temporary names, then rename all; undo it all on failure."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    places = {folder / name: text for name, text in contents.items()}
    written: dict[Path, Path] = {}
    new: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place, text in places.items():
            if place.is_dir():
                raise IsADirectoryError(f"{place} is a folder, not a file")
            temporary = folder / f".{place.name}.{secrets.token_hex(4)}.part"
            written[place] = temporary
            temporary.write_text(text, "utf-8", "replace", newline="")
        for place, temporary in written.items():
            existed = place.exists()
            os.replace(temporary, place)
            if not existed:
                new.append(place)
    except BaseException:
        for path in [*written.values(), *new]:
            path.unlink(missing_ok=True)
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise
    return list(places)
