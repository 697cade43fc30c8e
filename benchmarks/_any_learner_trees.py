"""Boosted trees of `benchmarks.any_learner`.

LightGBM and XGBoost under `lrisk.boosting.objective`, scikit-learn's histogram boosting
under `RiskMeta`, each beside the same trees under the built-in objective. Rounds and
learning rates are the same for every risk, and there is no early stopping; they and the
spectra were chosen on the development sets.
"""

from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from benchmarks._any_learner_data import Task
from benchmarks._any_learner_report import Learner
from lrisk import RiskMeta
from lrisk.boosting import objective, probabilities

ROUNDS, RATE = 60, 0.1
#: Turns of `RiskMeta`, at most: each fits once for every one of five folds.
TURNS = 5
TAIL, TRIMMED = "extremile:2", "subquantile:0.75"


def lightgbm(rows: Task, spectrum: str, seed: int) -> np.ndarray:
    options: dict[str, Any] = {"n_estimators": ROUNDS, "learning_rate": RATE,
                               "num_threads": 1, "verbose": -1,
                               "random_state": seed}  # fmt: skip
    loss = "logistic" if rows.classes else "squared"
    if spectrum != "mean":
        options["objective"] = objective(spectrum, loss)
    kind = lgb.LGBMClassifier if rows.classes else lgb.LGBMRegressor
    model = kind(**options).fit(rows.X, rows.y)
    if not rows.classes:
        return np.asarray(model.predict(rows.test_X))
    return probabilities(model.predict(rows.test_X, raw_score=True))


def xgboost(rows: Task, spectrum: str, seed: int) -> np.ndarray:
    options: dict[str, Any] = {"n_estimators": ROUNDS, "learning_rate": RATE,
                               "n_jobs": 1, "max_depth": 4,
                               "random_state": seed}  # fmt: skip
    loss = "logistic" if rows.classes else "squared"
    if spectrum != "mean":
        options["objective"] = objective(spectrum, loss)
    kind = xgb.XGBClassifier if rows.classes else xgb.XGBRegressor
    model = kind(**options).fit(rows.X, rows.y)
    if not rows.classes:
        return np.asarray(model.predict(rows.test_X), dtype=np.float64)
    return probabilities(model.predict(rows.test_X, output_margin=True))


def histograms(rows: Task, spectrum: str, seed: int) -> np.ndarray:
    options: dict[str, Any] = {"max_iter": ROUNDS, "learning_rate": RATE,
                               "early_stopping": False,
                               "random_state": seed}  # fmt: skip
    kind: Any = HistGradientBoostingRegressor
    if rows.classes:
        kind = HistGradientBoostingClassifier
    model = kind(**options)
    if spectrum != "mean":
        model = RiskMeta(model, spectrum, max_iter=TURNS, random_state=seed)
    model.fit(rows.X, rows.y)
    predict = model.predict_proba if rows.classes else model.predict
    return np.asarray(predict(rows.test_X))


LEARNERS = [
    Learner(name, fit, TAIL, TRIMMED, lambda rows: rows.side == 0)
    for name, fit in (
        ("LightGBM", lightgbm),
        ("XGBoost", xgboost),
        ("HistGradientBoosting", histograms),
    )
]
PARTS: dict[str, Any] = {}
