"""Other ways to find wrong rows, each given the same table as the audit.

Each is given what it is for: Datalab's near duplicates stand for copies, its label
issues for wrong targets, both label issues and outliers for wrong features; the forest
sees the target among the columns.
"""

import contextlib
import importlib.util
import io
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
)
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.preprocessing import LabelBinarizer

from benchmarks._audit_errors import Planted, features

#: Datalab comes with cleanlab[datalab].
DATALAB = all(importlib.util.find_spec(name) for name in ("cleanlab", "datasets"))
#: Standard deviations beyond which the simplest rule flags a residual.
SIGMAS = 3.0
#: Penalties that the ridge fit chooses from.
PENALTIES = np.logspace(-3.0, 3.0, 13)
#: Rivals in the order in which they are shown.
NAMES = (*(("Datalab",) if DATALAB else ()), "IsolationForest", "3 sigma")


def rivals(planted: Planted, classes: bool, seed: int) -> dict[str, Any]:
    """By name, the rows that each rival names; shape (n,)."""
    X, y = features(planted.data), planted.data["y"]
    found = {"IsolationForest": _isolated(X, y, classes, seed)}
    if DATALAB:
        found["Datalab"] = _datalab(X, y, classes, planted.section, seed)
    if not classes:
        found["3 sigma"] = _three_sigma(X, np.asarray(y, dtype=float), seed)
    return found


def _isolated(X: Any, y: Any, classes: bool, seed: int) -> Any:
    if classes:
        target = LabelBinarizer().fit_transform(y.astype(str))
    else:
        target = ((y - np.mean(y)) / max(float(np.std(y)), 1e-300))[:, None]
    forest = IsolationForest(random_state=seed)
    return forest.fit_predict(np.column_stack([X, target])) < 0


def _three_sigma(X: Any, y: Any, seed: int) -> Any:
    folds = KFold(5, shuffle=True, random_state=seed)
    away = y - cross_val_predict(RidgeCV(PENALTIES), X, y, cv=folds)
    return np.abs(away - away.mean()) > SIGMAS * away.std()


def _datalab(X: Any, y: Any, classes: bool, section: str, seed: int) -> Any:
    from cleanlab import Datalab

    if classes:
        y = np.unique(y.astype(str), return_inverse=True)[1]
        folds: Any = StratifiedKFold(5, shuffle=True, random_state=seed)
        model, method = ExtraTreesClassifier(random_state=seed), "predict_proba"
    else:
        y = np.asarray(y, dtype=float)
        folds = KFold(5, shuffle=True, random_state=seed)
        model, method = ExtraTreesRegressor(random_state=seed), "predict"
    outside = cross_val_predict(model, X, y, cv=folds, method=method)
    task = "classification" if classes else "regression"
    with contextlib.redirect_stdout(io.StringIO()):
        lab = Datalab({"X": X, "y": y}, label_name="y", task=task, verbosity=0)
        lab.find_issues(features=X, pred_probs=outside)
    issues = lab.get_issues()
    kinds = {
        "copies": ("near_duplicate",),
        "columns": ("label", "outlier"),
        "slips": ("label", "outlier"),
    }.get(section, ("label",))
    named = np.zeros(len(y), dtype=bool)
    for kind in kinds:
        if f"is_{kind}_issue" in issues:
            named |= issues[f"is_{kind}_issue"].to_numpy()
    return named
