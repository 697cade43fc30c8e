"""From typed columns to the matrix that models take, learnt from training rows only."""

from math import nan
from typing import Any, NamedTuple, Self

import numpy as np

from .._params import refused
from .._typing import Floats, Indices
from ..procedures.label_noise import FeatureScaling, plain_scaling
from .columns import Column
from .table import columns_named

#: A level needs this many training rows and this share of them to have a column.
LEVEL_ROWS, LEVEL_SHARE = 5, 0.01
#: Most levels of one column, and most columns of all levels together.
MOST_LEVELS, MOST_ONE_HOT = 20, 300
#: Missing training cells from which on being missing is a feature.
MISSING_ROWS = 5


class _Numeric(NamedTuple):
    """Numbers: the median where missing, and whether they are."""

    middle: float
    marked: bool

    def names(self, column: Column) -> list[str]:
        marks = [f"{column.name} is missing"] if self.marked else []
        return [column.name, *marks]

    def encode(self, column: Column, rows: Indices) -> list[Floats]:
        values = column.values[rows]
        missing = np.isnan(values)
        parts = [np.where(missing, self.middle, values)]
        return [*parts, missing.astype(np.float64)] if self.marked else parts


class _Levels(NamedTuple):
    """One column for each frequent level, one for all others, one for missing."""

    codes: list[int]
    pooled: bool
    marked: bool

    def names(self, column: Column) -> list[str]:
        names = [f"{column.name}={column.levels[code]}"[:120] for code in self.codes]
        names += [f"{column.name}=(other)"] if self.pooled else []
        return names + ([f"{column.name} is missing"] if self.marked else [])

    def encode(self, column: Column, rows: Indices) -> list[Floats]:
        values = column.values[rows]
        parts = [values == code for code in self.codes]
        if self.pooled:
            parts.append((values >= 0) & ~np.isin(values, self.codes))
        if self.marked:
            parts.append(values < 0)
        return [part.astype(np.float64) for part in parts]


class Preparation:
    """Imputes, one-hot encodes and standardises; fitted to training rows.

    Numbers get the median where they are missing, and a column that says so. Levels of
    fewer than five rows or 1 % are pooled. Columns are standardised by mean and
    standard deviation after clipping at six robust ones, which on ordinary columns is
    plain standardisation.

    Attributes
    ----------
    names_ : list of str
        Of the columns of the matrix.
    origin_ : array of int
        Position of the source of each, among the columns given.
    scaling_ : FeatureScaling
    """

    def __init__(self, columns: list[Column]) -> None:
        self.columns = columns

    def fit(self, rows: Indices) -> Self:
        """Learn from these rows of the columns."""
        room = MOST_ONE_HOT
        self._steps: list[_Numeric | _Levels] = []
        for column in self.columns:
            if column.has_levels:
                levels = _frequent(column, rows, max(min(MOST_LEVELS, room), 1))
                room -= len(levels.codes)
                self._steps.append(levels)
            else:
                self._steps.append(_numeric(column, rows))
        self._name_columns()
        X = self._encoded(rows)
        self.scaling_: FeatureScaling = plain_scaling(X, np.ones(len(X)))
        return self

    def transform(self, rows: Indices) -> Floats:
        """The matrix of these rows, of shape (len(rows), len(names_))."""
        return self.scaling_(self._encoded(rows))

    def to_dict(self) -> dict[str, Any]:
        """What was learnt, as plain data."""
        steps = zip(self.columns, self._steps)
        return {
            "columns": [_stored(column, step) for column, step in steps],
            "centre": self.scaling_.centre,
            "scale": self.scaling_.scale,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], data: Any) -> "Preparation":
        """What was learnt elsewhere, for the columns of new data, in any order."""
        entries = plain["columns"]
        found = columns_named(data, [entry["name"] for entry in entries])
        self = cls([_recalled(entry, column) for entry, column in zip(entries, found)])
        self._steps = [
            _Numeric(*entry["step"]) if entry["numeric"] else _Levels(*entry["step"])
            for entry in entries
        ]
        self._name_columns()
        self.scaling_ = FeatureScaling(plain["centre"], plain["scale"])
        return self

    def _name_columns(self) -> None:
        names, origin = [], []
        for j, (column, step) in enumerate(zip(self.columns, self._steps)):
            own = step.names(column)
            names += own
            origin += [j] * len(own)
        self.names_, self.origin_ = names, np.array(origin, dtype=np.int64)

    def _encoded(self, rows: Indices) -> Floats:
        parts: list[Floats] = []
        for column, step in zip(self.columns, self._steps):
            parts += step.encode(column, rows)
        return np.column_stack(parts)

    def position(self, column: int) -> int:
        """Where the numbers of a numeric column are in the matrix."""
        return int(np.flatnonzero(self.origin_ == column)[0])


def _stored(column: Column, step: _Numeric | _Levels) -> dict[str, Any]:
    levels = column.levels if column.has_levels else []
    return {
        "name": column.name,
        "kind": column.kind,
        "levels": list(levels),
        "numeric": not column.has_levels,
        "step": list(step),
    }


def _recalled(stored: dict[str, Any], column: Column) -> Column:
    """A column of new data, read as the stored one was."""
    name = stored["name"]
    if stored["numeric"]:
        if column.has_levels:
            if (column.values < 0).all():
                return Column(
                    name, stored["kind"], np.full(len(column.values), nan), []
                )
            rule, remedy = "numbers, as in training", f"such as {column.levels[0]!r}"
            raise ValueError(refused("lrisk", name, rule, "text", remedy))
        return column.called(stored["kind"])
    levels = stored["levels"]
    place = {level: code for code, level in enumerate(levels)}
    words = [column.shown(row) for row in range(len(column.values))]
    if column.has_levels:
        words = [column.levels[code] if code >= 0 else "" for code in column.values]
    codes = [place.get(word, len(levels)) if word else -1 for word in words]
    return Column(name, stored["kind"], np.array(codes), [*levels, "(unseen)"])


def _numeric(column: Column, rows: Indices) -> _Numeric:
    values = column.values[rows]
    missing = np.isnan(values)
    middle = 0.0 if missing.all() else float(np.median(values[~missing]))
    return _Numeric(middle, bool(missing.sum() >= MISSING_ROWS and not missing.all()))


def _frequent(column: Column, rows: Indices, most: int) -> _Levels:
    values = column.values[rows]
    counts = np.bincount(values[values >= 0], minlength=max(len(column.levels), 1))
    least = max(LEVEL_ROWS, LEVEL_SHARE * len(rows))
    order = np.argsort(-counts, kind="stable")
    codes = [int(code) for code in order if counts[code] >= least][:most]
    pooled = bool(counts.sum() > counts[codes].sum()) or not codes
    marked = bool(np.sum(values < 0) >= MISSING_ROWS)
    return _Levels(codes, pooled, marked)
