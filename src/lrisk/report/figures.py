"""The pictures of the report, each a string of SVG."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..analysis.audit import AuditResult, CoefficientShift, GroupRate, LossCurve
from ..analysis.audit.numbers import counted, number, percent
from ..analysis.scores import score_histogram
from .svg import WIDTH, Frame, Scale, box, dots, element, figure, label, line, marker
from .text import clipped, count, squeezed

#: Marks of the three fits: colour is never the only difference; and names of curves.
SHAPES = {"ordinary": "circle", "robust": "square", "tail": "triangle"}
CURVES = {**{name: name for name in SHAPES}, "own": "yours"}
#: Most bars and coefficients in one picture.
MOST_GROUPS, MOST_COEFFICIENTS = 24, 16
#: Most points of either kind in the plot of all rows, and the quantiles of what is
#: expected that are inside it in any case.
MOST_POINTS, EXPECTED = 1500, (0.02, 0.98)

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, WIDTH - 20.0, 30.0, 214.0
_HEIGHT = 256.0
#: Where a plot with a legend has its axis' name, its legend and its upper end.
_NAME, _KEY, _PLOT_TOP = 12.0, 30.0, 46.0


def loss_name(result: AuditResult) -> str:
    """What a loss is, in words."""
    if result.task == "classification":
        return "log loss"
    return f"|error| of {clipped(result.target, 24)}"


def observed_expected(result: AuditResult) -> str:
    """Every row, or a sample of many: what was observed against what was expected.

    Nothing of classes, nor where values must not be told.
    """
    if result.task != "regression" or not result.observed or not result.expected:
        return ""
    points = np.array([_floats(result.expected), _floats(result.observed)])
    known = np.flatnonzero(np.all(np.isfinite(points), axis=0))
    flagged = known[result.flags[known]][:MOST_POINTS]
    others = known[~result.flags[known]]
    others = others[:: -(-len(others) // MOST_POINTS) or 1]
    values = points[:, [*others, *flagged]]
    if not values.size:
        return ""
    # Slips by powers of ten would press all other rows into a corner.
    log = bool(values.min() > 0 and values.max() > 30 * np.median(values))
    # What is expected of a row with a slip in a feature may be anything: it does not
    # rule the scale, and is drawn at the edge.
    usual = np.quantile(values[0], EXPECTED)
    low = float(min(values[1].min(), usual[0]))
    high = float(max(values[1].max(), usual[1]))
    beyond = int(np.sum((values[0] < low) | (values[0] > high)))
    x = Scale.over([low, high], _LEFT, _RIGHT, log=log)
    y = Scale.over([low, high], _BOTTOM, _TOP, log=log)
    ends = (max(x.low, y.low), min(x.high, y.high))
    name = clipped(result.target, 24)
    drawn = [
        Frame(x, y).axes(f"expected {name}", f"observed {name}"),
        line((x(ends[0]), y(ends[0])), (x(ends[1]), y(ends[1])), "link"),
        dots([(x(a), y(b)) for a, b in points[:, others].T], "dot"),
        dots([(x(a), y(b)) for a, b in points[:, flagged].T], "dot dot-flagged"),
    ]
    scale = " Both axes are logarithmic." if log else ""
    if beyond:
        scale += f" What is expected of {counted(beyond, 'row')} lies beyond the edge."
    words = (
        f"{count(len(others))} rows that are not flagged and {count(len(flagged))} "
        f"flagged ones; on the line, rows are as expected.{scale}"
    )
    return figure("fig-observed", "Observed against expected", words, _HEIGHT,
                  "".join(drawn))  # fmt: skip


def _floats(words: Sequence[str]) -> list[float]:
    """Numbers; NaN for what is none."""

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return math.nan

    return [read(text) for text in words]


def loss_curves(curves: Sequence[LossCurve], loss: str) -> str:
    """Quantile curves of the held-out losses of the fits."""
    values = [v for curve in curves for v in curve.values if math.isfinite(v)]
    middles = [c.median for c in curves if math.isfinite(c.median) and c.median > 0]
    log = bool(values) and bool(middles) and max(values) > 10 * min(middles)
    # The lowest losses, on a logarithmic axis, would take most of the picture.
    low = min(middles) / 30 if log else 0.0
    shown = [v for v in values if v >= low]
    y = Scale.over(shown, _BOTTOM, _PLOT_TOP, zero=True, log=log)
    frame = Frame(Scale(0.0, 1.0, _LEFT, _RIGHT), y)
    drawn = [
        frame.axes(
            "share of the held-out rows",
            loss,
            x_percent=True,
            name_at=_NAME,
        )
    ]
    for k, curve in enumerate(curves):
        name = curve.name if curve.name in CURVES else "other"
        levels = [v if v >= low else math.nan for v in curve.values]
        drawn.append(frame.curve(curve.levels, levels, f"line-{name}"))
        at = _LEFT + 8 + 84 * k
        key = CURVES.get(name, clipped(curve.name, 10))
        drawn.append(line((at, _KEY), (at + 20, _KEY), f"curve line-{name}"))
        drawn.append(label(at + 25, _KEY + 4, key, class_="key"))
    words = "; ".join(
        f"{clipped(c.label, 60)}: median {number(c.median)}, 95 % quantile "
        f"{number(c.q95)}, worst-case mean {number(c.superquantile)}"
        for c in curves
    )
    scale = " The loss axis is logarithmic." if log else ""
    return figure("fig-losses", "Loss by share of rows", f"{words}.{scale}", _HEIGHT,
                  "".join(drawn))  # fmt: skip


def score_bars(result: AuditResult) -> str:
    """Histogram of the scores with the threshold; counts on a logarithmic axis."""
    edges, counts = score_histogram(result.scores)
    cut = result.threshold if math.isfinite(result.threshold) else 1.0
    x = Scale(0.0, 1.0, _LEFT, _RIGHT)
    top = max(int(counts.max()), 9)
    y = Scale(0.5, 1.5 * top, _BOTTOM, _TOP, log=True)
    drawn = [
        Frame(x, y).axes("score: chance that a row does not fit", "rows (log scale)")
    ]
    for low, high, rows in zip(edges[:-1], edges[1:], counts):
        if rows:
            kind = "bar-flagged" if low >= cut - 1e-9 else "bar"
            left, height = x(low) + 0.6, y(float(rows))
            width = x(high) - x(low) - 1.2
            bar = box(left, height, width, _BOTTOM - height, kind)
            tip = element("title", f"{low:.3g} to {high:.3g}: {count(int(rows))} rows")
            place = {"data_low": f"{low:.4g}"}
            drawn.append(element("g", bar + tip, class_="score-bar", **place))
    at = x(cut)
    drawn.append(
        element(
            "line",
            id="threshold-line",
            x1=at,
            y1=_TOP - 4,
            x2=at,
            y2=_BOTTOM,
            class_="threshold",
            data_start=_LEFT,
            data_stop=_RIGHT,
        )
    )
    above = int(np.sum(result.flags))
    words = (
        f"{count(int(counts.sum()))} rows have a score; {count(above)} are flagged at "
        f"the threshold {number(cut)}. {count(int(counts[0]))} rows have a score below "
        f"{number(float(edges[1]))}."
    )
    return figure("fig-scores", "Scores and the threshold", words, _HEIGHT,
                  "".join(drawn))  # fmt: skip


def sensitivity_curve(result: AuditResult) -> str:
    """Held-out loss against the share of the worst rows left out of training."""
    points = result.sensitivity
    shares = [p.share for p in points]
    curves = {
        "mean": ("mean", [p.mean_loss for p in points], "line-ordinary", "circle"),
        "median": ("median", [p.median_loss for p in points], "line-robust", "square"),
    }
    values = [v for _, ys, _, _ in curves.values() for v in ys]
    x = Scale.over([*shares, result.contamination], _LEFT, _RIGHT, zero=True)
    frame = Frame(x, Scale.over(values, _BOTTOM, _PLOT_TOP, zero=True))
    drawn = []
    low, high = result.interval
    if math.isfinite(low) and math.isfinite(high):
        wide = x(high) - x(low)
        drawn.append(box(x(low), _PLOT_TOP, wide, _BOTTOM - _PLOT_TOP, "band"))
    drawn.append(frame.axes("share of the worst rows left out of training",
                            f"held-out {loss_name(result)}",
                            x_percent=True, name_at=_NAME))  # fmt: skip
    if math.isfinite(result.contamination):
        at = x(result.contamination)
        drawn.append(line((at, _PLOT_TOP), (at, _BOTTOM), "threshold"))
    for k, (name, ys, classes, shape) in enumerate(curves.values()):
        drawn.append(frame.curve(shares, ys, classes))
        marks = [(x(s), frame.y(v)) for s, v in zip(shares, ys) if math.isfinite(v)]
        fill = classes.replace("line", "fill")
        drawn.extend(marker(a, b, shape, fill) for a, b in marks)
        at = _LEFT + 8 + 90 * k
        drawn.append(line((at, _KEY), (at + 24, _KEY), f"curve {classes}"))
        drawn.append(marker(at + 12, _KEY, shape, fill))
        drawn.append(label(at + 30, _KEY + 4, name, class_="key"))
    drawn.append(line((_LEFT + 188, _KEY), (_LEFT + 212, _KEY), "threshold"))
    drawn.append(label(_LEFT + 218, _KEY + 4, "estimated share", class_="key"))
    listed = "; ".join(
        f"{percent(p.share)} left out: mean {number(p.mean_loss)}, median "
        f"{number(p.median_loss)}"
        for p in points
    )
    return figure("fig-sensitivity", "What leaving rows out changes", f"{listed}.",
                  _HEIGHT, "".join(drawn))  # fmt: skip


def largest_shifts(shifts: Sequence[CoefficientShift]) -> list[CoefficientShift]:
    """The coefficients that differ most between the fits, most first."""

    def spread(shift: CoefficientShift) -> float:
        values = [v for v in (shift.ordinary, shift.robust, shift.tail) if v == v]
        return max(values) - min(values) if values else 0.0

    return sorted(shifts, key=spread, reverse=True)[:MOST_COEFFICIENTS]


def coefficient_shifts(shifts: Sequence[CoefficientShift]) -> str:
    """One line for each coefficient, a mark for each fit."""
    left, top = 128.0, 34.0
    values = [v for s in shifts for v in (s.ordinary, s.robust, s.tail)]
    bottom = top + 20.0 * len(shifts)
    x = Scale.over([*values, 0.0], left, _RIGHT)
    drawn = []
    for value in x.ticks():
        kind = "axis" if value == 0 else "grid"
        drawn.append(line((x(value), top), (x(value), bottom), kind))
        shown = number(value)
        drawn.append(label(x(value), bottom + 16, shown, class_="tick middle"))
    for k, shift in enumerate(shifts):
        at = top + 20 * k + 10
        name = f"\u2068{squeezed(shift.name, left - 10)}\u2069"
        drawn.append(label(left - 8, at + 4, name, class_="tick end"))
        trio = {name: getattr(shift, name) for name in SHAPES}
        known = {name: v for name, v in trio.items() if math.isfinite(v)}
        if known:
            ends = x(min(known.values())), x(max(known.values()))
            drawn.append(line((ends[0], at), (ends[1], at), "link"))
        for fit, value in known.items():
            drawn.append(marker(x(value), at, SHAPES[fit], f"fill-{fit}"))
    for k, (name, shape) in enumerate(SHAPES.items()):
        drawn.append(marker(14 + 100 * k, 16, shape, f"fill-{name}"))
        drawn.append(label(24 + 100 * k, 20, name, class_="key"))
    middle = (left + _RIGHT) / 2
    name = "coefficient of the standardised feature"
    drawn.append(label(middle, bottom + 34, name, class_="name middle"))
    words = "; ".join(
        f"{clipped(s.name, 30)}: ordinary {number(s.ordinary)}, robust "
        f"{number(s.robust)}, tail {number(s.tail)}"
        for s in shifts
    )
    return figure("fig-coefficients", "Coefficients of the three fits", f"{words}.",
                  bottom + 42, "".join(drawn))  # fmt: skip


def group_bars(rates: Sequence[GroupRate], loss: str, *, what: str) -> str:
    """Flag rate and 95 % quantile of the loss, a bar each, by group or time."""
    # Stretches of time have long names, of which both ends matter.
    times = what == "time"
    left, second, top = (150.0, 278.0, 26.0) if times else (112.0, 262.0, 26.0)
    drawn = []
    for k, rate in enumerate(rates):
        shown = stretch(rate.group) if times else rate.group
        name = f"\u2068{squeezed(shown, left - 10, middle=times)}\u2069"
        drawn.append(label(left - 8, top + 20 * k + 14, name, class_="tick end"))
    shares = [rate.flag_rate for rate in rates]
    x = Scale.over(shares, left, second - 50, zero=True)
    drawn.append(label(left, top - 12, "flagged", class_="name"))
    drawn.append(_bars(x, top, shares, map(percent, shares), "bar-flagged"))
    tails = [rate.q95_loss for rate in rates]
    x = Scale.over(tails, second, _RIGHT - 26, zero=True)
    drawn.append(label(second, top - 12, "loss at 95 %", class_="name"))
    drawn.append(_bars(x, top, tails, map(number, tails), "bar"))
    words = "; ".join(
        f"{clipped(r.group, 30)}: {count(r.rows)} rows, {percent(r.flag_rate)} "
        f"flagged, 95 % quantile {number(r.q95_loss)}"
        for r in rates
    )
    title = f"Flags and tail by {what}"
    return figure(f"fig-{what}", title, f"{words}. Loss: {loss}.",
                  top + 20 * len(rates) + 8, "".join(drawn))  # fmt: skip


def stretch(name: str) -> str:
    """A stretch of time with what its ends share said once.

    Examples
    --------
    >>> stretch("2024-01-21 to 2024-02-09"), stretch("2024-12-30 to 2025-01-09")
    ('2024-01-21–02-09', '2024-12-30–2025-01-09')
    """
    first, _, last = name.partition(" to ")
    if not last:
        return name
    alike = next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), 0)
    cut = max(first.rfind(mark, 0, alike) for mark in "- ") + 1
    return f"{first}–{last[cut:]}"


def _bars(
    x: Scale, top: float, values: Sequence[float], shown: Iterable[str], kind: str
) -> str:
    """Bars one below the other, each with its value at its end."""
    start = x(0.0)
    drawn = [line((start, top), (start, top + 20 * len(values)), "axis")]
    for k, (value, words) in enumerate(zip(values, shown)):
        at = top + 20 * k
        end = x(value) if math.isfinite(value) else start
        drawn.append(box(start, at + 4, end - start, 13, kind))
        drawn.append(label(end + 4, at + 14, words, class_="tick"))
    return "".join(drawn)
