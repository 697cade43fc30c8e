"""How many rows each threshold on a score flags, and how the scores are spread."""

from typing import NamedTuple

import numpy as np

from .._params import check_count
from .._typing import Floats, Indices


class ThresholdCurve(NamedTuple):
    """How many rows every threshold would flag, and how many of them wrongly.

    Parameters
    ----------
    levels : array of shape (m,)
        Ascending; holds the threshold in use.
    flagged : array of shape (m,)
        Rows with a score above the level.
    expected_false : array of shape (m,)
        Σ (1 − score) over those rows: how many of them fit, if scores are chances.
    chosen : int
        Position of the threshold in use.

    See Also
    --------
    threshold_curve : Makes it from scores.
    score_histogram : How the scores are spread.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.analysis import threshold_curve
    >>> curve = threshold_curve(np.array([0.1, 0.6, 0.9]), 0.5, n_levels=3)
    >>> curve.flagged[curve.chosen], float(curve.expected_false[curve.chosen].round(2))
    (np.int64(2), 0.5)
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
        How many equally spaced thresholds, besides the one in use.

    Returns
    -------
    ThresholdCurve
        Rows flagged, and expected to be so wrongly, by threshold.

    See Also
    --------
    score_histogram : How the scores are spread.
    lrisk.audit : Chooses the threshold from such numbers.

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
    """Count scores in equal bins over [0, 1]; unknown scores are not counted.

    Parameters
    ----------
    scores : array of shape (n,)
        Scores between 0 and 1; NaN where unknown.
    n_bins : int, default=40
        How many bins.

    Returns
    -------
    edges : array of shape (n_bins + 1,)
        Ends of the bins.
    counts : array of shape (n_bins,)
        How many scores lie in each.

    See Also
    --------
    threshold_curve : How many rows each threshold would flag.

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
