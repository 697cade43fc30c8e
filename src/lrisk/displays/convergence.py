"""How a solver came to its solution."""

from typing import Any, Self

import numpy as np

from .._params import check_choice
from ..analysis.convergence import Convergence, convergence
from ._axes import BLUE, axes_or_new

AXES = {"iteration": "iterations", "passes": "passes over the data", "seconds": "s"}


class ConvergenceDisplay:
    """Draw how a fit went: its distance from the optimum over time.

    What is drawn is the duality gap, a proven bound on that distance, or where there is
    none the excess of the objective over the best of the run.

    Parameters
    ----------
    run : Convergence
        Of `lrisk.analysis.convergence`.
    name : str, default=""
        For the legend.

    Attributes
    ----------
    quantity_ : {"gap", "excess"}
        What is drawn.
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.convergence : The numbers alone.
    lrisk.certify : A proof of the final distance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.displays import ConvergenceDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", alpha=0.01).fit(X, y)
    >>> ConvergenceDisplay.from_estimator(model).quantity_
    'gap'
    """

    def __init__(self, run: Convergence, *, name: str = "") -> None:
        self.run = run
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        against: str = "iteration",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with `history_`
        against : {"iteration", "passes", "seconds"}, default="iteration"
        name : str or None, default=None
            By default the class of the estimator.
        ax : matplotlib Axes or None, default=None
        **kwargs
            For the line.
        """
        shown = type(estimator).__name__ if name is None else name
        display = cls(convergence(estimator), name=shown)
        return display.plot(against=against, ax=ax, **kwargs)

    def plot(
        self, *, against: str = "iteration", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw into `ax`, or into a new figure; where nothing is left, at 1e-16."""
        check_choice("ConvergenceDisplay", "against", against, tuple(AXES))
        ax = axes_or_new(ax)
        self.quantity_ = "gap" if np.any(np.isfinite(self.run.gap)) else "excess"
        spent, left = getattr(self.run, against), getattr(self.run, self.quantity_)
        known = np.isfinite(left)
        options = {"label": self.name, "color": BLUE, "marker": "."} | kwargs
        floored = np.maximum(left[known], 1e-16)
        (self.line_,) = ax.plot(spent[known], floored, **options)
        words = {"gap": "relative duality gap", "excess": "objective above the best"}
        ax.set(xlabel=AXES[against], ylabel=words[self.quantity_], yscale="log")
        if options["label"]:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
