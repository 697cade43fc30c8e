"""Drawing: SVG elements, axes and scales; nothing here knows what an audit is.

Colours and type are classes of the page's style sheet, so that a figure follows the
theme; a strict Content-Security-Policy forbids ``style`` attributes anyhow.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.audit.numbers import number

#: Width of every figure in its own units; the page scales it to a column or a phone.
WIDTH = 400


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; ``class_`` and underscores stand for what Python cannot spell.

    `content` is markup and taken as it is; attributes are escaped.

    Examples
    --------
    >>> element("text", "a", class_="tick", font_size=9)
    '<text class="tick" font-size="9">a</text>'
    """
    parts = [name]
    for key, value in attributes.items():
        shown = f"{value:.1f}" if isinstance(value, float) else str(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{html.escape(shown)}"')
    opening = " ".join(parts)
    return f"<{opening}>{content}</{name}>" if content else f"<{opening}/>"


def label(x: float, y: float, words: str, **attributes: object) -> str:
    """Text, escaped."""
    return element("text", html.escape(words), x=x, y=y, **attributes)


def figure(
    identity: str, title: str, description: str, height: float, body: str
) -> str:
    """A picture with its alternative in words."""
    names = f"{identity}-title {identity}-desc"
    head = element("title", html.escape(title), id=f"{identity}-title")
    words = element("desc", html.escape(description), id=f"{identity}-desc")
    return element(
        "svg",
        head + words + body,
        role="img",
        viewBox=f"0 0 {WIDTH} {height:g}",
        aria_labelledby=names,
    )


@dataclass(frozen=True)
class Scale:
    """Maps values between `low` and `high` to pixels, linearly or by logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    @classmethod
    def over(
        cls,
        values: Sequence[float],
        start: float,
        stop: float,
        *,
        zero: bool = False,
        log: bool = False,
    ) -> "Scale":
        """A scale that holds all finite values, with `zero` if asked for."""
        known = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
        if not known:
            return cls(0.1 if log else 0.0, 1.0, start, stop, log)
        low, high = min(known), max(known)
        if log:
            # What lies further below than that is as good as nothing.
            low = max(low, 1e-4 * high)
            spread = 1.1 if high > low else 2.0
            return cls(low / spread, high * spread, start, stop, log)
        low = min(low, 0.0) if zero else low
        high = max(high, 0.0) if zero else high
        if high == low:
            wide = abs(high) or 1.0
            low, high = (low - wide, high + wide) if not zero else (0.0, wide)
        room = 0.04 * (high - low)
        return cls(low if zero and low == 0.0 else low - room, high + room, start, stop)

    def __call__(self, value: float) -> float:
        """Pixels of a value; what lies outside is put on the edge."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the scale."""
        if self.log:
            return self._powers(about)
        raw = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(raw))
        step = min(s for s in (1, 2, 2.5, 5, 10) if s * power >= 0.999 * raw) * power
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [k * step for k in range(first, last + 1)]

    def _powers(self, about: int) -> list[float]:
        low, high = math.log10(self.low), math.log10(self.high)
        exponents = range(math.floor(low), math.ceil(high) + 1)
        for digits in ((1,), (1, 3), (1, 2, 5), tuple(range(1, 10))):
            found = [d * 10.0**e for e in exponents for d in digits]
            found = [v for v in found if self.low <= v <= self.high]
            if len(found) >= 3:
                break
        skip = max(1, math.ceil(len(found) / about))
        return found[::skip]


@dataclass(frozen=True)
class Frame:
    """A plot's axes: two scales, grid, ticks and names."""

    x: Scale
    y: Scale

    def axes(
        self,
        x_name: str,
        y_name: str,
        *,
        x_percent: bool = False,
        name_at: float | None = None,
    ) -> str:
        """Grid, tick labels and axis names."""
        left, right, bottom, top = self.x.start, self.x.stop, self.y.start, self.y.stop
        drawn = []
        for value in self.y.ticks():
            at = self.y(value)
            drawn.append(line((left, at), (right, at), "grid"))
            drawn.append(label(left - 5, at + 4, number(value), class_="tick end"))
        for value in self.x.ticks():
            shown = f"{number(100 * value)} %" if x_percent else number(value)
            at = self.x(value)
            drawn.append(line((at, bottom), (at, bottom + 4), "axis"))
            drawn.append(label(at, bottom + 17, shown, class_="tick middle"))
        drawn.append(line((left, bottom), (right, bottom), "axis"))
        middle = (left + right) / 2
        drawn.append(label(middle, bottom + 34, x_name, class_="name middle"))
        # Above the axis and not along it: turned text is hard to read.
        drawn.append(
            label(4.0, top - 10 if name_at is None else name_at, y_name, class_="name")
        )
        return "".join(drawn)

    def curve(self, xs: Sequence[float], ys: Sequence[float], classes: str) -> str:
        """A line through the finite points."""
        points = [
            f"{self.x(x):.1f},{self.y(y):.1f}"
            for x, y in zip(xs, ys)
            if math.isfinite(x) and math.isfinite(y)
        ]
        return element("polyline", points=" ".join(points), class_=f"curve {classes}")


def line(start: tuple[float, float], stop: tuple[float, float], classes: str) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = start, stop
    return element(
        "line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=classes
    )


def box(x: float, y: float, width: float, height: float, classes: str) -> str:
    """A filled rectangle."""
    return element(
        "rect",
        x=float(x),
        y=float(y),
        width=float(max(width, 0.0)),
        height=float(max(height, 0.0)),
        class_=classes,
    )


def dots(points: Sequence[tuple[float, float]], classes: str) -> str:
    """Many small round dots as one element: lines of no length, with round ends."""
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
    return element("path", d=path, class_=classes) if path else ""


def marker(x: float, y: float, shape: str, classes: str) -> str:
    """A mark told apart by its shape as well as by its colour."""
    if shape == "circle":
        return element("circle", cx=float(x), cy=float(y), r=4.2, class_=classes)
    if shape == "square":
        return box(x - 3.8, y - 3.8, 7.6, 7.6, classes)
    points = f"{x:.1f},{y - 5:.1f} {x + 4.8:.1f},{y + 4:.1f} {x - 4.8:.1f},{y + 4:.1f}"
    return element("polygon", points=points, class_=classes)
