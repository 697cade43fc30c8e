"""Models on disk: plain arrays and words, saved by skops, nothing to be executed."""

import io
import os
import secrets
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .. import estimators
from .._typing import AnyArray
from ..analysis.audit.preparation import Preparation
from ..analysis.audit.tables import Table, table_of

#: Estimators that take a table and a target.
NAMES = (
    "RobustRegressor", "RobustClassifier", "RiskRegressor", "RiskClassifier",
    "KernelRiskRegressor", "KernelRiskClassifier",
)  # fmt: skip
FORMAT = "lrisk model 1"


def fit_model(
    data: Any, target: str, name: str, task: str, settings: dict[str, Any]
) -> tuple[dict[str, Any], Table]:
    """Fit an estimator to a table; the model as plain data.

    `settings` the estimator does not take are refused.
    """
    table = table_of(data, target, task)
    if name.endswith("Classifier") != (table.task == "classification"):
        other = name.replace("Classifier", "@").replace("Regressor", "Classifier")
        other = other.replace("@", "Regressor")
        raise ValueError(
            f"{name} does not fit a {table.task} target; use {other}, or change --task"
        )
    rows = np.flatnonzero(table.used)
    preparation = Preparation(table.features).fit(rows)
    estimator = getattr(estimators, name)()
    known = estimator.get_params()
    for key in settings:
        if key not in known:
            raise ValueError(f"{name} has no {key}; leave --{key} out")
    estimator.set_params(**settings)
    estimator.fit(preparation.transform(rows), table.y[rows])
    model = {
        "format": FORMAT,
        "estimator": name,
        "params": {key: value for key, value in settings.items()},
        "fitted": {k: v for k, v in vars(estimator).items() if _is_plain(k, v)},
        "preparation": preparation.to_dict(),
        "target": table.target.name,
        "classes": table.classes,
    }
    return model, table


def save_model(model: dict[str, Any], path: Path) -> None:
    """Write the whole file, or nothing."""
    from skops import io as skops_io

    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        temporary.write_bytes(skops_io.dumps(model))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load_model(path: Path) -> dict[str, Any]:
    """Read a model; any type but plain ones is refused by name."""
    from skops import io as skops_io

    content = path.read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path} is not a model file of lrisk")
    try:
        untrusted = skops_io.get_untrusted_types(data=content)
    except Exception as error:
        raise ValueError(f"{path} is not a model file of lrisk ({error})") from None
    if untrusted:
        raise ValueError(
            f"{path} is refused: it holds the untrusted type {untrusted[0]}, and "
            "lrisk's models hold arrays and words only"
        )
    try:
        model = skops_io.loads(content, trusted=[])
    except Exception as error:
        raise ValueError(f"{path} is refused: {error}") from None
    if not isinstance(model, dict) or model.get("format") != FORMAT:
        raise ValueError(f"{path} is not a model file of lrisk")
    if model.get("estimator") not in NAMES:
        raise ValueError(f"{path} names an estimator that lrisk does not have")
    return model


def predict_with(model: dict[str, Any], data: Any) -> AnyArray:
    """Predictions for the rows of a table: numbers, or names of classes."""
    preparation = Preparation.from_dict(model["preparation"], data)
    estimator = getattr(estimators, model["estimator"])(**model["params"])
    vars(estimator).update(model["fitted"])
    n_rows = len(preparation.columns[0].values)
    predicted = estimator.predict(preparation.transform(np.arange(n_rows)))
    if model["classes"]:
        names = np.array(model["classes"], dtype=object)
        return np.asarray(names[predicted.astype(np.int64)])
    return np.asarray(predicted)


def _is_plain(name: str, value: Any) -> bool:
    """Fitted attributes that are arrays, numbers or words."""
    if not name.endswith("_"):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return value is None or isinstance(value, bool | int | float | str)
