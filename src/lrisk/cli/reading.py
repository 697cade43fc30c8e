"""Reading tables: CSV, TSV, Parquet, plain or gzipped, checked before they are used."""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..analysis.audit import AuditResult
from ..analysis.audit.comparing import check_comparable
from ..analysis.audit.reading_text import plain_number
from ..analysis.audit.tables import MOST_COLUMNS
from ..analysis.audit.verdicts import rows_of

#: Kinds of files by ending, without ".gz".
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: What counts as an empty cell.
EMPTY = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A"]
#: Rows and rank correlation of residuals from which on two audits are of one table.
FEWEST_COMPARED, ALIKE = 10, 0.3


class GivenVerdicts(NamedTuple):
    """Words and residuals by row of a filled rows.csv."""

    words: dict[int, str]
    residuals: dict[int, float]


def read_table(path: Path, target: str | None = None) -> Any:
    """A pandas frame of a file, or ValueError with what is wrong with it.

    Columns that are not numbers keep their text: `lrisk.audit` finds out what it means.
    Of the target only empty cells are missing, since "none" may be a class.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file")
    if not path.exists():
        raise ValueError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    ending = _ending(path)
    if ending in (".parquet", ".pq"):
        return _parquet(path)
    if ending not in SEPARATORS and ending != ".txt":
        known = ", ".join([*SEPARATORS, ".parquet"])
        raise ValueError(f"{path}: unknown ending; use one of {known}, or these + .gz")
    with _text(path) as file:
        separator = _sniffed(file) if ending in (".csv", ".txt") else SEPARATORS[ending]
    header = _check(path, separator)
    if target is not None and header.count(target) > 1:
        raise ValueError(f"{path} has several columns {target!r}; rename all but one")
    return _csv(path, separator, header, target)


def read_verdicts(path: Path, n_rows: int) -> GivenVerdicts:
    """What a rows.csv of a table of so many rows says; other files are refused."""
    with _text(path) as file:
        text = file.read()
    try:
        lines = rows_of(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if [row for row, _, _ in lines] != list(range(1, n_rows + 1)):
        raise ValueError(
            f"{path} has {len(lines)} rows where the table has {n_rows}, or other "
            "numbers; give the rows.csv of an audit of this table, all of it"
        )
    words = {row: word for row, word, _ in lines if word}
    residuals = {}
    for row, _, residual in lines:
        value = plain_number(residual)
        if value == value:
            residuals[row] = value
    return GivenVerdicts(words, residuals)


def check_same_table(given: GivenVerdicts, result: AuditResult) -> None:
    """Refuse verdicts on another table: its residuals have another order."""
    import numpy as np
    from scipy.stats import spearmanr

    now = {row: result.residuals[row - 1] for row in given.residuals}
    both = [row for row, value in now.items() if np.isfinite(value)]
    if len(both) < FEWEST_COMPARED:
        return
    told = spearmanr([given.residuals[row] for row in both], [now[row] for row in both])
    if not told.statistic > ALIKE:
        raise ValueError(
            "--verdicts is the rows.csv of another table (its residuals are others); "
            "give that of an earlier audit of this one"
        )


def read_audit(path: Path) -> dict[str, Any]:
    """An earlier audit.json."""
    try:
        plain = json.loads(path.read_text("utf-8"))
        check_comparable(plain)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is not an audit.json of lrisk") from None
    return dict(plain)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    """The file as UTF-8 text; what is wrong with it becomes a ValueError."""
    try:
        with (
            _bytes(path) as raw,
            io.TextIOWrapper(raw, "utf-8-sig", newline="") as file,
        ):
            yield file
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x}); "
            "save it as UTF-8 first"
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise ValueError(f"{path} is not a whole gzip file") from None


def _bytes(path: Path) -> Any:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def _sniffed(file: IO[str]) -> str:
    """The separator that the header has most of, outside quotes."""
    head = re.sub(r'"[^"]*"', "", file.readline(100_000))
    return max(",;\t", key=head.count)


def _check(path: Path, separator: str) -> list[str]:
    """The header; every line must have as many cells."""
    csv.field_size_limit(10_000_000)
    with _text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        try:
            header = next(reader, [])
            if not any(cell.strip() for cell in header):
                raise ValueError(f"{path} has no header line")
            width = len(header)
            if width > MOST_COLUMNS:
                raise ValueError(
                    f"{path} has {width} columns; at most {MOST_COLUMNS} are audited"
                )
            rows = 0
            for line in reader:
                if line and len(line) != width:
                    raise ValueError(
                        f"{path}: line {reader.line_num} has {len(line)} cells where "
                        f"the header has {width}"
                    )
                rows += bool(line)
        except csv.Error as error:
            where = f"{path}: line {reader.line_num}"
            raise ValueError(f"{where} cannot be read ({error})") from None
        if rows == 0:
            raise ValueError(f"{path} has a header but no rows")
        return header


def _csv(path: Path, separator: str, header: list[str], target: str | None) -> Any:
    import pandas as pd

    empty = {name: [""] if name == target else EMPTY for name in header}
    options: Any = {
        "sep": separator,
        "keep_default_na": False,
        "na_values": empty,
        "low_memory": False,
        "index_col": False,
    }
    with _text(path) as file:
        frame = pd.read_csv(file, **options)
    if target in frame and frame[target].dtype == bool:
        # "True" and "TRUE" are labels, to be shown as they were written.
        with _text(path) as file:
            words = pd.read_csv(file, **options, usecols=[target], dtype=str)
        frame[target] = words[target]
    return frame


def _parquet(path: Path) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install pyarrow") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{path} is not a Parquet file") from None
    except ValueError:
        raise ValueError(f"{path} is not a Parquet file") from None
    if len(frame.columns) > MOST_COLUMNS:
        raise ValueError(
            f"{path} has {len(frame.columns)} columns; at most {MOST_COLUMNS} are "
            "audited"
        )
    if frame.empty:
        raise ValueError(f"{path} has no rows")
    return frame
