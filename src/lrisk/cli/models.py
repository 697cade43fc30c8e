"""Estimators fitted to tables, and what they say of new ones."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from .._params import refused
from .._typing import AnyArray, Floats, Indices
from ..tables import Column, Preparation, TablePreparation, table_of
from ..tables.columns import short_number
from ..tables.table import column_names, columns_of
from .registry import counterpart, estimator_named, kind_of
from .settings import apply_settings

#: Estimators that are used if none is named.
DEFAULTS = {"regression": "RobustRegressor", "classification": "RobustClassifier"}
#: Folds of the held-out score; rows below which there is none, and above which one
#: fold is enough.
FOLDS, FEWEST_SCORED, MOST_FOLDED = 5, 20, 5000


class Fitted(NamedTuple):
    """A model as `lrisk.cli.storage` keeps it, and what to tell of the fit.

    Attributes
    ----------
    model : dict
        estimator; preparation (a fitted TablePreparation); target (name or "");
        classes (names).
    n_rows : int
    notes : list of str
        Columns that were left out, and warnings of the fit.
    score : str
        How good it is on rows it has not seen, in words; empty if that is not known.
    """

    model: dict[str, Any]
    n_rows: int
    notes: list[str]
    score: str


class Prediction(NamedTuple):
    """What a model says of the rows of a table.

    Attributes
    ----------
    columns : dict of arrays of shape (n,)
        "prediction" and maybe "probability", or the columns of a transformed table.
    ignored : list of str
        Columns of the table that the model does not use.
    """

    columns: dict[str, AnyArray]
    ignored: list[str]


def fit_model(
    data: Any,
    target: str | None,
    name: str | None,
    task: str,
    settings: dict[str, Any],
    seed: int = 0,
) -> Fitted:
    """Fit an estimator to a table.

    Parameters
    ----------
    data : frame or dict of columns
    target : str or None
        None for estimators that need none.
    name : str or None
        Of the estimator; None for the robust one of the task.
    task : {"auto", "regression", "classification"}
    settings : dict
        Parameters of the estimator; those that it has not are refused.
    seed : int
        The `random_state` of estimators that have one.
    """
    estimator = None
    if name is not None:
        estimator = apply_settings(estimator_named(name)(), settings)
    supervised = estimator is None or kind_of(estimator) in DEFAULTS
    _check_target(estimator, target, supervised)
    source = _supervised(data, target, task) if supervised else _unsupervised(data)
    if estimator is None:
        estimator = apply_settings(estimator_named(DEFAULTS[source.task])(), settings)
    if supervised:
        _check_task(estimator, source.task)
    if "random_state" in estimator.get_params() and "random_state" not in settings:
        estimator.set_params(random_state=seed)
    columns = [column.take(source.rows) for column in source.columns]
    preparation = TablePreparation().fit_columns(columns)
    notes = _told(source.left_out)
    notes += _fit(estimator, preparation.transform_columns(columns), source.y)
    model = {
        "estimator": estimator,
        "preparation": preparation,
        "target": target or "",
        "classes": source.classes,
    }
    score = _held_out_score(estimator, source, seed) if supervised else ""
    return Fitted(model, len(source.rows), notes, score)


class _Source(NamedTuple):
    """Columns, rows of them, and targets of those rows, if there is a task."""

    columns: list[Column]
    rows: Indices
    y: AnyArray | None
    classes: list[str]
    task: str
    left_out: list[Column]


def _told(left_out: list[Column]) -> list[str]:
    """Which columns the model does not see, and as what they were left out."""
    if not left_out:
        return []
    names = ", ".join(f"{own.name[:40]} ({own.kind})" for own in left_out[:8])
    more = f" and {len(left_out) - 8} more" if len(left_out) > 8 else ""
    return [f"columns left out: {names}{more}"]


def _held_out_score(estimator: Any, source: _Source, seed: int) -> str:
    """How good the estimator is on rows it has not seen, beside a constant.

    Five fits to four fifths of the rows; of many rows one. The median of the errors is
    told, which wrong rows do not rule.
    """
    y, n = np.asarray(source.y), len(source.rows)
    classes = source.task == "classification"
    if n < FEWEST_SCORED or (classes and np.bincount(y)[np.unique(y)].min() < FOLDS):
        return ""
    kind: Any = StratifiedKFold if classes else KFold
    splits = list(kind(FOLDS, shuffle=True, random_state=seed).split(y, y))
    parts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows tells them
        for others, held in splits[: 1 if n > MOST_FOLDED else FOLDS]:
            preparation = Preparation(source.columns).fit(source.rows[others])
            X = preparation.transform(source.rows)
            model = clone(estimator).fit(X[others], y[others])
            told, plain = model.predict(X[held]), np.median(y[others])
            if classes:
                plain = np.argmax(np.bincount(y[others]))
                parts.append(np.column_stack([told == y[held], plain == y[held]]))
            else:
                away = [np.abs(told - y[held]), np.abs(plain - y[held])]
                parts.append(np.column_stack(away))
    seen = f"On {sum(map(len, parts))} rows that it had not seen:"
    every = np.concatenate(parts)
    if classes:
        own, constant = every.mean(axis=0)
        return f"{seen} {own:.1%} right (always the commonest class: {constant:.1%})"
    four = [float(f"{value:.4g}") for value in np.median(every, axis=0)]  # digits
    own, constant = map(short_number, four)
    return f"{seen} median |error| {own} (always the median: {constant})"


def _supervised(data: Any, target: str | None, task: str) -> _Source:
    table = table_of(data, target, task)
    rows = np.flatnonzero(table.used)
    columns, out = _parted(table.columns)
    return _Source(columns, rows, table.y[rows], table.classes, table.task, out)


def _unsupervised(data: Any) -> _Source:
    columns, out = _parted(columns_of(data))
    return _Source(columns, np.arange(len(columns[0].values)), None, [], "", out)


def _parted(columns: list[Column]) -> tuple[list[Column], list[Column]]:
    """Columns that models use, of which there must be one, and the others."""
    used = [column for column in columns if column.is_feature]
    if used:
        return used, [column for column in columns if not column.is_feature]
    rule, remedy = "of at least one column that a model can use", "add features"
    raise ValueError(refused("fit", "data", rule, "none", remedy))


def predict_with(model: dict[str, Any], data: Any) -> Prediction:
    """Predictions, clusters or transformed columns for the rows of a table."""
    estimator, classes = model["estimator"], model["classes"]
    preparation = model["preparation"]
    used = set(preparation.feature_names_in_)
    ignored = [name for name in column_names(data) if name not in used]
    X = preparation.transform(data)
    if kind_of(estimator) == "transformation":
        return Prediction(_transformed(estimator, preparation, X), ignored)
    predicted = np.asarray(estimator.predict(X))
    if not classes:
        return Prediction({"prediction": predicted}, ignored)
    codes = predicted.astype(np.int64)
    found = {"prediction": np.array(classes, dtype=object)[codes]}
    if hasattr(estimator, "predict_proba"):
        place = np.searchsorted(estimator.classes_, codes)
        table = np.asarray(estimator.predict_proba(X))
        found["probability"] = table[np.arange(len(X)), place]
    return Prediction(found, ignored)


def _transformed(
    estimator: Any, preparation: TablePreparation, X: Floats
) -> dict[str, AnyArray]:
    """Columns in their own units again."""
    scaling = preparation.scaling_
    values = np.asarray(estimator.transform(X)) * scaling.scale + scaling.centre
    return dict(zip(preparation.get_feature_names_out(), values.T))


def _fit(estimator: Any, X: Floats, y: AnyArray | None) -> list[str]:
    """Fit; what warnings say, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _check_target(estimator: Any, target: str | None, supervised: bool) -> None:
    if supervised and target is None:
        rule, remedy = "the name of a column", "pass --target COLUMN"
        raise ValueError(refused("fit", "--target", rule, None, remedy))
    if not supervised and target is not None:
        name = type(estimator).__name__
        rule, remedy = f"left out with {name}", "it learns without a target"
        raise ValueError(refused("fit", "--target", rule, target, remedy))


def _check_task(estimator: Any, task: str) -> None:
    if kind_of(estimator) == task:
        return
    name = type(estimator).__name__
    other = counterpart(name)
    remedy = f"use {other}, or change --task" if other else "change --task"
    if "estimator" in estimator.get_params(deep=False):
        remedy = f"name a model for {task}: --set estimator=NAME"
    raise ValueError(f"{name} does not fit a {task} target; {remedy}.")
