"""Columns of a table, typed: what each holds and how it will be used."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import AnyArray, Bools, Indices
from .dates import days
from .quoting import RefusedCell
from .text import (
    COMMA,
    DATE,
    DATES,
    PROMISING,
    Mixed,
    read_column,
    share_of_numbers,
)

#: Words that count as missing, true and false (lower case, stripped).
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "#n/a", "#div/0!", "#value!",
           "#ref!", "#name?", "#num!", "#null!"}  # fmt: skip
#: And marks that say so among numbers; among words, as blood groups, they are values.
MARKS = {"-", "--", "---", "–", "—", ".", "n.a.", "n.a", "n.d."}
TRUE, FALSE = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
#: Distinct share from which on text is an identifier or free text, and the least rows.
NEARLY_UNIQUE, FEWEST_ROWS = 0.5, 20
#: Characters of a fraction that is shown in full: more are of no hand. Size below which
#: whole numbers are surely exact as floats, and their fractions have a digit.
SHORT, EXACT = 12, 1e15
#: Mean length from which on nearly unique text is called text.
LONG = 25
#: Names of numbers that tell rows apart, whatever their steps.
_ID_NAME = re.compile(r"(^|[\W_])(id|uuid|guid|key|index|rownum|nr|no)$", re.IGNORECASE)
#: Names that numbers in steps of 1 need to number rows, if they start elsewhere than
#: rows do; and names of what goes up by 1 with the rows and matters all the same.
_ROW_NAME = re.compile(
    r"(?i:^$|^unnamed|(^|[\W_])(row|rows|line|record|number|num|serial)$)"
    r"|[a-z](Id|ID|Key|Index|Nr|No|Number)$"
)
_TIME_NAME = re.compile(
    r"(^|[\W_])(years?|quarters?|months?|weeks?|days?|hours?|minutes?|seconds?|times?"
    r"|dates?|periods?|ages?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table as it was read, in a few words.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        "numeric", "categorical", "boolean", "date", "identifier", "constant", "text",
        "target", "group" or "time".
    missing, distinct : int
        How many cells are missing, and how many values there are.
    note : str
        Empty, or plain sentences that tell no value.
    example : str
        Empty, or values that the note speaks of.

    See Also
    --------
    Column : The column itself.

    Examples
    --------
    >>> from lrisk.tables import ColumnSummary
    >>> ColumnSummary("size", "numeric", 0, 3, "Whole numbers.").remark
    'Whole numbers.'
    """

    name: str
    kind: str
    missing: int
    distinct: int
    note: str
    example: str = ""

    @property
    def remark(self) -> str:
        """The note with its example."""
        return remark(self.note, self.example)


def remark(note: str, example: str) -> str:
    """A note, and the values that it speaks of."""
    return f"{note} For example: {example}." if note and example else note


@dataclass(frozen=True)
class Column:
    """One column of a table, as numbers or as codes of levels.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        See `ColumnSummary`.
    values : array of shape (n,)
        Numbers (NaN where missing) of numeric, boolean and date columns (days since
        1970); codes of levels (−1 where missing) of the others.
    levels : list of str
        Of the others, in falling order of frequency.
    note : str
        Sentences that tell no value.
    example : str
        Values that the note speaks of.
    usable : bool
        Whether models could use it, whatever its role.
    way, unit : str
        How text was read (see `text.Reading`); empty where it was not text.
    ambiguous : bool
        Whether its commas may stand before decimals or between thousands.

    See Also
    --------
    ColumnSummary : The same in a few words, without values.
    Table : All columns together.

    Examples
    --------
    >>> from lrisk.tables import table_of
    >>> table = table_of({"size": [1, 2, 4], "y": [1.0, 3.0, 2.0]}, "y")
    >>> table.columns[0].name, table.columns[0].kind
    ('size', 'numeric')
    """

    name: str
    kind: str
    values: AnyArray
    levels: list[str]
    note: str = ""
    example: str = ""
    usable: bool = True
    way: str = ""
    unit: str = ""
    ambiguous: bool = False

    @property
    def remark(self) -> str:
        """The note with its example."""
        return remark(self.note, self.example)

    @property
    def has_levels(self) -> bool:
        """Whether the values are codes of levels."""
        return self.values.dtype.kind == "i"

    @property
    def missing(self) -> Bools:
        """Which cells are empty."""
        if self.has_levels:
            return np.asarray(self.values < 0)
        return np.asarray(np.isnan(self.values))

    @property
    def distinct(self) -> int:
        """How many different values it holds."""
        if self.has_levels:
            return len(self.levels)
        return len(np.unique(self.values[~np.isnan(self.values)]))

    @property
    def is_feature(self) -> bool:
        """Whether models use it."""
        return self.usable and self.kind in (
            "numeric", "categorical", "boolean", "date", "group", "time",
        )  # fmt: skip

    def shown(self, row: int) -> str:
        """One cell as text, cut to 80 characters."""
        value = self.values[row]
        if self.has_levels:
            return "" if value < 0 else self.levels[int(value)][:80]
        if np.isnan(value):
            return ""
        if self.way in DATES:
            moment = np.datetime64(round(float(value) * 86400), "s")
            text = str(moment)
            return text[:10] if text.endswith("T00:00:00") else text.replace("T", " ")
        if self.kind == "boolean":
            return "true" if value else "false"
        return short_number(float(value))

    def as_text(self) -> list[str]:
        """Every cell in full: whole numbers without an exponent."""
        if self.has_levels or self.kind in ("date", "time", "boolean"):
            return [self.shown(row) for row in range(len(self.values))]
        return ["" if v != v else in_full(v) for v in self.values.tolist()]

    def take(self, rows: Indices) -> "Column":
        """The same column of these rows."""
        return replace(self, values=self.values[rows])

    def called(self, kind: str) -> "Column":
        """The same column in another role; an identifier does not become a feature."""
        return replace(self, kind=kind, usable=self.is_feature)


def in_full(value: float) -> str:
    """A number without loss; a whole one without an exponent.

    Examples
    --------
    >>> in_full(1e6), in_full(0.1), in_full(-0.0)
    ('1000000', '0.1', '0')
    """
    whole = abs(value) < EXACT and value == round(value)
    return str(round(value)) if whole else repr(value)


def short_number(value: float) -> str:
    """As it was probably written, if that is short; else six digits of it.

    Examples
    --------
    >>> short_number(1005750.12), short_number(41245.47), short_number(2 / 3)
    ('1005750.12', '41245.47', '0.666667')
    """
    full = in_full(value)
    return full if "." not in full or len(full) <= SHORT else f"{value:.6g}"


def summary_of(column: Column, role: str = "") -> ColumnSummary:
    """What a reader of a report should know of a column."""
    return ColumnSummary(
        column.name, role or column.kind, int(column.missing.sum()), column.distinct,
        column.note, column.example,
    )  # fmt: skip


def typed_columns(
    names: Sequence[str], raw: Sequence[AnyArray], target: int | None = None
) -> list[Column]:
    """Find out what the columns of one table hold; that of the `target` has labels.

    A table has one way to write decimals: where some column shows that it is a comma,
    cells of others that can be read in two ways are read so, too.
    """
    columns = [
        typed_column(name, cells, labels=j == target)
        for j, (name, cells) in enumerate(zip(names, raw, strict=True))
    ]
    if any(column.way == COMMA for column in columns):
        for j, column in enumerate(columns):
            if column.ambiguous:
                columns[j] = typed_column(
                    column.name, raw[j], labels=j == target, commas=True
                )
    return columns


def typed_column(
    name: str, raw: AnyArray, *, labels: bool = False, commas: bool = False
) -> Column:
    """Find out what a column holds.

    Parameters
    ----------
    name : str
    raw : array of shape (n,)
        Of floats, booleans, dates, or objects (strings, with None where missing).
    labels : bool
        Whether words, as of a target, are labels as they stand: "yes" stays "yes", and
        "none" is a label like any other unless nearly all other cells are numbers.
    commas : bool
        Whether other columns of its table have decimal commas.
    """
    kind = raw.dtype.kind
    if kind == "b":
        return _checked(Column(name, "boolean", raw.astype(np.float64), []))
    if kind in "iuf":
        values = raw.astype(np.float64)
        infinite = np.isinf(values)
        note = ""
        if infinite.any():
            values = np.where(infinite, np.nan, values)
            many = infinite.sum() > 1
            note = f"{infinite.sum()} infinite cell{'s count' if many else ' counts'} "
            note += "as missing."
        return _checked(Column(name, "numeric", values, [], note), whole=kind in "iu")
    if kind == "M":
        return _checked(Column(name, "date", days(raw), [], way=DATE))
    return _from_text(name, raw, labels, commas)


def _from_text(name: str, raw: AnyArray, labels: bool, commas: bool) -> Column:
    codes, levels = levels_of(raw, MISSING)
    known = codes >= 0
    if known.any():
        lower = [level.strip().lower() for level in levels]
        if set(lower) <= TRUE | FALSE and not labels:
            flags = np.array([float(level in TRUE) for level in lower] + [np.nan])
            return _checked(Column(name, "boolean", flags[codes], []))
        try:
            read = _as_numbers(name, codes, levels, commas)
        except Mixed as mixed:
            raise _of_cell(mixed, name, codes, levels, labels) from None
        # Two labels, such as "2 doors" and "4 doors", are shown as they were written.
        if read is not None and not (labels and read.unit and read.distinct <= 2):
            return _checked(read)
    if labels:
        as_words = levels_of(raw, {""})
        # A single word that says "missing", and nothing else, is no class.
        if known.any() or len(as_words[1]) > 1:
            codes, levels = as_words
    column = _nearly_numbers(_checked(Column(name, "categorical", codes, levels)))
    return _spelled(column) if column.kind == "categorical" else column


def _nearly_numbers(column: Column) -> Column:
    """The column of words, with a remark if most of them are numbers."""
    counts = np.bincount(column.values[column.values >= 0], minlength=1)
    share, odd = share_of_numbers(column.levels, counts)
    if share < PROMISING or not odd:
        return column
    note = f"{share:.0%} of its cells are numbers, the others are not."
    note = f"{column.note} {note}".strip()
    return replace(column, note=note, example=repr(odd[:20]))


def _spelled(column: Column) -> Column:
    """The column of words, with a remark on those that are spelled in two ways."""
    seen: dict[str, str] = {}
    for level in column.levels:
        first = seen.setdefault(" ".join(level.casefold().split()), level)
        if first != level:
            note = "Some words differ only in case or blanks: they count as different."
            shown = f"{first[:20]!r} and {level[:20]!r}"
            return replace(column, note=note, example=shown)
    return column


def _as_numbers(
    name: str, codes: Indices, levels: list[str], commas: bool
) -> Column | None:
    """The column as numbers or dates, if nearly all cells are."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    counts[[level.strip().lower() in MARKS for level in levels]] = 0
    if not counts.any():
        return None
    reading = read_column(levels, counts, commas)
    if reading is None:
        return None
    note, example = reading.note, reading.example
    unread = np.isnan(reading.numbers)
    if bad := int(counts[unread].sum()):
        what = "date" if reading.kind == "date" else "number"
        words = f"{bad} cells are no {what}s and count as missing."
        if bad == 1:
            words = f"1 cell is no {what} and counts as missing."
        note = f"{note} {words}".strip()
        example = repr(levels[int(np.flatnonzero(unread)[0])][:20])
    values = np.append(reading.numbers, np.nan)[codes]
    return Column(
        name, reading.kind, values, [], note, example, way=reading.way,
        unit=reading.unit, ambiguous=reading.ambiguous,
    )  # fmt: skip


def _of_cell(
    mixed: Mixed, name: str, codes: Indices, levels: list[str], labels: bool
) -> RefusedCell:
    """The refusal of a column, with the first cell of the rarest kind."""
    remedy = mixed.remedy
    if not labels:  # nobody can do without the target
        remedy += ", or drop the column (--drop on the command line)"
    return first_of(mixed.rarest, name, mixed.rule, mixed.got, remedy, codes, levels)


def first_of(
    which: Bools,
    name: str,
    rule: str,
    got: str,
    remedy: str,
    codes: Indices,
    levels: Sequence[str],
) -> RefusedCell:
    """The refusal of a column that names the first cell of some levels."""
    row = int(np.flatnonzero(np.append(which, False)[codes])[0])
    return RefusedCell(name, rule, got, remedy, levels[int(codes[row])], row)


def levels_of(raw: AnyArray, missing: set[str]) -> tuple[Indices, list[str]]:
    """Codes and levels of cells as text, the most frequent level first."""
    seen: dict[str, int] = {}
    codes = np.array(
        [
            seen.setdefault("" if cell is None else str(cell), len(seen))
            for cell in raw.tolist()
        ],
        dtype=np.int64,
    )
    names = list(seen)
    counts = np.bincount(codes, minlength=len(names))
    empty = np.array([name.strip().lower() in missing for name in names], dtype=bool)
    by_name = np.argsort(np.array(names, dtype=object), kind="stable")
    order = by_name[np.argsort(np.where(empty, 1, -counts)[by_name], kind="stable")]
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    place[empty] = -1
    return place[codes], [names[i] for i in order if not empty[i]]


def _checked(column: Column, whole: bool = False) -> Column:
    """The column, or the reason why models cannot use it."""
    n = len(column.values)
    distinct = column.distinct
    if distinct <= 1:
        note = "All cells are empty." if distinct == 0 else "Always the same value."
        return replace(column, kind="constant", note=f"{note} Left out of the models.")
    if n < FEWEST_ROWS:
        return column
    if column.has_levels and distinct > NEARLY_UNIQUE * n:
        length = np.mean([len(level) for level in column.levels])
        kind = "text" if length >= LONG else "identifier"
        what = "Free text" if kind == "text" else "Nearly every row has its own value"
        note = f"{what}: left out of the models."
        return replace(column, kind=kind, note=note)
    if column.kind == "numeric" and distinct == n:
        values = column.values
        integral = whole or bool(np.all(values == np.round(values)))
        steps = np.diff(np.sort(values)) if integral else np.zeros(1)
        counts = integral and bool(np.all(steps == 1.0)) and _numbers_rows(column)
        if counts or (integral and _ID_NAME.search(column.name)):
            note = "Numbers the rows: left out of the models."
            return replace(column, kind="identifier", note=note)
    return column


def _numbers_rows(column: Column) -> bool:
    """Whether numbers in steps of 1 count rows, and not years, kilograms or days."""
    if _ROW_NAME.search(column.name):
        return True
    measured = column.unit or _TIME_NAME.search(column.name)
    return not measured and float(np.min(column.values)) in (0.0, 1.0)
