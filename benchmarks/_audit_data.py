"""Tables for the benchmark of the audit, real and simulated, and errors for them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

Columns = dict[str, Any]


class Planted(NamedTuple):
    """A table with errors.

    wrong : rows with errors; shape (n,)
    section : what should name them: "rows", or a section and a column or level
    named : name of that column or level; empty where none is asked for
    """

    data: Columns
    wrong: Any
    section: str
    named: str = ""


def _shipped(load: Callable[..., Any]) -> Callable[[int], Columns]:
    def table(seed: int) -> Columns:
        frame = load(as_frame=True).frame.rename(columns={"target": "y"})
        rows = np.random.default_rng(seed).permutation(len(frame))[:400]
        return {name: frame[name].to_numpy()[rows].copy() for name in frame.columns}

    return table


def _diabetes(seed: int) -> Columns:
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    frame = frame.rename(columns={"target": "y"})
    rows = np.random.default_rng(seed).permutation(len(frame))[:400]
    return {name: frame[name].to_numpy()[rows].copy() for name in frame.columns}


def simulated(kind: str, seed: int, n: int = 400) -> Columns:
    """A clean table; quantities of people, say, with a site that matters or not."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    height = rng.normal(170.0, 10.0, n)
    age = rng.integers(18, 90, n).astype(float)
    income = np.exp(rng.normal(10.0, 0.5, n))
    site = np.array(["north", "south", "east", "west"], dtype=object)
    site = site[rng.integers(4, size=n)]
    z, a = (height - 170.0) / 10.0, (age - 54.0) / 20.0
    f, noise = 60.0 + 8.0 * z + 4.0 * a, rng.normal(size=n)
    data = {"height": height, "age": age, "income": income, "site": site}
    if kind == "skewed":
        noise = 2.0 * (rng.lognormal(size=n) - 1.6)
    elif kind == "heteroscedastic":
        noise = noise * np.exp(0.5 * z)
    elif kind == "nonlinear":
        f = 60.0 + 8.0 * np.sin(2.0 * z) + 4.0 * a**2
    elif kind == "grouped":
        f = f + 10.0 * (site == "west") + 6.0 * z * (site == "east")
    elif kind == "mixed":
        f = f + 5.0 * np.log(income / np.exp(10.0))
        data["smoker"] = np.array(["no", "yes"], dtype=object)[rng.integers(2, size=n)]
    return {**data, "y": f + 2.0 * noise}


#: Kinds of simulated clean tables.
KINDS = ("numeric", "mixed", "skewed", "heteroscedastic", "nonlinear", "grouped")
#: Tables that errors are planted in, by name.
TABLES: dict[str, Callable[[int], Columns]] = {
    "diabetes": _diabetes,
    "breast cancer": _shipped(datasets.load_breast_cancer),
    "wine": _shipped(datasets.load_wine),
    **{kind: lambda seed, kind=kind: simulated(kind, seed) for kind in KINDS},
}
CLASSES = ("breast cancer", "wine")


def _some(data: Columns, share: float, rng: np.random.Generator) -> Any:
    wrong = np.zeros(len(data["y"]), dtype=bool)
    wrong[rng.choice(len(wrong), max(3, int(share * len(wrong))), replace=False)] = True
    return wrong


def _number(data: Columns) -> str:
    """The column of numbers with most different values."""
    numeric = [c for c in data if c != "y" and np.asarray(data[c]).dtype.kind in "if"]
    return max(numeric, key=lambda c: len(np.unique(data[c])))


def _targets(change: Callable[[Any, Any], Any], share: float = 0.04) -> Any:
    def plant(data: Columns, rng: np.random.Generator) -> Planted:
        y, wrong = np.asarray(data["y"], dtype=float), _some(data, share, rng)
        return Planted({**data, "y": np.where(wrong, change(y, rng), y)}, wrong, "rows")

    return plant


def _feature(factor: float) -> Any:
    def plant(data: Columns, rng: np.random.Generator) -> Planted:
        name, wrong = _number(data), _some(data, 0.03, rng)
        values = np.asarray(data[name], dtype=float)
        new = {**data, name: np.where(wrong, factor * values, values)}
        return Planted(new, wrong, "columns", name)

    return plant


def _stuck(data: Columns, rng: np.random.Generator) -> Planted:
    name, values = _number(data), np.asarray(data[_number(data)], dtype=float).copy()
    first = int(rng.integers(len(values) - 12))
    values[first : first + 12] = values[first]
    wrong = np.zeros(len(values), dtype=bool)
    wrong[first : first + 12] = True
    return Planted({**data, name: values}, wrong, "columns", name)


def _ceiling(data: Columns, rng: np.random.Generator) -> Planted:
    y = np.asarray(data["y"], dtype=float)
    top = float(np.quantile(y, 0.95))
    return Planted({**data, "y": np.minimum(y, top)}, y > top, "columns", "y")


def _copies(block: bool) -> Any:
    def plant(data: Columns, rng: np.random.Generator) -> Planted:
        n = len(data["y"])
        rows = np.arange(40, 60) if block else rng.choice(n, 12, replace=False)
        new = {c: np.concatenate([np.asarray(v), np.asarray(v)[rows]])
               for c, v in data.items()}  # fmt: skip
        return Planted(new, np.arange(n + len(rows)) >= n, "copies")

    return plant


def _source(data: Columns, rng: np.random.Generator) -> Planted:
    site = data.get("site")
    if site is None:
        site = np.array(list("abcd"), dtype=object)[
            rng.integers(4, size=len(data["y"]))
        ]
    name, y = str(site[0]), np.asarray(data["y"], dtype=float).copy()
    wrong = site == name
    y[wrong] = rng.permutation(y[wrong])
    return Planted({**data, "site": site, "y": y}, wrong, "sources", name)


def _flips(share: float, one_class: bool) -> Any:
    def plant(data: Columns, rng: np.random.Generator) -> Planted:
        y, wrong = np.asarray(data["y"]).astype(int), _some(data, share, rng)
        classes = len(np.unique(y))
        if one_class:
            wrong = (y == 1) & (rng.random(len(y)) < 2.0 * share)
        shift = 1 if one_class else rng.integers(1, classes, len(y))
        y = np.where(wrong, (y + shift) % classes, y)
        return Planted({**data, "y": y.astype(str).astype(object)}, wrong, "rows")

    return plant


#: Errors of quantities and of classes, by name.
OF_NUMBERS: dict[str, Any] = {
    "target ×10": _targets(lambda y, _: 10.0 * y),
    "target sign": _targets(lambda y, _: -y),
    "target kg/lb": _targets(lambda y, _: 2.2046 * y),
    "target +5 sd": _targets(lambda y, _: y + 5.0 * np.std(y)),
    "feature ×10": _feature(10.0),
    "feature ×1000": _feature(1000.0),
    "feature kg/lb": _feature(2.2046),
    "stuck stretch": _stuck,
    "target cut off": _ceiling,
    "copied rows": _copies(False),
    "copied block": _copies(True),
    "shuffled source": _source,
}
OF_CLASSES: dict[str, Any] = {
    "flips 10 %": _flips(0.1, False),
    "flips of a class": _flips(0.1, True),
    "feature ×10": _feature(10.0),
    "copied rows": _copies(False),
}
