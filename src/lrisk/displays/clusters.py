"""Rows, centres and trimmed rows in one picture."""

from typing import Any, Self

import numpy as np

from .._typing import AnyArray, Bools, Floats
from ..analysis.clusters import cluster_map
from ..estimators import RiskKMeans
from ._axes import axes_or_new


class ClusterDisplay:
    """Draw clusters in the plane: rows, centres, and trimmed rows as grey crosses.

    Use `from_estimator`; `lrisk.analysis.cluster_map` gives the numbers alone.

    Parameters
    ----------
    points : array of shape (n, 2)
        The rows, in two coordinates.
    centers : array of shape (k, 2)
        The centres, in the same coordinates.
    labels : array of shape (n,)
        Number of each row's cluster.
    inlier_mask : array of bool of shape (n,)
        False for trimmed rows.
    axes : pair of str, default=('', '')
        Names of the coordinates.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_, trimmed_, centers_ : matplotlib collections
        The kept rows, the trimmed rows and the centres.

    See Also
    --------
    lrisk.analysis.cluster_map : The numbers alone.
    lrisk.RiskKMeans : The model that is shown.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lrisk import RiskKMeans
    >>> from lrisk.datasets import make_dirty_clouds
    >>> from lrisk.displays import ClusterDisplay
    >>> X, _ = make_dirty_clouds(random_state=0)
    >>> model = RiskKMeans(3, spectrum="subquantile:0.75", random_state=0).fit(X)
    >>> display = ClusterDisplay.from_estimator(model, X)
    >>> len(display.trimmed_.get_offsets())
    100
    """

    def __init__(
        self,
        *,
        points: Floats,
        centers: Floats,
        labels: AnyArray,
        inlier_mask: Bools,
        axes: tuple[str, str] = ("", ""),
    ) -> None:
        self.points = points
        self.centers = centers
        self.labels = labels
        self.inlier_mask = inlier_mask
        self.axes = axes

    @classmethod
    def from_estimator(
        cls,
        estimator: RiskKMeans,
        X: Any,
        *,
        features: tuple[int, int] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted estimator over rows.

        Parameters
        ----------
        estimator : fitted RiskKMeans
        X : {array-like, sparse matrix} of shape (n, d)
        features : pair of int or None, default=None
            Columns to draw; see `lrisk.analysis.cluster_map`.
        ax : matplotlib Axes or None, default=None
        **kwargs
            For the scatter of the kept rows.

        Returns
        -------
        ClusterDisplay
        """
        found = cluster_map(estimator, X, features=features)
        return cls(**vars(found)).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; by default a figure of its own.
        **kwargs
            For the scatter of the kept rows.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax)
        kept, trimmed = self.points[self.inlier_mask], self.points[~self.inlier_mask]
        k = len(self.centers)
        options = {"s": 12, "cmap": "viridis", "vmin": 0, "vmax": max(k - 1, 1)}
        options |= {"c": self.labels[self.inlier_mask], "label": "kept rows"} | kwargs
        self.points_ = ax.scatter(*kept.T, **options)
        self.trimmed_ = ax.scatter(
            *trimmed.T, s=14, marker="x", color="0.6", linewidths=0.8, label="trimmed"
        )
        self.centers_ = ax.scatter(
            *self.centers.T,
            s=90,
            marker="*",
            c=np.arange(k),
            cmap=options["cmap"],
            vmin=0,
            vmax=options["vmax"],
            edgecolors="black",
            label="centres",
        )
        ax.set_xlabel(self.axes[0])
        ax.set_ylabel(self.axes[1])
        ax.legend(loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
