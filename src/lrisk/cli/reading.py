"""Reading tables: CSV, TSV, Parquet, plain or gzipped, checked before they are used."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..analysis.audit.tables import MOST_COLUMNS

#: Kinds of files by ending, without ".gz".
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: What counts as an empty cell.
EMPTY = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A"]


def read_table(path: Path) -> Any:
    """A pandas frame of a file, or ValueError with what is wrong with it.

    Columns that are not numbers keep their text: `lrisk.audit` finds out what it means.
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
        separator = SEPARATORS.get(ending) or _sniffed(file)
    _check(path, separator)
    return _csv(path, separator)


def read_verdicts(path: Path) -> dict[int, str]:
    """Words by row from the `verdict` column of a rows.csv."""
    with _text(path) as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or []
        if "row" not in names or "verdict" not in names:
            raise ValueError(f"{path}: verdicts need the columns 'row' and 'verdict'")
        found = {}
        for line in reader:
            word = (line["verdict"] or "").strip()
            if word:
                try:
                    found[int(line["row"])] = word
                except ValueError:
                    row = line["row"]
                    raise ValueError(f"{path}: {row!r} is no row number") from None
        return found


def read_audit(path: Path) -> dict[str, Any]:
    """An earlier audit.json."""
    try:
        plain = json.loads(path.read_text("utf-8"))
        needed = ("flags", "interval", "losses", "contamination", "n_rows", "source")
        if not all(key in plain for key in needed):
            raise KeyError
    except (ValueError, KeyError, TypeError, RecursionError):
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
    head = file.readline(100_000)
    return max(",\t;", key=head.count)


def _check(path: Path, separator: str) -> None:
    """Every line must have as many cells as the header."""
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


def _csv(path: Path, separator: str) -> Any:
    import pandas as pd

    with _text(path) as file:
        return pd.read_csv(
            file,
            sep=separator,
            keep_default_na=False,
            na_values=EMPTY,
            low_memory=False,
            index_col=False,
        )


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
