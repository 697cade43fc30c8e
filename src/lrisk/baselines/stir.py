"""STIR: stagewise truncated reweighted least squares."""

import numpy as np

from .._params import check_real
from .._typing import Floats
from .base import LinearBaseline
from .ridge import weighted_ridge


class StirRegressor(LinearBaseline):
    r"""Linear regression that weights rows by one over their residual (STIR).

    Each round solves a weighted ridge fit with weights

    .. math:: s_i = \min(1 / |r_i|, M), \qquad r_i = y_i - x_i \cdot w - b

    from w = 0. When w moves by no more than 2/(ηM) the stage is over and M grows to ηM.
    As M grows without end the fit becomes that of least absolute deviations. No
    contamination is asked for.

    Parameters
    ----------
    truncation : float > 0, default=10.0
        The first M, in one over the units of y: for a standardised target.
    growth : float > 1, default=1.01
        Factor η by which M grows from one stage to the next.
    alpha : float ≥ 0, default=0.0
        Penalty on top of the weighted squares; the paper has none.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    tol : float ≥ 0, default=0.0
        Also stop after a stage that changed w by no more than this share of its
        length; 0 always makes `max_iter` rounds.
    max_iter : int, default=40
        Weighted fits in all; the default is that of the authors.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    weights_ : array of shape (n_samples,)
        s of the last fit.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    lrisk.RobustRegressor : Also says which rows are wrong, and how many.
    TorrentRegressor : Leaves rows out altogether, given the share of wrong ones.
    ConsistentRobustRegressor : Estimates the error of each target.

    References
    ----------
    Mukhoty, Gopakumar, Jain, Kar (2019). Globally-convergent iteratively reweighted
    least squares for robust regression problems. Algorithm 1.

    Examples
    --------
    >>> from lrisk.baselines import StirRegressor
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(300, fraction=0.0, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> model = StirRegressor().fit(bad.X, bad.y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        *,
        truncation: float = 10.0,
        growth: float = 1.01,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 0.0,
        max_iter: int = 40,
    ) -> None:
        self.truncation = truncation
        self.growth = growth
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        remedy = "it bounds the weights"
        check_real(
            self, "truncation", self.truncation, low=0, low_open=True, remedy=remedy
        )
        remedy = "each stage has a larger bound"
        check_real(self, "growth", self.growth, low=1, low_open=True, remedy=remedy)

    def _fit(self, X: Floats, y: Floats) -> bool:
        bound = float(self.truncation)
        theta = np.zeros(X.shape[1] + 1)
        stage_start = theta
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration + 1
            residuals = np.abs(y - X @ theta[:-1] - theta[-1])
            weights = 1.0 / np.maximum(residuals, 1.0 / bound)
            coef, intercept = weighted_ridge(
                X, y, weights, self.alpha, self.fit_intercept
            )
            before, theta = theta, np.append(coef, intercept)
            if np.linalg.norm(theta - before) <= 2.0 / (self.growth * bound):
                moved = np.linalg.norm(theta - stage_start)
                if moved <= self.tol * np.linalg.norm(theta):
                    break
                stage_start = theta
                bound = min(bound * self.growth, 1e300)
        self.coef_, self.intercept_, self.weights_ = coef, intercept, weights
        return True  # the number of rounds is its stopping rule
