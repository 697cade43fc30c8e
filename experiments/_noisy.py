"""Rows with noisy features, for the experiments of the noisy-data paper."""

from typing import Any, NamedTuple

import numpy as np

from experiments._data import load, standardised

#: Standard deviation of the added noise, in standard deviations of a feature.
SIGMA = 0.5


class NoisyRows(NamedTuple):
    """Clean training rows, two noisy copies of them, and clean test rows."""

    X: Any
    y: Any
    first: Any
    second: Any
    test_X: Any
    test_y: Any


def waves(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Y = sin(2x₁) cos(1.5x₂) + x₃, little noise: part of it is linear."""
    X = rng.uniform(-2.0, 2.0, size=(n, 3))
    y = np.sin(2.0 * X[:, 0]) * np.cos(1.5 * X[:, 1]) + X[:, 2]
    return X, y + 0.1 * rng.normal(size=n)


def noisy_rows(name: str, seed: int, rows: int | None = None) -> NoisyRows:
    """70 % to train on; all standardised by the clean training rows, then noise."""
    rng = np.random.default_rng(seed)
    X, y = waves(3000, rng) if name == "synthetic" else load(name)
    order = rng.permutation(len(y))[:rows]
    count = int(0.7 * len(order))
    train, test = order[:count], order[count:]
    X_train, X_test = standardised(X[train], X[test])
    y_train, y_test = standardised(y[train], y[test])
    first, second = (X_train + SIGMA * rng.normal(size=X_train.shape) for _ in range(2))
    return NoisyRows(X_train, y_train, first, second, X_test, y_test)


def rmse(predicted: Any, truth: Any) -> float:
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))
