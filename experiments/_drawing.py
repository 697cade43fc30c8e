"""Figures: one style, colours that every kind of eye tells apart."""

from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib import ticker

#: Okabe and Ito's palette without yellow, which is too faint on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
#: Of the certified solver, beside all methods.
CERTIFIED = "#7f7f7f"
#: Beside the colour, so that lines differ in print as well.
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

plt.rcParams.update(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "legend.frameon": False,
        "figure.dpi": 100,
        "svg.fonttype": "path",
    }
)


def style(index: int) -> dict[str, Any]:
    """Colour and dash of the index-th method."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def grid(rows: int, columns: int, *, width: float = 2.6, height: float = 2.1) -> Any:
    """A figure with rows × columns of axes, always as a 2-d array."""
    return plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        squeeze=False,
        layout="constrained",
    )


def logarithmic(ax: Any) -> None:
    """A logarithmic x-axis with plain numbers at 1, 2 and 5."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def shared_legend(figure: Any, axes: Any) -> None:
    """One legend below, of the labels of all axes."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            found.setdefault(label, handle)
    figure.legend(
        found.values(),
        found.keys(),
        loc="outside lower center",
        ncols=min(6, len(found)),
    )
