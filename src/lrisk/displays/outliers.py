"""Rows that do not fit, and what leaving rows out changes."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._params import refused
from ..analysis.outliers import ContaminationPath, OutlierMap, outlier_map, robust_path
from ._axes import BLUE, VERMILION, axes_or_new


class OutlierDisplay:
    """Draw the score of each row against its residual; flagged rows are crosses.

    Parameters
    ----------
    found : OutlierMap
        Of `lrisk.analysis.outlier_map`.

    Attributes
    ----------
    kept_, flagged_ : matplotlib PathCollection
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.outlier_map : The numbers alone.
    ContaminationPathDisplay : What leaving out such rows gains.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lrisk.displays import OutlierDisplay
    >>> display = OutlierDisplay.from_predictions(
    ...     [0.1, -9.0], [0.0, 0.9], [False, True]
    ... )
    >>> len(display.flagged_.get_offsets())
    1
    """

    def __init__(self, found: OutlierMap) -> None:
        self.found = found

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw what a fitted robust estimator found on its training rows."""
        return cls(outlier_map(estimator, X, y)).plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        residual: ArrayLike,
        score: ArrayLike,
        flagged: ArrayLike,
        *,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw given residuals, scores and flags, one for each row."""
        found = OutlierMap(
            np.asarray(residual, np.float64),
            np.asarray(score, np.float64),
            np.asarray(flagged, bool),
        )
        if len({part.shape for part in found}) != 1 or found.score.ndim != 1:
            shapes = tuple(part.shape for part in found)
            rule, remedy = "three arrays of one shape (n,)", "pass one for each row"
            raise ValueError(refused(cls.__name__, "input", rule, shapes, remedy))
        return cls(found).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kwargs` are for the kept rows."""
        ax = axes_or_new(ax)
        residual, score, flagged = self.found
        kept = ~flagged
        options = {"s": 12, "color": BLUE, "label": f"fit ({kept.sum()})"} | kwargs
        self.kept_ = ax.scatter(residual[kept], score[kept], **options)
        self.flagged_ = ax.scatter(
            residual[flagged],
            score[flagged],
            s=24,
            marker="x",
            color=VERMILION,
            label=f"do not fit ({flagged.sum()})",
        )
        # Residuals of wrong rows are often a thousand times those of the others.
        if np.max(np.abs(residual), initial=0.0) > 50.0:
            ax.set_xscale("symlog", linthresh=3.0)
        ax.set(xlabel="residual, in units of the noise", ylabel="score")
        ax.set_ylim(-0.03, 1.03)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ContaminationPathDisplay:
    """Draw held-out loss against the share of the worst rows left out of training.

    Where the curve stops falling, enough was left out.

    Parameters
    ----------
    path : ContaminationPath
        Of `lrisk.analysis.contamination_path`.
    contamination : float or None, default=None
        Estimated share, drawn as a line.
    interval : pair of float or None, default=None
        Where that share lies, drawn as a band.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Mean and median.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.contamination_path : The numbers alone.
    OutlierDisplay : The rows one by one.

    Examples
    --------
    >>> import matplotlib, numpy as np
    >>> matplotlib.use("Agg")
    >>> from lrisk.analysis import ContaminationPath
    >>> from lrisk.displays import ContaminationPathDisplay
    >>> path = ContaminationPath(*np.array([[0.0, 0.1], [3.0, 2.0], [2.0, 1.0]]))
    >>> display = ContaminationPathDisplay(path, contamination=0.08).plot()
    >>> len(display.lines_)
    2
    """

    def __init__(
        self,
        path: ContaminationPath,
        *,
        contamination: float | None = None,
        interval: tuple[float, float] | None = None,
    ) -> None:
        self.path = path
        self.contamination = contamination
        self.interval = interval

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the path of a fitted robust estimator over its training rows.

        Parameters
        ----------
        estimator : fitted RobustRegressor or RobustClassifier
        X, y : its training rows
        ax : matplotlib Axes or None, default=None
        **options
            `shares`, `cv` and `loss` of `lrisk.analysis.contamination_path`.
        """
        return cls(
            robust_path(estimator, X, y, **options),
            contamination=estimator.contamination_,
            interval=estimator.contamination_interval_,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        ax = axes_or_new(ax)
        if self.interval is not None:
            ax.axvspan(*self.interval, color="0.9", label="likely share")
        if self.contamination is not None:
            style = {"color": "black", "linestyle": "--", "label": "estimated share"}
            ax.axvline(self.contamination, **style)
        shares, mean, median = self.path
        self.lines_ = [
            *ax.plot(shares, mean, "o-", color=BLUE, label="mean"),
            *ax.plot(shares, median, "s--", color=VERMILION, label="median"),
        ]
        ax.set(xlabel="share of the worst rows left out", ylabel="held-out loss")
        ax.set_ylim(bottom=0.0)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
