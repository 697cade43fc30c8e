"""What an objective of lrisk costs beside the built-in one, and that they agree.

``python -m benchmarks.boosting [ROWS] [squared] [logistic]``: CPU time of rounds of
LightGBM and XGBoost on a million rows and ten columns under `lrisk.boosting.objective`,
over the built-in objective's, medians of pairs of fits; and how far predictions under
the mean are from those of the built-in model.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from lrisk.boosting import objective

ROUNDS, PAIRS = 10, 9
#: Times the built-in objective's CPU time that one of lrisk's may take.
MOST = 1.3
#: The built-in objectives of LightGBM and XGBoost.
BUILT_IN = {
    "squared": ("regression", "reg:squarederror"),
    "logistic": ("binary", "binary:logistic"),
}
SPECTRA = ("mean", "superquantile:0.9", "extremile:2", "esrm:1", "subquantile:0.8")


def rows(n: int, task: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n)
    return X, y if task == "squared" else (y > 0.0).astype(float)


def lightgbm_fit(data: Any, chosen: Any) -> Any:
    params = {"objective": chosen, "verbose": -1, "num_threads": 1,
              "boost_from_average": False}  # fmt: skip
    return lgb.train(params, data, ROUNDS)


def xgboost_fit(data: Any, chosen: Any) -> Any:
    params: dict[str, Any] = {"nthread": 1, "base_score": 0.5}
    if callable(chosen):
        return xgb.train(params, data, ROUNDS, obj=chosen)
    return xgb.train({**params, "objective": chosen}, data, ROUNDS)


def ratio(fit: Callable[[Any, Any], Any], data: Any, built_in: str, own: Any) -> float:
    """Median over pairs of fits: other work on the machine hits either of a pair."""
    ratios = []
    for _ in range(PAIRS):
        times = []
        for chosen in (built_in, own):
            began = time.process_time()
            fit(data, chosen)
            times.append(time.process_time() - began)
        ratios.append(times[1] / times[0])
    return statistics.median(ratios)


def main() -> None:
    n, tasks = 1_000_000, []
    for given in sys.argv[1:]:
        if given.isdigit():
            n = int(given)
        else:
            tasks.append(given)
    print(f"{n} rows, {ROUNDS} rounds, one thread: CPU time over the built-in one")
    for task in tasks or BUILT_IN:
        names = BUILT_IN[task]
        X, y = rows(n, task)
        sets = lgb.Dataset(X, y, free_raw_data=False).construct(), xgb.DMatrix(X, y)
        fits = lightgbm_fit, xgboost_fit
        # No learner is as cheap as its first round: bins and caches are made there.
        for fit, data, name in zip(fits, sets, names):
            fit(data, name)
        own = lightgbm_fit(sets[0], objective("mean", task)).predict(X, raw_score=True)
        built = lightgbm_fit(sets[0], names[0]).predict(X, raw_score=True)
        apart = np.abs(own - built).max() / np.abs(built).max()
        word = "ok" if apart <= 1e-5 else "MISSED"
        print(f"{task:<9} mean, LightGBM: scores differ by {apart:.1e}  {word}")
        for spectrum in SPECTRA:
            found = [
                ratio(fit, data, name, objective(spectrum, task))
                for fit, data, name in zip(fits, sets, names)
            ]
            marks = ["ok" if value <= MOST else "MISSED" for value in found]
            print(
                f"{task:<9} {spectrum:<18} LightGBM {found[0]:.2f} {marks[0]:<7} "
                f"XGBoost {found[1]:.2f} {marks[1]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
