"""Clusters in the plane: rows, centres, and which rows were trimmed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._params import refused
from .._typing import AnyArray, Bools, Floats
from ..estimators import RiskKMeans
from ..ranking import Ranking
from ..spectra import parse_spectrum


@dataclass
class ClusterMap:
    """A clustering in two coordinates, ready to be drawn.

    Parameters
    ----------
    points : array of shape (n, 2)
        The rows, in the two coordinates.
    centers : array of shape (k, 2)
        The centres of the clusters, in the same coordinates.
    labels : array of shape (n,)
        Nearest centre, trimmed or not.
    inlier_mask : array of bool of shape (n,)
        False for trimmed rows.
    axes : tuple of two str
        What the coordinates are.

    See Also
    --------
    cluster_map : Makes it from a fitted model.
    lrisk.displays.ClusterDisplay : Draws it.

    Examples
    --------
    >>> from lrisk import RiskKMeans
    >>> from lrisk.analysis import cluster_map
    >>> from lrisk.datasets import make_dirty_clouds
    >>> X, _ = make_dirty_clouds(random_state=0)
    >>> found = cluster_map(RiskKMeans(3, random_state=0).fit(X), X)
    >>> found.points.shape, found.centers.shape
    ((400, 2), (3, 2))
    """

    points: Floats
    centers: Floats
    labels: AnyArray
    inlier_mask: Bools
    axes: tuple[str, str]


def cluster_map(
    estimator: RiskKMeans, X: Any, *, features: tuple[int, int] | None = None
) -> ClusterMap:
    """Show where rows and centres lie, and which rows are left out, in two coordinates.

    Parameters
    ----------
    estimator : fitted RiskKMeans
        A fitted `lrisk.RiskKMeans`.
    X : {array-like, sparse matrix} of shape (n, d)
        Rows to show; they are ranked and trimmed among themselves.
    features : pair of int or None, default=None
        Columns to show. By default the columns themselves if there are two or fewer,
        else the two principal directions of the kept rows, in which outliers have no
        say.

    Returns
    -------
    ClusterMap
        Rows and centres in two coordinates, labels, and which rows are kept.

    See Also
    --------
    lrisk.displays.ClusterDisplay : Draws it.

    Examples
    --------
    >>> from lrisk import RiskKMeans
    >>> from lrisk.analysis import cluster_map
    >>> from lrisk.datasets import make_dirty_clouds
    >>> X, _ = make_dirty_clouds(random_state=0)
    >>> model = RiskKMeans(3, spectrum="subquantile:0.75", random_state=0).fit(X)
    >>> picture = cluster_map(model, X)
    >>> picture.axes, int(picture.inlier_mask.sum())
    (('feature 0', 'feature 1'), 300)
    """
    distances = estimator.transform(X)
    labels = estimator.predict(X)
    losses = np.min(np.asarray(distances), axis=1) ** 2
    ranking = Ranking(parse_spectrum(estimator.spectrum), len(losses))
    inliers = ranking.kept_shares(losses) > 0
    dense = getattr(X, "toarray", lambda: X)()
    rows = np.asarray(dense, dtype=np.float64)
    names = [f"feature {j}" for j in range(rows.shape[1])]
    if hasattr(estimator, "feature_names_in_"):
        names = [str(name) for name in estimator.feature_names_in_]
    directions, middle = np.eye(rows.shape[1])[:, :2], np.zeros(rows.shape[1])
    axes = [*names[:2], ""][:2]
    if features is not None:
        chosen = _checked(features, rows.shape[1])
        directions = np.eye(rows.shape[1])[:, chosen]
        axes = [names[j] for j in chosen]
    elif rows.shape[1] > 2:
        middle = rows[inliers].mean(axis=0)
        spread = rows[inliers] - middle
        directions = np.linalg.eigh(spread.T @ spread)[1][:, :-3:-1]
        axes = ["principal direction 1", "principal direction 2"]
    points = _padded((rows - middle) @ directions)
    centers = _padded((estimator.cluster_centers_ - middle) @ directions)
    return ClusterMap(points, centers, labels, inliers, (axes[0], axes[1]))


def _checked(features: Any, n_features: int) -> list[int]:
    chosen = [int(j) for j in features]
    if len(chosen) != 2 or not all(0 <= j < n_features for j in chosen):
        rule, remedy = f"two columns below {n_features}", "pass a pair such as (0, 1)"
        raise ValueError(refused("lrisk", "features", rule, features, remedy))
    return chosen


def _padded(table: Floats) -> Floats:
    """Two columns, the second zero for data in one dimension."""
    return np.pad(table, ((0, 0), (0, 2 - table.shape[1])))
