"""How many rows each threshold on a score flags, and how the scores are spread."""

from typing import NamedTuple

import numpy as np

from .._params import check_count
from .._typing import Floats, Indices


class ThresholdCurve(NamedTuple):
    """What every threshold would flag.

    Attributes
    ----------
    levels : array of shape (m,)
        Ascending; holds the threshold in use.
    flagged : array of shape (m,)
        Rows with a score above the level.
    expected_false : array of shape (m,)
        Σ (1 − score) over those rows: how many of them fit, if scores are chances.
    chosen : int
        Position of the threshold in use.
    """

    levels: Floats
    flagged: Indices
    expected_false: Floats
    chosen: int


def threshold_curve(
    scores: Floats, threshold: float, *, n_levels: int = 101
) -> ThresholdCurve:
    """Count what each threshold between 0 and 1 flags.

    Parameters
    ----------
    scores : array of shape (n,)
        Chance, 0 to 1, that a row does not fit; NaN where unknown, never counted.
    threshold : float
        The one in use; one that is not finite counts as 1.
    n_levels : int, default=101

    Examples
    --------
    >>> import numpy as np
    >>> curve = threshold_curve(np.array([0.1, 0.6, 0.9]), 0.7, n_levels=3)
    >>> curve.levels, curve.flagged, curve.chosen
    (array([0. , 0.5, 0.7, 1. ]), array([3, 2, 1, 0]), 2)
    """
    check_count("threshold_curve", "n_levels", n_levels, low=2)
    known = np.sort(scores[np.isfinite(scores)])
    cut = float(threshold) if np.isfinite(threshold) else 1.0
    # Steps that print as 0.29 rather than 0.29000000000000004.
    steps = np.round(np.linspace(0.0, 1.0, n_levels), 10)
    levels = np.unique(np.append(steps, cut))
    first = np.searchsorted(known, levels, side="right")
    doubt = np.append(np.cumsum((1.0 - known)[::-1])[::-1], 0.0)
    chosen = int(np.searchsorted(levels, cut))
    return ThresholdCurve(levels, known.size - first, doubt[first], chosen)


def score_histogram(scores: Floats, *, n_bins: int = 40) -> tuple[Floats, Indices]:
    """Edges and counts of equal bins over [0, 1]; unknown scores are not counted.

    Examples
    --------
    >>> import numpy as np
    >>> score_histogram(np.array([0.0, 0.2, 0.9, 1.0, np.nan]), n_bins=2)
    (array([0. , 0.5, 1. ]), array([2, 2]))
    """
    check_count("score_histogram", "n_bins", n_bins)
    known = scores[np.isfinite(scores)].clip(0.0, 1.0)
    counts, edges = np.histogram(known, n_bins, (0.0, 1.0))
    return edges, counts.astype(np.int64)
