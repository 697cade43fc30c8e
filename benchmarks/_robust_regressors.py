"""The regressions that are compared, each as a function of the rows.

Scaling: the ordinary fit standardises by all training rows, wrong ones included, as its
user would; the oracle by its clean rows. The rivals get the papers' setting, features
standardised before the corruption (by the clean rows). RobustRegressor gets raw rows.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    RANSACRegressor,
    Ridge,
    TheilSenRegressor,
)

import lrisk
from benchmarks._robust_data import Rows
from benchmarks._robust_tuning import Tuned, keeping, search
from lrisk.baselines import (
    ConsistentRobustRegressor,
    Sever,
    StirRegressor,
    TiltedRegressor,
    TorrentRegressor,
)


class Trial:
    """One cell of one seed; scaled rows and shared searches are made once."""

    def __init__(self, rows: Rows, kernel: str, seed: int) -> None:
        self.rows, self.kernel, self.seed = rows, kernel, seed

    @functools.cached_property
    def everything(self) -> Rows:
        return self.rows.scaled(np.ones(len(self.rows.y), dtype=bool))

    @functools.cached_property
    def given(self) -> Rows:
        return self.rows.scaled(~self.rows.mask)

    @functools.cached_property
    def known_share(self) -> tuple[Tuned, float]:
        """Parameters found with the share of wrong rows known, and their CPU time."""
        began = time.process_time()
        tuned = search(self.given.X, self.given.y, self.kernel, self.rows.wrong)
        return tuned, time.process_time() - began


class Outcome(NamedTuple):
    """Predictions of the test rows, CPU seconds, and what else is to be kept."""

    predicted: Any
    cpu: float
    extra: dict[str, Any]


Method = Callable[[Trial], Outcome]


def _plain(tuned: Tuned) -> Any:
    if tuned.gamma is None:
        return Ridge(alpha=tuned.alpha)
    return KernelRidge(kernel="rbf", gamma=tuned.gamma, alpha=tuned.alpha)


def ordinary_fit(rows: Rows, kernel: str) -> tuple[Any, Any]:
    """Predictions of the test rows and the model; the kernel fit is about the mean."""
    tuned = search(rows.X, rows.y, kernel)
    level = 0.0 if kernel == "linear" else rows.y.mean()
    model = _plain(tuned).fit(rows.X, rows.y - level)
    return model.predict(rows.test_X) + level, model


def _ordinary(trial: Trial) -> Outcome:
    began = time.process_time()
    predicted, _ = ordinary_fit(trial.everything, trial.kernel)
    return Outcome(predicted, time.process_time() - began, {})


def _oracle(trial: Trial) -> Outcome:
    began = time.process_time()
    good = trial.given.only(~trial.rows.mask)
    predicted, _ = ordinary_fit(good, trial.kernel)
    return Outcome(predicted, time.process_time() - began, {})


def _robust(trial: Trial) -> Outcome:
    rows = trial.rows
    model = lrisk.RobustRegressor(kernel=trial.kernel, random_state=trial.seed)
    began = time.process_time()
    model.fit(rows.X, rows.y)
    cpu = time.process_time() - began
    return Outcome(model.predict(rows.test_X), cpu, judged(model, rows))


def judged(model: Any, rows: Rows) -> dict[str, Any]:
    """What a robust fit said of the rows, beside the truth."""
    flagged, bad = ~np.asarray(model.inlier_mask_), rows.mask
    low, high = model.contamination_interval_
    extra = {
        "contamination": float(model.contamination_),
        "low": float(low),
        "high": float(high),
        "share": float(bad.mean()),
        "expected_false": float(getattr(model, "expected_false_flags_", np.nan)),
        "selected": str(getattr(model, "selected_", "")),
        **flags(flagged, bad),
    }
    wrong = flagged & bad
    features = [j for j in rows.columns if j < rows.X.shape[1]]
    if features and wrong.any() and hasattr(model, "explain_outliers"):
        first = np.asarray(model.explain_outliers(rows.X, rows.y).columns)[:, 0]
        extra["named"] = int(np.isin(first[wrong], features).sum())
        extra["to_name"] = int(wrong.sum())
    return extra


def flags(flagged: Any, bad: Any) -> dict[str, Any]:
    return {
        "rows": len(bad),
        "flagged": int(flagged.sum()),
        "false": int((flagged & ~bad).sum()),
        "bad": int(bad.sum()),
    }


def _rival(make: Callable[[Trial, Tuned], Any], tuned: bool = True) -> Method:
    def run(trial: Trial) -> Outcome:
        rows = trial.given
        found, shared = trial.known_share if tuned else (Tuned(1.0, None, 0.0), 0.0)
        began = time.process_time()
        model = make(trial, found).fit(rows.X, rows.y)
        cpu = time.process_time() - began + shared
        return Outcome(model.predict(rows.test_X), cpu, {})

    return run


def _subquantile(trial: Trial, tuned: Tuned) -> Any:
    n, wrong = len(trial.rows.y), trial.rows.wrong
    spectrum = keeping(n - wrong, n) if wrong else "mean"
    if tuned.gamma is None:
        return lrisk.RiskRegressor(spectrum, alpha=tuned.alpha, random_state=0)
    return lrisk.KernelRiskRegressor(
        spectrum, gamma=tuned.gamma, alpha=tuned.alpha, random_state=0
    )


def _tilted(trial: Trial, tuned: Tuned) -> Any:
    kernel = "linear" if tuned.gamma is None else "rbf"
    return TiltedRegressor(kernel, alpha=tuned.alpha, gamma=tuned.gamma)


def _sever(trial: Trial, tuned: Tuned) -> Any:
    return Sever(_plain(tuned), contamination=trial.rows.share)


def _torrent(variant: Any) -> Method:
    return _rival(
        lambda trial, tuned: TorrentRegressor(
            variant, contamination=trial.rows.share, alpha=tuned.alpha
        )
    )


def _crr(trial: Trial, tuned: Tuned) -> Any:
    return ConsistentRobustRegressor(contamination=trial.rows.share, alpha=tuned.alpha)


def _stir(trial: Trial, tuned: Tuned) -> Any:
    return StirRegressor(alpha=tuned.alpha)


def _theil_sen(trial: Trial, tuned: Tuned) -> Any:
    if trial.rows.X.shape[1] > 50:
        raise ValueError("not run: minutes for more than 50 features")
    return TheilSenRegressor(max_subpopulation=1000, random_state=trial.seed)


#: Every method by name; the second says whether it has a kernel version.
METHODS: dict[str, tuple[Method, bool]] = {
    "ordinary": (_ordinary, True),
    "robust": (_robust, True),
    "subquantile": (_rival(_subquantile), True),
    "oracle": (_oracle, True),
    "TERM": (_rival(_tilted), True),
    "SEVER": (_rival(_sever), True),
    "TORRENT-FC": (_torrent("fc"), False),
    "TORRENT-GD": (_torrent("gd"), False),
    "TORRENT-HYB": (_torrent("hyb"), False),
    "CRR": (_rival(_crr), False),
    "STIR": (_rival(_stir), False),
    "RANSAC": (
        _rival(lambda t, _: RANSACRegressor(random_state=t.seed), tuned=False),
        False,
    ),
    "Huber": (_rival(lambda t, _: HuberRegressor(max_iter=1000), tuned=False), False),
    "TheilSen": (_rival(_theil_sen, tuned=False), False),
}
