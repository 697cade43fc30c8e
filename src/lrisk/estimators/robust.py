"""Regression when some rows are wrong and nobody knows which, or how many."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, check_real, refused
from .._threads import blas_threads_for
from .._typing import Floats, Indices
from .._validation import check_flag, generator, unchanged_on_error
from ..procedures._robust.scales import half_scale
from ..procedures.outliers import (
    Detection,
    Distinct,
    Explainer,
    Model,
    OutlierExplanation,
    RobustFit,
    detect,
    fit_judged,
    joined_places,
    nothing_detected,
    ranking_score,
    with_given_share,
)
from ..procedures.outliers.kernel_fit import Components, KernelFit, usable
from ..procedures.outliers.regression import NOT_ASKED
from ..ranking import check_row_weights
from ..spaces import KernelRows
from ..spaces.kernels import PARAMETERS
from .prediction_intervals import Calibration, PredictionIntervals
from .robust_base import KernelParameter, RobustEstimator, given
from .row_facts import check_groups, rows_of_any_size


class SelectedStage(NamedTuple):
    """Which stage of the recipe decided.

    Attributes
    ----------
    name : str
        ``"ordinary"``: nobody was left out or held back. ``"held back"``: nobody was
        left out, some residuals count as three scales. ``"robust"``: rows judged
        wrong were left out. ``"without leverage"``: only rows were left out that do
        not fit the line of the majority.
    scores : dict
        Capped squared leave-one-out errors of this fit and of the ordinary one, on the
        rows kept; empty where nothing was left out.
    reference : str
        What rows were compared with: ``"robust"``; ``"ordinary"``, where the rows that
        did not fit turned out predictable; ``"group"``, where they lie apart in X;
        ``"told"`` under a given contamination, ``"not asked"`` if that is 0; ``"too few
        rows"`` or ``"constant target"``, where nothing can be judged.
    evidence : float
        Twice the log likelihood ratio of two populations of residuals against one, less
        2 log n. Above 2 + 400/n there are two.
    """

    name: str
    scores: dict[str, float]
    reference: str
    evidence: float


class RobustRegressor(PredictionIntervals, RegressorMixin, RobustEstimator):
    r"""Regression, linear or by a kernel, where some rows are wrong.

    Rows are compared with a robust reference that they have not moved: a flexible one,
    whatever the final model is, or the line of the majority where rows are nearer to
    it. Only if two populations of residuals, a core and outliers at least six of its
    scales away, explain them clearly better than a single skewed and heavy-tailed one,
    are there outliers; and only if the rows are not predictable after all. A row too
    far out for its population is one whatever the others are. Outliers are left out,
    and the model is

    .. math:: \min_f \sum_i \rho\bigl(y_i - f(x_i)\bigr) + \alpha \|f\|^2

    with ρ Huber's loss beyond three scales: no row has more influence than that,
    whatever was found. A line begins with the half of the rows that lies nearest to a
    line of its own (least trimmed squares), is held by what each row could move
    (Schweppe's form), and lets rows far out in last, if it does not contradict them.
    Rows judged wrong that it foresees within the noise are let in again, and where
    outliers hide one tail of the noise, the other is cut as well, or its mean would
    move. With heavier tails than a Gaussian's it is more than three scales. Where no
    residual is beyond three scales this is ``Ridge`` or ``KernelRidge`` on standardised
    columns.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"laplacian"`` and ``"cosine"``.
        Positive definite kernels only; a callable takes two (standardised) rows.
    contamination : "auto" or float in [0, 0.5), default="auto"
        Share of wrong rows. A number is taken at its word: so many rows are left out.
    alpha : "auto" or float > 0, default="auto"
        Penalty on the scale of ``Ridge(alpha)`` and ``KernelRidge(alpha)`` over
        standardised columns; ``"auto"`` takes the lowest leave-one-out error. The
        intercept is not penalised.
    gamma : "auto" or float > 0, default="auto"
        Of the kernel over standardised columns; ``"auto"`` as for alpha.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    n_components : int or None, default=None
        Number m of centres of a kernel model (Nyström), distinct rows drawn at random
        from those that are kept: for many rows, n_samples·m² work and, up to
        n_samples·m = 5·10⁷, as many numbers in memory, above a few m × m. None, or as
        many as there are rows, means all rows. The linear kernel has no use for it.
    fit_intercept : bool, default=True
        Whether f may be other than 0 where all features, or all values of the kernel,
        are 0. Rows are judged by references that have one in any case.
    random_state : int, RandomState instance or None, default=None
        For starts of the line, the rows of large tables that the reference is fitted
        to, and the resampled interval.
    verbose : int, default=0
        Print what was found if positive.

    Attributes
    ----------
    contamination_ : float
        Estimated share of wrong rows, by weight.
    contamination_interval_ : tuple of float
        Where that share lies: resampled residuals under two shapes of the noise.
    outlier_score_ : array of shape (n_samples,)
        Chance that a training row is wrong; 0 for rows without weight. It is less than
        the chance not to follow the reference, by which rows are left out of the fit:
        that may be the reference's own error, or the tail of the noise. Rows of equal
        chance p, as where nothing was found, are ordered by their residual u in noise
        scales: :math:`p + (1 - p)\,10^{-3}|u|/(1 + |u|)`.
    inlier_mask_ : array of bool of shape (n_samples,)
        False where a row is flagged: score above 0.7, or the worst rows under a given
        contamination.
    leverage_mask_ : array of bool of shape (n_samples,)
        True where a row was left out of a linear fit only because it does not fit the
        line of the majority. Such rows are not flagged: they may be right, and the
        model wrong.
    expected_false_flags_ : float
        Σ (1 − score) over flagged rows; under a given contamination scores are ranks
        and it means nothing.
    scale_ : float
        Robust standard deviation of the noise round the fit.
    selected_ : SelectedStage
    coef_ : array of shape (n_features,)
        Only with the linear kernel, in units of X.
    coef_se_ : array of shape (n_features,)
        Standard errors of `coef_` whatever the noise (a sandwich with residuals left
        out), without the bias of the penalty.
    intercept_ : float
    dual_coef_ : array of shape (n_kept,)
        Only with other kernels: f(x) = Σ dual_coef_i k(c_i, x) + intercept.
    X_fit_ : array of shape (n_kept, n_features)
        The centres c: the distinct rows of the fit, or `n_components` of them,
        standardised.
    feature_center_, feature_scale_ : arrays of shape (n_features,)
        Of the standardisation, from the rows of the fit.
    alpha_ : float
    gamma_ : float or None
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    OutlierDetector : Says which rows are wrong, by any regressor.
    RobustClassifier : The same for classes.
    RiskRegressor : For a share of wrong rows that is known, or for tail risks.
    lrisk.audit : The whole table judged, with reasons and a report.

    Notes
    -----
    Wrong rows that are themselves predictable, a second population with a relation of
    its own, look like structure and are not flagged. Wrong values of a single feature
    are only seen if they change the prediction. Below forty distinct rows nobody is
    flagged, unless the others fit exactly. Of more than a thousand rows the reference
    is fitted to a random thousand; all rows are compared with it, and all of them say
    whether there are outliers. Rows that agree in all columns count as one row with the
    sum of their weights.

    A linear fit bears up to 30 % wrong targets of any size, anywhere, and as many rows
    far out, scattered or in a cluster: `python -m benchmarks.breakdown` measures it.
    Rows far out that the others do not contradict are kept, up to 10⁸ scales: beside
    farther ones arithmetic loses the others. On a relation that levels off, the tail of
    a heavy column contradicts a line, and is left out of it. A value that a quarter of
    the targets have is part of their distribution (claims, rain), unless it lies far
    from all others, as codes for what is missing do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RobustRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(len(y)) < 0.2
    >>> dirty = np.where(wrong, rng.normal(700, 300, len(y)), y)
    >>> model = RobustRegressor(random_state=0).fit(X, dirty)
    >>> bool(0.13 < model.contamination_ < 0.27)
    True
    >>> bool(wrong[~model.inlier_mask_].mean() > 0.9)
    True
    """

    def __init__(
        self,
        kernel: KernelParameter = "linear",
        *,
        contamination: str | float = "auto",
        alpha: str | float = "auto",
        gamma: str | float = "auto",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_components: int | None = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.contamination = contamination
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -----------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Find the rows that do not fit, and fit the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Sparse rows are made dense.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; 0 counts like no row, k like k copies.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group, as of one patient, and equal rows with them, are left out
            together where rows are judged and a kernel model is chosen.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            model = self._model()
            X, y = rows_of_any_size(self, X, y, numeric=True)
            weight = check_row_weights(sample_weight, len(y))
            weight = np.ones(len(y)) if weight is None else weight
            rows = np.flatnonzero(weight > 0)
            distinct = Distinct.of(X[rows], y[rows], weight[rows])
            first = rows[distinct.first]
            own_X, own_y = X[first], y[first]
            groups = check_groups(self, groups, len(y))
            places = None
            if groups is not None:
                places = joined_places(X[rows], groups[rows])[distinct.first]
            with blas_threads_for(0):  # hundreds of small systems
                detection = self._detect(own_X, own_y, distinct.weights, places)
                rng = generator(self.random_state)
                found = fit_judged(
                    model, own_X, own_y, distinct.weights, detection, rng, places
                )
                detection = detection.without(found.belong)
                self._explainer = Explainer.of(own_X[~detection.flagged])
            self._store(found, detection, distinct.weights)
            with np.errstate(over="ignore", invalid="ignore"):  # rows left out
                own = self._values(own_X)
            self._calibration_ = Calibration.of(
                found, detection, own_y, own, distinct.weights
            )
            index = np.full(len(y), -1)
            index[rows] = distinct.number
            self._to_all_rows(
                detection.score, detection.flagged, found.leverage_rows, index
            )
        if self.verbose:
            self._tell()
        return self

    def _model(self) -> Model:
        self._check_parameters()
        check_flag(self, "fit_intercept", self.fit_intercept)
        auto = self.gamma == "auto"
        kernel = self._kernel(given(self.gamma))
        if kernel.precomputed:
            rule, remedy = "one of features", "rows are judged by their features"
            raise ValueError(refused(self, "kernel", rule, self.kernel, remedy))
        wide = callable(self.kernel) or "gamma" not in PARAMETERS[str(self.kernel)]
        return Model(
            kernel,
            given(self.alpha),
            auto and not wide,
            self._components(),
            bool(self.fit_intercept),
        )

    def _components(self) -> Components | None:
        if self.n_components is None:
            return None
        check_count(self, "n_components", self.n_components)
        salt = generator(self.random_state).integers(2**31)
        return Components(int(self.n_components), int(salt))

    def _detect(
        self, X: Floats, y: Floats, weights: Floats, places: Indices | None
    ) -> Detection:
        if self.contamination == 0.0:
            return nothing_detected(y, NOT_ASKED, (0.0, 0.0))
        found = self.contamination == "auto"
        rng = generator(self.random_state)
        detection = detect(X, y, rng, places)
        if found:
            return detection
        return with_given_share(detection, float(self.contamination), weights)

    def _store(self, found: RobustFit, detection: Detection, weights: Floats) -> None:
        for name in ("coef_", "coef_se_", "dual_coef_", "X_fit_", "gamma_"):
            self.__dict__.pop(name, None)
        fit = found.fit
        if isinstance(fit, KernelFit):
            self.dual_coef_, self.X_fit_ = fit.dual_coef, fit.rows
            self.intercept_, self.gamma_ = fit.level, fit.kernel.gamma
        else:
            self.coef_, self.intercept_, self.gamma_ = fit.coef, fit.intercept, None
            self.coef_se_ = found.coef_se
        self.feature_center_, self.feature_scale_ = fit.scaling
        self.alpha_ = fit.alpha
        self.scale_ = half_scale(fit.left_out)
        self._detector_ = detection.detector
        worst = np.abs(detection.u[detection.flagged])
        self._told_cut_ = float(worst.min()) if len(worst) else np.inf
        self.selected_ = SelectedStage(
            found.chosen, found.errors, detection.source, detection.evidence
        )
        low, high = detection.interval
        # By rows the model says how many; weights only move mass among them.
        chance, share = detection.chance, detection.share
        by_rows, by_mass = np.mean(chance), np.average(chance, weights=weights)
        factor = float(by_mass / by_rows) if by_rows > 0.0 else 1.0
        if detection.source == "told":
            factor = 1.0
        self.contamination_ = min(factor * share, 0.5)
        interval = (min(factor * low, 0.5), min(factor * high, 0.5))
        self.contamination_interval_ = interval

    # -- predicting --------------------------------------------------------------------

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,)."""
        check_is_fitted(self)
        return self._values(rows_of_any_size(self, X, reset=False))

    def _values(self, X: Floats) -> Floats:
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_ + self.intercept_)
        Z = usable((X - self.feature_center_) / self.feature_scale_)
        rows = KernelRows(self._kernel(self.gamma_), self.X_fit_, Z)
        return np.asarray(rows.scores(self.dual_coef_) + self.intercept_)

    # -- judging new rows --------------------------------------------------------------

    def expect(self, X: Any) -> tuple[Floats, Floats]:
        """What the flexible reference expects of rows, and the noise scale there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        expected, scale : arrays of shape (n_samples,)
            In units of y; the fit's own predictions and scale where nothing could be
            judged.
        """
        check_is_fitted(self)
        return self._expect(rows_of_any_size(self, X, reset=False))

    def _expect(self, X: Floats) -> tuple[Floats, Floats]:
        if self._detector_ is None:
            scale = self.scale_ if self.scale_ > 0.0 else 1.0
            return self._values(X), np.full(len(X), scale)
        return self._detector_.expected(X)

    def score_outliers(
        self, X: Any, y: Any, *, contamination: float | None = None
    ) -> Floats:
        """Chance that rows do not belong to the population of the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that the fit has not seen; for its own there is `outlier_score_`.
        y : array-like of shape (n_samples,)
            Observed targets.
        contamination : float in [0, 0.5) or None, default=None
            Share of wrong rows if it is known from elsewhere; by default that of the
            fit. Rows farther out than the tail of the noise reaches are wrong under any
            share but 0; at 0, and after fits that could judge nobody (too few rows, a
            constant target), scores only order the rows, and none reaches 0.001.

        Returns
        -------
        array of shape (n_samples,)
            If the fit itself was given a contamination, ``|u|/(|u| + c)``, with u
            residuals in local noise scales and c the least ``|u|`` among its flagged
            rows.
        """
        check_is_fitted(self)
        if contamination is not None:
            check_real(self, "contamination", contamination, low=0, high=0.5,
                       high_open=True, remedy="or None")  # fmt: skip
        X, y = rows_of_any_size(self, X, y, reset=False, numeric=True)
        if self._detector_ is None:
            expected, scale = self._expect(X)
            with np.errstate(over="ignore"):
                return ranking_score(np.zeros(len(y)), (y - expected) / scale)
        u, chance = self._detector_.judged(X, y, contamination)
        if self.contamination != "auto":
            size = np.abs(u)
            return np.asarray(size / np.maximum(size + self._told_cut_, 1e-300))
        return ranking_score(chance, u)

    # -- explaining --------------------------------------------------------------------

    def explain_outliers(self, X: Any, y: Any) -> OutlierExplanation:
        """Say how far rows are off, how far out they lie, and by which columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Observed targets.

        Returns
        -------
        OutlierExplanation
            Named arrays `residual`, `leverage`, `contributions` and `columns`.
        """
        check_is_fitted(self)
        X, y = rows_of_any_size(self, X, y, reset=False, numeric=True)
        return self._explainer.explain(self._expect, X, y)
