"""Classification when some labels or rows are wrong and nobody knows how many."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._params import check_count, check_real, refused
from .._threads import blas_threads_for
from .._typing import AnyArray, Floats, Indices
from .._validation import check_flag, generator, unchanged_on_error
from ..procedures._robust.scales import Columns
from ..procedures.label_noise import (
    FeatureScaling,
    LabelNoiseFit,
    Settings,
    class_scores,
    explained,
    fit_label_noise,
    label_terms,
    probabilities,
    uniform_noise,
)
from ..procedures.outliers import Distinct, OutlierExplanation, joined_places
from ..ranking import check_row_weights
from ..spaces import KernelRows
from .robust_base import KernelParameter, RobustEstimator, given
from .row_facts import check_groups, check_trusted, rows_of_any_size


class SelectedFit(NamedTuple):
    """Which fit was chosen.

    Attributes
    ----------
    name : str
        ``"ordinary"``: to all labels. ``"label noise"``: under the noise matrix.
        ``"agreeing rows"``: to rows whose labels x does not contradict. ``"ordinary,
        noisy labels"``: labels are wrong, but the ordinary fit with its heavy penalty
        predicts held-out labels better than these.
    scores : dict
        Log likelihood of held-out labels under the best fit of each kind; empty where
        rows were too few for a choice.
    """

    name: str
    scores: dict[str, float]


class RobustClassifier(ClassifierMixin, RobustEstimator):
    r"""Classification, linear or by a kernel, where some labels are wrong.

    A row of class k is labelled j with probability T[k, j],

    .. math:: P(y \mid x) = \sum_k p_k(x)\, T_{ky}

    with p, when labels are judged, a mixture of cross-fitted references (linear, RBF
    and, from a thousand rows on, trees) that have not seen the row's label, half of
    them fitted only to rows whose labels agree with the others. All rows are judged,
    and whatever the kernel is. T ≠ I only where it makes held-out labels clearly
    likelier. The model itself is then fitted to all labels, under T, or to rows that
    agree, whichever makes held-out labels likelier. Rows far out in all their features
    are set aside first if their labels contradict the other rows. Others count the less
    in linear and polynomial models the farther beyond the bulk they lie in any column
    (weight (6/z)² from six robust standard deviations on): no row pulls the harder for
    being farther away.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"laplacian"``, ``"cosine"`` and
        ``"precomputed"``. Positive definite kernels only; a callable takes two
        (standardised) rows.
    contamination : "auto" or float in [0, 0.5), default="auto"
        Share of wrong rows. A number is taken at its word: so many rows are flagged.
    alpha : "auto" or float > 0, default="auto"
        Penalty on the scale of ``LogisticRegression(C=1/alpha)`` over *standardised*
        features. Unlike there the intercept is penalised like one more feature. Under
        ``"auto"`` scores are also rescaled so that held-out probabilities are
        calibrated.
    gamma : "auto" or float > 0, default="auto"
        Width of the kernel over standardised features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    n_components : int or None, default=None
        Number of centres of a kernel model (Nyström), distinct rows drawn at random, at
        least two of each class; None means all rows, up to 1000. The linear kernel has
        no use for it.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    random_state : int, RandomState instance or None, default=None
        For folds, samples and trees.
    verbose : int, default=0
        Print what was chosen if positive.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Only with the linear kernel, in the units of X.
    intercept_ : array of shape (1,) or (n_classes,)
    dual_coef_ : array of shape (n_centres,) or (n_centres, n_classes)
        Only with other kernels: scores are Σ dual_coef_i k(c_i, ·) + intercept.
    X_fit_ : array of shape (n_centres, n_features)
        The centres c, standardised; not for a precomputed kernel, whose centres are
        all training rows.
    feature_center_, feature_scale_ : arrays of shape (n_features,)
        Of the standardisation.
    contamination_ : float
        Share of wrong rows, by weight; 0 where noise was not found.
    contamination_interval_ : tuple of float
        Of level 0.9: the shares that the profile of the likelihood does not exclude.
        From 0 to much: the table cannot tell wrong labels from classes that overlap.
    noise_matrix_ : array of shape (n_classes, n_classes)
        T: rows are true classes, columns labels; I where noise was not found.
    outlier_score_ : array of shape (n_samples,)
        Probability that x contradicts a row's label, which is then wrong, or chance; by
        references that have not seen it. It ranks rows also where noise was not found;
        0 for rows without weight.
    label_suggestion_ : array of shape (n_samples,)
        The likeliest true class of each row.
    inlier_mask_ : array of bool of shape (n_samples,)
        False where a row is flagged: where noise was found, the rows of highest score,
        above ½, while at most a fifth of them are expected to be right; or the worst
        rows under a given contamination. Never all rows of a class.
    leverage_mask_ : array of bool of shape (n_samples,)
        True where a row was left out of the fit only for pulling it from far out in X.
        Such rows are not flagged: they may be right, and the model wrong.
    expected_false_flags_ : float
        Σ(1 − score) over flagged rows.
    selected_ : SelectedFit
    alpha_ : float
    gamma_ : float or None
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    LabelErrorDetector : Says which labels are wrong, by any classifier.
    RobustRegressor : The same for numbers.
    RiskClassifier : For a share of wrong labels that is known, or for tail risks.
    lrisk.audit : The whole table judged, with reasons and a report.

    Notes
    -----
    A share of wrong labels is defined only if some x determine each class: clean data
    with P(y | x) of .1 or .9 everywhere have the law of 10 % flips. Wrong labels that
    depend on x, or whole groups labelled wrongly, look like structure and are learnt.
    Below fifty distinct rows nothing is chosen or found: the fit is the ordinary one
    with ``alpha=1``. References, like kernel models, are fitted to at most 20,000 rows.
    Rows that agree in all columns and in the label count as one row with the sum of
    their weights, and only the relations of these weights matter: their mean is set to
    1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lrisk import RobustClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> wrong = np.random.default_rng(0).random(len(y)) < 0.2
    >>> model = RobustClassifier(random_state=0).fit(X, np.where(wrong, 1 - y, y))
    >>> bool(model.score(X, y) > 0.94), bool(0.1 < model.contamination_ < 0.3)
    (True, True)
    >>> bool(wrong[~model.inlier_mask_].mean() > 0.8)
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
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        trusted: Any = None,
    ) -> Self:
        """Find the wrong rows and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            k(x_i, x_j) of the training rows if the kernel is precomputed. Sparse rows
            are made dense.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; 0 counts like no row, k like k copies.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group share a fold, as equal rows do.
        trusted : array-like of bool of shape (n_samples,) or None, default=None
            True where a label is known to be right: never flagged, without noise in
            the fit, and x is asked whether it contradicts these labels as often as
            others, by chance.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            settings = self._settings()
            X, y = rows_of_any_size(self, X, y)
            check_classification_targets(y)
            if settings.precomputed and X.shape[0] != X.shape[1]:
                rule = "a square matrix for kernel='precomputed'"
                remedy = "pass k(x_i, x_j) of the training rows"
                raise ValueError(refused(self, "X", rule, X.shape, remedy))
            weight = check_row_weights(sample_weight, len(y))
            rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
            codes = self._encode(y[rows])
            pairwise = settings.precomputed
            part = X[np.ix_(rows, rows)] if pairwise else X[rows]
            given = np.ones(len(rows)) if weight is None else weight[rows]
            groups = check_groups(self, groups, len(y))
            places = None if groups is None else joined_places(part, groups[rows])
            sure = check_trusted(self, trusted, len(y))[rows]
            distinct = Distinct.of(part, codes + 0.5 * sure, given)
            first = distinct.first
            with blas_threads_for(X.size):
                found = fit_label_noise(
                    settings,
                    part[np.ix_(first, first)] if pairwise else part[first],
                    codes[first],
                    len(self.classes_),
                    _of_mean_one(distinct.weights),
                    generator(self.random_state),
                    places=None if places is None else places[first],
                    trusted=sure[first],
                )
            self._store(found, X, rows[first])
            index = np.full(len(y), -1)
            index[rows] = distinct.number
            self._to_all_rows(
                found.labels.score, found.flagged, found.leverage_rows, index
            )
            self.label_suggestion_ = np.array(y)
            self.label_suggestion_[rows] = self.classes_[
                found.labels.suggestion[distinct.number]
            ]
        if self.verbose:
            self._tell()
        return self

    def _settings(self) -> Settings:
        self._check_parameters()
        check_flag(self, "fit_intercept", self.fit_intercept)
        if self.n_components is not None:
            check_count(self, "n_components", self.n_components)
        return Settings(
            self._kernel,
            given(self.gamma),
            given(self.alpha),
            given(self.contamination),
            bool(self.fit_intercept),
            self.n_components,
        )

    def _encode(self, y: AnyArray) -> Indices:
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            rule = "of at least two classes among rows of positive weight"
            seen = f"one class, {self.classes_.tolist()[0]!r}"
            remedy = "add rows of another class"
            raise ValueError(refused(self, "y", rule, seen, remedy))
        return codes

    def _store(self, found: LabelNoiseFit, X: Floats, rows: Indices) -> None:
        for name in ("coef_", "dual_coef_", "X_fit_"):
            self.__dict__.pop(name, None)
        scaling = found.scaling
        self.feature_center_, self.feature_scale_ = scaling.centre, scaling.scale
        coefficients, intercept = found.coefficients, found.intercept
        if len(intercept) > 1:  # a constant added to all scores changes nothing
            coefficients = coefficients - coefficients.mean(axis=1, keepdims=True)
            intercept = intercept - intercept.mean()
        if found.centres is None:
            raw = coefficients / scaling.scale[:, None]
            self.coef_ = np.ascontiguousarray(raw.T)
            intercept = intercept - scaling.centre @ raw
        else:
            centres, table = rows[found.centres], coefficients
            if self.kernel == "precomputed":
                table = np.zeros((len(X), len(intercept)))
                table[centres] = coefficients
            else:
                self.X_fit_ = scaling(X[centres])
            self.dual_coef_ = table[:, 0] if len(intercept) == 1 else table
        self.intercept_ = np.array(intercept, dtype=np.float64)
        self.alpha_, self.gamma_ = found.choice.alpha, found.choice.gamma
        self.contamination_ = found.labels.share
        self.contamination_interval_ = found.labels.interval
        self.selected_ = SelectedFit(found.choice.kind, found.choice.scores)
        self.noise_matrix_ = self._noise = found.labels.noise
        if self.kernel != "precomputed":
            self._columns = Columns.of(X[rows])

    # -- predicting --------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        check_is_fitted(self)
        X = rows_of_any_size(self, X, reset=False)
        return self._scores(X)

    def _scores(self, X: Floats) -> Floats:
        if hasattr(self, "coef_"):
            scores = np.asarray(X @ self.coef_.T + self.intercept_)
        else:
            centres = getattr(self, "X_fit_", None)
            Z = X
            if centres is not None:
                Z = FeatureScaling(self.feature_center_, self.feature_scale_)(X)
            rows = KernelRows(
                self._kernel(self.gamma_), centres, Z, len(self.intercept_)
            )
            scores = rows.scores(self.dual_coef_).reshape(len(X), -1) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> AnyArray:
        """Predict classes; shape (n_samples,)."""
        scores = self.decision_function(X)
        binary = scores.ndim == 1
        best = (scores > 0).astype(np.intp) if binary else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the true classes; shape (n_samples, n_classes)."""
        return probabilities(self.decision_function(X))

    # -- judging new rows --------------------------------------------------------------

    def score_outliers(
        self, X: Any, y: Any, *, contamination: float | None = None
    ) -> Floats:
        """Probability that x contradicts the labels of rows: they are wrong, or chance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that the fit has not seen; for its own there is `outlier_score_`.
        y : array-like of shape (n_samples,)
            Observed labels, of the classes of the fit.
        contamination : float in [0, 0.5) or None, default=None
            Share of wrong labels if it is known from elsewhere; by default that of the
            fit, under which all labels are right where none were found wrong.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        if contamination is not None:
            check_real(self, "contamination", contamination, low=0, high=0.5,
                       high_open=True, remedy="or None")  # fmt: skip
        X, y = rows_of_any_size(self, X, y, reset=False)
        noise = self._noise
        if contamination is not None:
            noise = uniform_noise(contamination, len(self.classes_))
        codes = self._codes(y)
        posterior = label_terms(class_scores(self._scores(X)), codes, noise)[2]
        return np.clip(1.0 - posterior[np.arange(len(codes)), codes], 0.0, 1.0)

    def _codes(self, y: AnyArray) -> Indices:
        """Numbers of observed classes; others than those of the fit are refused."""
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unseen = np.flatnonzero(self.classes_[codes] != y)
        if unseen.size:
            rule, remedy = f"among {list(self.classes_)}", "use the classes of the fit"
            raise ValueError(refused(self, "y", rule, y[unseen[0]], remedy))
        return np.asarray(codes, dtype=np.int64)

    # -- explaining --------------------------------------------------------------------

    def explain_outliers(self, X: Any, y: Any) -> OutlierExplanation:
        """Say how surprising rows are, and which columns make them so.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Observed labels, of the classes of the fit.

        Returns
        -------
        OutlierExplanation
            `residual`: surprise of the label, √(−2 log p) with p its probability under
            the fit, on the scale of standard deviations (2 is p = .14, 3 is p = .011).
            `leverage`: root mean square of the features in robust scales from their
            medians, growing by the logarithm beyond 3. `contributions`: nats by which a
            column makes the label more surprising than its median would, plus half the
            square of what it lies beyond 3 robust scales. `columns`: columns in falling
            order of contribution.
        """
        check_is_fitted(self)
        if self.kernel == "precomputed":
            rule, remedy = "one of features", "a kernel matrix has no columns to blame"
            raise ValueError(refused(self, "kernel", rule, self.kernel, remedy))
        X, y = rows_of_any_size(self, X, y, reset=False)
        codes = self._codes(y)
        return explained(self._scores, self._columns, X, codes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _of_mean_one(weights: Floats) -> Floats:
    """Weights over their mean; exactly 1 where all are equal."""
    if np.all(weights == weights[0]):
        return np.ones(len(weights))
    return np.asarray(weights / weights.mean())
