"""Tables in files: pandas reads them, this decides what they are."""

import itertools
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from .._extras import optional
from .delimited import left_out, read_delimited
from .excel import read_excel
from .sources import Source
from .table import MOST_COLUMNS
from .totals import totals_rows

#: Kinds of text files, and the separator if it is certain.
TEXT: dict[str, str | None] = {
    ".csv": None, ".tsv": "\t", ".tab": "\t", ".psv": "|", ".txt": None,
}  # fmt: skip
PARQUET, JSON, LINES = (".parquet", ".pq"), ".json", (".jsonl", ".ndjson")
EXCEL = (".xlsx", ".xlsm")


class TableFile(NamedTuple):
    """A table that was read, and sentences about what was left out or decided."""

    frame: Any
    notes: list[str]


def read_table(
    path: Path,
    target: str | None = None,
    *,
    header: bool = True,
    labels: Collection[str] | None = (),
    separator: str | None = None,
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
    labels : collection of str or None
        Other columns whose words are labels as those of the target are; None for all.
    separator : str or None
        What stands between cells of a text; found out by default.

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
    ['1 totals row left out (row 3).']
    """
    source = Source.of(path)
    notes: list[str] = []
    if path.is_dir() or source.ending in PARQUET:
        frame = _parquet(source)
    elif source.ending in EXCEL:
        frame, notes = read_excel(source, header, target)
    elif source.ending == JSON or source.ending in LINES:
        frame = _json(source)
    elif source.ending in TEXT:
        between = separator or TEXT[source.ending]
        frame, notes = read_delimited(source, between, target, header, labels)
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
            notes.append(left_out(totals, "totals row"))
            frame = frame.drop(index=totals).reset_index(drop=True)
    return TableFile(frame, notes)


def _parquet(source: Source) -> Any:
    path = source.path
    if path is not None and path.is_dir():
        if not any(itertools.chain.from_iterable(path.rglob(f"*{e}") for e in PARQUET)):
            raise ValueError(f"{path} is a folder without Parquet files; give a file")
        return _parquet_frame(source, path)
    with source.open() as file:
        return _parquet_frame(source, file)


def _parquet_frame(source: Source, file: Any) -> Any:
    parquet = optional("pyarrow.parquet", "reading Parquet files")
    try:
        table = parquet.read_table(file)
        table.validate(full=True)  # broken text would be noticed much later
        return table.to_pandas()
    except MemoryError:
        raise
    except Exception as error:  # a broken file can make the parser raise anything
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{source.name} is not a Parquet file, or damaged") from None


def _json(source: Source) -> Any:
    pd = optional("pandas", "reading JSON files")
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
        names, data = plain["columns"], plain["data"]
        split = isinstance(names, list) and isinstance(data, list)
        if split and any(isinstance(row, list) for row in data):
            whole = all(isinstance(row, list) for row in data)
            named = all(isinstance(name, str | int) for name in names)
            plain = [dict(zip(names, row)) for row in data] if whole and named else None
    if isinstance(plain, dict):
        tables = [own for own in plain.values() if own and _records(own)]
        plain = tables[0] if len(tables) == 1 else plain  # {"count": 9, "rows": [...]}
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
    except UnicodeError:
        raise ValueError(f"{source.name} holds characters that are none") from None
    except ValueError:
        raise ValueError(
            f"{source.name}: columns have different lengths; write one record per row"
        ) from None


def _records(plain: Any) -> bool:
    return isinstance(plain, list) and all(isinstance(row, dict) for row in plain)
