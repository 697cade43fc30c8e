"""Data sets of the papers, from the folder that LRISK_SHARED names."""

import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np


def folder() -> Path:
    path = os.environ.get("LRISK_SHARED")
    if not path:
        sys.exit("set LRISK_SHARED to the folder that holds data/ (the papers' sets)")
    return Path(path) / "data"


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A CSV set, features and target standardised."""
    with gzip.open(folder() / f"{name}.csv.gz", "rt") as file:
        rows = np.array(list(csv.reader(file))[1:], dtype=float)
    return standardised(rows[:, :-1]), standardised(rows[:, -1])


def simulated() -> tuple[np.ndarray, np.ndarray]:
    """The paper's synthetic task: 800 rows, ten features, unit noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 10))
    y = X @ rng.normal(size=10) + rng.normal(size=800)
    return standardised(X), standardised(y)


def standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
