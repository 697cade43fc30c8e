"""Rows that do not fit: how far off, how surely, and what changes without them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from .._params import check_real, refused
from .._typing import Bools, Floats
from .._validation import rows_of
from .curves import estimator_losses

#: Shares of rows left out by default.
SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


class OutlierMap(NamedTuple):
    """Residual, score and flag of each training row, ready to be drawn.

    Parameters
    ----------
    residual : array of shape (n,)
        In units of the local noise; of a label, the root of twice its log loss.
    score : array of shape (n,)
        Chance that the row does not belong to the others.
    flagged : array of bool of shape (n,)
        True where the row was judged wrong.

    See Also
    --------
    outlier_map : Makes it from a robust model.
    lrisk.displays.OutlierDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.analysis import OutlierMap
    >>> found = OutlierMap(
    ...     residual=np.array([0.1, -9.0]),
    ...     score=np.array([0.0, 0.9]),
    ...     flagged=np.array([False, True]),
    ... )
    >>> found.residual[found.flagged]
    array([-9.])
    """

    residual: Floats
    score: Floats
    flagged: Bools


def outlier_map(estimator: Any, X: Any, y: Any) -> OutlierMap:
    """Collect what a robust estimator found on its training rows.

    Parameters
    ----------
    estimator : fitted RobustRegressor or RobustClassifier
        A fitted `lrisk.RobustRegressor` or `lrisk.RobustClassifier`.
    X, y : the rows it was fitted on
        Features and targets of these rows, in the same order.

    Returns
    -------
    OutlierMap
        Residual, score and flag of each row.

    See Also
    --------
    left_out : For fits that trim a given share.
    lrisk.displays.OutlierDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RobustRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=80)
    >>> y[:8] += 5.0
    >>> model = RobustRegressor(random_state=0).fit(X, y)
    >>> found = outlier_map(model, X, y)
    >>> np.flatnonzero(found.flagged)
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "outlier_score_"):
        rule = "a fitted RobustRegressor or RobustClassifier"
        raise ValueError(refused("lrisk", "estimator", rule, estimator, "use one"))
    score = np.asarray(estimator.outlier_score_)
    if len(y) != len(score):
        rule, remedy = f"the {len(score)} rows of the fit", "pass the training rows"
        raise ValueError(refused("lrisk", "y", rule, len(y), remedy))
    residual = np.asarray(estimator.explain_outliers(X, y).residual)
    return OutlierMap(residual, score, ~np.asarray(estimator.inlier_mask_))


class ContaminationPath(NamedTuple):
    """Held-out loss by the share of the worst rows left out of training.

    Parameters
    ----------
    shares : array of shape (m,)
        Shares of the training rows that were left out.
    mean : array of shape (m,)
        Mean loss of the held-out rows, averaged over folds.
    median : array of shape (m,)
        Median loss of the held-out rows, on which wrong ones have little say.

    See Also
    --------
    contamination_path : Makes it, for any estimator.
    lrisk.displays.ContaminationPathDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from lrisk.analysis import contamination_path
    >>> X = np.arange(40.0)[:, None]
    >>> y = X[:, 0] + 100.0 * (X[:, 0] % 10 == 0)  # a tenth is wrong
    >>> path = contamination_path(Ridge(), X, y, y - X[:, 0], shares=[0.0, 0.1])
    >>> bool(path.median[0] > 1 > path.median[1])
    True
    """

    shares: Floats
    mean: Floats
    median: Floats


def contamination_path(
    estimator: Any,
    X: Any,
    y: Any,
    badness: Floats,
    *,
    shares: Sequence[float] = SHARES,
    cv: Any = 5,
    loss: str | None = None,
) -> ContaminationPath:
    """Leave out more and more of the worst rows, and see what the rest predicts.

    In each fold the worst training rows are left out and the loss is taken over *all*
    held-out rows, so that leaving out what is merely hard to fit is not rewarded.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted once per share and fold.
    X, y : arrays of n rows
        Features and targets of n rows.
    badness : array of shape (n,)
        Rows with the largest are left out first; of equal ones, the later.
    shares : sequence of numbers in [0, 1), default=(0.0, 0.02, 0.05, 0.1, 0.15, \
            0.2, 0.3, 0.4)
        Shares of the training rows to leave out.
    cv : int or splitter, default=5
        Folds, as in scikit-learn.
    loss : {"squared", "absolute", "log"} or None, default=None
        By default ``|residual|``, or log loss where there is `predict_proba`.

    Returns
    -------
    ContaminationPath
        Mean and median held-out loss for each share.

    See Also
    --------
    robust_path : The same for a robust model that was fitted already.
    lrisk.displays.ContaminationPathDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=60)
    >>> y[::10] += 20.0
    >>> path = contamination_path(Ridge(), X, y, np.abs(y), shares=[0.0, 0.1])
    >>> bool(path.median[1] < 0.2 * path.median[0])
    True
    """
    for share in shares:
        remedy = "shares are parts of the rows"
        check_real(
            "lrisk", "shares", share, low=0, high=1, high_open=True, remedy=remedy
        )
    worst = np.asarray(badness, dtype=np.float64)
    if worst.shape != (len(y),):
        rule, remedy = f"of shape ({len(y)},)", "pass one number per row"
        raise ValueError(refused("lrisk", "badness", rule, worst.shape, remedy))
    classes = hasattr(estimator, "predict_proba")
    splits = list(check_cv(cv, y, classifier=classes).split(X, y))
    mean, median = [], []
    for share in shares:
        losses = []
        for train, test in splits:
            order = train[np.argsort(worst[train], kind="stable")]
            kept = np.sort(order[: max(round(len(order) * (1.0 - share)), 1)])
            model = clone(estimator).fit(rows_of(X, kept), rows_of(y, kept))
            held = rows_of(X, test), rows_of(y, test)
            losses.append(estimator_losses(model, *held, loss))
        together = np.concatenate(losses)
        mean.append(float(together.mean()))
        median.append(float(np.median(together)))
    return ContaminationPath(np.array(shares, np.float64), np.array(mean),
                             np.array(median))  # fmt: skip


def robust_path(estimator: Any, X: Any, y: Any, **options: Any) -> ContaminationPath:
    """Compute the held-out losses without the rows that a robust model doubts most.

    The path of a fitted robust estimator: its ordinary fit, its order of the rows. Rows
    are left out by score and, where scores are equal, by size of the residual.

    Parameters
    ----------
    estimator : fitted RobustRegressor or RobustClassifier
        Its scores say which rows go first.
    X, y : arrays of n rows
        Features and targets of the rows it was fitted to, in the same order.
    **options : dict
        Passed to `contamination_path`: `shares`, `cv` and `loss`.

    Returns
    -------
    ContaminationPath
        Mean and median held-out loss for each share.

    See Also
    --------
    contamination_path : The same for any estimator and any order of the rows.
    lrisk.displays.ContaminationPathDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RobustRegressor
    >>> from lrisk.analysis import robust_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=80)
    >>> y[:8] += 5.0
    >>> model = RobustRegressor(random_state=0).fit(X, y)
    >>> path = robust_path(model, X, y, shares=[0.0, 0.1])
    >>> bool(path.median[1] < path.median[0])
    True
    """
    found = outlier_map(estimator, X, y)
    order = np.lexsort((np.abs(found.residual), found.score))
    badness = np.empty(len(order))
    badness[order] = np.arange(len(order))
    ordinary = clone(estimator).set_params(contamination=0.0)
    return contamination_path(ordinary, X, y, badness, **options)
