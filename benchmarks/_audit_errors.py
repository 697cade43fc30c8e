"""Errors to plant in a table, each with the truth that an audit is held against."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold, cross_val_predict

import lrisk
from benchmarks._audit_tables import Columns

#: Share of the rows with a wrong value; pounds for kilograms are more, as a whole form.
SHARE, SHARE_OF_UNITS = 0.03, 0.05
#: Kilograms in pounds.
POUNDS = 2.2046
#: Different values from which on a column is one of measurements.
FEWEST_DIFFERENT = 10
#: Typical errors of a good model beyond which a change of the target can be seen, and
#: by which targets of a bad source are off.
VISIBLE, OFF = 6.0, 4.0
#: Rows of a copied or shifted block, and of a stretch where a column is stuck.
BLOCK, STUCK = 20, 12
#: Share of targets that a ceiling cuts off; of labels of a bad source that are flipped;
#: of the commonest class that is called by the next one's name.
CUT, FLIPPED_AT_SOURCE, ONE_CLASS = 0.05, 0.4, 0.2


class Clean(NamedTuple):
    """A table, and how far off a good model typically is (0 for classes)."""

    data: Columns
    error: float = 0.0


class Planted(NamedTuple):
    """A table with errors.

    wrong : rows with errors; shape (n,)
    origin : which row of the clean table each row was; shape (n,)
    section : which names the errors: "rows" is the flags
    columns : which are wrong
    slip : kind of slip, and the factor that undoes it; None if there is none
    level : name of the bad source; or empty
    in_order : whether wrong rows follow each other
    visible : wrong rows that a good model could tell; shape (n,)
    spared : rows that nobody is wrong to name, as the sources of copies; shape (n,)
    """

    data: Columns
    wrong: Any
    origin: Any
    section: str
    columns: tuple[str, ...]
    slip: tuple[str, float] | None = None
    level: str = ""
    in_order: bool = False
    visible: Any = None
    spared: Any = None


Plant = Callable[[Clean, np.random.Generator], Planted]


def features(data: Columns) -> Any:
    """The other columns as numbers for models; shape (n, d)."""
    import pandas as pd

    frame = pd.DataFrame({name: data[name] for name in data if name != "y"})
    return lrisk.TablePreparation().fit_transform(frame)


def typical_error(data: Columns) -> float:
    """Standard deviation of what a forest errs by, out of fold."""
    y = np.asarray(data["y"], dtype=float)
    folds = KFold(5, shuffle=True, random_state=0)
    forest = ExtraTreesRegressor(random_state=0)
    return float(np.std(y - cross_val_predict(forest, features(data), y, cv=folds)))


def _some(among: Any, share: float, rng: np.random.Generator) -> Any:
    """A share of all rows, at least three, drawn among some of them."""
    wrong = np.zeros(len(among), dtype=bool)
    allowed = np.flatnonzero(among)
    count = min(max(3, round(share * len(among))), len(allowed))
    wrong[rng.choice(allowed, count, replace=False)] = True
    return wrong


def _all(data: Columns) -> Any:
    return np.ones(len(data["y"]), dtype=bool)


def _numbers(data: Columns) -> dict[str, Any]:
    """Columns of measurements, those with most different values first."""
    found = {
        name: np.asarray(values, dtype=float)
        for name, values in data.items()
        if name != "y" and np.asarray(values).dtype.kind in "iuf"
    }
    many = {name: len(np.unique(values)) for name, values in found.items()}
    names = [name for name in found if many[name] >= FEWEST_DIFFERENT]
    return {name: found[name] for name in sorted(names, key=lambda c: -many[c])}


def _target(
    change: Callable[[Any, np.random.Generator], Any],
    share: float = SHARE,
    slip: tuple[str, float] | None = None,
) -> Plant:
    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        y = np.asarray(clean.data["y"], dtype=float)
        new = np.where(_some(_all(clean.data), share, rng), change(y, rng), y)
        data, wrong = {**clean.data, "y": new}, new != y
        seen = wrong & (np.abs(new - y) > VISIBLE * clean.error)
        rows = np.arange(len(y))
        return Planted(data, wrong, rows, "rows", ("y",), slip, visible=seen)

    return plant


def _beyond(values: Any, new: Any) -> Any:
    return (new > values.max()) | (new < values.min())


def _feature(factor: float, share: float = SHARE, only_beyond: bool = False) -> Plant:
    """One column times a factor; the first that it takes beyond its range."""

    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        columns = _numbers(clean.data)
        out = {c: float(np.mean(_beyond(v, factor * v))) for c, v in columns.items()}
        name = next((c for c in out if out[c] >= 0.5), max(out, key=lambda c: out[c]))
        values = columns[name]
        outside = _beyond(values, factor * values)
        wrong = _some(outside if only_beyond else values != 0.0, share, rng)
        data = {**clean.data, name: np.where(wrong, factor * values, values)}
        slip = ("sign", -1.0) if factor == -1.0 else ("factor", 1.0 / factor)
        return Planted(data, wrong, np.arange(len(wrong)), "columns", (name,), slip,
                       visible=wrong & outside)  # fmt: skip

    return plant


def _apart(a: Any, b: Any) -> float:
    """How far apart the usual values of two columns lie, in their spreads."""
    spreads = [float(np.subtract(*np.quantile(v, [0.75, 0.25]))) for v in (a, b)]
    return float(abs(np.median(a) - np.median(b))) / max(sum(spreads), 1e-300)


def _swap(with_target: bool) -> Plant:
    """The two columns whose usual values lie farthest apart, as height and weight."""

    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        columns = _numbers(clean.data)
        if with_target:
            y = np.asarray(clean.data["y"], dtype=float)
            pairs = [(c, "y") for c in columns]
            columns = {**columns, "y": y}
        else:
            pairs = [(a, b) for a in columns for b in columns if a < b]
        a, b = max(pairs, key=lambda pair: _apart(*(columns[c] for c in pair)))
        wrong = _some(columns[a] != columns[b], SHARE, rng)
        data = {
            **clean.data,
            a: np.where(wrong, columns[b], columns[a]),
            b: np.where(wrong, columns[a], columns[b]),
        }
        section = "rows" if with_target else "slips"
        return Planted(data, wrong, np.arange(len(wrong)), section, (a, b),
                       ("swap", 1.0))  # fmt: skip

    return plant


def _copies(block: bool) -> Plant:
    """Some rows, or a block of them, once more; the later of two equal is the copy."""

    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        n = len(clean.data["y"])
        if block:
            first = int(rng.integers(n // 2 - BLOCK))
            rows = np.arange(first, first + BLOCK)
            at: Any = np.full(BLOCK, int(rng.integers(n // 2, n)))
        else:
            rows = np.flatnonzero(_some(_all(clean.data), SHARE, rng))
            at = rng.integers(n, size=len(rows))
        origin = np.insert(np.arange(n), at, rows)
        later = np.ones(len(origin), dtype=bool)
        later[np.unique(origin, return_index=True)[1]] = False
        again = np.isin(origin, rows)
        data = {c: np.asarray(v)[origin] for c, v in clean.data.items()}
        return Planted(data, again & later, origin, "copies", (), in_order=block,
                       spared=again & ~later)  # fmt: skip

    return plant


def _shifted(clean: Clean, rng: np.random.Generator) -> Planted:
    """Targets of a block of rows one row down, the last of them on top."""
    y = np.asarray(clean.data["y"], dtype=float).copy()
    first = int(rng.integers(len(y) - BLOCK))
    inside = slice(first, first + BLOCK)
    old = y.copy()
    y[inside] = np.roll(y[inside], 1)
    wrong, rows = y != old, np.arange(len(y))
    seen = wrong & (np.abs(y - old) > VISIBLE * clean.error)
    data = {**clean.data, "y": y}
    return Planted(data, wrong, rows, "rows", ("y",), in_order=True, visible=seen)


def _stuck(clean: Clean, rng: np.random.Generator) -> Planted:
    """The column with most different values repeats itself for a while."""
    name, old = next(iter(_numbers(clean.data).items()))
    first, values = int(rng.integers(len(old) - STUCK)), old.copy()
    values[first : first + STUCK] = values[first]
    wrong = np.zeros(len(old), dtype=bool)
    wrong[first : first + STUCK] = True
    data = {**clean.data, name: values}
    return Planted(data, wrong, np.arange(len(old)), "columns", (name,), in_order=True)


def _cut_off(clean: Clean, rng: np.random.Generator) -> Planted:
    y = np.asarray(clean.data["y"], dtype=float)
    top = float(np.quantile(y, 1.0 - CUT))
    data = {**clean.data, "y": np.minimum(y, top)}
    return Planted(data, y >= top, np.arange(len(y)), "columns", ("y",))


def _sites(data: Columns, rng: np.random.Generator) -> tuple[Any, str]:
    """A column of sources, the table's own or a random one, and a bad one of them."""
    if "site" in data:
        return data["site"], "south"
    names = np.array(["Aachen", "Bergen", "Cork", "Delft", "Evora"], dtype=object)
    return names[rng.integers(len(names), size=len(data["y"]))], "Bergen"


def _source(change: Callable[[Any, float, np.random.Generator], Any]) -> Plant:
    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        site, level = _sites(clean.data, rng)
        inside, old = site == level, np.asarray(clean.data["y"])
        y = old.copy()
        y[inside] = change(y[inside], clean.error, rng)
        data, wrong = {**clean.data, "site": site, "y": y}, y != old
        return Planted(data, wrong, np.arange(len(y)), "sources", ("site", "y"),
                       level=level, spared=inside & ~wrong)  # fmt: skip

    return plant


def _others(y: Any, rng: np.random.Generator) -> Any:
    """Another class for each row, at random."""
    classes, codes = np.unique(y.astype(str), return_inverse=True)
    if len(classes) == 1:
        return y
    moved = codes + rng.integers(1, len(classes), len(y))
    return classes[moved % len(classes)].astype(object)


def _flips(share: float) -> Plant:
    def plant(clean: Clean, rng: np.random.Generator) -> Planted:
        y, wrong = clean.data["y"], _some(_all(clean.data), share, rng)
        data = {**clean.data, "y": np.where(wrong, _others(y, rng), y)}
        return Planted(data, wrong, np.arange(len(y)), "rows", ("y",))

    return plant


def _flips_of_a_class(clean: Clean, rng: np.random.Generator) -> Planted:
    y = clean.data["y"]
    classes, counts = np.unique(y.astype(str), return_counts=True)
    largest, second = classes[np.argsort(-counts, kind="stable")[:2]]
    wrong = (y == largest) & (rng.random(len(y)) < ONE_CLASS)
    data = {**clean.data, "y": np.where(wrong, second, y).astype(object)}
    return Planted(data, wrong, np.arange(len(y)), "rows", ("y",))


def _flips_at_source(y: Any, _: float, rng: np.random.Generator) -> Any:
    return np.where(rng.random(len(y)) < FLIPPED_AT_SOURCE, _others(y, rng), y)


_OF_ALL: dict[str, Plant] = {
    "feature ×10": _feature(10.0, only_beyond=True),
    "feature ×100": _feature(100.0),
    "feature ×1000": _feature(1000.0),
    "feature sign": _feature(-1.0),
    "feature kg/lb": _feature(POUNDS, SHARE_OF_UNITS),
    "swapped features": _swap(with_target=False),
    "stuck stretch": _stuck,
    "copied rows": _copies(block=False),
    "copied block": _copies(block=True),
}
#: Errors of tables of quantities, by name.
OF_NUMBERS: dict[str, Plant] = {
    "target ×10": _target(lambda y, _: 10.0 * y, slip=("factor", 0.1)),
    "target ×100": _target(lambda y, _: 100.0 * y, slip=("factor", 0.01)),
    "target ×1000": _target(lambda y, _: 1000.0 * y, slip=("factor", 0.001)),
    "target /10": _target(lambda y, _: y / 10.0, slip=("factor", 10.0)),
    "target −999": _target(lambda y, _: np.full(len(y), -999.0)),
    "target sign": _target(lambda y, _: -y, slip=("sign", -1.0)),
    "target kg/lb": _target(
        lambda y, _: POUNDS * y, SHARE_OF_UNITS, slip=("factor", 1.0 / POUNDS)
    ),
    "random target 5 %": _target(lambda y, rng: rng.permutation(y), 0.05),
    "random target 20 %": _target(lambda y, rng: rng.permutation(y), 0.2),
    "swap with target": _swap(with_target=True),
    "shifted block": _shifted,
    "cut off": _cut_off,
    "source shuffled": _source(lambda y, _, rng: rng.permutation(y)),
    "source offset": _source(lambda y, error, _: y + OFF * error),
    "source with errors": _source(
        lambda y, error, rng: y + OFF * error * rng.normal(size=len(y))
    ),
    **_OF_ALL,
}
#: Errors of tables of classes, by name.
OF_CLASSES: dict[str, Plant] = {
    "flips 5 %": _flips(0.05),
    "flips 10 %": _flips(0.1),
    "flips 20 %": _flips(0.2),
    "flips of a class": _flips_of_a_class,
    "source with flips": _source(_flips_at_source),
    **_OF_ALL,
}
#: Slips of the target: a goal is set for each.
TARGET_SLIPS = ("target ×10", "target ×100", "target ×1000", "target /10",
                "target −999", "target sign", "target kg/lb")  # fmt: skip
