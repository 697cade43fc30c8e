"""Dates as people write them, as days since 1970."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, Floats

_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?:Z|UTC|(?P<sign>[+-])(?P<h>\d{2}):?(?P<m>\d{2}))?",
    re.IGNORECASE,
)
_YEAR = r"(?P<year>\d{4}|\d{2})"
#: Ways to write a day. In the slashed one, `a` and `b` are day and month in an order
#: that only the column can tell.
_FORMS = {
    "iso": re.compile(
        r"(?P<year>\d{4})(?P<s>[-/.])(?P<month>\d{1,2})(?:(?P=s)(?P<day>\d{1,2}))?"
    ),
    "dotted": re.compile(rf"(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{_YEAR}"),
    "slashed": re.compile(rf"(?P<a>\d{{1,2}})(?P<s>[/-])(?P<b>\d{{1,2}})(?P=s){_YEAR}"),
    "named": re.compile(
        rf"(?P<day>\d{{1,2}})[ .-]*(?P<month>[A-Za-z]{{3,9}})[ .,-]*{_YEAR}"
    ),
    "month named first": re.compile(
        r"(?P<month>[A-Za-z]{3,9})[ .]*(?P<day>\d{1,2})(?:st|nd|rd|th)?[ ,]+"
        r"(?P<year>\d{4})"
    ),
}
_NAMES = (
    "january february march april may june july august september october november "
    "december"
)
_MONTHS = _NAMES.split()
#: Years of two digits are those from 1970 to 2069.
_CENTURY = 70


class Dates(NamedTuple):
    """Days since 1970 of some texts, NaN where one cannot be read.

    Attributes
    ----------
    month_first, day_first : array of shape (n,)
        They differ only where digits leave the order open, as in 03/02/2020.
    forms : set of str
        Ways of writing that were seen.
    """

    month_first: Floats
    day_first: Floats
    forms: set[str]


def days(raw: AnyArray) -> Floats:
    """Days since 1970 of dates, NaN where there is none."""
    seconds = raw.astype("datetime64[s]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86400.0)


def read_dates(texts: Sequence[str]) -> Dates:
    """Read dates with or without a clock.

    >>> read_dates(["1970-01-02", "3 Jan 1970", "01/02/1970"]).day_first
    array([ 1.,  2., 31.])
    """
    read = [_both_orders(text.strip()) for text in texts]
    month_first = np.array([one[0] for one in read], dtype=np.float64)
    day_first = np.array([one[1] for one in read], dtype=np.float64)
    return Dates(month_first, day_first, {one[2] for one in read if one[2]})


def _both_orders(text: str) -> tuple[float, float, str]:
    """Days with the month first and with the day first, and how they are written."""
    for form, pattern in _FORMS.items():
        match = pattern.match(text)
        if match is None:
            continue
        time = _time_of_day(text[match.end() :])
        year = match["year"]
        if form == "slashed":
            month_first = _day(year, match["a"], match["b"]) + time
            day_first = _day(year, match["b"], match["a"]) + time
        else:
            day, month = match["day"] or "1", _month(match["month"])
            month_first = day_first = _day(year, month, day) + time
        if not np.isnan([month_first, day_first]).all():
            return month_first, day_first, form
    return np.nan, np.nan, ""


def _month(word: str) -> str:
    """A month's number, of its English name in full or cut; 0 for other words."""
    if word.isdigit():
        return word
    word = "sep" if word.lower() == "sept" else word.lower()
    names = [m for m in _MONTHS if m == word or (len(word) == 3 and m[:3] == word)]
    return str(_MONTHS.index(names[0]) + 1) if names else "0"


def _time_of_day(text: str) -> float:
    """The part of the day that a clock shows, 0 without one, NaN if unreadable."""
    if not text:
        return 0.0
    clock = _CLOCK.fullmatch(text[1:].strip()) if text[0] in "T ," else None
    if clock is None:
        return np.nan
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"][0] in "pP" else 0)
    minute, second = int(clock["minute"]), int(clock["second"] or 0)
    if hour > 24 or minute > 59 or second > 60:
        return np.nan
    east = int(clock["h"] or 0) * 60 + int(clock["m"] or 0)
    east = -east if clock["sign"] == "-" else east
    return (hour * 3600 + (minute - east) * 60 + second) / 86400.0


def _day(year: str, month: str, day: str) -> float:
    if len(year) == 2:
        year = f"{'19' if int(year) >= _CENTURY else '20'}{year}"
    try:
        moment = np.datetime64(f"{year}-{month:0>2}-{day:0>2}", "D")
    except ValueError:
        return np.nan
    return float(moment.astype(np.int64))
