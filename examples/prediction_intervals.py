"""Prediction intervals where training targets are wrong: MAPIE's and lrisk's.

MAPIE gives intervals round any model and calibrates them on all rows it is given. A
tenth of wrong targets therefore widens them, however robust the model is.
`RobustRegressor.predict_interval` calibrates on the rows that are right. Needs
``pip install mapie``.
"""

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.linear_model import Ridge

from lrisk import RobustRegressor


def main() -> None:
    """Fit on wrong rows, and count clean rows inside."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=2400)
    train, dirty = X[:400], y[:400].copy()
    dirty[:40] = 20.0  # somebody's code for "missing"
    print("90 % intervals of 2,000 clean rows: share inside, and width")
    for name, model in (("Ridge", Ridge()), ("RobustRegressor", RobustRegressor())):
        conformal = CrossConformalRegressor(model, confidence_level=0.9)
        _, ends = conformal.fit_conformalize(train, dirty).predict_interval(X[400:])
        tell(f"MAPIE round {name}", ends[:, 0, 0], ends[:, 1, 0], y[400:])
    robust = RobustRegressor(random_state=0).fit(train, dirty)
    low, high = robust.predict_interval(X[400:], 0.9)
    tell("RobustRegressor.predict_interval", low, high, y[400:])


def tell(name: str, low: np.ndarray, high: np.ndarray, y: np.ndarray) -> None:
    """One line."""
    inside = np.mean((low <= y) & (y <= high))
    print(f"{name:<34} {inside:6.1%}  {np.median(high - low):5.2f}")


if __name__ == "__main__":
    main()
