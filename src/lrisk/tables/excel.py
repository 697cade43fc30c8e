"""Tables in Excel workbooks: openpyxl reads the cells, this finds the table."""

import zipfile
from typing import Any

from .._extras import optional
from .delimited import SAMPLE, check_header, counted, left_out, numbered_names
from .sources import Source

#: What needs the packages of extras.
USER = "reading Excel files"
#: Most bytes of an unpacked workbook.
MOST_UNPACKED = 1_000_000_000


def read_excel(
    source: Source, header: bool, target: str | None = None
) -> tuple[Any, list[str]]:
    """A pandas frame of the first sheet that names the target, and notes.

    Where none does, or there is no header or no target, it is the first that holds
    anything.

    Cells that a formula gives have the value that the spreadsheet program stored.
    `pandas.read_excel` would fill a rectangle up to the last cell, wherever it is.
    """
    pd = optional("pandas", USER)
    sheets = [rows for rows in _sheets(source) if rows]
    if not sheets:
        raise ValueError(f"{source.name} has no rows")
    named = (k for k, rows in enumerate(sheets) if header and _names(rows, target))
    at = next(named, 0)
    which = f"that of the target, number {at + 1}," if at else "the first"
    notes = [f"Of {len(sheets)} sheets {which} was read."] if len(sheets) > 1 else []
    rows = sheets[at]
    used = sorted({j for row in rows for j, cell in enumerate(row) if cell is not None})
    table = [[row[j] if j < len(row) else None for j in used] for row in rows]
    if not header:
        return pd.DataFrame(table, columns=numbered_names(len(used))), notes
    least = min(2, len(used))
    filled = (i for i, row in enumerate(table) if len(row) - row.count(None) >= least)
    at = next(filled, 0)
    if at:
        notes.append(f"{counted(at, 'line')} above the header left out.")
    names = ["" if cell is None else str(cell).strip() for cell in table[at]]
    check_header(source.name, names)
    body = table[at + 1 :]
    if again := [i for i, row in enumerate(body) if row == table[at]]:
        notes.append(left_out(again, "repeated header line"))
        body = [row for row in body if row != table[at]]
    names = [name or f"unnamed {j + 1}" for j, name in enumerate(names)]
    return pd.DataFrame(body, columns=names), notes


def _sheets(source: Source) -> list[list[tuple[Any, ...]]]:
    """Rows of each sheet that hold anything."""
    load_workbook = optional("openpyxl", USER).load_workbook
    with source.open() as file:
        try:
            with zipfile.ZipFile(file) as packed:
                size = sum(member.file_size for member in packed.infolist())
            if size > MOST_UNPACKED:
                raise ValueError("its sheets are too large; save it as .csv")
            book = load_workbook(file, read_only=True, data_only=True)
            return [_rows(sheet) for sheet in book.worksheets]
        except MemoryError:
            raise
        except Exception as error:  # a broken file can make the parser raise anything
            why = str(error) if isinstance(error, ValueError) else "damaged or another"
            raise ValueError(
                f"{source.name} is not an Excel workbook that can be read ({why[:80]})"
            ) from None


def _names(rows: list[tuple[Any, ...]], target: str | None) -> bool:
    """Whether the target stands in one of the first lines."""
    return any(str(cell).strip() == target for row in rows[:SAMPLE] for cell in row)


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what files say of their size need not be true
    blank = (None, "")
    return [
        tuple(None if cell in blank else cell for cell in row)
        for row in sheet.iter_rows(values_only=True)
        if any(cell not in blank for cell in row)
    ]
