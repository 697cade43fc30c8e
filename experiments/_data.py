"""Data sets: from a folder, from scikit-learn, or else from OpenML.

The folder is ``--data`` or ``LRISK_DATA``; it holds ``NAME.csv.gz`` (a header, the
target last) or ``NAME.npz`` (X_train, y_train, X_test, y_test).
"""

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

FOLDER = "LRISK_DATA"

SHIPPED = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True, scaled=False),
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
}
#: Where OpenML has the same table (name, version); the others it has not.
OPENML = {
    "boston": ("boston", 1),
    "concrete": ("Concrete_Compressive_Strength", 1),
    "wine_quality_red": ("wine-quality-red", 1),
    "yacht": ("yacht_hydrodynamics", 1),
    "glass": ("glass", 1),
    "satimage": ("satimage", 1),
}


class DataUnavailable(RuntimeError):
    """A data set is neither in the folder nor to be fetched."""


def folder() -> Path | None:
    """The folder of data sets, if one was named."""
    given = os.environ.get(FOLDER)
    return Path(given) if given else None


def load(name: str) -> tuple[Any, Any]:
    """All rows of a table: X of floats, and y."""
    if name in SHIPPED:
        X, y = SHIPPED[name]()
        return np.asarray(X, dtype=float), np.asarray(y)
    place = folder()
    path = None if place is None else place / f"{name}.csv.gz"
    if path is not None and path.exists():
        with gzip.open(path, "rt") as file:
            values = np.array(list(csv.reader(file))[1:], dtype=float)
        return values[:, :-1], values[:, -1]
    return _fetched(name)


def parts(name: str) -> dict[str, Any]:
    """Arrays of a set that comes in parts: X_train, y_train, X_test, y_test, ...."""
    place = folder()
    path = None if place is None else place / f"{name}.npz"
    if path is None or not path.exists():
        raise DataUnavailable(
            f"{name}.npz is not on OpenML: name the folder that holds it with --data "
            f"or {FOLDER}"
        )
    with np.load(path, allow_pickle=False) as file:
        return {part: file[part] for part in file.files}


def _fetched(name: str) -> tuple[Any, Any]:
    remedy = f"name a folder with {name}.csv.gz by --data or {FOLDER}"
    if name not in OPENML:
        raise DataUnavailable(f"{name} is not on OpenML as the paper has it: {remedy}")
    title, version = OPENML[name]
    try:
        found = datasets.fetch_openml(title, version=version, as_frame=True)
    except (OSError, ValueError) as problem:
        raise DataUnavailable(
            f"OpenML did not give {title!r} ({problem}): {remedy}"
        ) from problem
    X = found.data.apply(lambda column: column.astype(float)).to_numpy()
    y = found.target.to_numpy()
    try:
        return X, y.astype(float)
    except (TypeError, ValueError):
        return X, np.unique(y, return_inverse=True)[1].astype(float)


def standardised(train: Any, *others: Any) -> tuple[Any, ...]:
    """All by the mean and standard deviation of the first; constant columns are 0."""
    middle, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return tuple((values - middle) / spread for values in (train, *others))
