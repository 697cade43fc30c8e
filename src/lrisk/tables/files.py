"""Tables in files: pandas reads them, this decides what they are."""

import itertools
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from .delimited import check_header, counted, numbered_names, read_delimited
from .sources import Source
from .table import MOST_COLUMNS
from .totals import totals_rows

#: Kinds of text files, and the separator if it is certain.
TEXT: dict[str, str | None] = {
    ".csv": None, ".tsv": "\t", ".tab": "\t", ".psv": "|", ".txt": None,
}  # fmt: skip
PARQUET, JSON, LINES = (".parquet", ".pq"), ".json", (".jsonl", ".ndjson")
EXCEL = (".xlsx", ".xlsm")
#: Most bytes of an unpacked spreadsheet.
MOST_UNPACKED = 2_000_000_000


class TableFile(NamedTuple):
    """A table that was read, and sentences about what was left out or decided."""

    frame: Any
    notes: list[str]


def read_table(
    path: Path, target: str | None = None, *, header: bool = True
) -> TableFile:
    r"""Read a table from a file, or say in one line what is wrong with it.

    Parameters
    ----------
    path : Path
        A file with cells between separators, Excel workbook, JSON or Parquet file, any
        of them gzipped or not, a folder of Parquet files, or "-" for the standard
        input.
    target : str or None
        The column of which only empty cells are missing: "none" may be a class.
    header : bool
        Whether the first line names the columns; else they are called c1, c2, ...

    Returns
    -------
    TableFile

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv"
    ...     _ = path.write_text("size;rent\n40;500\n65;800\nTotal;1300\n")
    ...     table = read_table(path)
    >>> table.notes
    ['1 row of totals left out.']
    """
    source = Source.of(path)
    notes: list[str] = []
    if path.is_dir() or source.ending in PARQUET:
        frame = _parquet(source)
    elif source.ending in EXCEL:
        frame, notes = _excel(source, header)
    elif source.ending == JSON or source.ending in LINES:
        frame = _json(source)
    elif source.ending in TEXT:
        frame, notes = read_delimited(source, TEXT[source.ending], target, header)
    else:
        known = ", ".join([*TEXT, ".xlsx", ".json", ".jsonl", ".parquet"])
        hint = "save it as .xlsx or .csv" if source.ending in (".xls", ".ods") else ""
        raise ValueError(
            f"{path}: unknown ending; {hint or f'use one of {known}, or these + .gz'}"
        )
    if len(frame.columns) > MOST_COLUMNS:
        raise ValueError(
            f"{source.name} has {len(frame.columns)} columns; at most {MOST_COLUMNS} "
            "can be used"
        )
    if frame.empty:
        raise ValueError(f"{source.name} has no rows")
    if source.ending in TEXT or source.ending in EXCEL:
        totals = totals_rows(frame)
        if 0 < len(totals) < len(frame):
            notes.append(f"{counted(len(totals), 'row')} of totals left out.")
            frame = frame.drop(index=totals).reset_index(drop=True)
    return TableFile(frame, notes)


def _parquet(source: Source) -> Any:
    import pandas as pd

    path = source.path
    if path is not None and path.is_dir():
        if not any(itertools.chain.from_iterable(path.rglob(f"*{e}") for e in PARQUET)):
            raise ValueError(f"{path} is a folder without Parquet files; give a file")
        return _frame_of(source, pd.read_parquet, path)
    with source.open() as file:
        return _frame_of(source, pd.read_parquet, file)


def _frame_of(source: Source, read: Any, file: Any) -> Any:
    try:
        return read(file)
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install pyarrow") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{source.name} is not a Parquet file") from None
    except ValueError:
        raise ValueError(f"{source.name} is not a Parquet file") from None


def _excel(source: Source, header: bool) -> tuple[Any, list[str]]:
    """The first sheet that holds anything."""
    import pandas as pd

    with source.open() as file:
        try:
            with zipfile.ZipFile(file) as packed:
                size = sum(member.file_size for member in packed.infolist())
            if size > MOST_UNPACKED:
                raise ValueError(f"{source.name} is too large; save it as .csv")
            file.seek(0)
            sheets = pd.read_excel(
                file, sheet_name=None, header=None, dtype=object, engine="openpyxl"
            )
        except ImportError:
            raise ValueError(
                "Excel files need openpyxl: pip install 'lrisk[excel]'"
            ) from None
        except (zipfile.BadZipFile, KeyError):
            raise ValueError(f"{source.name} is not an Excel workbook") from None
    filled = [own for own in sheets.values() if own.notna().any(axis=None)]
    if not filled:
        raise ValueError(f"{source.name} has no rows")
    cells = filled[0]
    notes = [f"Of {len(filled)} sheets the first was read."] if len(filled) > 1 else []
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if not header:
        cells.columns = numbered_names(cells.shape[1])
        return cells.reset_index(drop=True), notes
    least = min(2, cells.shape[1])
    at = int((cells.notna().sum(axis=1) >= least).to_numpy().argmax())
    if at:
        notes.append(f"{counted(at, 'line')} above the header left out.")
    names = ["" if cell != cell else str(cell).strip() for cell in cells.iloc[at]]
    check_header(source.name, names)
    cells.columns = [own or f"unnamed {j + 1}" for j, own in enumerate(names)]
    rows = cells.iloc[at + 1 :]
    again = (rows.astype(str) == [str(cell) for cell in cells.iloc[at]]).all(axis=1)
    if again.any():
        notes.append(f"{counted(int(again.sum()), 'repeated header line')} left out.")
    return rows[~again].reset_index(drop=True), notes


def _json(source: Source) -> Any:
    import pandas as pd

    with source.text(source.encoding()) as file:
        try:
            if source.ending == JSON:
                plain = json.load(file)
            else:
                plain = [json.loads(line) for line in file if line.strip()]
        except (ValueError, RecursionError):
            kind = "JSON" if source.ending == JSON else "one JSON object in each line"
            raise ValueError(f"{source.name} is not {kind}") from None
    if isinstance(plain, dict) and {"columns", "data"} <= set(plain):
        plain = [dict(zip(plain["columns"], row)) for row in plain["data"]]
    if isinstance(plain, dict) and len(plain) == 1 and _records(*plain.values()):
        (plain,) = plain.values()  # {"rows": [...]}
    records = _records(plain)
    columns = isinstance(plain, dict) and all(
        isinstance(cells, list | dict) for cells in plain.values()
    )
    if not plain or not (records or columns):
        raise ValueError(
            f"{source.name} holds no table; write a list of records, such as "
            '[{"size": 40, "rent": 500}, ...]'
        )
    try:
        return pd.DataFrame(plain)
    except ValueError:
        raise ValueError(
            f"{source.name}: columns have different lengths; write one record per row"
        ) from None


def _records(plain: Any) -> bool:
    return isinstance(plain, list) and all(isinstance(row, dict) for row in plain)
