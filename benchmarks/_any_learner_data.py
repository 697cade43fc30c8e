"""What `benchmarks.any_learner` runs on: rows to train on and rows held out.

A seed draws `MOST_TRAINING` rows to train on, at most 70 % of them all, and as many as
`MOST_TESTING` of the others to test on. Features are standardised by the training rows,
pixels are divided by their range, targets of regression are standardised. Wrong rows
are training rows only: 20 % of the targets drawn from N(5, 5) in standard deviations,
or 20 % of the labels exchanged for others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from benchmarks._data import available as available
from benchmarks._data import folder, table
from lrisk.datasets import corrupt_classes, corrupt_labels, make_awkward

MOST_TRAINING, MOST_TESTING = 600, 2000
#: Share of wrong rows, where there are any.
WRONG = 0.2


class Task(NamedTuple):
    """One data set, split by a seed.

    classes : how many, 0 for regression
    side : of square images of one channel, 0 for tables
    """

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray
    classes: int
    side: int


def _csv(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    return lambda: (table(name)[:, :-1], table(name)[:, -1])


def _images(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def load() -> tuple[np.ndarray, np.ndarray]:
        with np.load(folder() / f"{name}.npz") as file:
            X, y = file["X_train"], file["y_train"]
        # 28 × 28 pixels, averaged in fours: networks are small here.
        smaller = X.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
        return smaller.reshape(len(X), -1), y

    return load


def _uneven() -> tuple[np.ndarray, np.ndarray]:
    return make_awkward("heteroscedastic", n_samples=2000, random_state=0)


#: Choices (learning rates, epochs, spectra) were made on these.
DEVELOPMENT: dict[str, Any] = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "synthetic": _uneven,
    "digits": lambda: datasets.load_digits(return_X_y=True),
}
REGRESSION: dict[str, Any] = {
    name: _csv(name)
    for name in (
        "boston",
        "concrete",
        "energy_cooling",
        "wine_quality_red",
        "kin40k",
        "protein_casp",
    )
}
CLASSES: dict[str, Any] = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "satimage": _csv("satimage"),
}
IMAGES: dict[str, Any] = {
    "fashion": _images("fashion_trouser_sneaker"),
    "mnist": _images("mnist_1v3"),
}
#: All sets by name; of images the first is bundled with scikit-learn.
SETS = DEVELOPMENT | REGRESSION | CLASSES | IMAGES


def task(name: str, seed: int, wrong: bool = False) -> Task:
    """A data set by name, split by a seed, with or without wrong rows."""
    X, y = SETS[name]()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n = min(int(0.7 * len(y)), MOST_TRAINING)
    here, there = order[:n], order[n : n + MOST_TESTING]
    classifies = name in CLASSES or name in IMAGES or name == "digits"
    side = round(X.shape[1] ** 0.5) if name in IMAGES or name == "digits" else 0
    if side:
        X = X / X.max()
    else:
        spread = X[here].std(axis=0)
        X = (X - X[here].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if classifies:
        y = np.unique(y, return_inverse=True)[1]
    else:
        y = (y - y[here].mean()) / y[here].std()
    train_X, train_y = X[here], y[here]
    if wrong:
        spoil = corrupt_classes if classifies else corrupt_labels
        made = spoil(train_X, train_y, fraction=WRONG, random_state=seed)
        train_X, train_y = made.X, made.y
    classes = int(y.max()) + 1 if classifies else 0
    return Task(train_X, train_y, X[there], y[there], classes, side)
