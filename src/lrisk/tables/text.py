"""Cells of text as numbers and dates, in the ways that people write them."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, Floats

_CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(rf"^\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}{_CLOCK}$")
_DOTTED = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})$")
_SLASHED = re.compile(r"^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$")
_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})$")
_THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
_COMMA = re.compile(r"^[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+$")
_CURRENCY = re.compile(r"^([+-]?)\s*[$€£¥]\s*(?=[\d.,])|\s*[$€£¥]$")

Parse = Callable[[str], float]


class Reading(NamedTuple):
    """A way to read a column: "numeric" or "date", its numbers, a note of the way."""

    kind: str
    numbers: Floats
    note: str


def readings(levels: Sequence[str]) -> list[Reading]:
    """Every way to read the levels, NaN where one cannot be read; plain ones first."""
    ways: list[tuple[str, Parse, str]] = [
        ("numeric", plain_number, ""),
        ("numeric", _with_thousands, "Commas were read as separators of thousands."),
        ("numeric", _with_comma, "Commas were read as decimal points."),
        ("date", _date, ""),
        ("date", _slashed(True), "Dates were read as month, day, year."),
        ("date", _slashed(False), "Dates were read as day, month, year."),
    ]
    found = []
    for kind, parse, note in ways:
        numbers = np.array([parse(level) for level in levels], dtype=np.float64)
        found.append(Reading(kind, numbers, note))
    return found


def days(raw: AnyArray) -> Floats:
    """Days since 1970 of dates, NaN where there is none."""
    seconds = raw.astype("datetime64[s]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86400.0)


def plain_number(text: str) -> float:
    """A finite number as programs write it, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def _with_thousands(text: str) -> float:
    bare = _CURRENCY.sub(r"\1", text.strip())
    if _THOUSANDS.match(bare):
        bare = bare.replace(",", "")
    return plain_number(bare)


def _with_comma(text: str) -> float:
    bare = _CURRENCY.sub(r"\1", text.strip())
    if _COMMA.match(bare):
        return plain_number(bare.replace(".", "").replace(",", "."))
    return plain_number(bare) if "." not in bare else np.nan


def _date(text: str) -> float:
    """Year first (ISO 8601, with a clock and an offset from UTC or not), or dotted."""
    text = text.strip()
    dotted = _DOTTED.match(text)
    if dotted:
        day, month, year = dotted.groups()
        return _moment(year, month, day)
    if not _DATE.match(text):
        return np.nan
    head, _, clock = text.replace("/", "-").replace("T", " ").rstrip("Z").partition(" ")
    year, month, day = head.split("-")
    offset = _OFFSET.search(clock)
    if offset is None:
        return _moment(year, month, day, clock)
    sign, hours, minutes = offset.groups()
    east = (int(hours) + int(minutes) / 60.0) / 24.0 * (-1.0 if sign == "-" else 1.0)
    return _moment(year, month, day, clock[: offset.start()]) - east


def _slashed(month_first: bool) -> Parse:
    def parse(text: str) -> float:
        match = _SLASHED.match(text.strip())
        if match is None:
            return np.nan
        first, second, year = match.groups()
        month, day = (first, second) if month_first else (second, first)
        return _moment(year, month, day)

    return parse


def _moment(year: str, month: str, day: str, clock: str = "") -> float:
    padded = f"{year}-{month:0>2}-{day:0>2}"
    try:
        moment = np.datetime64(padded + (f"T{clock:0>5}" if clock else ""), "s")
    except ValueError:
        return np.nan
    return float(days(np.array([moment]))[0])
