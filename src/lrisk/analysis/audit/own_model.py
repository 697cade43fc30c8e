"""The user's own model as the judge: any estimator, or predictions made elsewhere.

Either way rows are judged by predictions of models that have not seen them. They are
what `OutlierDetector` and `LabelErrorDetector` take; here an estimator makes them, on
the folds of the audit, or they were given.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import (
    clone,
    is_classifier,
    is_clusterer,
    is_outlier_detector,
    is_regressor,
)
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..._extras import optional
from ..._origin import Origin
from ..._params import refused
from ..._typing import AnyArray, Bools, Floats, Indices
from ...estimators import LabelErrorDetector, OutlierDetector
from ...procedures.label_noise import assign_folds
from ...tables import Preparation, Table
from ...tables.cells import raw_columns
from ...tables.quoting import QuotesCells
from ...tables.table import closest
from .given import given_predictions

#: Times that a regressor is cross-fitted: to all rows, then to those not flagged, for
#: wrong rows move its predictions for others.
ROUNDS = 2
#: Packages whose lines tell a user nothing about a model of their own.
KNOWN = {"lrisk", "sklearn", "numpy", "scipy", "builtins"}


class OwnModel(NamedTuple):
    """What rows are judged by instead of lrisk's own fits.

    Attributes
    ----------
    label : str
        What it is called where fits are compared.
    estimator : estimator or None
    columns : table or None
        What the estimator is given of all rows; None for the prepared matrix.
    targets : array of shape (n,)
        Numbers, or labels as they stand in the table.
    predictions : array of shape (n,) or (n, n_classes), or None
        Given instead of an estimator.
    """

    label: str
    estimator: Any
    columns: Any
    targets: AnyArray
    predictions: Floats | None

    def judge(
        self,
        table: Table,
        rows: Indices,
        fold: Indices,
        X: Floats,
        contamination: str | float,
        random_state: int,
    ) -> tuple[Floats, Any]:
        """Out-of-fold predictions of the rows, and the detector that judged by them.

        Parameters
        ----------
        table : Table
        rows, fold : arrays of shape (m,)
            Rows whose target is known, and their folds, unless there are groups.
        X : array of shape (m, d)
            Their prepared columns, which tell how large the noise is where.
        contamination : "auto" or float
        random_state : int
        """
        options: Any = {"contamination": contamination, "random_state": random_state}
        y = table.y[rows]
        if self.estimator is not None:
            fold = _by_group(table, rows, fold, random_state)
        if table.task == "classification":
            predicted = self._out_of_fold(table, rows, fold, np.ones(len(y), bool))
            labels = LabelErrorDetector(**options)
            return predicted, labels.fit(X, y, probabilities=predicted)
        believed = np.ones(len(rows), dtype=bool)
        for _ in range(ROUNDS):
            predicted = self._out_of_fold(table, rows, fold, believed)
            found = OutlierDetector(**options).fit(X, y, predictions=predicted)
            believed = found.inlier_mask_
            if self.estimator is None or believed.all():
                break
        return predicted, found

    def _out_of_fold(
        self, table: Table, rows: Indices, fold: Indices, believed: Bools
    ) -> Floats:
        """What models fitted to believed rows of other folds say of each row."""
        if self.predictions is not None:
            return np.asarray(self.predictions[rows])
        classes = table.task == "classification"
        shape = (len(rows), len(table.classes)) if classes else (len(rows),)
        predicted = np.zeros(shape)
        for k in np.unique(fold):
            held, others = fold == k, (fold != k) & believed
            fitted_to, asked = self._given(table, rows[others], rows[held])
            y = self.targets[rows[others]]
            try:
                model = clone(self.estimator).fit(fitted_to, y)
                own = _probabilities(model, asked, self.targets[rows]) if classes \
                    else np.asarray(model.predict(asked), dtype=np.float64)  # fmt: skip
            except Exception as error:  # of somebody else's code, which may be any
                raise self._failed(error) from error
            if own.shape != predicted[held].shape or not np.all(np.isfinite(own)):
                shaped = own.shape == predicted[held].shape
                got = "NaN or infinity" if shaped else f"shape {own.shape}"
                rule = "one that predicts a finite number for every row"
                remedy = "let it predict rows it has not seen, and look at what it says"
                raise ValueError(refused("audit", "estimator", rule, got, remedy))
            predicted[held] = own
        return predicted

    def _given(self, table: Table, *parts: Indices) -> list[Any]:
        """Rows as the estimator takes them; a preparation is learnt from the first."""
        if self.columns is not None:
            return [_safe_indexing(self.columns, rows) for rows in parts]
        preparation = Preparation(table.features).fit(parts[0])
        return [preparation.transform(rows) for rows in parts]

    def _failed(self, error: Exception) -> QuotesCells:
        remedy = (
            "a pipeline is given the columns as they are: let it encode text and fill "
            "in missing cells, or pass the model alone"
            if self.columns is not None
            else "wrap it in make_pipeline to give it the columns as they are, by name"
        )
        rule = "one that fits and predicts this table"
        words, kind = _told(error)
        parts = [self.estimator, *self.estimator.get_params(deep=True).values()]
        theirs = {str(getattr(part, "__module__", "")) for part in parts}
        theirs = {name for name in theirs if name.partition(".")[0] not in KNOWN}
        if (place := Origin.of(error, theirs)).module:
            words, kind = (
                f"{said} (line {place.line} of {place.module})"
                for said in (words, kind)
            )
        return _refused(rule, words, kind, remedy)


def own_model(
    table: Table,
    data: Any,
    target: Any,
    id: str | None,
    estimator: Any,
    predictions: Any,
    random_state: int,
) -> OwnModel | None:
    """The user's model, checked; None if none was given.

    Only what the user called target and id is kept from a pipeline: it may select the
    others by name or by position, identifiers that were guessed among them.
    """
    if estimator is None and predictions is None:
        return None
    if estimator is not None and predictions is not None:
        rule, remedy = "left out where predictions are given", "pass one of the two"
        got = type(estimator).__name__
        raise ValueError(refused("audit", "estimator", rule, got, remedy))
    labels = _labels(table)
    if predictions is not None:
        checked = given_predictions(table, predictions)
        return OwnModel("your predictions", None, None, labels, checked)
    _check_estimator(table, estimator)
    copied = _seeded(estimator, random_state)
    name = type(_last_step(estimator)).__name__
    columns = None
    if prepares_itself(estimator):
        named = [target] if np.ndim(target) == 0 else []
        named += [] if id is None else [id]
        columns = _without(data, {str(name) for name in named})
    if labels.dtype.kind == "f" and table.classes:
        labels = table.y  # classifiers refuse fractions: the classes are numbered
    return OwnModel(f"your {name}", copied, columns, labels, None)


def taken_out(data: Any, name: str, target: Any) -> tuple[Any, AnyArray]:
    """A table without the column of predictions, and that column."""
    if isinstance(target, str) and name == target:
        rule, remedy = "another column than the target", "name that of the predictions"
        raise ValueError(refused("audit", "predictions", rule, name[:80], remedy))
    names, raw = raw_columns(data)
    name = closest(name, names, "predictions", "audit")
    return _without(data, {name}), raw[names.index(name)]


def prepares_itself(estimator: Any) -> bool:
    """Whether a pipeline is in it, which encodes and fills in by itself."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(isinstance(part, Pipeline | ColumnTransformer) for part in parts)


def _last_step(estimator: Any) -> Any:
    """What predicts at the end of a pipeline; any other model is its own."""
    while isinstance(estimator, Pipeline) and estimator.steps:
        estimator = estimator.steps[-1][1]
    return estimator


def _by_group(table: Table, rows: Indices, fold: Indices, random_state: int) -> Indices:
    """Folds in which rows of one group are together; as they are without groups.

    Rows of no group are each by themselves: nothing says that they belong together.
    """
    group = next((own for own in table.columns if own.kind == "group"), None)
    if group is None:
        return fold
    known = ~group.missing[rows]
    if group.distinct < 2:
        rule, remedy = "of at least two groups", "leave it out, or pass predictions"
        raise ValueError(refused("audit", "group", rule, "one", remedy))
    places = np.arange(len(rows)) + len(rows)
    places[known] = np.unique(group.values[rows][known], return_inverse=True)[1]
    classes = table.task == "classification"
    codes = table.y[rows] if classes else np.zeros(len(rows), dtype=np.int64)
    rng = np.random.default_rng(random_state)
    together = assign_folds(codes, len(np.unique(fold)), rng, places)
    for k in np.unique(together) if classes else []:
        if len(np.unique(codes[together != k])) < 2:
            rule = "one without which rows of two classes are left"
            remedy = "leave it out, or pass predictions"
            got = "groups that hold nearly all rows of a class"
            raise ValueError(refused("audit", "group", rule, got, remedy))
    return together


def _without(data: Any, names: set[str]) -> Any:
    """The table less some columns; a dict becomes a data frame."""
    if isinstance(data, dict):
        pd = optional("pandas", "an audit of a dict by your own model")
        data = pd.DataFrame(data)
    if not hasattr(data, "columns"):
        return np.asarray(data)
    kept = [at for at, name in enumerate(data.columns) if str(name) not in names]
    return data.iloc[:, kept] if hasattr(data, "iloc") else data[:, kept]


def _labels(table: Table) -> AnyArray:
    """Targets as the table has them: words, whole numbers, booleans, numbers."""
    goal = table.target
    if table.task == "regression":
        return table.y
    if goal.has_levels:
        return np.array([*goal.levels, ""])[goal.values]
    if goal.kind == "boolean":
        return np.asarray(goal.values == 1.0)
    known = goal.values[~np.isnan(goal.values)]
    whole = np.all(known == np.round(known))
    return np.nan_to_num(goal.values).astype(np.int64) if whole else goal.values


def _seeded(estimator: Any, random_state: int) -> Any:
    """A copy that draws the same every time, where nothing else was asked for."""
    try:
        own = clone(estimator)
        undecided = {
            name: random_state
            for name, value in own.get_params(deep=True).items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        return own.set_params(**undecided)
    except Exception as error:  # of somebody else's code, which may be any
        raise _no_estimator(error) from error


def _no_estimator(error: Exception) -> QuotesCells:
    """What is refused before anything is fitted."""
    rule = "one that scikit-learn can clone, and whose tags it can read"
    remedy = "inherit from BaseEstimator; let __init__ do no more than store arguments"
    return _refused(rule, *_told(error), remedy)


def _told(error: Exception) -> tuple[str, str]:
    """The words of an error in one short line, and its kind, which tells no cell."""
    kind = type(error).__name__
    words = " ".join(f"{kind}: {error}".split())
    return words if len(words) <= 120 else f"{words[:117]}...", kind


def _refused(rule: str, words: str, kind: str, remedy: str) -> QuotesCells:
    """The refusal of a model, with the words of its error and without them."""
    told, bare = (
        refused("audit", "estimator", rule, got, remedy) for got in (words, kind)
    )
    return QuotesCells(told, bare)


def _check_estimator(table: Table, estimator: Any) -> None:
    rule = "a scikit-learn regressor or classifier with fit, predict and get_params"
    if isinstance(estimator, type):
        remedy = f"pass an instance: {estimator.__name__}()"
        raise TypeError(refused("audit", "estimator", rule, "a class", remedy))
    able = all(hasattr(estimator, name) for name in ("fit", "predict", "get_params"))
    tagged = hasattr(estimator, "__sklearn_tags__")
    if able and tagged:
        try:
            estimator.__sklearn_tags__()
        except Exception as error:  # of somebody else's code, which may be any
            raise _no_estimator(error) from error
    others = (is_clusterer, is_outlier_detector)  # which predict, too, but no target
    if not able or (tagged and any(kind(estimator) for kind in others)):
        got, remedy = type(estimator).__name__, "pass RandomForestRegressor(), say"
        raise TypeError(refused("audit", "estimator", rule, got, remedy))
    wanted, unwanted = "classifier", is_regressor
    if table.task == "regression":
        wanted, unwanted = "regressor", is_classifier
    if tagged and unwanted(estimator):
        other = "regression" if wanted == "classifier" else "classification"
        rule = f"a {wanted}, for the target was read for {table.task}"
        remedy = f"pass another, or choose the task {other}"
        last = _last_step(estimator)
        got = type(last).__name__
        got += "" if last is estimator else ", the last step of the pipeline"
        raise ValueError(refused("audit", "estimator", rule, got, remedy))


def _probabilities(model: Any, asked: Any, labels: AnyArray) -> Floats:
    """Of all classes in sorted order; 0 and 1 where the model only names a class."""
    classes = np.unique(labels)
    if hasattr(model, "predict_proba"):
        stated = np.asarray(model.predict_proba(asked), dtype=np.float64)
        known = np.asarray(model.classes_)
    else:
        known = classes
        stated = (np.asarray(model.predict(asked))[:, None] == classes).astype(float)
    whole = np.zeros((len(stated), len(classes)))
    whole[:, np.searchsorted(classes, known)] = stated
    return whole
