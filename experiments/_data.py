"""Data sets: from a folder, from scikit-learn, or else from OpenML (`fetch`).

The folder is ``--data`` or ``LRISK_DATA``; it holds ``NAME.csv.gz`` (a header, the
target last) or ``NAME.npz`` (X_train, y_train, X_test, y_test).
"""

import csv
import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

FOLDER = "LRISK_DATA"

SHIPPED = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True, scaled=False),
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
}


class Source(NamedTuple):
    """Where a set comes from.

    Attributes
    ----------
    openml : (name, version) or None
        On OpenML; `target` is its target column there, where it is not the default.
    uci : int or None
        Number at the UCI repository.
    page : str
        Where a person finds it.
    """

    openml: tuple[str, int] | None
    uci: int | None
    page: str
    target: str | None = None


#: Every set that no package ships, by the name of its file.
SOURCES = {
    "boston": Source(("boston", 1), None, "lib.stat.cmu.edu/datasets/boston"),
    "concrete": Source(("Concrete_Compressive_Strength", 1), 165, "UCI 165"),
    "wine_quality_red": Source(("wine-quality-red", 1), 186, "UCI 186"),
    "yacht": Source(("yacht_hydrodynamics", 1), 243, "UCI 243"),
    "energy_cooling": Source(("energy-efficiency", 1), 242, "UCI 242", "Y2"),
    "energy_heating": Source(("energy-efficiency", 1), 242, "UCI 242", "Y1"),
    "heart_cleveland": Source(("heart-disease", 1), 45, "UCI 45", "target"),
    "glass": Source(("glass", 1), 42, "UCI 42"),
    "satimage": Source(("satimage", 1), 146, "UCI 146"),
    "mnist_1v3": Source(("mnist_784", 1), None, "yann.lecun.com/exdb/mnist"),
    "fashion_trouser_sneaker": Source(
        ("Fashion-MNIST", 1), None, "github.com/zalandoresearch/fashion-mnist"
    ),
    "drug_qsar": Source(None, None, "github.com/hoonose/sever, linreg/data/qsar.mat"),
    "emotion_bert_pca45": Source(
        None, None, "github.com/ronakdm/drago, data/emotion (features of that paper)"
    ),
    "iwildcam_resnet18_pca73": Source(
        None, None, "github.com/ronakdm/superquantile, data (an earlier cut)"
    ),
}
#: Classes of the two image sets: those told apart, and rows of each and of the others.
DRAWS = {
    "mnist_1v3": ((1, 3), 1000, 125),
    "fashion_trouser_sneaker": ((1, 7), 1000, 250),
}
#: Rows of the published training part, which come first.
TRAINING = 60_000


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
        if name in DRAWS:
            return _images(name)
        raise DataUnavailable(f"{name}.npz has no source to fetch: {_remedy(name)}")
    with np.load(path, allow_pickle=False) as file:
        return {part: file[part] for part in file.files}


def _remedy(name: str) -> str:
    kind = "npz" if name in DRAWS or SOURCES[name].openml is None else "csv.gz"
    return (
        f"name a folder with {name}.{kind} by --data or {FOLDER} (it comes from "
        f"{SOURCES[name].page})"
    )


def _openml(name: str) -> Any:
    """The table as OpenML gives it."""
    source = SOURCES[name]
    if source.openml is None:
        raise DataUnavailable(f"{name} has no source to fetch: {_remedy(name)}")
    title, version = source.openml
    options = {} if source.target is None else {"target_column": source.target}
    try:
        return datasets.fetch_openml(title, version=version, as_frame=True, **options)
    except (OSError, ValueError) as problem:
        raise DataUnavailable(
            f"OpenML did not give {title!r} ({problem}): {_remedy(name)}"
        ) from problem


def _images(name: str) -> dict[str, Any]:
    """The rows of appendix F.6, drawn with the seed zero; test rows as published."""
    found = _openml(name)
    X = found.data.to_numpy().astype(np.uint8)
    y = found.target.to_numpy().astype(int)
    chosen, many, few = DRAWS[name]
    rng, rows = np.random.default_rng(0), []
    for k in range(10):
        own, count = np.flatnonzero(y[:TRAINING] == k), many if k in chosen else few
        rows.append(np.sort(rng.choice(own, count, replace=False)))
    train = rng.permutation(np.concatenate(rows))
    test = TRAINING + np.flatnonzero(np.isin(y[TRAINING:], chosen))
    return {
        "X_train": X[train], "y_train": y[train], "X_test": X[test], "y_test": y[test]
    }  # fmt: skip


def _fetched(name: str) -> tuple[Any, Any]:
    if name not in SOURCES:
        raise DataUnavailable(
            f"{name} is no data set of the papers: known are {', '.join(SOURCES)}"
        )
    found = _openml(name)
    # The other target of the energy set is no feature.
    others = [c for c in found.data.columns if c in ("Y1", "Y2")]
    frame = found.data.drop(columns=others)
    X = frame.apply(lambda column: column.astype(float)).to_numpy()
    y = found.target.to_numpy()
    try:
        y = y.astype(float)
    except (TypeError, ValueError):
        y = np.unique(y, return_inverse=True)[1].astype(float)
    if name == "heart_cleveland":  # six rows have a blank; any disease is a one
        middle = np.nanmedian(X, axis=0)
        X, y = np.where(np.isnan(X), middle, X), (y > 0).astype(float)
    return X, y


def fetch(name: str, place: Path) -> Path | None:
    """Put one set into a folder, unless it is there; None where a package ships it."""
    if name in SHIPPED:
        return None
    image = name in DRAWS or SOURCES[name].openml is None
    path = place / f"{name}.{'npz' if image else 'csv.gz'}"
    if path.exists():
        return path
    place.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    if image:
        if name not in DRAWS:
            raise DataUnavailable(f"{name} has no source to fetch: {_remedy(name)}")
        with part.open("wb") as file:
            np.savez_compressed(file, **_images(name))
    else:
        X, y = _fetched(name)
        with gzip.open(part, "wt", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "target"])
            writer.writerows(np.column_stack([X, y]).tolist())
    os.replace(part, path)
    return path


def standardised(train: Any, *others: Any) -> tuple[Any, ...]:
    """All by the mean and standard deviation of the first; constant columns are 0."""
    middle, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return tuple((values - middle) / spread for values in (train, *others))
