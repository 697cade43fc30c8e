"""Linear regression from features observed with noise, online and batch."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..._params import check_choice, check_real
from ..._typing import Floats
from ..._validation import check_flag, unchanged_on_error, validate_data
from ...corrections import corrected_least_squares
from ...corrections.covariances import CorrectedRows, centred, with_constant
from ...noise import Noise
from ...solvers.online.linear import (
    NOISE,
    LinearState,
    OnlineLinear,
    squared_norms,
)
from .base import BLOCK, ONLINE, NoiseEstimator

#: What `theory_bound_` rests on: one value for the whole stream.
PROMISES = (
    "radius",
    "learning_rate",
    "correction",
    "horizon",
    "feature_bound",
    "target_bound",
)


class NoiseCorrectedRegressor(RegressorMixin, NoiseEstimator):
    r"""Linear regression of the clean features, learned from noisy ones.

    The rows are observed as x̃ = x + n. `fit` solves the corrected normal equations

    .. math:: (\tilde X^T \tilde X / n - \Sigma + \lambda I)\, w = \tilde X^T y / n

    with the matrix clipped to be positive semi-definite; `partial_fit` runs projected
    online gradient descent with the unbiased gradient
    :math:`2(w \cdot \tilde x - y)\tilde x - 2 \Sigma w` (paper 3, algorithm 1, with the
    factor 2 that is missing in print). With two copies of each row and no knowledge of
    the noise, products of different copies take the place of Σ.

    Predictions are for **clean** features. On noisy ones an ordinary regression of y on
    x̃ has the smaller error.

    Parameters
    ----------
    noise : Noise or None, default=None
        What is known of the noise (see `lrisk.noise`). None needs `X2`.
    radius : "auto" or float, default="auto"
        Of the ball that (w, intercept) is kept in online, in standardised units if
        `standardize`; ``"auto"`` takes three times the norm that would explain y.
    learning_rate : {"auto", "theory"} or float, default="auto"
        Online step. ``"auto"`` runs five constant steps side by side and follows the
        one with the smallest corrected loss on the rows to come. ``"theory"`` is the
        step of theorem 1, for which `theory_bound_` holds.
    average : bool, default=True
        Predict with the average of the online iterates.
    correction : float in [0, 1], default=1.0
        Factor on the correction. Over-stated noise hurts more than under-stated.
    standardize : bool, default=False
        Standardise the features inside, with the noise. Online, location and scale are
        those of the first call's rows.
    alpha : "auto" or float, default="auto"
        Batch penalty, as in ``Ridge(alpha=alpha)`` (λ = alpha/n). ``"auto"`` is the
        size of the error of the corrected matrix, zero without noise.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    horizon : int or None, default=None
        Number of online rounds, if known, for ``learning_rate="theory"``.
    feature_bound, target_bound : float or None, default=None
        B_x̃ and B_ỹ of theorem 1, E‖x̃‖² ≤ B_x̃² and E ỹ² ≤ B_ỹ² in every round; by
        default running root mean squares, which prove nothing. For one copy and a known
        covariance E‖x̃‖⁴ ≤ B_x̃⁴ is asked. B_x̃ is of the features alone, less the mean
        of their noise, in standard units with `standardize`; the intercept is added.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    alpha_ : float
        Batch penalty used.
    n_rounds_ : int
        Online rounds so far.
    learning_rate_, radius_ : float
        Online step and radius of the last round.
    progressive_loss_ : float
        Corrected loss of rows before they were learned from (later rounds count more):
        an unbiased estimate of the error on clean rows, comparable between models.
    theory_bound_ : float
        Bound on the expected regret so far (theorem 1), if `feature_bound` and
        `target_bound` are true. Infinite without them, if `learning_rate` or `radius`
        is ``"auto"``, where the gradients are not unbiased (a `correction` below 1, or
        `standardize`, whose scale has the rows' noise), with a `target_cov`, and once
        any of these, or the kind of noise, has changed during a stream.
    location_, scale_ : arrays of shape (n_features,)
        What is subtracted from the features, and what they are divided by; 0 and 1
        without `standardize`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    NoiseCorrectedKernelRegressor : For relations that are not linear.
    RegressionCalibration : Clean-feature estimates for any estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import NoiseCorrectedRegressor
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 1))
    >>> y = 2.0 * x[:, 0]
    >>> noisy = x + rng.normal(size=x.shape)
    >>> model = NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y)
    >>> bool(abs(model.coef_[0] - 2.0) < 0.2)  # an ordinary fit finds 1.0
    True
    """

    def __init__(
        self,
        noise: Noise | None = None,
        *,
        radius: float | str = "auto",
        learning_rate: float | str = "auto",
        average: bool = True,
        correction: float = 1.0,
        standardize: bool = False,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        horizon: int | None = None,
        feature_bound: float | None = None,
        target_bound: float | None = None,
    ) -> None:
        self.noise = noise
        self.radius = radius
        self.learning_rate = learning_rate
        self.average = average
        self.correction = correction
        self.standardize = standardize
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.horizon = horizon
        self.feature_bound = feature_bound
        self.target_bound = target_bound

    def fit(
        self,
        X: Any,
        y: Any,
        X2: Any = None,
        noise_scale: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Solve the corrected normal equations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy rows.
        y : array-like of shape (n_samples,)
        X2 : array-like of shape (n_samples, n_features) or None, default=None
            A second, independent copy of the rows; shape (n_samples, m, n_features) for
            m further copies.
        noise_scale : array-like or None, default=None
            For each row a factor on the noise's covariance, shape (n_samples,), or its
            own variances (n_samples, n_features) or covariance matrix.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A row of weight k counts as k rows, each with noise of its own.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            copies, y, noise, scale = self._prepared(X, y, X2, noise_scale, reset=True)
            copies, y, scale, weights = self._weighted(sample_weight, copies, y, scale)
            n = len(y) if weights is None else float(weights.sum())
            self._forget(*ONLINE)
            self._set_standard(copies[0], weights)
            _, rows = self._corrected(copies, noise, scale)
            centre = np.average(rows.mean, axis=0, weights=weights)
            centre = centre * self.fit_intercept
            offset = float(np.average(y, weights=weights)) * self.fit_intercept
            rows = centred(rows, weights) if self.fit_intercept else rows
            ridge = None if isinstance(self.alpha, str) else self.alpha / n
            solved = corrected_least_squares(rows, y - offset, ridge, weights)
            self.alpha_ = solved.ridge * n
            self._store(solved.w, offset - float(solved.w @ centre))
        return self

    def partial_fit(
        self, X: Any, y: Any, X2: Any = None, noise_scale: Any = None
    ) -> Self:
        """Learn from each row in turn; parameters as in `fit`.

        After `fit` it begins anew. Rows are read in blocks, so that memory-mapped
        arrays of any length may be passed. The noise may change from call to call;
        `fit_intercept`, `standardize` and the kind of `learning_rate` cannot.
        """
        with unchanged_on_error(self):
            first = not hasattr(self, "_state")
            self._check_stream(("fit_intercept", "standardize"))
            copies, y, noise, scale = self._prepared(X, y, X2, noise_scale, reset=first)
            solver = self._online()
            if first:
                self._forget("alpha_")
                self._set_standard(copies[0][:BLOCK])
                state = solver.init(self.n_features_in_ + int(self.fit_intercept))
            else:
                state = copy.deepcopy(self._state)
            for start in range(0, len(y), BLOCK):
                part = slice(start, start + BLOCK)
                own = None if scale is None else scale[part]
                rows, squared = self._round_rows([c[part] for c in copies], noise, own)
                solver.step(state, rows, y[part], squared)
            self._state: LinearState = state
            self._store_rounds(solver, noise, scale is None)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict from clean rows; shape (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def predict_from_noisy(self, X: Any, X2: Any = None) -> Floats:
        """Unbiased estimates of the clean rows' predictions from noisy rows."""
        check_is_fitted(self)
        copies, _ = self._check_copies(X, X2, reset=False)
        copies = self._deducted(self.noise, copies)
        return np.asarray(np.mean(copies, axis=0) @ self.coef_ + self.intercept_)

    # -- inside ------------------------------------------------------------------------

    def _prepared(
        self, X: Any, y: Any, X2: Any, noise_scale: Any, *, reset: bool
    ) -> tuple[list[Any], Floats, Noise, Floats | None]:
        self._check_shared_parameters()
        for name in ("average", "fit_intercept"):
            check_flag(self, name, getattr(self, name))
        if isinstance(self.alpha, str):
            check_choice(self, "alpha", self.alpha, ("auto",))
        else:
            remedy = "'auto' chooses it, 0 means no penalty"
            check_real(self, "alpha", self.alpha, low=0, remedy=remedy)
        self._online()  # checks its parameters
        noise = self._check_noise(X2)
        copies, y = self._check_copies(X, X2, y, reset=reset, y_numeric=True)
        scale = self._check_noise_scale(noise_scale, noise, copies[0].shape)
        if noise.knows_covariance:
            noise.covariance(copies[0].shape[1])  # of the right size?
            if scale is None:
                self._warn_of_excess(noise, copies[0])
        elif len(copies) < 2:
            noise.covariance(copies[0].shape[1])  # raises, asking for X2
        y = np.asarray(y, dtype=np.float64) - noise.target_mean
        return self._deducted(noise, copies), y, noise.centred(), scale

    def _online(self) -> OnlineLinear:
        bound = self.feature_bound
        if bound is not None and self.fit_intercept:
            check_real(self, "feature_bound", bound, low=0, low_open=True,
                       remedy="leave it out if it is unknown")  # fmt: skip
            bound = float(np.hypot(bound, 1.0))  # the rounds see (x̃, 1)
        return OnlineLinear(
            self.learning_rate,  # type: ignore[arg-type]
            self.radius,
            average=self.average,
            horizon=self.horizon,
            feature_bound=bound,
            target_bound=self.target_bound,
        )

    def _round_rows(
        self, copies: list[Any], noise: Noise, scale: Floats | None
    ) -> tuple[CorrectedRows, Floats]:
        stacked, rows = self._corrected(copies, noise, scale)
        squared = squared_norms(stacked, rows)
        if not self.fit_intercept:
            return rows, squared
        return with_constant(rows), squared + 1.0

    def _store_rounds(self, solver: OnlineLinear, noise: Noise, same: bool) -> None:
        pairs = not noise.knows_covariance
        theta = solver.finish(self._state)
        report = solver.report(self._state, pairs)
        self.n_rounds_ = self._state.rounds
        self.learning_rate_, self.radius_ = report["step"], report["radius"]
        self.progressive_loss_ = report["loss"]
        d = self.n_features_in_
        unbiased = self.correction == 1.0 and not self.standardize
        # Cov(n, noise of y) is in the gradient, but not in its bound.
        apart = not np.any(noise.target_covariance(d))
        # The step of a horizon is fixed, unless the noise changes in its course.
        fixed = self.learning_rate == "theory" and self.horizon and not pairs
        size = float(self._state.sums[NOISE]) if fixed else 0.0
        steady = same or not fixed
        # What was not so in an earlier call spoils the bound of all rounds, too.
        kept = self._keeps_promise(PROMISES, (pairs, size, apart, steady))
        proven = unbiased and apart and steady and kept
        self.theory_bound_ = report["bound"] if proven else np.inf
        self._store(theta[:d], float(theta[d]) if self.fit_intercept else 0.0)

    def _store(self, w: Floats, intercept: float) -> None:
        """Back to the features' own units."""
        self.coef_ = w / self.scale_
        self.intercept_ = float(intercept - self.coef_ @ self.location_)
