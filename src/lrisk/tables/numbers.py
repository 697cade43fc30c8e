"""Numbers as people write them: 1,234.5 and 1.234,5, $12, (3), 12 %, 250 kg."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import Floats, Indices

_CURRENCIES = (
    "USD EUR GBP JPY CHF CAD AUD NZD SEK NOK DKK CNY INR BRL MXN ZAR KRW PLN CZK HUF"
)
_CURRENCY = rf"[$€£¥₹]|(?:{'|'.join(_CURRENCIES.split())})\b"
#: Digits with separators; what they mean depends on the column.
#: Blanks between thousands: an ordinary one, those that break no line, a thin one.
_BLANKS = r" \u00a0\u202f\u2009"
_BODY = rf"\d(?:[\d.,'’{_BLANKS}]*\d)?[.,]?|[.,]\d+"
_UNIT = r"[%‰]|°[A-Za-z]?|[^\W\d_](?:[^\W\d_]|[/°·* ](?=[^\W\d_])){0,14}[23²³]?\.?"
_CELL = re.compile(
    rf"(?P<debit>\()?(?P<sign>[+\-−]?)\s*(?P<before>{_CURRENCY})?\s*"
    rf"(?P<inner>[+\-−]?)\s*(?P<body>{_BODY})\s*(?P<after>{_CURRENCY}|{_UNIT})?"
    r"(?P<behind>[-−])?(?(debit)\))"
)
#: Digits in groups of three, by what stands before decimals.
_GROUPED = {
    ".": re.compile(rf"[1-9]\d{{0,2}}([,'’{_BLANKS}])\d{{3}}(?:\1\d{{3}})*(?:\.\d*)?"),
    ",": re.compile(rf"[1-9]\d{{0,2}}([.'’{_BLANKS}])\d{{3}}(?:\1\d{{3}})*(?:,\d*)?"),
}
_BARE = {".": re.compile(r"\d+\.?\d*|\.\d+"), ",": re.compile(r"\d+,?\d*|,\d+")}
#: What stands after ranks, which are words rather than quantities.
_RANKS = {"st", "nd", "rd", "th"}
#: Digits from which on a minus behind a number is a sign: "2-" is a mark at school.
FEWEST_BEFORE_MINUS = 3
_UNITS = (
    "% ‰ $ € £ ¥ ₹ kg g mg t lb oz km m cm mm mi mile ft feet foot in inch yd l ml cl "
    "dl gal s sec second ms min minute h hr hour d day week month yr year ° °c °f C F "
    "K k M W V kw mw wh kwh kv hz khz mhz ghz kb mb gb tb bar psi pa kpa m2 m² km2 km² "
    "ft2 ft² sqft sqm m3 m³ km/h kmh mph m/s bn"
)
#: Letters after numbers that multiply them: a number without one is another.
MULTIPLIERS = {"k", "K", "M", "bn"}
#: Units of which two in one column are certainly two units. Other words after numbers,
#: as in house numbers ("12a", "12b"), may mean anything.
KNOWN_UNITS = {*_UNITS.split(), *_CURRENCIES.lower().split()}


class Numbers(NamedTuple):
    """Numbers of some texts, NaN where one cannot be read.

    Attributes
    ----------
    values : array of shape (n,)
    units : list of str
        Of each text, as it was written; empty where there is none.
    grouped : bool
        Whether separators of thousands were seen.
    """

    values: Floats
    units: list[str]
    grouped: bool


def plain_number(text: str) -> float:
    """A finite number as programs write it, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) and "_" not in text else np.nan


def read_numbers(texts: Sequence[str], decimal: str) -> Numbers:
    r"""Read texts in which `decimal`, a point or a comma, stands before decimals.

    >>> read_numbers(["1,234.5", "($3)", "250 kg"], ".")
    Numbers(values=array([1234.5,   -3. ,  250. ]), units=['', '$', 'kg'], grouped=True)
    >>> read_numbers(["12.50-", "1\u00a0234", "--5"], ".").values
    array([ -12.5, 1234. ,    nan])
    """
    values, units, grouped = np.full(len(texts), np.nan), [""] * len(texts), False
    for i, text in enumerate(texts):
        if decimal == "." or "." not in text:
            values[i] = plain_number(text)
            if values[i] == values[i]:
                continue
        match = _CELL.fullmatch(text.strip())
        if match is None:
            continue
        body, after = match["body"], match["after"] or ""
        if after in _RANKS or (match["before"] and after):
            continue
        if _GROUPED[decimal].fullmatch(body):
            grouped = True
        elif not _BARE[decimal].fullmatch(body):
            continue
        digits = "".join(c for c in body if c.isdigit() or c == decimal)
        signs = match["sign"] + match["inner"] + (match["behind"] or "")
        digits_only = sum(map(str.isdigit, body))
        if len(signs) > 1 or (match["behind"] and digits_only < FEWEST_BEFORE_MINUS):
            continue
        negative = bool(match["debit"]) or signs in ("-", "−")
        values[i] = float(digits.replace(",", ".")) * (-1.0 if negative else 1.0)
        units[i] = match["before"] or after
    return Numbers(values, units, grouped)


def same_unit(unit: str) -> str:
    """One spelling of a unit: without plural, dot and capitals that mean nothing.

    >>> [same_unit(unit) for unit in ("kg", "Kgs.", "mW", "MW", "M", "m", "°c")]
    ['kg', 'kg', 'mw', 'Mw', 'M', 'm', '°C']
    """
    bare = unit.rstrip(".")
    if len(bare) == 1:
        return bare
    if bare.startswith("°"):
        return bare.upper()
    bare = bare[:-1] if len(bare) > 2 and bare[-1:] in "sS" else bare
    first = bare[0] if bare[:1] == "M" else bare[:1].lower()
    return first + bare[1:].lower()


def is_known(unit: str) -> bool:
    """Whether it is a unit; letters alone, as in seats and sizes, by their case."""
    return (unit if len(unit) == 1 else unit.lower()) in KNOWN_UNITS


def count_units(numbers: Numbers, counts: Indices) -> Counter[str]:
    """Cells by unit, of texts that were read; `counts` are the cells of each text."""
    found: Counter[str] = Counter()
    for unit, value, count in zip(numbers.units, numbers.values, counts.tolist()):
        if value == value:
            found[same_unit(unit)] += count
    return found
