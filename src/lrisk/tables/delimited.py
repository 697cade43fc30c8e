"""Tables as text: cells between commas, semicolons, tabs or bars."""

import csv
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import IO, Any, NamedTuple

from .._extras import optional
from .columns import MISSING
from .numbers import plain_number
from .sources import Source
from .table import MOST_COLUMNS

SEPARATORS = ",;\t|"
#: What counts as an empty cell, as people write it.
EMPTY = sorted(
    {f(word) for word in MISSING for f in (str, str.upper, str.title)} | {"NaN"}
)
#: Lines by which separator and header are found.
SAMPLE = 30
#: Characters of one cell beyond which a quote was probably not closed.
LONGEST_CELL = 10_000_000


class Layout(NamedTuple):
    """Where the cells of a text are.

    Attributes
    ----------
    encoding, separator : str
    above, titles : int
        Lines above the header, and those of them that are not blank.
    header : list of str
    headers_again : list of int
        Rows, counted from 0, that repeat the header.
    """

    encoding: str
    separator: str
    above: int
    titles: int
    header: list[str]
    headers_again: list[int]


def read_delimited(
    source: Source,
    separator: str | None,
    target: str | None,
    header: bool,
    labels: Collection[str] | None = (),
) -> tuple[Any, list[str]]:
    """A pandas frame of a text, and notes of what was noticed.

    Columns that are not numbers keep their text: `typed_column` finds out what it
    means. Of the target, and of other `labels` (None: of all columns), only empty cells
    are missing, since "none" may be a class.
    """
    layout = _layout(source, separator, header)
    only = layout.header[0] if len(layout.header) == 1 else ""
    if target is not None and target in only and target != only:
        raise ValueError(
            f"{source.name}: no comma, semicolon, tab or bar parts the first line into "
            "names; write one between cells"
        )
    if target is not None and layout.header.count(target) > 1:
        raise ValueError(
            f"{source.name} has several columns {target!r}; rename all but one"
        )
    notes = []
    if layout.encoding in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8 and was read as {layout.encoding}.")
    if layout.titles:
        notes.append(f"{counted(layout.titles, 'line')} above the header left out.")
    as_written = {*(layout.header if labels is None else labels), target}
    frame = _frame(source, layout, as_written, header)
    if again := layout.headers_again:
        notes.append(left_out(again, "repeated header line"))
        frame = frame.drop(index=again).reset_index(drop=True)
    if frame.empty:
        raise ValueError(f"{source.name} has a header but no rows")
    return frame, notes


def counted(count: int, noun: str) -> str:
    """'1 line', '2 lines'."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def left_out(rows: list[int], noun: str) -> str:
    """What was left out, and where: the rows after it count without it."""
    at = ", ".join(str(row + 1) for row in rows[:3])
    more = " …" if len(rows) > 3 else ""
    one = "row" if len(rows) == 1 else "rows"
    return f"{counted(len(rows), noun)} left out ({one} {at}{more})."


def numbered_names(width: int) -> list[str]:
    """Names of the columns of a table without a header: c1, c2, ..."""
    return [f"c{j + 1}" for j in range(width)]


def looks_like_data(header: Iterable[str]) -> bool:
    """Whether a header is rather a row: half of it numbers that do not count up."""
    cells = [cell for cell in header if cell.strip()]
    numbers = [v for v in map(plain_number, cells) if v == v]
    if not numbers or 2 * len(numbers) < len(cells):
        return False
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    counts = len(numbers) > 1 and steps == {1.0} and numbers[0].is_integer()
    return not counts


def check_header(name: str, header: list[str]) -> None:
    """Refuse headers of no words, and of too many."""
    if not any(cell.strip() for cell in header):
        raise ValueError(f"{name} has no header line; write one, or pass --no-header")
    if len(header) > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(header)} columns; at most {MOST_COLUMNS} can be used"
        )
    if looks_like_data(header):
        # Its cells are not quoted: they may be what must not be told.
        raise ValueError(
            f"{name}: the first line looks like data; pass --no-header if it is, and "
            "name columns c1, c2, ..."
        )


def _layout(source: Source, separator: str | None, has_header: bool) -> Layout:
    """Find the header; every line below must have as many cells."""
    csv.field_size_limit(LONGEST_CELL)
    encoding = source.encoding()
    with source.text(encoding) as file:
        sample = list(itertools.islice(_lines(source.name, file), SAMPLE))
    separator = separator or _separator(sample)
    above = _lines_above(sample, separator) if has_header else 0
    titles = sum(bool(line.strip(f"{separator} \r\n")) for line in sample[:above])
    with source.text(encoding) as file:
        text = itertools.islice(_lines(source.name, file), above, None)
        reader = csv.reader(text, delimiter=separator)
        try:
            found = _checked(source.name, reader, above, has_header)
            return Layout(encoding, separator, above, titles, *found)
        except csv.Error as error:
            where = f"{source.name}: line {reader.line_num + above}"
            raise ValueError(f"{where} cannot be read ({error})") from None


def _checked(
    name: str, reader: Any, above: int, has_header: bool
) -> tuple[list[str], list[int]]:
    """The header, and rows that repeat it."""
    header: list[str] = next((line for line in reader if line), [])
    if has_header:
        check_header(name, header)
    elif len(header) > MOST_COLUMNS:
        check_header(name, numbered_names(len(header)))
    plain = [cell.strip() for cell in header]
    rows, again = 0 if has_header else 1, []
    for line in reader:
        if not line:
            continue
        if len(line) != len(header):
            first = "header" if has_header else "first line"
            cells = counted(len(line), "cell")
            raise ValueError(
                f"{name}: line {reader.line_num + above} has {cells} where the {first} "
                f"has {len(header)}; is a separator or a quote missing there?"
            )
        if has_header and line[-1].strip() == plain[-1] and _same(line, plain):
            again.append(rows)
        rows += 1
    if not has_header:
        header = numbered_names(len(header))
    if rows == len(again):
        quoted = any("\n" in cell for cell in header)
        hint = "; is a quote missing in its first line?" if quoted else ""
        raise ValueError(f"{name} has a header but no rows{hint}")
    return header, again


def _same(line: list[str], header: list[str]) -> bool:
    """Whether a line is the header; files joined end to end have marks between."""
    return [cell.strip().lstrip("\ufeff") for cell in line] == header


def _lines(name: str, file: IO[str]) -> Iterator[str]:
    for line in file:
        if "\0" in line:
            raise ValueError(f"{name} holds NUL bytes: it is no text")
        yield line


def _widths(lines: list[str], separator: str) -> list[int]:
    try:
        return [len(cells) for cells in csv.reader(lines, delimiter=separator) if cells]
    except csv.Error:
        return []


def _separator(sample: list[str]) -> str:
    """The one that cuts most lines into the same number of cells, and into more."""

    def merit(separator: str) -> tuple[int, int]:
        widths = Counter(w for w in _widths(sample, separator) if w > 1)
        return max(((count, w) for w, count in widths.items()), default=(0, 0))

    return max(SEPARATORS, key=merit)


def _lines_above(sample: list[str], separator: str) -> int:
    """Titles and remarks above the header: at most one cell, or two fewer than most.

    A header that lacks one name is a mistake, not a title; or it lacks the first, as
    pandas writes an index beside one column.
    """
    widths = Counter(_widths(sample, separator))
    usual = widths.most_common(1)[0][0] if widths else 1
    if usual == 1:
        return 0
    for i, line in enumerate(sample):
        cells = next(csv.reader([line], delimiter=separator), [])
        filled = sum(bool(cell.strip()) for cell in cells)
        index = usual == len(cells) == 2 and filled == 1 and not cells[0].strip()
        if '"' in line or index or (filled > 1 and len(cells) > usual - 2):
            return i
    return 0


def _frame(
    source: Source, layout: Layout, labels: Collection[str | None], header: bool
) -> Any:
    pd = optional("pandas", "reading tables from files")
    empty = {name: [""] if name in labels else EMPTY for name in layout.header}
    options: Any = {
        "sep": layout.separator,
        "keep_default_na": False,
        "na_values": empty,
        "low_memory": False,
        "index_col": False,
        "skiprows": layout.above,
    }
    if not header:
        options |= {"header": None, "names": layout.header}
    if layout.headers_again:  # words in every column: nothing is a number yet
        options["dtype"] = str
    with source.text(layout.encoding) as file:
        frame = pd.read_csv(file, **options)
    flags = [name for name in frame if name in labels and frame[name].dtype == bool]
    if flags:  # "True" and "TRUE" are labels, to be shown as they were written
        with source.text(layout.encoding) as file:
            frame[flags] = pd.read_csv(file, **options, usecols=flags, dtype=str)
    return frame
