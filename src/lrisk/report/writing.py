"""Writing an audit: all of its files, or none."""

import contextlib
import csv
import functools
import io
import itertools
import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._extras import optional
from ..analysis.audit import AuditResult
from ..analysis.audit.verdicts import in_words, parse_verdicts, verdicts_of
from .page import render
from .redaction import redacted

#: Where a spreadsheet begins to read a formula: at the start of a cell, and, where
#: it takes another separator for granted, after that.
_FORMULA = re.compile(r"(^|[;\"])(\s*)(?=[=+\-@＝＋－＠])")
#: Rows that are Python objects at once: a number is eight times as large as one.
ROWS_AT_ONCE = 10_000
#: Columns of text that are numbers where the target is one.
MAYBE_NUMBERS = ("observed", "expected")


def write_audit(
    result: AuditResult,
    folder: str | os.PathLike[str],
    redact: bool = False,
    parquet: bool = False,
) -> list[Path]:
    """Write ``report.html``, ``rows.csv`` and ``audit.json`` into a folder.

    Parameters
    ----------
    result : AuditResult
        What `lrisk.audit` returned.
    folder : path
        Made if it is not there. Files of an earlier audit are replaced; verdicts that
        a person wrote into its ``rows.csv`` are carried over if the table is the same,
        and the file is saved as ``rows-1.csv`` if it is another.
    redact : bool, default=False
        Leave cell values and names of groups out of all files.
    parquet : bool, default=False
        Write ``rows.parquet`` as well, with the columns of ``rows.csv``: smaller,
        typed, and faster to read where there are very many rows. One that is there
        already is replaced in any case. Needs pyarrow (``pip install
        'lrisk[parquet]'``). Verdicts are read from ``rows.csv`` alone.

    Returns
    -------
    list of Path
        What was written, the report first.

    Raises
    ------
    OSError
        If the folder cannot be written; then nothing is left behind.

    See Also
    --------
    lrisk.audit : Judges a table, and makes the result to be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import lrisk
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> result = lrisk.audit({"x": x, "y": 2 * x}, target="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in lrisk.write_audit(result, folder)]
    ['report.html', 'rows.csv', 'audit.json']
    """
    place = Path(folder)
    earlier = earlier_verdicts(place, result)
    said = {**earlier.kept, **result.judgements}
    html = render(result, redact=redact)
    shown = replace(redacted(result) if redact else result, judgements=said)
    contents: dict[str, str | bytes] = {
        "report.html": html,
        "rows.csv": rows_csv(shown),
        "audit.json": json.dumps(shown.to_dict(), allow_nan=False, ensure_ascii=False),
    }
    if parquet or (place / "rows.parquet").exists():  # never beside another audit
        contents["rows.parquet"] = rows_parquet(shown)
    if earlier.saved:
        contents[earlier.saved] = earlier.text
    return _write_together(place, contents)


class Earlier(NamedTuple):
    """Verdicts that stand in a folder's ``rows.csv`` already.

    Attributes
    ----------
    kept : dict of int to str
        Those that are carried over, since the rows are the same.
    saved : str
        Empty, or the name under which the file is saved: its rows are others.
    text : str
        That file.
    """

    kept: dict[int, str]
    saved: str
    text: str


def earlier_verdicts(folder: Path, result: AuditResult) -> Earlier:
    """What becomes of the verdicts that a person wrote into a folder's ``rows.csv``.

    They are carried over if the ``audit.json`` beside it is of the same table, and
    saved otherwise (``rows-1.csv``, ``rows-2.csv``, ...).
    """
    none = Earlier({}, "", "")
    try:
        text = (folder / "rows.csv").read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return none
    try:
        words = verdicts_of(text)
        filled = bool(words)
    except ValueError:
        words, filled = {}, True
    if not filled:
        return none
    try:
        before = json.loads((folder / "audit.json").read_text("utf-8"))
        same = bool(result.fingerprint) and before["fingerprint"] == result.fingerprint
        said = in_words(parse_verdicts(words, result.n_rows)) if same and words else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        said = {}
    if said:
        return Earlier(said, "", text)
    used = {path.name for path in folder.iterdir()}
    name = next(f"rows-{k}.csv" for k in itertools.count(1)
                if f"rows-{k}.csv" not in used)  # fmt: skip
    return Earlier({}, name, text)


def rows_csv(result: AuditResult) -> str:
    """Every row in input order, as CSV that is safe to open in a spreadsheet.

    Numbers stay numbers; unknown ones are empty. Words that a spreadsheet would take
    for a formula get an apostrophe in front.
    """
    columns = dict(result.row_table())
    arrays = [np.asarray(column) for column in columns.values()]
    parts = [_lines([list(columns)])]
    for first in range(0, len(arrays[0]), ROWS_AT_ONCE):
        some = (own[first : first + ROWS_AT_ONCE].tolist() for own in arrays)
        parts.append(_lines([_cell(cell) for cell in line] for line in zip(*some)))
    return "".join(parts)


def rows_parquet(result: AuditResult) -> bytes:
    """Every row in input order: the columns of ``rows.csv`` with their types.

    What is unknown, or empty, is null. Observed and expected values are numbers where
    all of them are.
    """
    pyarrow = optional("pyarrow", "rows.parquet")
    parquet = optional("pyarrow.parquet", "rows.parquet")
    columns = {}
    for name, cells in result.row_table():
        if not isinstance(cells, np.ndarray):
            words = [_encodable(cell) or None for cell in cells]
            cells = pyarrow.array(words, pyarrow.string())
            if name in MAYBE_NUMBERS:
                with contextlib.suppress(pyarrow.ArrowInvalid):
                    cells = cells.cast(pyarrow.float64())
        columns[name] = pyarrow.array(cells, from_pandas=True)  # NaN is null
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def _lines(rows: Iterable[list[str]]) -> str:
    """Rows as CSV; of some only, for a buffer of text has four bytes a letter."""
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(rows)
    return table.getvalue()


def _cell(value: object) -> str:
    """A number as it is, empty if it is unknown, or harmless words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.8g}" if math.isfinite(value) else ""
    return harmless_cell(str(value)) if value else ""


@functools.lru_cache(maxsize=1024)  # labels are the same in very many rows
def harmless_cell(text: str) -> str:
    """A number as it is, or harmless words: a minus in front is no formula.

    Examples
    --------
    >>> harmless_cell("-1"), harmless_cell("-a")
    ('-1', "'-a")
    """
    try:
        float(text)
    except ValueError:
        return harmless(text)
    return text


def harmless(text: str) -> str:
    """Words in which no spreadsheet finds a formula.

    Examples
    --------
    >>> harmless("=cmd()"), harmless("price; @sum"), harmless("a-b = c")
    ("'=cmd()", "price; '@sum", 'a-b = c')
    """
    line = re.sub(r"[\x00-\x1f\x7f]+", " ", text).strip()
    return _FORMULA.sub(r"\1\2'", _encodable(line))


def _encodable(text: str) -> str:
    """Text that UTF-8 can hold: half a character becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _write_together(folder: Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write files under temporary names, then rename all; undo it all on failure."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    places = {folder / name: content for name, content in contents.items()}
    written: dict[Path, Path] = {}
    new: list[Path] = []
    replaced: dict[Path, bytes] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place, content in places.items():
            if place.is_dir():
                raise IsADirectoryError(f"{place} is a folder, not a file")
            temporary = folder / f".{place.name}.{secrets.token_hex(4)}.part"
            written[place] = temporary
            if isinstance(content, str):
                content = content.encode("utf-8", "replace")
            temporary.write_bytes(content)
        for place, temporary in written.items():
            before = place.read_bytes() if place.exists() else None
            os.replace(temporary, place)
            if before is None:
                new.append(place)
            else:
                replaced[place] = before
    except BaseException:
        for path, before in replaced.items():
            path.write_bytes(before)
        for path in [*written.values(), *new]:
            path.unlink(missing_ok=True)
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise
    return list(places)
