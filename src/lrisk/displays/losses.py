"""The losses of a trimmed fit, and the cut between what is kept and left out."""

from typing import Any, Self

import numpy as np

from .._typing import Bools, Floats
from ..analysis import LossSummary, summarise_losses
from ..analysis.losses import trimmed_attributes
from ._axes import axes_or_new


class LossDisplay:
    """Draw the losses of kept rows and of those left out, with the cut between them.

    A wide valley at the cut says that the rows left out are a group of their own; a cut
    through the middle of a hump says that good rows went with them, or wrong ones
    stayed.

    Parameters
    ----------
    summary : LossSummary
        Of `lrisk.analysis.summarise_losses`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.summarise_losses : The numbers alone.
    LossQuantileDisplay : Losses of several models in one picture.
    OutlierDisplay : For robust models, which choose the cut themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RiskRegressor
    >>> from lrisk.analysis import summarise_losses
    >>> from lrisk.displays import LossDisplay
    >>> X = np.arange(20.0)[:, None]
    >>> y = 2 * X[:, 0] + np.sin(X[:, 0])
    >>> y[::5] += 50.0
    >>> model = RiskRegressor("subquantile:0.8", random_state=0).fit(X, y)
    >>> display = LossDisplay(summarise_losses(model.losses_, model.inlier_mask_))
    >>> display.summary.n_left_out
    4

    `LossDisplay.from_estimator(model)` draws it.
    """

    def __init__(self, summary: LossSummary) -> None:
        self.summary = summary

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_bins: int = 40, log: bool = True, ax: Any = None
    ) -> Self:
        """Draw the losses of a fitted estimator's own training rows."""
        losses, mask = trimmed_attributes(estimator)
        return cls.from_losses(losses, mask, n_bins=n_bins, log=log, ax=ax)

    @classmethod
    def from_losses(
        cls,
        losses: Floats,
        inlier_mask: Bools,
        *,
        n_bins: int = 40,
        log: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw given losses; see `lrisk.analysis.summarise_losses`."""
        summary = summarise_losses(losses, inlier_mask, n_bins=n_bins, log=log)
        return cls(summary).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        ax = axes_or_new(ax)
        summary = self.summary
        edges, width = summary.edges[:-1], np.diff(summary.edges)
        groups = [
            (summary.kept, summary.n_kept, "kept", "tab:blue"),
            (summary.left_out, summary.n_left_out, "left out", "tab:orange"),
        ]
        below = np.zeros_like(summary.kept)
        for counts, total, name, colour in groups:
            label = f"{name} ({total})"
            ax.bar(edges, counts, width, below, align="edge", color=colour, label=label)
            below = below + counts
        ax.axvline(summary.cut, color="black", linestyle="--", label="cut")
        if summary.log:
            ax.set_xscale("log")
        ax.set(xlabel="loss", ylabel="rows")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
