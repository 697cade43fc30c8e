"""Data sets: from a folder, from scikit-learn, or else from OpenML (`fetch`).

The folder is ``--data`` or ``LRISK_DATA``; it holds ``NAME.csv.gz`` (a header, the
target last) or ``NAME.npz`` (X_train, y_train, X_test, y_test).
"""

import csv
import gzip
import os
from http.client import HTTPException
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
    openml : int, (name, version) or None
        On OpenML: its number, or name and version.
    page : str
        Where a person finds it.
    shape : (rows, features)
        Of the whole table.
    target : str or None
        Its target column on OpenML, in any case of letters, where it is not the
        default one (the last, where there is no default).
    """

    openml: tuple[str, int] | int | None
    page: str
    shape: tuple[int, int] = (0, 0)
    target: str | None = None


def uci(number: int) -> str:
    """A page of the UCI repository."""
    return f"UCI {number}, archive.ics.uci.edu/dataset/{number}"


ENERGY = ("energy-efficiency", 1)
#: Every set that no package ships, by the name of its file. Concrete has several
#: versions of one name, of which this one is of numbers throughout.
SOURCES = {
    "boston": Source(("boston", 1), "lib.stat.cmu.edu/datasets/boston", (506, 13)),
    "concrete": Source(44959, uci(165), (1030, 8)),
    "wine_quality_red": Source(("wine-quality-red", 1), uci(186), (1599, 11)),
    "yacht": Source(("yacht_hydrodynamics", 1), uci(243), (308, 6)),
    "energy_cooling": Source(ENERGY, uci(242), (768, 8), "y2"),
    "energy_heating": Source(ENERGY, uci(242), (768, 8), "y1"),
    "heart_cleveland": Source(("heart-disease", 1), uci(45), (303, 13), "target"),
    "glass": Source(("glass", 1), uci(42), (214, 9)),
    "satimage": Source(("satimage", 1), uci(146), (6435, 36)),
    "mnist_1v3": Source(("mnist_784", 1), "yann.lecun.com/exdb/mnist", (70_000, 784)),
    "fashion_trouser_sneaker": Source(
        ("Fashion-MNIST", 1),
        "github.com/zalandoresearch/fashion-mnist",
        (70_000, 784),
    ),
    "drug_qsar": Source(None, "github.com/hoonose/sever, linreg/data/qsar.mat"),
    "emotion_bert_pca45": Source(
        None, "github.com/ronakdm/drago, data/emotion (features of that paper)"
    ),
    "iwildcam_resnet18_pca73": Source(
        None, "github.com/ronakdm/superquantile, data (an earlier cut)"
    ),
}
#: Columns that are targets wherever they are, so no features.
TARGETS = ("y1", "y2")
#: Share of the rows by which a copy of a set may differ: satimage lacks five there.
ROOM = 0.01
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


def _openml(name: str) -> tuple[Any, Any]:
    """Features and target as OpenML gives them: a frame and a column."""
    source = SOURCES[name]
    given = source.openml
    if given is None:
        raise DataUnavailable(f"{name} has no source to fetch: {_remedy(name)}")
    if isinstance(given, int):
        which: dict[str, Any] = {"data_id": given}
    else:
        which = {"name": given[0], "version": given[1]}
    # Numbers are read as numbers, classes or not: scikit-learn 1.9 fails where pandas 3
    # makes numbers of the names of categories.
    which |= {"as_frame": True, "parser": "pandas", "read_csv_kwargs": {"dtype": None}}
    try:
        X, y = _divided(datasets.fetch_openml(**which), source)
    except (OSError, HTTPException, ValueError, KeyError, ImportError) as problem:
        raise DataUnavailable(
            f"OpenML did not give {given!r} ({problem}): {_remedy(name)}"
        ) from problem
    return X, y


def _divided(found: Any, source: Source) -> tuple[Any, Any]:
    """Features and target of a table, if it is of the shape that it should be."""
    frame = found.frame
    columns = {column.lower(): column for column in frame.columns}
    if source.target is not None:
        target = columns[source.target]
    else:
        target = (*found.target_names, frame.columns[-1])[0]
    others = [column for low, column in columns.items() if low in TARGETS]
    X = frame.drop(columns=list({target, *others}))
    rows, features = source.shape
    if X.shape[1] != features or abs(len(X) - rows) > ROOM * rows:
        raise ValueError(f"its shape is {X.shape}, not {source.shape}")
    return X, frame[target]


def _images(name: str) -> dict[str, Any]:
    """The rows of appendix F.6, drawn with the seed zero; test rows as published."""
    frame, target = _openml(name)
    X, y = frame.to_numpy().astype(np.uint8), target.to_numpy().astype(int)
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
    frame, target = _openml(name)
    X = frame.apply(lambda column: column.astype(float)).to_numpy()
    y = target.to_numpy()
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
