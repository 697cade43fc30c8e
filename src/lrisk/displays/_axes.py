"""Where a display draws, and in which colours."""

from typing import Any

from .._extras import optional

#: Okabe and Ito's blue, vermilion and green: told apart by every kind of eye.
BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"


def axes_or_new(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return optional("matplotlib.pyplot", "lrisk.displays").subplots()[1]
