"""Any estimator that takes sample weights, made to minimise a spectral risk."""

import inspect
from typing import Any, Self

import numpy as np
import sklearn
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._arrays import unmasked
from .._params import check_count, check_real, refused
from .._typing import Floats, Indices
from .._validation import rows_of, unchanged_on_error
from ..losses import NUMBER_LOSSES, Loss, parse_loss
from ..ranking import Ranking, check_row_weights
from ..spectra import Spectrum, parse_spectrum
from ._folds import Folds, folds_of
from .base import NestedParameters


def _has(name: str) -> Any:
    """Whether the estimator, fitted or not, has a method."""

    def check(self: Any) -> bool:
        own = self.estimator_ if hasattr(self, "estimator_") else self._inner()
        getattr(own, name)
        return True

    return check


class RiskMeta(MetaEstimatorMixin, NestedParameters):
    r"""Any estimator that takes `sample_weight`, for its worst rows, or without them.

    What becomes small is a spectral risk of its losses: the largest of their weighted
    sums, Σλ_iℓ_i, over the λ that share out the spectrum. So the estimator is fitted in
    turns with weights λ (times the total weight, so that its own penalty keeps its
    meaning), and the λ that its losses attain are averaged into them:

    .. math:: \lambda \leftarrow (1 - \gamma_t) \lambda + \gamma_t \sigma(\ell),
              \qquad \gamma_t = 2 / (t + 3)

    from equal weights, the ordinary fit (Frank and Wolfe's method on the dual). Where
    the estimator minimises its weighted losses exactly, is convex and has no penalty,
    Σλ_iℓ_i is a lower bound on the risk of all its models, and `history_` holds the
    gap. Under decreasing spectra, which leave the largest losses out, λ follows the
    losses at once (concentration steps). The round of least risk is kept, which may be
    the ordinary one.

    Flexible learners fit their training rows too well for these losses to say which
    rows are hard, or wrong. By default losses are held out: of models that have not
    seen the row.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor or classifier whose `fit` takes `sample_weight`, or a pipeline that
        ends in one. None means ridge regression.
    spectrum : str or Spectrum, default="superquantile:0.9"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`.
    loss : str or Loss, default="auto"
        What the estimator minimises, or near: ``"squared"`` (also ``"auto"``),
        ``"absolute"``, ``"huber:1.35"``, ``"pinball:0.9"``; of classifiers ``"log"``
        (also ``"auto"``), the logarithmic loss of `predict_proba`.
    cv : int, splitter or None, default=5
        Folds for losses of rows that a model has not seen; an int shuffles the rows
        that have weight, and spreads each class over the folds. Every round then fits
        once for each fold. None means losses of the training rows: right for linear
        models, and n_folds times as fast.
    max_iter : int, default=20
        Most rounds after the ordinary one.
    n_iter_no_change : int, default=5
        Rounds without a lower risk after which to stop.
    tol : float ≥ 0, default=1e-4
        Gap, relative to the risk, at which training losses leave nothing to gain, and
        share by which a risk must be lower to count.
    random_state : int, RandomState instance or None, default=None
        For shuffling folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows with the weights of the best round.
    risk_weights_ : array of shape (n_samples,)
        These weights, with sum one.
    history_ : list of dict
        For every round ``"iteration"``, ``"risk"`` and ``"gap"``, the risk less Σλℓ.
    best_iteration_ : int
        0 is the ordinary fit.
    n_iter_ : int
        Rounds, the ordinary one included.
    classes_ : array of shape (n_classes,)
        Only of classifiers.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    See Also
    --------
    RiskRegressor, RiskClassifier : Linear models, to a certified optimum.
    lrisk.boosting.objective : For boosted trees, in one fit.

    Notes
    -----
    Held-out risks choose the round: they flatter the model a little. Compare models on
    other rows (`lrisk.metrics.compare_risks`).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from lrisk import RiskMeta, risk
    >>> X, y = load_diabetes(return_X_y=True)
    >>> spectrum, ordinary = "superquantile:0.9", LinearRegression().fit(X, y)
    >>> model = RiskMeta(LinearRegression(), spectrum, cv=None).fit(X, y)
    >>> risks = [risk((m.predict(X) - y) ** 2, spectrum) for m in (model, ordinary)]
    >>> bool(risks[0] < risks[1])
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        spectrum: str | Spectrum = "superquantile:0.9",
        *,
        loss: str | Loss = "auto",
        cv: Any = 5,
        max_iter: int = 20,
        n_iter_no_change: int = 5,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.spectrum = spectrum
        self.loss = loss
        self.cv = cv
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state

    # -- fitting -----------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Fit the estimator in turns with weights.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            As the estimator takes it.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; 0 counts like no row.
        groups : array-like of shape (n_samples,) or None, default=None
            Passed to a splitter `cv`, as ``GroupKFold()``.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        spectrum, keyword = self._check_parameters()
        if y is None:
            what = type(self).__name__
            raise ValueError(
                f"{what} requires y to be passed, but the target y is None"
            )
        X, y, groups = indexable(X, column_or_1d(unmasked(y), warn=True), groups)
        assert_all_finite(y, input_name="y")
        if _num_samples(X) == 0:
            rule, remedy = "of at least one row", "pass training rows"
            raise ValueError(refused(self, "X", rule, "0 sample(s)", remedy))
        classifies = is_classifier(self._inner())
        if classifies:
            check_classification_targets(y)
        weight = check_row_weights(sample_weight, _num_samples(X))
        kept = np.arange(_num_samples(X)) if weight is None else np.flatnonzero(weight)
        own = None if weight is None else weight[kept]
        part, targets = X, y
        if len(kept) < _num_samples(X):
            part, targets = rows_of(X, kept), y[kept]
        total = float(len(kept)) if own is None else float(own.sum())
        ranking = Ranking(spectrum, len(kept), own)
        folds = folds_of(self, y, kept, classifies, X, groups)
        weights = self._turns(part, targets, ranking, total, folds, keyword)
        self.estimator_ = self._fitted(part, targets, total * weights, keyword)
        self.n_iter_ = len(self.history_)
        self.risk_weights_ = np.zeros(_num_samples(X))
        self.risk_weights_[kept] = weights
        for name in ("classes_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _turns(
        self,
        X: Any,
        y: Any,
        ranking: Ranking,
        total: float,
        folds: Folds | None,
        keyword: str,
    ) -> Floats:
        """The weights of the round of least risk."""
        weights = best = ranking.mass
        least, self.best_iteration_ = np.inf, 0
        self.history_: list[dict[str, Any]] = []
        down = ranking.spectrum.monotone == "down"
        for t in range(self.max_iter + 1):
            losses = self._losses(X, y, total * weights, folds, keyword)
            attained = ranking.shared_weights(losses)
            risk = float(attained @ losses)
            gap = risk - float(weights @ losses)
            self.history_.append({"iteration": t, "risk": risk, "gap": gap})
            if risk < least - self.tol * abs(least) or t == 0:
                least, best, self.best_iteration_ = risk, weights, t
            if t - self.best_iteration_ >= self.n_iter_no_change:
                break
            if folds is None and abs(gap) <= self.tol * risk:
                break
            step = 1.0 if down else 2.0 / (t + 3.0)
            after = (1.0 - step) * weights + step * attained
            if np.array_equal(after, weights):
                break
            weights = after
        return best

    def _losses(
        self, X: Any, y: Any, weights: Floats, folds: Folds | None, keyword: str
    ) -> Floats:
        """Losses of all rows under these weights; of models without the row by folds.

        Weights are scaled to the fold, so that penalties keep their meaning there.
        """
        if folds is None:
            return self._row_losses(self._fitted(X, y, weights, keyword), X, y)
        losses = np.empty(len(y))
        for train, test in folds:
            if not weights[train].sum() > 0.0:
                rule, remedy = "wide enough to have rows in every fold", "lower cv"
                raise ValueError(refused(self, "spectrum", rule, self.spectrum, remedy))
            model = self._fitted_to_fold(X, y, weights, train, keyword)
            losses[test] = self._row_losses(model, rows_of(X, test), y[test])
        return losses

    def _inner(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _fitted(self, X: Any, y: Any, weights: Floats, keyword: str) -> Any:
        model = clone(self._inner())
        if keyword == "sample_weight":
            return model.fit(X, y, sample_weight=weights)
        # Weights of a pipeline's step are asked for by nobody but this.
        with sklearn.config_context(enable_metadata_routing=False):
            return model.fit(X, y, **{keyword: weights})

    def _fitted_to_fold(
        self, X: Any, y: Any, weights: Floats, train: Indices, keyword: str
    ) -> Any:
        targets = y[train]
        try:
            return self._fitted(rows_of(X, train), targets, weights[train], keyword)
        except ValueError as error:
            # Not every classifier learns from one class, and none can say that the
            # others were held out.
            alone = np.all(targets == targets[0]) and not np.all(y == targets[0])
            if not (alone and is_classifier(self._inner())):
                raise
            rule = "folds that train on two classes or more"
            remedy = "add rows of the others, or pass None for losses of training rows"
            message = refused(self, "cv", rule, self.cv, remedy)
            raise ValueError(message) from error

    def _row_losses(self, model: Any, X: Any, y: Any) -> Floats:
        if not is_classifier(self._inner()):
            loss = parse_loss("squared" if self.loss == "auto" else self.loss)
            predicted = np.asarray(model.predict(X), dtype=np.float64)
            if predicted.size != len(y):
                rule, remedy = "one that predicts a number for each row", "wrap it"
                seen = f"{predicted.shape} of {len(y)} rows"
                raise ValueError(refused(self, "estimator", rule, seen, remedy))
            with np.errstate(over="ignore", invalid="ignore"):  # is refused below
                losses = loss.value(np.asarray(y, dtype=np.float64), predicted.ravel())
        else:
            # A class that the fold lacked has probability zero.
            places = {name: at for at, name in enumerate(model.classes_.tolist())}
            codes = np.array([places.get(name, -1) for name in y.tolist()])
            p = np.asarray(model.predict_proba(X), dtype=np.float64)
            if p.shape != (len(y), len(places)):
                # LIBSVM forgets a class whose rows have no weight left.
                rule = "one with a probability for each of its classes"
                remedy = "choose another, or a milder spectrum"
                raise ValueError(refused(self, "estimator", rule, p.shape, remedy))
            own = np.where(codes >= 0, p[np.arange(len(y)), codes], 0.0)
            losses = -np.log(np.maximum(own, np.finfo(np.float64).tiny)) + 0.0
        if not np.all(np.isfinite(losses)):
            rule, remedy = "one whose losses are finite", "scale the targets"
            raise ValueError(refused(self, "estimator", rule, self.estimator, remedy))
        return losses

    def _check_parameters(self) -> tuple[Spectrum, str]:
        """The spectrum, and the keyword of the weights."""
        spectrum = parse_spectrum(self.spectrum)
        spectrum.validate()
        check_count(self, "max_iter", self.max_iter, low=0)
        check_count(self, "n_iter_no_change", self.n_iter_no_change)
        check_real(self, "tol", self.tol, low=0, remedy="0.0001 is usual")
        self._check_estimator()
        classifies = is_classifier(self._inner())
        if classifies and not hasattr(self._inner(), "predict_proba"):
            rule, remedy = "a classifier with predict_proba", "calibrate it first"
            raise ValueError(refused(self, "estimator", rule, self.estimator, remedy))
        if classifies and not (isinstance(self.loss, str)
                               and self.loss in ("auto", "log")):  # fmt: skip
            rule, remedy = "'log' for a classifier", "leave it at 'auto'"
            raise ValueError(refused(self, "loss", rule, self.loss, remedy))
        if not classifies and not (isinstance(self.loss, str) and self.loss == "auto"):
            parse_loss(self.loss, NUMBER_LOSSES).validate()
        return spectrum, self._keyword()

    def _check_estimator(self) -> None:
        """A regressor or classifier; of kinds that say nothing whatever predicts."""
        inner, rule = self._inner(), "a regressor or classifier"
        remedy = "pass an instance, such as Ridge()"
        if isinstance(inner, type) or not hasattr(inner, "get_params"):
            raise TypeError(refused(self, "estimator", rule, inner, remedy))
        kind = get_tags(inner).estimator_type
        numbers_or_classes = kind in ("regressor", "classifier")
        if not numbers_or_classes and not (kind is None and hasattr(inner, "predict")):
            raise TypeError(refused(self, "estimator", rule, inner, remedy))

    def _keyword(self) -> str:
        """What the estimator's `fit` calls the weights; refused if it takes none."""
        last, keyword = self._inner(), "sample_weight"
        while hasattr(last, "steps"):
            name, last = last.steps[-1]
            keyword = f"{name}__sample_weight" if "__" not in keyword else (
                keyword.replace("sample_weight", f"{name}__sample_weight")
            )  # fmt: skip
        parameters = inspect.signature(last.fit).parameters
        forwards = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if "sample_weight" not in parameters and not forwards:
            rule = "an estimator whose fit takes sample_weight"
            remedy = "choose another, a tree or a linear model"
            kind = type(last).__name__
            raise TypeError(refused(self, "estimator", rule, kind, remedy))
        return keyword

    # -- predicting: the estimator's own -----------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """Number of features that the estimator has seen."""
        if not hasattr(self, "estimator_"):
            what = type(self).__name__
            raise AttributeError(f"{what!r} object has no attribute 'n_features_in_'")
        return int(self.estimator_.n_features_in_)

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict by the estimator; shape (n_samples,)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probabilities by the estimator; shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of probabilities; shape (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores by the estimator; shape (n_samples,) or (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R² of a regressor."""
        measure = accuracy_score if is_classifier(self._inner()) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self._inner())
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, None
        if own.regressor_tags is not None:
            tags.regressor_tags = own.regressor_tags
        tags.target_tags = own.target_tags
        tags.target_tags.multi_output = False
        tags.target_tags.single_output = True
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        tags.input_tags.categorical = own.input_tags.categorical
        tags.non_deterministic = own.non_deterministic
        return tags
