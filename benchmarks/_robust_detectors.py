"""What else one would use to find wrong rows: a forest, and three sigmas."""

import time

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge

from benchmarks._robust_regressors import Method, Outcome, Trial, flags
from benchmarks._robust_tuning import search


def _forest(trial: Trial) -> Outcome:
    rows = trial.rows
    forest = IsolationForest(random_state=trial.seed)
    began = time.process_time()
    inside = forest.fit_predict(np.column_stack([rows.X, rows.y]))
    cpu = time.process_time() - began
    return Outcome(None, cpu, flags(inside < 0, rows.mask))


def _three_sigma(trial: Trial) -> Outcome:
    """Residuals of a ridge fit beyond 3 times 1.4826 times their median size."""
    rows = trial.everything
    began = time.process_time()
    model = Ridge(alpha=search(rows.X, rows.y, "linear").alpha).fit(rows.X, rows.y)
    residuals = rows.y - model.predict(rows.X)
    residuals = np.abs(residuals - np.median(residuals))
    flagged = residuals > 3 * 1.4826 * np.median(residuals)
    cpu = time.process_time() - began
    return Outcome(None, cpu, flags(flagged, rows.mask))


DETECTORS: dict[str, Method] = {
    "IsolationForest": _forest,
    "3 sigma": _three_sigma,
}
