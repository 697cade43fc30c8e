"""Tables in files: CSV, TSV, Parquet, plain or gzipped, checked before use."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .table import MOST_COLUMNS

#: Separators by ending, without ".gz".
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: What counts as an empty cell.
EMPTY = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A"]


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
    with open_text(path) as file:
        separator = _sniffed(file) if ending in (".csv", ".txt") else SEPARATORS[ending]
    header = _check(path, separator)
    if target is not None and header.count(target) > 1:
        raise ValueError(f"{path} has several columns {target!r}; rename all but one")
    return _csv(path, separator, header, target)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
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
    with open_text(path) as file:
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
    with open_text(path) as file:
        frame = pd.read_csv(file, **options)
    if target in frame and frame[target].dtype == bool:
        # "True" and "TRUE" are labels, to be shown as they were written.
        with open_text(path) as file:
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
