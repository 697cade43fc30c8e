"""Suboptimality curves: their shape in words, and their drawing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments._drawing import CERTIFIED, grid, shared_legend, style

#: A curve that ends above this exponent has not converged; a curve falls linearly if
#: a line explains this share of its fall.
RESOLVED, STRAIGHT = -8.0, 0.9
#: Decades that a curve must gain in the second half of its epochs, or it stalls; an
#: error that falls like 1/t gains 0.3.
GAIN = 0.25
#: Kinds of curves: those that fall linearly (to the end, or as far as was seen), those
#: that get below the resolved error in another way, and those that do not.
LINEAR = ("linear", "linear so far")
SUBLINEAR = ("still falls", "stalls")
KINDS = (*LINEAR, "uneven", *SUBLINEAR)
#: The kinds in words, for the pages.
RULES = (
    f"A curve is the median over the seeds. *Linear*: it ends below 1e{RESOLVED:.0f} "
    "and a straight line (suboptimality on a logarithmic scale over epochs) explains "
    f"{STRAIGHT:.0%} of its fall; *uneven*: it ends there, but not so. Of those that "
    f"end above, *stalls*: gains less than {GAIN} decades in the second half of its "
    "epochs (an error like 1/t gains 0.3); *linear so far*: gains more, a straight "
    f"line explains {STRAIGHT:.0%} of it after the first eighth of the epochs, and "
    "better than a power of the epoch does, so it falls linearly but is not yet at "
    f"1e{RESOLVED:.0f}; *still falls*: all others. *Sublinear* are those that stall or "
    "still fall. The thresholds were set after looking at quick runs (two seeds) of "
    "this experiment, not before."
)


class Shape(NamedTuple):
    """How a curve falls: one of KINDS, and decades per epoch where it is a line."""

    kind: str
    rate: float
    line: float
    final: float


def median(curves: Sequence[Sequence[float]]) -> Any:
    """Median over the seeds at each epoch."""
    return np.median(np.asarray(curves, dtype=float), axis=0)


def final(curves: Sequence[Sequence[float]]) -> float:
    """Median over the seeds at the end."""
    return float(median(curves)[-1])


def shape(curves: Sequence[Sequence[float]]) -> Shape:
    """Fit a line (a linear rate) to the part that falls.

    That part begins after an eighth of the epochs, when the start is forgotten, and
    ends half a decade above the lowest point; where it is too short it begins at once.
    A curve that is not resolved is judged to its last epoch, beside a power of t, which
    any short part of would look straight.
    """
    middle = median(curves)
    epochs = len(middle) - 1
    end = int(np.argmax(middle <= middle.min() + 0.5))
    begin = epochs // 8 if end - epochs // 8 >= 5 else 0
    t, part = np.arange(begin, end + 1), middle[begin : end + 1]
    rate, line = _fit(t, part)
    if middle[-1] <= RESOLVED:
        kind = "linear" if line >= STRAIGHT else "uneven"
    elif middle[epochs // 2] - middle[-1] < GAIN:
        kind = "stalls"
    else:
        t, part = np.arange(epochs // 8, epochs + 1), middle[epochs // 8 :]
        rate, line = _fit(t, part)
        power = _fit(np.log1p(t), part)[1]
        kind = "linear so far" if line >= max(STRAIGHT, power) else "still falls"
    return Shape(kind, -rate, line, float(middle[-1]))


def _fit(t: Any, values: Any) -> tuple[float, float]:
    """Slope of the line of least squares and its R²; a line through two points fits."""
    if len(t) < 3:
        return float((values[-1] - values[0]) / max(t[-1] - t[0], 1e-12)), 1.0
    slope, start = np.polyfit(t, values, 1)
    spread = np.sum((values - values.mean()) ** 2)
    left = np.sum((values - start - slope * t) ** 2)
    return float(slope), float(1.0 - left / spread) if spread > 0 else 1.0


def panels(rows: Sequence[str], columns: Sequence[str], x: str, y: str) -> Any:
    """Axes with the names of the columns above and those of the rows at the left."""
    figure, axes = grid(len(rows), len(columns), width=2.3, height=1.8)
    for ax, name in zip(axes[0], columns):
        ax.set_title(name)
    for ax, name in zip(axes[:, 0], rows):
        ax.set_ylabel(f"{name}\n{y}")
    for ax in axes[-1]:
        ax.set_xlabel(x)
    return figure, axes


def _shown(length: int, against: str) -> Any:
    """Epochs that are drawn: some two dozen are enough to see and keep files small.

    The start cannot be drawn on a logarithmic scale of time.
    """
    step = max(1, length // 22)
    places = np.arange(length - 1, -1, -step)[::-1]
    return places[places > 0] if against == "seconds" else np.r_[0, places[places > 0]]


def draw(
    ax: Any, found: dict[str, Any], certified: Any = None, *, against: str = "passes"
) -> None:
    """All seeds of every method, translucent, and the certified solver's curve."""
    for index, (name, runs) in enumerate(found.items()):
        shown = _shown(len(runs["curves"][0]), against)
        spent = runs[against] * np.arange(len(runs["curves"][0]))
        for number, curve in enumerate(runs["curves"]):
            ax.plot(
                spent[shown],
                np.asarray(curve)[shown],
                label=name if number == 0 else None,
                lw=1.1,
                alpha=0.5,
                **style(index),
            )
    if certified is not None:
        ax.plot(
            certified[against],
            certified["curve"],
            label="certified",
            lw=1.3,
            marker=".",
            markersize=3,
            color=CERTIFIED,
        )


def timed(figure: Any, axes: Any, records: Sequence[tuple[Any, Any]]) -> Any:
    """Curves over CPU time, on one logarithmic scale: pairs of axes and record."""
    ends = []
    for ax, record in records:
        draw(ax, record["methods"], record["certified"], against="seconds")
        seconds = record["certified"]["seconds"]
        ends += [seconds[0], seconds[-1]]
        for runs in record["methods"].values():
            last = len(runs["curves"][0]) - 1
            ends += [min(2, last) * runs["seconds"], last * runs["seconds"]]
    for ax, _ in records:
        ax.set(xscale="log", xlim=(0.8 * min(ends), 1.25 * max(ends)))
        ax.xaxis.set_minor_formatter("")
    return finish(figure, axes)


def finish(figure: Any, axes: Any) -> Any:
    """One legend for all panels, its lines opaque."""
    shared_legend(figure, axes)
    for handle in figure.legends[0].legend_handles:
        handle.set_alpha(1.0)
    return figure
