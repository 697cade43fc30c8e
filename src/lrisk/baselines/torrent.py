"""TORRENT: hard thresholding of residuals."""

from typing import Literal

import numpy as np
import scipy.linalg

from .._params import check_choice, check_real
from .._typing import Bools, Floats
from .base import LinearBaseline, check_contamination, lowest, whole_rows
from .ridge import weighted_ridge


class TorrentRegressor(LinearBaseline):
    r"""Linear regression that leaves out rows of large residuals, in turns (TORRENT).

    Repeats, from w = 0 and S all rows, until S and w stay:

    .. math:: w \leftarrow \mathrm{update}(w, S), \qquad
              S \leftarrow \text{the } (1-\varepsilon)n \text{ rows of smallest }
              |y_i - x_i \cdot w - b|

    ``"fc"`` (fully corrective) updates by the ridge fit to S; ``"gd"`` by one gradient
    step of length 1/‖X_S‖²; ``"hyb"`` by a step while more than `switch`·n rows enter S
    at a time, by a fit once S has settled.

    Parameters
    ----------
    variant : {"fc", "gd", "hyb"}, default="fc"
        How the fit is updated: by a whole fit, a gradient step, or both; see above.
    contamination : float in [0, 0.5), default=0.2
        Share ε of wrong rows, which the paper takes as known.
    alpha : float ≥ 0, default=0.0
        Penalty as in ``Ridge(alpha)``; the paper has none.
    fit_intercept : bool, default=True
        Fit a constant b besides the slopes.
    start : {"all", "zero"}, default="all"
        The first S: all rows as in the paper, or those of lowest ``|y|`` about its
        median, which is safe against gross errors in the features.
    switch : float in [0, 1], default=0.05
        For ``"hyb"``; the paper's Δ/n.
    tol : float ≥ 0, default=1e-6
        Stop when S is fitted to this share of its spread (the paper's rule, for data
        without noise), or when a gradient step leaves S and moves its fitted values by
        no more than this share; fits stop when S stays.
    max_iter : int, default=1000
        Limit on updates.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    inlier_mask_ : array of bool of shape (n_samples,)
        The last S.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    lrisk.RobustRegressor : Needs no share of wrong rows.
    lrisk.RiskRegressor : With ``"subquantile:p"`` the same objective, from many starts.
    ConsistentRobustRegressor : Estimates the error of each target instead.

    References
    ----------
    Bhatia, Jain, Kar (2015). Robust regression via hard thresholding. Algorithms 1–4.

    Examples
    --------
    >>> from lrisk.baselines import TorrentRegressor
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(300, fraction=0.0, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> model = TorrentRegressor("fc", contamination=0.2).fit(bad.X, bad.y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        variant: Literal["fc", "gd", "hyb"] = "fc",
        *,
        contamination: float = 0.2,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        start: Literal["all", "zero"] = "all",
        switch: float = 0.05,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.variant = variant
        self.contamination = contamination
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.start = start
        self.switch = switch
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "variant", self.variant, ("fc", "gd", "hyb"))
        check_choice(self, "start", self.start, ("all", "zero"))
        check_contamination(self, self.contamination)
        remedy = "it is a share of the rows"
        check_real(self, "switch", self.switch, low=0, high=1, remedy=remedy)

    def _fit(self, X: Floats, y: Floats) -> bool:
        n = len(y)
        count = n - whole_rows(self.contamination, n)
        level = float(np.median(y)) if self.fit_intercept else 0.0
        kept: Bools = np.ones(n, dtype=bool)
        if self.start == "zero":
            kept = lowest(np.abs(y - level), count)
        steps = _Steps(X, y, self.alpha, self.fit_intercept)
        coef, intercept = np.zeros(X.shape[1]), level
        entered, fitted = n, np.full(n, level)
        converged = False
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration + 1
            full = self.variant == "fc"
            full = full or (self.variant == "hyb" and entered <= self.switch * n)
            if full:
                coef, intercept = weighted_ridge(
                    X, y, kept.astype(np.float64), self.alpha, self.fit_intercept
                )
            else:
                coef, intercept = steps.take(coef, intercept, kept)
            before, fitted = fitted, X @ coef + intercept
            chosen = lowest(np.abs(y - fitted), count)
            entered = int(np.count_nonzero(chosen & ~kept))
            same = bool(np.array_equal(chosen, kept))
            enough = self.tol * np.linalg.norm((fitted - level)[chosen])
            still = np.linalg.norm((fitted - before)[chosen]) <= enough
            exact = np.linalg.norm((y - fitted)[chosen]) <= enough
            kept = chosen
            if exact or (same and (full or still)):
                converged = True
                break
        self.coef_, self.intercept_, self.inlier_mask_ = coef, intercept, kept
        return converged


class _Steps:
    """Gradient steps on ½Σ_S (y − Xw − b)² + ½α‖w‖², of the length that is safe on S.

    Features are taken about their medians, which moves only the intercept and keeps a
    constant level in X from slowing the steps.
    """

    def __init__(self, X: Floats, y: Floats, alpha: float, intercept: bool) -> None:
        self._middle = np.median(X, axis=0) if intercept else np.zeros(X.shape[1])
        ones = np.full((len(y), int(intercept)), 1.0)
        self._design = np.column_stack([X - self._middle, ones])
        self._y, self._intercept = y, intercept
        self._penalty = np.zeros(self._design.shape[1])
        self._penalty[: X.shape[1]] = alpha
        self._kept: Bools | None = None
        self._length = 0.0

    def take(self, coef: Floats, level: float, kept: Bools) -> tuple[Floats, float]:
        """One step from a line to the next."""
        theta = coef.copy()
        if self._intercept:
            theta = np.append(theta, level + self._middle @ coef)
        rows = self._design[kept]
        if self._kept is None or not np.array_equal(self._kept, kept):
            self._kept, self._length = kept, self._safe_length(rows)
        residual = rows @ theta - self._y[kept]
        theta -= self._length * (rows.T @ residual + self._penalty * theta)
        if not self._intercept:
            return theta, 0.0
        return theta[:-1], float(theta[-1] - self._middle @ theta[:-1])

    def _safe_length(self, rows: Floats) -> float:
        """1/(‖X_S‖² + α), the largest step that never raises the squares on S."""
        gram = rows.T @ rows if rows.shape[1] <= len(rows) else rows @ rows.T
        last = len(gram) - 1
        top = scipy.linalg.eigvalsh(gram, subset_by_index=[last, last])[0]
        largest = float(top + np.max(self._penalty))
        return 1.0 / largest if largest > 0 else 0.0
