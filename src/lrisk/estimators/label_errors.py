"""Which labels x contradicts, by any classifier as the reference."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter

from .._params import refused
from .._threads import blas_threads_for
from .._typing import AnyArray, Bools, Floats, Indices
from .._validation import generator, unchanged_on_error
from ..procedures.label_noise import (
    Detection,
    FeatureScaling,
    LabelledRows,
    column_units,
    confidence_logs,
    flag,
    judge_labels,
    plain_scaling,
)
from ..ranking import check_row_weights
from .detector_base import RowDetector
from .row_facts import check_probabilities, check_trusted, rows_of_any_size


class LabelErrorDetector(RowDetector):
    """Find class labels that the features contradict: wrong ones, or chance.

    The judgement of `RobustClassifier` alone, by any classifier. References that have
    not seen a label, among them some fitted only to rows that agree with the others,
    are joined by one likelihood with a matrix of label noise.

    Parameters
    ----------
    estimator : classifier with predict_proba or None, default=None
        The reference; fitted 20 times, to four or three fifths of the rows. By default
        logistic regression on the columns and on an RBF kernel and, from a thousand
        rows on, extra trees.
    contamination : "auto" or float in [0, 0.5), default="auto"
        Share of wrong labels. A number is taken at its word: so many rows are flagged.
    random_state : int, RandomState instance or None, default=None
        For folds and trees; pass an int for the same result in every call.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    answer_ : {"noise", "none", "cannot tell"}
        "cannot tell": overlap of the classes explains the labels as well.
    contamination_ : float
        Share of wrong labels; 0 where noise was not found.
    contamination_interval_ : tuple of float
        Shares that the profile of the likelihood does not exclude, at level 0.9.
    noise_matrix_ : array of shape (n_classes, n_classes)
        T[k, j]: probability that a row of class k is labelled j.
    outlier_score_ : array of shape (n_samples,)
        Probability that a label is wrong. It ranks rows whatever the answer is.
    label_suggestion_ : array of shape (n_samples,)
        The likeliest true classes.
    inlier_mask_ : array of bool of shape (n_samples,)
        False where a label is flagged.
    expected_false_flags_ : float
        Σ(1 − score) over flagged rows.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RobustClassifier : Fits the rows whose labels agree, besides.
    OutlierDetector : The same for numbers.
    lrisk.audit : The whole table judged, with reasons and a report.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lrisk import LabelErrorDetector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> wrong = np.random.default_rng(0).random(len(y)) < 0.2
    >>> found = LabelErrorDetector(random_state=0).fit(X, np.where(wrong, 1 - y, y))
    >>> found.answer_, bool(wrong[~found.inlier_mask_].mean() > 0.8)
    ('noise', True)
    """

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        trusted: Any = None,
        probabilities: Any = None,
    ) -> Self:
        """Judge the labels of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Numbers; the estimator is given a data frame as it is, names of columns
            included, and sparse rows made dense.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; rows of weight 0 are not judged.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group share a fold, as equal rows do.
        trusted : array-like of bool of shape (n_samples,) or None, default=None
            True where a label is known to be right. Such labels are never flagged, and
            they tell wrong labels from chance: if x contradicts them as often as it
            does others, the classes overlap, and the share of wrong labels may be 0.
        probabilities : array-like of shape (n_samples, n_classes) or None, default=None
            Of the classes in sorted order (or, in a data frame, by name), by models
            that have not seen the row's label (out of fold): one more reference beside
            those of X. They may be over-confident: p and pᶜ, normalised, say the same.
            If all are 0 or 1 they only name a class, and X has to say how sure that is.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            given = self._told()
            self._check_estimator(
                "predict_proba", "wrap it in CalibratedClassifierCV, say"
            )
            asked = X
            X, y = rows_of_any_size(self, X, y)
            check_classification_targets(y)
            weight = check_row_weights(sample_weight, len(y))
            weight = np.ones(len(y)) if weight is None else weight
            kept = np.flatnonzero(weight > 0)
            self.classes_, codes = np.unique(y[kept], return_inverse=True)
            K = len(self.classes_)
            if K < 2:
                rule, remedy = "of at least two classes", "add rows of another class"
                raise ValueError(refused(self, "y", rule, "one class", remedy))
            sure, stated = check_trusted(self, trusted, len(y))[kept], None
            if probabilities is not None:
                p = check_probabilities(self, probabilities, len(y), self.classes_)
                stated = confidence_logs(p[kept])
            places = self._places(X, groups)[kept]
            used = _safe_indexing(asked if hasattr(asked, "iloc") else X, kept)
            X, weight = X[kept], weight[kept] / weight[kept].mean()
            n, rng = len(kept), generator(self.random_state)
            inside = FeatureScaling(np.zeros(X.shape[1]), column_units(X))(X)
            Z = plain_scaling(inside, weight)(inside)
            rows = LabelledRows.of(Z, codes, K, weight, places, sure)
            models = None
            if self.estimator is not None:
                models = EstimatorModels(self.estimator, used, y[kept], rows)
            with blas_threads_for(X.size):
                _, found = judge_labels(rows, given, rng, models=models, stated=stated)
            self.answer_, self.noise_matrix_ = found.answer, found.noise
            self.contamination_ = float(found.share)
            self.contamination_interval_ = found.interval
            flagged = np.zeros(n, dtype=bool)
            if given is not None or self.answer_ == "noise":
                flagged = flag(found.score, weight, codes, given) & ~sure
            self._store(y, kept, found, flagged)
        return self

    def _store(
        self, y: AnyArray, kept: Indices, found: Detection, flagged: Bools
    ) -> None:
        self.outlier_score_ = np.zeros(len(y))
        self.outlier_score_[kept] = found.score
        self.label_suggestion_ = np.array(y)
        self.label_suggestion_[kept] = self.classes_[found.suggestion]
        self.inlier_mask_ = np.ones(len(y), dtype=bool)
        self.inlier_mask_[kept[flagged]] = False
        self.expected_false_flags_ = float(np.sum(1.0 - found.score[flagged]))


class EstimatorModels:
    """References: clones of one classifier, fitted to the user's rows and labels."""

    def __init__(self, estimator: Any, X: Any, y: AnyArray, rows: LabelledRows) -> None:
        self._estimator, self._X, self._y, self._rows = estimator, X, y, rows
        self._weighted = has_fit_parameter(estimator, "sample_weight")

    def quick(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """Its probabilities of some rows, fitted to others."""
        rows, options = self._rows, {}
        p = np.zeros((len(asked), rows.n_classes))
        only = np.unique(rows.codes[fitted])
        if len(only) == 1:  # which many classifiers refuse
            p[:, only] = 1.0
            return [p]
        if self._weighted:
            options["sample_weight"] = rows.weight[fitted]
        model = clone(self._estimator)
        model.fit(_safe_indexing(self._X, fitted), self._y[fitted], **options)
        # Its classes_ are sorted.
        p[:, only] = model.predict_proba(_safe_indexing(self._X, asked))
        return [p]

    def slow(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """None."""
        return []
