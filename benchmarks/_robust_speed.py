"""CPU time of RobustRegressor against the ordinary fits (Done when 6)."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Ridge

import lrisk
from lrisk.datasets import corrupt_labels, make_awkward


def seconds(model: Any, X: Any, y: Any, repeats: int) -> float:
    """Median CPU seconds of a fit, after one that compiles."""
    times = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            began = time.process_time()
            model.fit(X, y)
            times.append(time.process_time() - began)
    return float(np.median(times))


def dirty(kind: str, n: int, d: int, share: float) -> tuple[Any, Any]:
    X, y = make_awkward(kind, n, d, random_state=0)
    y = (y - y.mean()) / y.std()
    bad = corrupt_labels(X, y, fraction=share, random_state=0)
    return bad.X, bad.y


def print_speed() -> None:
    if not hasattr(lrisk, "RobustRegressor"):
        print("lrisk has no RobustRegressor: nothing to time")
        return
    warm = dirty("nonlinear", 300, 5, 0.2)
    for kernel in ("linear", "rbf"):
        lrisk.RobustRegressor(kernel=kernel, random_state=0).fit(*warm)
    print("CPU seconds of RobustRegressor (contamination='auto')")
    for share in (0.0, 0.2):
        X, y = dirty("gaussian", 100_000, 20, share)
        ours = seconds(lrisk.RobustRegressor(random_state=0), X, y, 1)
        ridge, huber = seconds(Ridge(), X, y, 3), seconds(HuberRegressor(), X, y, 3)
        ratio = ours / (ridge + huber)
        print(
            f"linear, n=1e5, d=20, wrong {share:.0%}: {ours:.2f}; Ridge {ridge:.3f} + "
            f"Huber {huber:.3f}: {ratio:.1f} times (bar 20)"
        )
    for share in (0.0, 0.2):
        X, y = dirty("nonlinear", 2000, 8, share)
        model = lrisk.RobustRegressor(kernel="rbf", random_state=0)
        ours = seconds(model, X, y, 1)
        plain = seconds(KernelRidge(kernel="rbf", gamma=0.1), X, y, 5)
        print(
            f"rbf, n=2000, d=8, wrong {share:.0%}: {ours:.2f}; one KernelRidge "
            f"{plain:.3f}: {ours / plain:.0f} times (bar 100, aim 30)"
        )
