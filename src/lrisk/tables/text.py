"""Columns of text as numbers or dates: the one way of writing that suits the column."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import Bools, Floats, Indices
from .dates import Dates, read_dates
from .numbers import (
    MULTIPLIERS,
    Numbers,
    count_units,
    is_known,
    read_numbers,
    same_unit,
)

#: Share of cells that must be numbers (dates) for a column of text to be numeric.
MOSTLY = 0.9
#: Different texts that are tried first, and the share that promises something of all.
TRIED, PROMISING = 2000, 0.5
#: Ways to read text: what stands before decimals, and the order of dates.
POINT, COMMA = "decimal point", "decimal comma"
DATE, MONTH_FIRST, DAY_FIRST = "date", "month first", "day first"
DATES = (DATE, MONTH_FIRST, DAY_FIRST)


class Mixed(ValueError):
    """A column of numbers in several units, or of dates in several orders.

    Attributes
    ----------
    rule, got, remedy : str
        What it must be, what it is (no cell is told), and what to do.
    rarest : array of bool of shape (n_levels,)
        Which levels are of the rarest kind.
    """

    def __init__(self, rule: str, got: str, remedy: str, rarest: Bools) -> None:
        super().__init__(f"must be {rule}, got {got}; {remedy}")
        self.rule, self.got, self.remedy, self.rarest = rule, got, remedy, rarest


class Reading(NamedTuple):
    """Numbers of the levels of a column of text, and the way they were read.

    Attributes
    ----------
    way : str
        One of the constants above; dates are days since 1970.
    numbers : array of shape (n_levels,)
        NaN where a level cannot be read.
    unit : str
        In one spelling; empty where there is none.
    note : str
        Sentences that tell no value.
    example : str
        Values that the note speaks of.
    ambiguous : bool
        Whether commas may stand before decimals or between thousands.
    """

    way: str
    numbers: Floats
    unit: str = ""
    note: str = ""
    example: str = ""
    ambiguous: bool = False

    @property
    def kind(self) -> str:
        """'date' or 'numeric'."""
        return "date" if self.way in DATES else "numeric"


def read_column(
    levels: Sequence[str], counts: Indices, commas: bool = False
) -> Reading | None:
    """Read the levels in the way that reads most cells, if that is nearly all.

    Parameters
    ----------
    levels : sequence of str
    counts : array of shape (n_levels,)
        Cells of each level.
    commas : bool
        Whether other columns of the table have decimal commas: then "28,781", which may
        be read in two ways, is less than thirty, and otherwise thousands.

    Returns
    -------
    Reading or None
        None where the column is no column of numbers or dates.

    Raises
    ------
    Mixed
        If numbers have several units, or dates several orders of day and month.
    """
    at = np.arange(len(levels))
    if len(levels) > TRIED:
        at = np.linspace(0, len(levels) - 1, TRIED).astype(np.int64)
    readable = _readable([levels[i] for i in at.tolist()], counts[at])
    if not any(readable):
        return None
    # What reads hardly any of the first texts need not be tried on a million.
    some = [levels if fine else [""] * len(levels) for fine in readable]
    point, comma = read_numbers(some[0], "."), read_numbers(some[1], ",")
    dates = read_dates(some[2])
    ways = [point.values, comma.values, dates.month_first, dates.day_first]
    reads = [int(counts[~np.isnan(values)].sum()) for values in ways]
    either = ~np.isnan(dates.month_first) | ~np.isnan(dates.day_first)
    enough = MOSTLY * counts.sum()
    if counts[either].sum() >= enough and max(reads[2:]) >= max(reads[:2]):
        return _dates(dates, counts)
    ambiguous = point.grouped and reads[0] == reads[1] and _differ(point, comma)
    best = 1 if ambiguous and commas else int(np.argmax(reads))
    if reads[best] < enough:
        return None
    if best >= 2:
        return _dates(dates, counts)
    reading = _numbers(comma if best else point, levels, counts)
    if reading is None:
        return None
    note = reading.note
    if best:
        as_others = ", as in other columns" if ambiguous else ""
        note = f"Commas were read as decimal points{as_others}. {note}".strip()
    elif point.grouped:
        other = " Decimal commas are possible, too." if ambiguous else ""
        note = f"Separators of thousands were left out.{other} {note}".strip()
    way = COMMA if best else POINT
    return reading._replace(way=way, note=note, ambiguous=ambiguous)


def read_again(levels: Sequence[str], way: str, unit: str) -> Floats:
    """Numbers of levels read in a way that was found before; NaN where it cannot.

    Raises
    ------
    Mixed
        If there are numbers in another unit.
    """
    if way in DATES:
        dates = read_dates(levels)
        return dates.day_first if way == DAY_FIRST else dates.month_first
    numbers = read_numbers(levels, "," if way == COMMA else ".")
    units = [same_unit(own) for own in numbers.units]
    known = sorted(own for own in set(units) - {unit, ""} if is_known(own))
    if known:
        rule = f"in {unit}, as in training" if unit else "without a unit"
        at = np.array([own in known for own in units])
        raise Mixed(rule, ", ".join(known[:4]), "convert it", at)
    return _with_units(numbers, {unit, ""})


def share_of_numbers(levels: Sequence[str], counts: Indices) -> tuple[float, str]:
    """The share of cells that are numbers, and a text that is none, of some levels."""
    texts, counts = list(levels[:TRIED]), counts[:TRIED]
    ways = [np.isfinite(read_numbers(texts, mark).values) for mark in ".,"]
    best = max(ways, key=lambda own: _cells(own, counts))
    odd = next((text for text, fine in zip(texts, best) if not fine), "")
    return _cells(best, counts) / max(int(counts.sum()), 1), odd


def _readable(texts: Sequence[str], counts: Indices) -> list[bool]:
    """Whether decimal points, commas and dates read a good part of the cells."""
    dates = read_dates(texts)
    ways = [
        read_numbers(texts, ".").values,
        read_numbers(texts, ",").values,
        np.fmax(dates.month_first, dates.day_first),
    ]
    enough = PROMISING * counts.sum()
    return [_cells(~np.isnan(values), counts) > enough for values in ways]


def _differ(one: Numbers, other: Numbers) -> bool:
    return not np.array_equal(one.values, other.values, equal_nan=True)


def _numbers(
    numbers: Numbers, levels: Sequence[str], counts: Indices
) -> Reading | None:
    """The numbers with their one unit; mixed units are refused, if they are units."""
    cells = count_units(numbers, counts)
    bare = cells.pop("", 0)
    if not cells:
        return Reading(POINT, numbers.values)
    unit, most = cells.most_common(1)[0]
    known = [own for own in cells if is_known(own)]
    others = [own for own in known if own != unit]
    if others and sum(cells[own] for own in known) >= MOSTLY * cells.total():
        shown = ", ".join(f"{cells[own]} in {own}" for own in known[:4])
        rarest = min(others, key=lambda own: cells[own])
        at = np.array([same_unit(own) == rarest for own in numbers.units])
        at &= ~np.isnan(numbers.values) & (counts > 0)
        raise Mixed("in one unit", shown, "convert it to one unit", at)
    if unit in MULTIPLIERS and any(
        not own and value for own, value in zip(numbers.units, numbers.values)
        if value == value
    ):  # fmt: skip
        return None
    if most + bare < MOSTLY * counts.sum():
        return None
    note = f"Read as numbers in {unit}."
    example = ""
    if not is_known(unit):  # it could be any word of a cell
        note = "The word after the numbers was left out."
        example = repr(next(t for t, u in zip(levels, numbers.units) if u)[:20])
    if bare:
        has = "1 cell has" if bare == 1 else f"{bare} cells have"
        note += f" {has} no unit and was taken as the others."
        note = note.replace("have no unit and was", "have no unit and were")
    return Reading(POINT, _with_units(numbers, {unit, ""}), unit, note, example)


def _with_units(numbers: Numbers, units: set[str]) -> Floats:
    fine = np.array([same_unit(own) in units for own in numbers.units], dtype=bool)
    return np.where(fine, numbers.values, np.nan)


def _dates(dates: Dates, counts: Indices) -> Reading:
    month, day = ~np.isnan(dates.month_first), ~np.isnan(dates.day_first)
    only_month, only_day = _cells(month & ~day, counts), _cells(day & ~month, counts)
    if min(only_month, only_day) > (1.0 - MOSTLY) * (only_month + only_day):
        got = f"{only_month} dates with the month first, {only_day} with the day first"
        remedy = "write all as 2024-12-31"
        rarer = month & ~day if only_month < only_day else day & ~month
        raise Mixed("of dates in one order", got, remedy, rarer & (counts > 0))
    numbers = dates.day_first if only_day > only_month else dates.month_first
    several = len(dates.forms - {"month named first"}) > 1
    note = "Dates are written in several ways." if several else ""
    if "slashed" not in dates.forms:
        return Reading(DATE, numbers, note=note)
    way = DAY_FIRST if only_day > only_month else MONTH_FIRST
    order = "day, month, year" if way == DAY_FIRST else "month, day, year"
    note = f"{note} Dates were read as {order}.".strip()
    if only_month == only_day:
        note += " The other order is possible, too."
    return Reading(way, numbers, note=note)


def _cells(which: Bools, counts: Indices) -> int:
    return int(counts[which].sum())
