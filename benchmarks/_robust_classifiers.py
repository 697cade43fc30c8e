"""The classifications that are compared; scaling as for the regressions.

Plain logistic regression and SVC are there twice: with C (and gamma) searched, and as
scikit-learn gives them (C=1, gamma one over the number of features).
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import lrisk
from benchmarks._robust_data import Rows
from benchmarks._robust_regressors import Outcome, Trial, judged
from benchmarks._robust_tuning import (
    CLASS_ALPHAS,
    CLASS_GAMMAS,
    KernelFeatures,
    Tuned,
    base_gamma,
    keeping,
    logistic,
    search_classes,
)
from lrisk.baselines import Sever, TiltedClassifier


class ClassTrial(Trial):
    """One cell of one seed."""

    @functools.cached_property
    def known_share(self) -> tuple[Tuned, float]:
        began = time.process_time()
        rows = self.given
        tuned = search_classes(rows.X, rows.y, self.kernel, self.rows.wrong)
        return tuned, time.process_time() - began


ClassMethod = Callable[[ClassTrial], Outcome]


def _logistic_fit(rows: Rows, kernel: str) -> Any:
    tuned = search_classes(rows.X, rows.y, kernel)
    features = KernelFeatures(rows.X, tuned.gamma)
    model = logistic(tuned.alpha).fit(features(rows.X), rows.y)
    return model.predict(features(rows.test_X))


def _logistic(trial: ClassTrial) -> Outcome:
    began = time.process_time()
    predicted = _logistic_fit(trial.everything, trial.kernel)
    return Outcome(predicted, time.process_time() - began, {})


def _oracle(trial: ClassTrial) -> Outcome:
    began = time.process_time()
    predicted = _logistic_fit(trial.given.only(~trial.rows.mask), trial.kernel)
    return Outcome(predicted, time.process_time() - began, {})


def _svc(trial: ClassTrial) -> Outcome:
    rows = trial.everything
    grid: dict[str, Any] = {"C": [1.0 / alpha for alpha in CLASS_ALPHAS]}
    if trial.kernel == "rbf":
        grid["gamma"] = [factor * base_gamma(rows.X) for factor in CLASS_GAMMAS]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    # An unscaled gross row can keep libsvm busy for ever.
    model = SVC(kernel=trial.kernel, max_iter=200_000)
    began = time.process_time()
    found = GridSearchCV(model, grid, cv=folds).fit(rows.X, rows.y)
    cpu = time.process_time() - began
    return Outcome(found.predict(rows.test_X), cpu, {})


def _default_logistic(trial: ClassTrial) -> Outcome:
    rows = trial.everything
    began = time.process_time()
    gamma = None if trial.kernel == "linear" else 1.0 / rows.X.shape[1]
    features = KernelFeatures(rows.X, gamma)
    model = logistic(1.0).fit(features(rows.X), rows.y)
    predicted = model.predict(features(rows.test_X))
    return Outcome(predicted, time.process_time() - began, {})


def _default_svc(trial: ClassTrial) -> Outcome:
    rows = trial.everything
    began = time.process_time()
    model = SVC(kernel=trial.kernel, max_iter=200_000).fit(rows.X, rows.y)
    cpu = time.process_time() - began
    return Outcome(model.predict(rows.test_X), cpu, {})


def _robust(trial: ClassTrial) -> Outcome:
    rows = trial.rows
    model = lrisk.RobustClassifier(kernel=trial.kernel, random_state=trial.seed)
    began = time.process_time()
    model.fit(rows.X, rows.y)
    cpu = time.process_time() - began
    return Outcome(model.predict(rows.test_X), cpu, judged(model, rows))


def _rival(make: Callable[[ClassTrial, Tuned], Any]) -> ClassMethod:
    def run(trial: ClassTrial) -> Outcome:
        rows = trial.given
        tuned, shared = trial.known_share
        began = time.process_time()
        model = make(trial, tuned).fit(rows.X, rows.y)
        cpu = time.process_time() - began + shared
        return Outcome(model.predict(rows.test_X), cpu, {})

    return run


def _subquantile(trial: ClassTrial, tuned: Tuned) -> Any:
    n, wrong = len(trial.rows.y), trial.rows.wrong
    spectrum = keeping(n - wrong, n) if wrong else "mean"
    if tuned.gamma is None:
        return lrisk.RiskClassifier(spectrum, alpha=tuned.alpha, random_state=0)
    return lrisk.KernelRiskClassifier(
        spectrum, gamma=tuned.gamma, alpha=tuned.alpha, random_state=0
    )


def _tilted(trial: ClassTrial, tuned: Tuned) -> Any:
    kernel = "linear" if tuned.gamma is None else "rbf"
    return TiltedClassifier(kernel, alpha=tuned.alpha, gamma=tuned.gamma)


class _OnFeatures:
    """SEVER with kernel logistic regression, as linear on features of the kernel.

    Their products are those of the kernel, so the scores are the same.
    """

    def __init__(self, model: Any, gamma: float | None) -> None:
        self._model, self._gamma = model, gamma

    def fit(self, X: Any, y: Any) -> "_OnFeatures":
        self._features = KernelFeatures(X, self._gamma)
        self._model.fit(self._features(X), y)
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(self._model.predict(self._features(X)))


def _sever(trial: ClassTrial, tuned: Tuned) -> Any:
    model = Sever(logistic(tuned.alpha), contamination=trial.rows.share)
    return _OnFeatures(model, tuned.gamma)


CLASS_METHODS: dict[str, tuple[ClassMethod, bool]] = {
    "logistic": (_logistic, True),
    "SVC": (_svc, True),
    "logistic C=1": (_default_logistic, True),
    "SVC C=1": (_default_svc, True),
    "robust": (_robust, True),
    "subquantile": (_rival(_subquantile), True),
    "oracle": (_oracle, True),
    "TERM": (_rival(_tilted), True),
    "SEVER": (_rival(_sever), True),
}
