"""What the robust benchmark runs on: data sets, splits, corruptions.

70 % of the rows train (at most `MOST_TRAINING`, and of satimage with its six classes
`MOST_SATIMAGE`; drawn by the seed), the rest test and stay clean. A regression target
is standardised by the training rows while these are still clean.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from benchmarks._data import folder, table
from lrisk.datasets import (
    Corrupted,
    add_leverage_cluster,
    add_second_population,
    corrupt_classes,
    corrupt_labels,
    corrupt_rows,
    corrupt_units,
    make_awkward,
    swap_columns,
)

MOST_TRAINING, MOST_TESTING = 1000, 1000
MOST_SATIMAGE = 300

SHIPPED = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True, scaled=False),
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
}

REGRESSION = ("boston", "concrete", "wine_quality_red", "drug_qsar", "diabetes")
CLASSES = ("heart_cleveland", "breast_cancer", "glass", "satimage", "iris", "wine")
AWKWARD = ("lognormal", "t3", "heteroscedastic", "nonlinear")
#: Where at most 1 % of the rows may be flagged (3 % in one of them).
CLEAN = (
    "yacht",
    "energy_cooling",
    "concrete",
    "boston",
    "wine_quality_red",
    "diabetes",
    *(f"synthetic_{kind}" for kind in AWKWARD),
)
#: What may be looked at while the methods are being made.
DEVELOPMENT = (
    "boston",
    "diabetes",
    "breast_cancer",
    *(f"synthetic_{kind}" for kind in AWKWARD),
)

Corruption = Callable[[Any, Any, int], Corrupted]


def _clean(X: Any, y: Any, seed: int) -> Corrupted:
    return Corrupted(X.copy(), y.copy(), np.zeros(len(y), dtype=bool))


def _by(function: Any, **options: Any) -> Corruption:
    return lambda X, y, seed: function(X, y, random_state=seed, **options)


#: How rows are made wrong, by name.
REGRESSION_CORRUPTIONS: dict[str, Corruption] = {
    "clean": _clean,
    "label .2": _by(corrupt_labels, fraction=0.2),
    "label .4": _by(corrupt_labels, fraction=0.4),
    "label+feature .2": _by(corrupt_rows, fraction=0.2, about="mean"),
    "label+feature .4": _by(corrupt_rows, fraction=0.4, about="mean"),
    "leverage .2": _by(add_leverage_cluster, fraction=0.2),
}
HARD_CORRUPTIONS: dict[str, Corruption] = {
    "units x10 .1": _by(corrupt_units, fraction=0.1, factor=10.0),
    "units x1000 .1": _by(corrupt_units, fraction=0.1, factor=1000.0),
    "target units x10 .1": _by(corrupt_units, fraction=0.1, column="target"),
    "swapped columns .1": _by(swap_columns, fraction=0.1),
    "second population .2": _by(add_second_population, fraction=0.2),
}
CLASS_CORRUPTIONS: dict[str, Corruption] = {
    "clean": _clean,
    "flip .2": _by(corrupt_classes, fraction=0.2),
    "flip .4": _by(corrupt_classes, fraction=0.4),
    "flip+feature .2": _by(corrupt_rows, fraction=0.2, about="mean", target="flip"),
    "flip+feature .4": _by(corrupt_rows, fraction=0.4, about="mean", target="flip"),
    "leverage .2": _by(add_leverage_cluster, fraction=0.2, classification=True),
}


class Rows(NamedTuple):
    """One split: wrong training rows with their mask, and clean test rows."""

    X: Any
    y: Any
    mask: Any
    columns: tuple[int, ...]
    test_X: Any
    test_y: Any

    @property
    def share(self) -> float:
        """Of the training rows, those that are wrong."""
        return float(self.mask.mean())

    @property
    def wrong(self) -> int:
        """How many training rows are wrong."""
        return int(self.mask.sum())

    def scaled(self, by: Any) -> "Rows":
        """Features in standard deviations of the training rows of the mask `by`."""
        mean, sd = self.X[by].mean(axis=0), self.X[by].std(axis=0)
        sd = np.where(sd > 0, sd, 1.0)
        X, test_X = (self.X - mean) / sd, (self.test_X - mean) / sd
        return self._replace(X=X, test_X=test_X)

    def only(self, kept: Any) -> "Rows":
        """The training rows of a mask."""
        return self._replace(X=self.X[kept], y=self.y[kept], mask=self.mask[kept])


def load(name: str, seed: int) -> tuple[Any, Any]:
    """A whole data set; synthetic ones are drawn anew for every seed."""
    if name.startswith("synthetic_"):
        kind = name.removeprefix("synthetic_")
        return make_awkward(kind, 1000, random_state=seed)
    if name in SHIPPED:
        X, y = SHIPPED[name]()
    elif name == "drug_qsar":
        with np.load(folder() / "drug_qsar.npz") as file:
            X = np.vstack([file["X_train"], file["X_test"]])
            y = np.concatenate([file["y_train"].ravel(), file["y_test"].ravel()])
    else:
        data = table(name)
        X, y = data[:, :-1], data[:, -1]
    return np.asarray(X, dtype=float), y


def split(name: str, corruption: str, seed: int, *, classes: bool = False) -> Rows:
    """The rows of one seed, corrupted."""
    X, y = load(name, seed)
    order = np.random.default_rng(seed).permutation(len(y))
    most = MOST_SATIMAGE if name == "satimage" else MOST_TRAINING
    count = min(int(0.7 * len(y)), most)
    train, test = order[:count], order[count : count + MOST_TESTING]
    X, y, test_X, test_y = X[train], y[train], X[test], y[test]
    varied = X.std(axis=0) > 0
    X, test_X = X[:, varied], test_X[:, varied]
    if not classes:
        # Nothing is wrong yet, and the papers corrupt a standardised target.
        mean, sd = y.mean(), y.std()
        y, test_y = (y - mean) / sd, (test_y - mean) / sd
    known = CLASS_CORRUPTIONS if classes else REGRESSION_CORRUPTIONS | HARD_CORRUPTIONS
    bad = known[corruption](X, y, seed)
    return Rows(bad.X, bad.y, bad.mask, bad.columns, test_X, test_y)
