"""Data sets for benchmarks: plain, and with wrong rows.

They come from the folder that LRISK_SHARED names.
"""

import csv
import gzip
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


def folder() -> Path:
    path = os.environ.get("LRISK_SHARED")
    if not path:
        sys.exit("set LRISK_SHARED to the folder that holds data/ (the papers' sets)")
    return Path(path) / "data"


def table(name: str) -> np.ndarray:
    """A CSV set as it is, the target in the last column."""
    with gzip.open(folder() / f"{name}.csv.gz", "rt") as file:
        return np.array(list(csv.reader(file))[1:], dtype=float)


def simulated() -> tuple[np.ndarray, np.ndarray]:
    """The paper's synthetic task: 800 rows, ten features, unit noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 10))
    y = X @ rng.normal(size=10) + rng.normal(size=800)
    return standardised(X), standardised(y)


def standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


class Split(NamedTuple):
    """Training rows, of which some are wrong, and clean test rows."""

    X: Any
    y: Any
    test_X: Any
    test_y: Any
    bad: Any


def available() -> bool:
    if not os.environ.get("LRISK_SHARED"):
        print("LRISK_SHARED is not set: no data sets, this part is skipped")
        return False
    return True


def split(data: Any, seed: int, share: float, corrupt: Any, scale_y: bool) -> Split:
    """80 % to train on, standardised by themselves, then `share` of them corrupted."""
    rng = np.random.default_rng(seed)
    data = data[rng.permutation(len(data))]
    n = int(0.8 * len(data))
    mean, spread = data[:n].mean(axis=0), data[:n].std(axis=0)
    spread[spread == 0] = 1.0
    if not scale_y:
        mean[-1], spread[-1] = 0.0, 1.0
    data = (data - mean) / spread
    X, y = data[:n, :-1].copy(), data[:n, -1].copy()
    bad = rng.permutation(n)[: int(share * n)]
    corrupt(rng, X, y, bad)
    mask = np.zeros(n, dtype=bool)
    mask[bad] = True
    return Split(X, y, data[n:, :-1], data[n:, -1], mask)


def label_noise(rng: Any, X: Any, y: Any, bad: Any) -> None:
    """Y ~ N(5, 5) (paper 2, table 1)."""
    y[bad] = rng.normal(5, 5, len(bad))


def gross_rows(rng: Any, X: Any, y: Any, bad: Any) -> None:
    """Features ×100 and y×10⁴ (paper 2, table 2)."""
    X[bad] *= 100
    y[bad] *= 1e4


def other_class(rng: Any, X: Any, y: Any, bad: Any) -> None:
    """A wrong label, chosen at random among the others (paper 2, tables 3 and 4)."""
    classes = np.unique(y)
    for i in bad:
        y[i] = rng.choice(classes[classes != y[i]])


def rmse(model: Any, split: Split) -> float:
    return float(np.sqrt(np.mean((model.predict(split.test_X) - split.test_y) ** 2)))
