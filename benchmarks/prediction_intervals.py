"""Coverage and width of prediction intervals on clean rows, beside MAPIE's.

``python -m benchmarks.prediction_intervals [SEEDS]``: a share of the training targets
is wrong; how many of 2,000 clean test rows (of those there are, on the diabetes data)
lie within the 90 % intervals of `RobustRegressor.predict_interval`, and of MAPIE's
CV+ round Ridge. (Round the robust regression MAPIE's are as wide: wrong rows are among
those that it calibrates on.)
"""

import sys
import warnings
from typing import Any

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV

from lrisk import RobustRegressor

SHARES = (0.0, 0.1, 0.3)
LEVEL, MOST_OFF = 0.9, 0.02


def simulated(seed: int, noise: str) -> tuple[Any, Any, int]:
    rng = np.random.default_rng(seed)
    n, more = 400, 2000
    X = rng.normal(size=(n + more, 5))
    errors = {
        "normal": rng.normal(size=n + more),
        "t3": rng.standard_t(3, n + more),
        "uneven": rng.normal(size=n + more) * np.exp(0.7 * X[:, 0]),
    }[noise]
    return X, X @ [1.0, 2.0, 0.0, -1.0, 0.5] + errors, n


def diabetes(seed: int) -> tuple[Any, Any, int]:
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order] / 50.0, 300


TABLES = {
    "normal": lambda seed: simulated(seed, "normal"),
    "t3": lambda seed: simulated(seed, "t3"),
    "uneven": lambda seed: simulated(seed, "uneven"),
    "diabetes": diabetes,
}


def of_mapie(model: Any, X: Any, y: Any, new: Any) -> tuple[Any, Any]:
    conformal = CrossConformalRegressor(model, confidence_level=LEVEL, cv=5)
    ends = conformal.fit_conformalize(X, y).predict_interval(new)[1]
    return ends[:, 0, 0], ends[:, 1, 0]


def of_lrisk(X: Any, y: Any, new: Any) -> tuple[Any, Any]:
    model = RobustRegressor(random_state=0).fit(X, y)
    return model.predict_interval(new, LEVEL)


METHODS = {
    "lrisk": of_lrisk,
    "MAPIE, Ridge": lambda *rows: of_mapie(RidgeCV(np.logspace(-3, 3, 13)), *rows),
}


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 20
    print(f"{LEVEL:.0%} intervals, clean test rows, mean of {seeds} seeds")
    print(f"{'table':<10} wrong  " + "  ".join(f"{name:<22}" for name in METHODS))
    for table, make in TABLES.items():
        for share in SHARES:
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
            for seed in range(seeds):
                X, y, n = make(seed)
                rng = np.random.default_rng(1000 + seed)
                dirty = y[:n].copy()
                wrong = rng.permutation(n)[: int(share * n)]
                dirty[wrong] = np.mean(y) + rng.normal(15.0, 8.0, len(wrong))
                for name, intervals in METHODS.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        low, high = intervals(X[:n], dirty, X[n:])
                    held = np.mean((low <= y[n:]) & (y[n:] <= high))
                    found[name].append((float(held), float(np.median(high - low))))
            cells = []
            for name, values in found.items():
                held, width = np.mean(values, axis=0)
                word = ""
                if name == "lrisk":
                    word = " ok" if abs(held - LEVEL) <= MOST_OFF else " MISSED"
                cells.append(f"{held:6.1%} width {width:5.2f}{word:<7}")
            print(f"{table:<10} {share:>5.0%}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
