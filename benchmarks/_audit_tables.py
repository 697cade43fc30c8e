"""Tables for the benchmark of the audit, real and simulated, without planted errors.

Real tables have peculiarities of their own, known before any audit: they are listed
with each (`Known`), and whoever names them is not wrong.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from benchmarks._data import folder

Columns = dict[str, Any]
#: Rows drawn of a real table: as many as a small team's table has, and quick to audit.
MOST_ROWS = 400
#: Rows of simulated clean tables, in turn.
SIZES = (200, 400, 800)
#: Kinds of simulated tables, the last with classes.
KINDS = ("numeric", "mixed", "skewed", "heteroscedastic", "nonlinear", "grouped",
         "classes")  # fmt: skip


class Known(NamedTuple):
    """What is odd about a table as it is.

    why : a sentence
    section : that may name it
    columns : of which it may say so; of any if there are none
    rows : which rows are concerned, of a table: nobody is wrong to flag them
    """

    why: str
    section: str
    columns: tuple[str, ...] = ()
    rows: Callable[[Columns], Any] | None = None


class Source(NamedTuple):
    """Where a table comes from: `load(seed)` draws its rows."""

    load: Callable[[int], Columns]
    known: tuple[Known, ...] = ()
    classes: bool = False
    shared: bool = False


def peculiar(source: Source, data: Columns) -> Any:
    """Rows that a table's own peculiarities concern; shape (n,)."""
    odd = np.zeros(len(data["y"]), dtype=bool)
    for known in source.known:
        if known.rows is not None:
            odd |= known.rows(data)
    return odd


def _drawn(frame: Any, seed: int, classes: bool) -> Columns:
    rows = np.random.default_rng(seed).permutation(len(frame))[:MOST_ROWS]
    data = {name: frame[name].to_numpy()[rows].copy() for name in frame.columns}
    data["y"] = data.pop("target")
    if classes:
        data["y"] = data["y"].astype(str).astype(object)
    else:
        data["y"] = data["y"].astype(float)
    return data


def _shipped(load: Callable[..., Any], classes: bool) -> Callable[[int], Columns]:
    return lambda seed: _drawn(load(as_frame=True).frame, seed, classes)


def _diabetes(seed: int) -> Columns:
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    return _drawn(frame, seed, False)


def _from_file(name: str, classes: bool = False) -> Callable[[int], Columns]:
    def load(seed: int) -> Columns:
        import pandas as pd

        return _drawn(pd.read_csv(folder() / f"{name}.csv.gz"), seed, classes)

    return load


def repeated(data: Columns) -> Any:
    """Rows that are equal to another in every column; shape (n,)."""
    import pandas as pd

    return pd.DataFrame(data).duplicated(keep=False).to_numpy()


def simulated(kind: str, seed: int, n: int = MOST_ROWS) -> Columns:
    """A clean table: quantities of people, and a site, which matters or not."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    height = rng.normal(170.0, 10.0, n)
    age = rng.integers(18, 90, n).astype(float)
    income = np.exp(rng.normal(10.0, 0.5, n))
    site = np.array(["north", "south", "east", "west"], dtype=object)
    site = site[rng.integers(4, size=n)]
    z, a = (height - 170.0) / 10.0, (age - 54.0) / 20.0
    f, noise = 60.0 + 8.0 * z + 4.0 * a, rng.normal(size=n)
    data = {"height": height, "age": age, "income": income}
    if kind != "numeric":
        data["site"] = site
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
    elif kind == "classes":
        # Classes overlap: a label may be unlikely without being wrong.
        ill = rng.random(n) < 1.0 / (1.0 + np.exp(-3.0 * (z + 0.5 * a)))
        return {**data, "y": np.where(ill, "ill", "well").astype(object)}
    return {**data, "y": f + 2.0 * noise}


def _simulation(kind: str) -> Callable[[int], Columns]:
    return lambda seed: simulated(kind, seed)


#: What is true of simulated tables although nothing was planted.
TRUE_OF: dict[str, tuple[Known, ...]] = {
    "heteroscedastic": (
        Known("noise grows with height", "noise", ("height",)),
        Known("noise grows with height", "shared", ("height",)),
    ),
    "grouped": (
        Known("targets of the west lie 10 higher, the east has its own slope",
              "sources", ("site",)),
    ),
}  # fmt: skip

_GRID = "a designed grid: columns of few, far apart values"
_OUTSKIRTS = "132 rows outside the city share one value of it"
_ZEROS = "zero where the mix has none of it"
_NO_HOLLOWS = "13 rows are 0 in six columns"
_HOLLOWS = tuple(
    f"{part} {what}" if part != "error" else f"{what} error"
    for what in ("concavity", "concave points")
    for part in ("mean", "worst", "error")
)

#: Tables that errors are planted in, by name.
TABLES: dict[str, Source] = {
    "boston": Source(
        _from_file("boston"),
        (
            Known("prices are cut off at 50", "columns", ("y",),
                  lambda data: data["y"] >= 50.0),
            Known("ages end at 100, b at 396.9", "columns", ("age", "b")),
            Known(_OUTSKIRTS, "columns", ("indus", "tax", "ptratio", "rad")),
            Known("zero where no land is zoned so", "columns", ("zn",)),
            Known("16 rows of one district have the largest", "columns", ("nox",)),
            Known("heavy tails of crime rates", "columns", ("crim",)),
        ),
        shared=True,
    ),
    "concrete": Source(
        _from_file("concrete"),
        (
            Known("25 rows are copies in the original", "copies", (), repeated),
            Known(_ZEROS, "columns", ("slag", "fly_ash", "superplasticizer")),
            Known("recipes repeat", "columns",
                  ("water", "cement", "coarse_agg", "fine_agg", "age")),
        ),
        shared=True,
    ),
    "energy": Source(
        _from_file("energy_heating"),
        (
            Known(_GRID, "columns", ("compactness", "surface_area")),
            Known("errors are 2.4 times as large where height is 7", "noise"),
            Known("errors are 2.4 times as large where height is 7", "shared",
                  ("height", "roof_area", "surface_area", "compactness")),
        ),
        shared=True,
    ),
    "yacht": Source(
        _from_file("yacht"),
        (
            Known(_GRID, "columns", ("prismatic_coef", "beam_draught", "length_beam",
                                     "froude")),
            Known("noise grows with the Froude number", "noise", ("froude",)),
            Known("noise grows with the Froude number", "shared", ("froude",)),
            Known("resistance grows exponentially: a heavy tail", "columns", ("y",)),
        ),
        shared=True,
    ),
    "diabetes": Source(
        _diabetes, (Known("most of s4 are whole numbers", "columns", ("s4",)),)
    ),
    "mixed": Source(_simulation("mixed")),
    "nonlinear": Source(_simulation("nonlinear")),
    "grouped": Source(_simulation("grouped"), TRUE_OF["grouped"]),
    "breast cancer": Source(
        _shipped(datasets.load_breast_cancer, True),
        (
            Known(_NO_HOLLOWS, "columns", _HOLLOWS),
            Known("heavy tails of standard errors", "columns",
                  ("area error", "perimeter error", "radius error")),
        ),
        classes=True,
    ),
    "wine": Source(_shipped(datasets.load_wine, True), classes=True),
    "heart": Source(
        _from_file("heart_cleveland", classes=True),
        (
            Known("one cholesterol of 564, the next is 417", "columns", ("chol",)),
            Known("no depression in 99 of 303 rows", "columns", ("oldpeak",)),
        ),
        classes=True,
        shared=True,
    ),
    "satimage": Source(
        _from_file("satimage", classes=True), classes=True, shared=True
    ),
    "people": Source(_simulation("classes"), classes=True),
}  # fmt: skip
