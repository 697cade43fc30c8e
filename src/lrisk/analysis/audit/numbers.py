"""Numbers, shares and counts as every output of an audit shows them."""

import math

#: Sizes from which on, and below which, a power of ten is written.
LARGE, SMALL = 1e7, 1e-4


def number(value: float | None, digits: int = 3) -> str:
    """A number with about `digits` digits, a true minus sign, and "–" for none.

    Examples
    --------
    >>> number(-0.012345), number(123456.0), number(float("nan")), number(2.50)
    ('−0.0123', '123456', '–', '2.5')
    >>> number(8.77e-6), number(1.5e9)
    ('8.77e−6', '1.5e9')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size and not SMALL <= size < LARGE:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        shown = f"{mantissa}e{int(exponent)}"
    else:
        places = digits - 1 - (math.floor(math.log10(size)) if size else 0)
        shown = f"{value:.{max(places, 0)}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return shown.replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share in per cent, of about `digits` digits.

    Examples
    --------
    >>> [percent(v) for v in (0.0512, 0.123, 0.00001, 0.0, 1.0)]
    ['5.1 %', '12 %', '< 0.01 %', '0 %', '100 %']
    """
    if math.isnan(share):
        return "–"
    if 0.0 < share < 1e-4:
        return "< 0.01 %"
    return f"{number(100.0 * share, digits)} %"


def counted(count: int, one: str, many: str = "") -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row"), counted(2, "row is", "rows are")
    ('1 row', '2 rows', '2 rows are')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"
