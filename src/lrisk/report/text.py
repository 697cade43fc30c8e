"""Words and numbers as the report shows them: short, printable, of bounded size."""

import html
import json
import unicodedata
from typing import Any

#: Marks that reorder the text round them, even text they do not belong to.
_REORDERING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def printable(text: object, limit: int = 200) -> str:
    r"""The text on one line, cut to `limit` characters, with nothing invisible in it.

    Control characters are shown as their pictures (␀), marks that change the reading
    direction by their code, and what is no character at all as �.

    Examples
    --------
    >>> printable("a\x00b\u202ec"), printable("abcdef", 4)
    ('a␀b[U+202E]c', 'abc…')
    """
    words = str(text)
    # The rest would be cut anyhow; a cell may hold megabytes.
    words = words if len(words) <= limit else words[: max(limit - 1, 0)] + "…"
    return "".join(_shown(character) for character in words)


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\t\n\r":
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    if character in _REORDERING:
        return f"[U+{code:04X}]"
    if 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF):
        return "�"
    return " " if character in "\u2028\u2029" else character


def clipped(text: object, width: int) -> str:
    """The text cut to `width` columns, where wide letters and emoji take two.

    Examples
    --------
    >>> clipped("temperature", 8), clipped("温度温度", 5)
    ('tempera…', '温度…')
    """
    words = printable(text, 4 * width)
    if sum(map(_columns, words)) <= width:
        return words
    kept, used = "", 1
    for character in words:
        used += _columns(character)
        if used > width:
            break
        kept += character
    return kept.rstrip() + "…"


#: Widths of characters in units of the type's size, in a wide sans-serif: others are
#: taken as narrower than they may be in no common one.
_NARROW, _WIDE = "iljtfrI.,:;|!'()[] -", "mwMW@%=+<>~&"


def drawn_width(text: str, size: float = 11.0) -> float:
    """About how wide a line of text is at most, in units of the picture."""
    return size * sum(map(_ems, text))


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.42
    if character in _WIDE:
        return 1.0
    if _columns(character) != 1:
        return 1.1 * _columns(character)
    return 0.78 if character.isupper() else 0.65


def squeezed(text: object, room: float, *, middle: bool = False) -> str:
    """The text cut until it can be drawn in `room`: at its end, or in its middle.

    Examples
    --------
    >>> squeezed("temperature", 50), squeezed("2024-01-01–2025-02-02", 90, middle=True)
    ('temper…', '2024-0…-02-02')
    """
    words = printable(text, 200)
    kept = len(words)
    shown = words
    while drawn_width(shown) > room and kept > 1:
        kept -= 1
        head = (kept + 1) // 2 if middle else kept
        shown = f"{words[:head].rstrip()}…{words[len(words) - (kept - head) :]}"
    return shown


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def size_in_html(text: str) -> int:
    """Bytes that the text takes once it is escaped."""
    return len(html.escape(text).encode("utf-8", "replace"))


def fitted(text: object, limit: int, room: int) -> str:
    """`printable` text, cut further until it takes no more than `room` bytes of HTML.

    Examples
    --------
    >>> fitted("a<b<c", 80, 100), fitted("<<<<<<<<", 80, 20)
    ('a<b<c', '<<<<…')
    """
    words = printable(text, limit)
    while (size := size_in_html(words)) > room and limit > 1:
        limit = min(limit - 1, max(limit * room // size, 1))
        words = printable(text, limit)
    return words


def count(value: int) -> str:
    r"""A count with thin spaces between thousands.

    Examples
    --------
    >>> count(1234567) == "1\u202f234\u202f567"
    True
    """
    return f"{value:,}".replace(",", "\u202f")


def embedded_json(value: Any) -> str:
    r"""JSON that may stand in a script element: nothing in it can close the element.

    Examples
    --------
    >>> embedded_json({"a": "</script>&"})
    '{"a":"\\u003c/script\\u003e\\u0026"}'
    """
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain
