"""Consistent robust regression."""

import numpy as np

from .._typing import Floats
from .base import LinearBaseline, check_contamination, lowest, whole_rows
from .ridge import weighted_ridge


class ConsistentRobustRegressor(LinearBaseline):
    r"""Linear regression that estimates the error of each target (CRR).

    The model is y = Xw + b with b zero in all but k rows. With P the projection onto
    the columns of X (the ridge's hat matrix if ``alpha`` is positive),

    .. math:: b \leftarrow \mathrm{HT}_k\bigl(P b + (I - P) y\bigr)

    from b = 0 until ‖Δb‖ ≤ `tol`, where HT keeps the k entries of largest magnitude;
    then w is the fit to y − b.

    Parameters
    ----------
    contamination : float in [0, 0.5), default=0.2
        Share k/n of wrong rows, which the paper takes as known.
    alpha : float ≥ 0, default=0.0
        Penalty as in ``Ridge(alpha)``; the paper has none.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    tol : float ≥ 0, default=1e-5
        In units of the median distance of y from its median, so that it is the usual
        1e-5 for a standardised target.
    max_iter : int, default=3000
        Limit on updates of b.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    corruption_ : array of shape (n_samples,)
        b, zero in rows held for good.
    inlier_mask_ : array of bool of shape (n_samples,)
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    lrisk.RobustRegressor : Needs no share of wrong rows, and finds rows wrong in X too.
    TorrentRegressor : Leaves wrong rows out instead of estimating their errors.
    StirRegressor : Needs no share of wrong rows either, for wrong targets.

    References
    ----------
    Bhatia, Jain, Kamalaruban, Kar (2017). Consistent robust regression. Algorithm 1.

    Examples
    --------
    >>> from lrisk.baselines import ConsistentRobustRegressor
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(300, fraction=0.0, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> model = ConsistentRobustRegressor(contamination=0.2).fit(bad.X, bad.y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        *,
        contamination: float = 0.2,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-5,
        max_iter: int = 3000,
    ) -> None:
        self.contamination = contamination
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_contamination(self, self.contamination)

    def _fit(self, X: Floats, y: Floats) -> bool:
        n = len(y)
        bad = whole_rows(self.contamination, n)
        hat = _Hat(X, self.alpha, self.fit_intercept)
        unit = float(np.median(np.abs(y - np.median(y))))
        rounding = 10 * np.finfo(np.float64).eps * np.linalg.norm(y)
        enough = max(self.tol * unit, rounding)
        b, converged = np.zeros(n), False
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration + 1
            target = y - hat.times(y - b)
            following = np.where(lowest(np.abs(target), n - bad), 0.0, target)
            change = np.linalg.norm(following - b)
            b = following
            if change <= enough:
                converged = True
                break
        self.corruption_ = b
        self.inlier_mask_ = lowest(np.abs(b), n - bad)
        self.coef_, self.intercept_ = weighted_ridge(
            X, y - b, np.ones(n), self.alpha, self.fit_intercept
        )
        return converged


class _Hat:
    """Fitted values of a ridge fit, as a linear map of the targets."""

    def __init__(self, X: Floats, alpha: float, intercept: bool) -> None:
        self._intercept = intercept
        rows = X - X.mean(axis=0) if intercept else X
        left, size, _ = np.linalg.svd(rows, full_matrices=False)
        real = size > size[0] * max(X.shape) * np.finfo(np.float64).eps
        self._left = left[:, real]
        self._shrink = size[real] ** 2 / (size[real] ** 2 + alpha)

    def times(self, v: Floats) -> Floats:
        level = v.mean() if self._intercept else 0.0
        inner = self._left.T @ (v - level)
        return np.asarray(level + self._left @ (self._shrink * inner))
