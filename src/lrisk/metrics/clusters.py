"""Agreement of clusters with classes."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from .._arrays import unmasked
from .._params import refused
from ..ranking import check_row_weights


def clustering_accuracy(
    y_true: ArrayLike, labels: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the share of rows in the right cluster, under the best matching of names.

    Clusters have no names of their own, so each is first matched with one class, and
    each class with one cluster, such that the most rows agree (paper 1, appendix
    F.6.1). Rows of clusters without a class, or labelled −1 as trimmed, count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes.
    labels : array-like of whole numbers of shape (n,)
        Clusters.
    sample_weight : array-like of shape (n,) or None, default=None
        How much each row counts; None means all the same.

    Returns
    -------
    float
        Between 0 and 1; larger is better.

    See Also
    --------
    sklearn.metrics.adjusted_rand_score : Compares clusterings by pairs of rows, with no
        matching of names.
    lrisk.RiskKMeans : Clusters rows and can leave outliers out.

    Examples
    --------
    >>> from lrisk.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    classes, clusters = np.asarray(unmasked(y_true)), np.asarray(unmasked(labels))
    if classes.ndim != 1 or classes.size == 0:
        rule, remedy = "a 1-d array of at least one class", "pass one for each row"
        raise ValueError(refused("lrisk", "y_true", rule, classes.shape, remedy))
    if clusters.shape != classes.shape:
        rule, remedy = f"of shape {classes.shape}", "pass one for each row"
        raise ValueError(refused("lrisk", "labels", rule, clusters.shape, remedy))
    if clusters.dtype.kind not in "iu":
        rule, remedy = "whole numbers, −1 for trimmed rows", "pass labels_ or predict's"
        raise TypeError(refused("lrisk", "labels", rule, clusters.dtype.name, remedy))
    weight = check_row_weights(sample_weight, classes.size)
    weight = np.ones(classes.size) if weight is None else weight
    found = clusters >= 0
    _, rows = np.unique(classes[found], return_inverse=True)
    _, columns = np.unique(clusters[found], return_inverse=True)
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1))
    np.add.at(table, (rows, columns), weight[found])
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(matched / weight.sum())
