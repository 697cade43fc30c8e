"""Columns of a table, typed: what each holds and how it will be used."""

import re
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import AnyArray, Bools, Floats, Indices
from ...procedures.contamination.feature_errors import suspected_columns

#: Words that count as missing, true and false (lower case, stripped).
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "#n/a"}
TRUE, FALSE = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
#: Share of cells that must be numbers (dates) for a column of text to be numeric.
MOSTLY = 0.9
#: Distinct share from which on text is an identifier or free text, and the least rows.
NEARLY_UNIQUE, FEWEST_ROWS = 0.5, 20
#: Mean length from which on nearly unique text is called text.
LONG = 25
#: How a note speaks of values that may be in another unit.
FAR_WORDS = "lie far from all others"
_ID_NAME = re.compile(r"(^|[\W_])(id|uuid|guid|key|index|rownum|nr|no)$", re.IGNORECASE)
_CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?"
_DATE = re.compile(rf"^\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}{_CLOCK}$")
_DOTTED = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})$")


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    kind : str
        See `ColumnSummary`.
    values : array of shape (n,)
        Numbers (NaN where missing) of numeric, boolean and date columns (days since
        1970); codes of levels (−1 where missing) of the others.
    levels : list of str
        Of the others, in falling order of frequency.
    note : str
    """

    name: str
    kind: str
    values: AnyArray
    levels: list[str]
    note: str = ""

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
        return self.kind in ("numeric", "categorical", "boolean", "date",
                             "group", "time")  # fmt: skip

    def shown(self, row: int) -> str:
        """One cell as text, cut to 80 characters."""
        value = self.values[row]
        if self.has_levels:
            return "" if value < 0 else self.levels[int(value)][:80]
        if np.isnan(value):
            return ""
        if self.kind in ("date", "time") and self.levels == ["date"]:
            moment = np.datetime64(round(float(value) * 86400), "s")
            text = str(moment)
            return text[:10] if text.endswith("T00:00:00") else text.replace("T", " ")
        if self.kind == "boolean":
            return "true" if value else "false"
        return f"{value:.6g}"

    def called(self, kind: str) -> "Column":
        """The same column in another role."""
        return replace(self, kind=kind)


def typed_column(name: str, raw: AnyArray) -> Column:
    """Find out what a column holds.

    Parameters
    ----------
    name : str
    raw : array of shape (n,)
        Of floats, booleans, dates, or objects (strings, with None where missing).
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
            note = f"{infinite.sum()} infinite cells count as missing."
        return _checked(Column(name, "numeric", values, [], note), whole=kind in "iu")
    if kind == "M":
        return _checked(Column(name, "date", _days(raw), ["date"]))
    return _from_text(name, raw)


def _from_text(name: str, raw: AnyArray) -> Column:
    codes, levels = _levels(raw)
    known = codes >= 0
    if not known.any():
        return _checked(Column(name, "categorical", codes, levels))
    lower = [level.strip().lower() for level in levels]
    if set(lower) <= TRUE | FALSE:
        flags = np.array([float(level in TRUE) for level in lower] + [np.nan])
        return _checked(Column(name, "boolean", flags[codes], []))
    counts = np.bincount(codes[known], minlength=len(levels))
    for kind, parse in (("numeric", _number), ("date", _date)):
        numbers = np.array([parse(level) for level in levels] + [np.nan])
        read = ~np.isnan(numbers[:-1])
        if counts[read].sum() >= MOSTLY * counts.sum():
            bad = int(counts[~read].sum())
            example = next((level for level, ok in zip(levels, read) if not ok), "")
            what = "numbers" if kind == "numeric" else "dates"
            note = ""
            if bad:
                note = f"{bad} cells are no {what} (such as {example[:20]!r}): missing."
            unit = ["date"] if kind == "date" else []
            return _checked(Column(name, kind, numbers[codes], unit, note))
    return _checked(Column(name, "categorical", codes, levels))


def _levels(raw: AnyArray) -> tuple[Indices, list[str]]:
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
    empty = np.array([name.strip().lower() in MISSING for name in names], dtype=bool)
    by_name = np.argsort(np.array(names, dtype=object), kind="stable")
    order = by_name[np.argsort(np.where(empty, 1, -counts)[by_name], kind="stable")]
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    place[empty] = -1
    return place[codes], [names[i] for i in order if not empty[i]]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def _date(text: str) -> float:
    text = text.strip()
    dotted = _DOTTED.match(text)
    if dotted:
        day, month, year = dotted.groups()
        text = f"{year}-{month:0>2}-{day:0>2}"
    elif not _DATE.match(text):
        return np.nan
    head, _, clock = text.replace("/", "-").replace("T", " ").rstrip("Z").partition(" ")
    year, month, day = head.split("-")
    padded = f"{year}-{month:0>2}-{day:0>2}"
    try:
        moment = np.datetime64(padded + (f"T{clock:0>5}" if clock else ""), "s")
    except ValueError:
        return np.nan
    return float(_days(np.array([moment]))[0])


def _days(raw: AnyArray) -> Floats:
    seconds = raw.astype("datetime64[s]")
    days = seconds.astype(np.int64) / 86400.0
    return np.where(np.isnat(seconds), np.nan, days)


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
        if integral and (bool(np.all(steps == 1.0)) or _ID_NAME.search(column.name)):
            note = "Numbers the rows: left out of the models."
            return replace(column, kind="identifier", note=note)
    return _with_far_values(column) if column.kind == "numeric" else column


def _with_far_values(column: Column) -> Column:
    """Note values that lie far out, behind a gap, as in another unit."""
    known = column.values[~np.isnan(column.values)]
    suspects = suspected_columns(known[:, None])
    if not suspects:
        return column
    far = known[suspects[0][1]]
    note = f"{len(far)} values {FAR_WORDS}, such as {far[0]:.6g}."
    return replace(column, note=f"{column.note} {note}".strip())
