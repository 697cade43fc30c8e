"""Clouds of points with outliers beside them."""

import numpy as np

from .._params import check_count
from .._typing import Floats, Indices

CENTRES = np.array([[-3.0, 0.0], [0.0, 1.0], [3.0, 0.0]])


def make_dirty_clouds(
    n_per_cloud: int = 100,
    n_outliers: int = 100,
    *,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Indices]:
    """Make three small clouds in the plane, and a wide one of outliers.

    The synthetic set of paper 1, appendix F.6.1: Gaussians of variance 0.1 round
    (−3, 0), (0, 1) and (3, 0), and outliers of variance 5 round (−1, −5).

    Parameters
    ----------
    n_per_cloud : int, default=100
        Rows in each of the three clouds.
    n_outliers : int, default=100
        Rows of the wide cloud; may be zero.
    random_state : int, Generator or None, default=None
        Decides the draw; pass an int for the same data in every call.

    Returns
    -------
    X : array of shape (3 * n_per_cloud + n_outliers, 2)
        The points.
    y : array of shape (3 * n_per_cloud + n_outliers,)
        The cloud of each row, −1 for outliers.

    See Also
    --------
    lrisk.RiskKMeans : Clusters such data without the outliers.
    lrisk.metrics.clustering_accuracy : Compares clusters with the true clouds.

    Examples
    --------
    >>> from lrisk.datasets import make_dirty_clouds
    >>> X, y = make_dirty_clouds(random_state=0)
    >>> X.shape, int((y == -1).sum())
    ((400, 2), 100)
    """
    check_count("make_dirty_clouds", "n_per_cloud", n_per_cloud)
    check_count("make_dirty_clouds", "n_outliers", n_outliers, low=0)
    rng = np.random.default_rng(random_state)
    clouds = np.array([0, 1, 2, -1], dtype=np.int64)
    y: Indices = np.repeat(clouds, [n_per_cloud] * 3 + [n_outliers])
    middles = np.vstack([CENTRES, [[-1.0, -5.0]]])[y]
    spread = np.sqrt(np.array([0.1, 0.1, 0.1, 5.0]))[y]
    X = middles + spread[:, None] * rng.standard_normal((len(y), 2))
    return X, y
