"""Which targets do not fit their rows, by any regressor as the reference."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from .._arrays import unmasked
from .._params import refused
from .._typing import Bools, Floats, Indices
from .._validation import generator, unchanged_on_error
from ..procedures.outliers import (
    Detection,
    Distinct,
    canonical_order,
    detect,
    detect_by_predictions,
    with_given_share,
)
from ..ranking import check_row_weights
from .detector_base import RowDetector
from .row_facts import rows_of_any_size

#: Folds of cross-fitting; usual.
FOLDS = 5
#: Times that an estimator is cross-fitted: to all rows, then to those not flagged, for
#: wrong rows move its predictions for others.
ROUNDS = 2


class OutlierDetector(RowDetector):
    r"""Find rows whose target does not fit the other rows.

    The judgement of `RobustRegressor` alone, by any regressor. Residuals of models that
    have not seen the row, in units of the local noise, are of one population or of two;
    rows of the second, and rows farther out than the tail of the first reaches, are
    flagged.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The reference, cross-fitted on five folds, and once more to the rows that the
        first time did not flag. By default a robust kernel regression or a robust line,
        whichever is nearer to most rows.
    contamination : "auto" or float in [0, 0.5), default="auto"
        Share of wrong rows. A number is taken at its word: so many rows are flagged.
    random_state : int, RandomState instance or None, default=None
        For starts and samples; pass an int for the same result in every call.

    Attributes
    ----------
    contamination_ : float
        Share of rows that do not fit.
    contamination_interval_ : tuple of float
    outlier_score_ : array of shape (n_samples,)
        Probability that a row does not fit. Rows of equal probability, as where nothing
        was found, are ordered by their residual: :math:`p + (1 - p)\,10^{-3}
        |u|/(1 + |u|)`.
    residual_ : array of shape (n_samples,)
        (y − expected)/noise scale, u above; logarithmic beyond 20 scales.
    expected_ : array of shape (n_samples,)
        What the reference expects of a row that it has not seen.
    noise_scale_ : array of shape (n_samples,)
        Standard deviation of the noise there, in units of y.
    inlier_mask_ : array of bool of shape (n_samples,)
        False where a row is flagged.
    expected_false_flags_ : float
        Σ(1 − p) over flagged rows.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RobustRegressor : Fits the rows that fit.
    LabelErrorDetector : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from lrisk import OutlierDetector
    >>> X, y = load_diabetes(return_X_y=True)
    >>> y[:20] += 1000.0
    >>> forest = RandomForestRegressor(30, random_state=0)
    >>> found = OutlierDetector(forest, random_state=0).fit(X, y)
    >>> np.flatnonzero(~found.inlier_mask_).tolist() == list(range(20))
    True
    """

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        predictions: Any = None,
    ) -> Self:
        """Judge all rows.

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
        predictions : array-like of shape (n_samples,) or None, default=None
            Predictions by models that have not seen the row: used instead of any
            reference.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            told = self._told()
            self._check_estimator("predict", "pass a regressor")
            asked = X
            X, y = rows_of_any_size(self, X, y, numeric=True)
            weight = check_row_weights(sample_weight, len(y))
            weight = np.ones(len(y)) if weight is None else weight
            places = self._places(X, groups)
            if predictions is not None:
                predicted = self._given(predictions, len(y))
            # In an order of their own, so that the given one does not matter.
            order = canonical_order(X, y)
            kept = order[weight[order] > 0]
            if predictions is not None:
                found, index = self._judged(X, y, weight, kept, predicted, told)
            elif self.estimator is not None:
                used = asked if hasattr(asked, "iloc") else X
                believed = weight > 0
                for _ in range(ROUNDS):
                    predicted = self._cross_fitted(
                        used, y, weight, places, believed, order
                    )
                    found, index = self._judged(X, y, weight, kept, predicted, told)
                    if not found.doubted.any():
                        break
                    believed[kept] = ~found.doubted[index]
            else:
                shared = None if groups is None else places
                found, index = self._judged(X, y, weight, kept, None, told, shared)
            self._store(found, index, kept, len(y))
        return self

    def _judged(
        self,
        X: Floats,
        y: Floats,
        weight: Floats,
        kept: Indices,
        predicted: Floats | None,
        told: float | None,
        places: Indices | None = None,
    ) -> tuple[Detection, Indices]:
        """The judgement of distinct rows, and which of them each row kept is."""
        X, y, weight = X[kept], y[kept], weight[kept]
        rng = generator(self.random_state)
        if predicted is not None:
            found, index = (
                detect_by_predictions(X, y, predicted[kept], rng),
                np.arange(len(y)),
            )
        else:
            distinct = Distinct.of(X, y, weight)
            first, weight, index = distinct.first, distinct.weights, distinct.number
            shared = None if places is None else places[kept][first]
            found = detect(X[first], y[first], rng, shared)
        return (found if told is None else with_given_share(found, told, weight)), index

    def _store(self, found: Detection, index: Indices, kept: Indices, n: int) -> None:
        self.contamination_ = float(found.share)
        low, high = found.interval
        self.contamination_interval_ = (float(low), float(high))
        chance = np.clip(found.chance, 0.0, 1.0)
        for name, values, other in (
            ("outlier_score_", found.score, 0.0),
            ("residual_", found.u, 0.0),
            ("expected_", found.expected, np.nan),
            ("noise_scale_", found.scale, np.nan),
            ("inlier_mask_", ~found.flagged, True),
        ):
            out = np.full(n, other)
            out[kept] = values[index]
            setattr(self, name, out)
        flagged = found.flagged[index]
        self.expected_false_flags_ = float(np.sum((1.0 - chance)[index][flagged]))

    def _cross_fitted(
        self,
        X: Any,
        y: Floats,
        weight: Floats,
        places: Indices,
        believed: Bools,
        order: Indices,
    ) -> Floats:
        """Predictions by clones of the estimator, fitted to believed rows of others."""
        folds = min(FOLDS, len(np.unique(places)))
        if folds < 2:
            rule, remedy = "of at least two groups", "pass predictions instead"
            got = "one group (equal rows are of one)"
            raise ValueError(refused(self, "rows", rule, got, remedy))
        weighted = has_fit_parameter(self.estimator, "sample_weight")
        seed = int(generator(self.random_state).integers(2**31))
        split = GroupKFold(folds, shuffle=True, random_state=seed)
        predicted = np.empty(len(y))
        for others, rows in split.split(y, groups=places[order]):
            others, rows = order[others], order[rows]
            own = others[believed[others]]
            own = own if len(own) else others  # nobody else is believed
            options = {"sample_weight": weight[own]} if weighted else {}
            model = clone(self.estimator)
            model.fit(_safe_indexing(X, own), y[own], **options)
            predicted[rows] = np.ravel(model.predict(_safe_indexing(X, rows)))
        return self._given(predicted, len(y))

    def _given(self, predictions: Any, n: int) -> Floats:
        found = np.asarray(unmasked(predictions), dtype=np.float64)
        if found.shape != (n,) or not np.all(np.isfinite(found)):
            rule, remedy = f"finite and of shape ({n},)", "pass one number for each row"
            what = f"shape {found.shape}" if found.shape != (n,) else "NaN or infinity"
            raise ValueError(refused(self, "predictions", rule, what, remedy))
        return found
