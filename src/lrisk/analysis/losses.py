"""Which rows a trimmed fit left out, how much they cost, and where the cut lies."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, refused
from .._typing import Bools, Floats, Indices


class LossSummary(NamedTuple):
    """Losses of kept rows and of those left out, ready to be drawn.

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
        Ends of the bins, in units of loss.
    kept, left_out : arrays of shape (n_bins,)
        How many rows of each group fall into each bin.
    cut : float
        The largest loss that counts; rows above it are left out.
    n_kept, n_left_out : int
        How many rows there are in either group.
    ratio : float
        Mean loss of the rows left out over that of the kept ones; infinite if those
        cost nothing, NaN if no row is left out.
    log : bool
        Whether the bins are equal on a logarithmic scale.

    See Also
    --------
    summarise_losses : Makes it from losses.
    lrisk.displays.LossDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.analysis import summarise_losses
    >>> losses, kept = np.array([1.0, 2.0, 50.0]), np.array([True, True, False])
    >>> summary = summarise_losses(losses, kept)
    >>> summary.n_kept, summary.n_left_out, summary.cut
    (2, 1, 2.0)
    """

    edges: Floats
    kept: Indices
    left_out: Indices
    cut: float
    n_kept: int
    n_left_out: int
    ratio: float
    log: bool


def summarise_losses(
    losses: Floats, inlier_mask: Bools, *, n_bins: int = 40, log: bool = True
) -> LossSummary:
    """Count losses in bins by group, and find the cut between the groups.

    Parameters
    ----------
    losses : array of shape (n,)
        NaN for rows that took no part, which are not counted.
    inlier_mask : array of shape (n,)
        True for kept rows.
    n_bins : int, default=40
        How many bins.
    log : bool, default=True
        Bins of equal ratio: losses of kept and wrong rows often differ by orders of
        magnitude. Losses of zero go into the first bin.

    Returns
    -------
    LossSummary
        Bins and counts of both groups, and the cut.

    See Also
    --------
    left_out : The rows that were left out, one by one.
    lrisk.displays.LossDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> summary = summarise_losses(
    ...     np.array([1.0, 2.0, 50.0]), np.array([True, True, False]), n_bins=4
    ... )
    >>> summary.cut, summary.kept, summary.left_out
    (2.0, array([2, 0, 0, 0]), array([0, 0, 0, 1]))
    """
    check_count("summarise_losses", "n_bins", n_bins)
    losses = np.asarray(losses, dtype=np.float64)
    mask = np.asarray(inlier_mask, dtype=bool)
    shaped = losses.ndim == 1 and losses.shape == mask.shape
    if not shaped or not np.any(np.isfinite(losses)):
        rule, remedy = "1-d, of the mask's shape, finite somewhere", "pass one per row"
        raise ValueError(
            refused("summarise_losses", "losses", rule, losses.shape, remedy)
        )
    known = np.isfinite(losses)
    losses, mask = losses[known], mask[known]
    positive = losses[losses > 0]
    log = log and positive.size > 0
    if log:
        low, high = float(positive.min()), float(positive.max())
        low = max(low, 1e-12 * high)
        edges = np.geomspace(low, high * (1.0 + 1e-9), n_bins + 1)
        placed = np.clip(losses, edges[0], edges[-1])
    else:
        edges = np.linspace(0.0, max(float(losses.max()), 1e-300), n_bins + 1)
        placed = losses
    kept, left = losses[mask], losses[~mask]
    base = float(kept.mean()) if kept.size else np.nan
    with np.errstate(divide="ignore"):
        ratio = float(np.divide(left.mean(), base)) if left.size else np.nan
    return LossSummary(
        edges=edges,
        kept=np.histogram(placed[mask], edges)[0],
        left_out=np.histogram(placed[~mask], edges)[0],
        cut=float(kept.max()) if kept.size else np.nan,
        n_kept=len(kept),
        n_left_out=len(left),
        ratio=ratio,
        log=log,
    )


def left_out(estimator: Any) -> tuple[Indices, Floats]:
    """List the training rows that a trimmed fit left out and their losses, worst first.

    Parameters
    ----------
    estimator : fitted estimator with `losses_` and `inlier_mask_`
        For example a `lrisk.RiskRegressor` under ``"subquantile:0.9"``.

    Returns
    -------
    rows : array of shape (m,)
        Numbers of the rows, from 0.
    losses : array of shape (m,)
        Their losses at the fit.

    See Also
    --------
    summarise_losses : Histograms of both groups of rows.
    outlier_map : For robust models, which find the share of wrong rows themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RiskRegressor
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0]
    >>> y[3] = 100.0
    >>> left_out(RiskRegressor("subquantile:0.9", random_state=0).fit(X, y))[0]
    array([3])
    """
    losses, mask = trimmed_attributes(estimator)
    rows = np.flatnonzero(~mask & np.isfinite(losses))
    order = np.argsort(-losses[rows], kind="stable")
    return rows[order], losses[rows[order]]


def trimmed_attributes(estimator: Any) -> tuple[Floats, Bools]:
    """`losses_` and `inlier_mask_` of a fitted estimator, or a clear refusal."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "inlier_mask_"):
        rule = "fitted under a spectrum that leaves rows out"
        remedy = "use spectrum='subquantile:p'"
        raise ValueError(refused("lrisk", "estimator", rule, estimator, remedy))
    return estimator.losses_, estimator.inlier_mask_
