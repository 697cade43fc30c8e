"""Rows in which the values of two columns were exchanged, as height and weight.

Such a row has features out of their usual ranges, which a fit that has seen it bends
to: it need not be flagged. So these rows are looked for among all that are out of range
in two columns, one of which may be a target that is a number, and judged by a fit to
rows that are not.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import poisson
from sklearn.base import clone

from ...._typing import AnyArray, Bools, Floats, Indices
from ....tables import Preparation, Table
from ....tables.columns import short_number
from ..crossfit import CrossFit
from ..facts import Change, Finding
from ..models import LEAST_PROBABILITY, expect, fitted
from .base import first_rows

#: Interquartile ranges beyond the quartiles at which a column's usual values end.
REACH = 1.5
#: Scales (or −log probabilities) within which an exchanged row fits, and at which
#: misfits are cut off before they are compared.
FITS, MOST_MISFIT = 2.0, 8.0
#: Least rows, and least share of the rows tried that must fit.
FEWEST, MAJORITY = 3, 0.5
#: Least sum of the gains in fit over the root of the sum of their squares: gains of
#: either sign, as where the columns do not matter, reach it once in twenty times.
CLEAR_GAIN = 1.645
#: Rows that must be left for the fit; most of them; most rows tried for a pair.
FEWEST_USUAL, MOST_USUAL, MOST_TRIED = 30, 2000, 2000
#: Columns tried; distinct values below which a column has no range.
MOST_COLUMNS, FEWEST_VALUES = 30, 8
#: Rows whose value stands in for a row's own, to see what fits by chance.
DONORS = 5
#: The position of the target among columns.
TARGET = -1


class Range(NamedTuple):
    """Usual values of a column: REACH interquartile ranges about its quartiles.

    Taken of logarithms where all values are positive and their logarithms are the more
    symmetric. Wrong values in up to a quarter of the rows do not move it far.
    """

    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> "Range | None":
        """The range, or None of a column that has none."""
        known = values[~np.isnan(values)]
        if len(np.unique(known[:5000])) < FEWEST_VALUES:
            return None
        quarters = np.quantile(known, [0.25, 0.5, 0.75])
        logs = quarters[0] > 0.0 and known.min() > 0.0
        if logs and _skew(np.log(quarters)) < _skew(quarters):
            low, high = np.exp(_fences(np.log(quarters)))
        else:
            low, high = _fences(quarters)
        return cls(float(low), float(high)) if high > low else None

    def holds(self, values: Floats) -> Bools:
        """Which values are usual; missing ones are not."""
        return np.asarray((values >= self.low) & (values <= self.high))


def _fences(quarters: Floats) -> Floats:
    reach = REACH * (quarters[2] - quarters[0])
    return np.array([quarters[0] - reach, quarters[2] + reach])


def _skew(quarters: Floats) -> float:
    low, middle, high = quarters
    return float(abs(high + low - 2.0 * middle) / max(high - low, 1e-300))


class Columns(NamedTuple):
    """Numeric columns of the used rows: positions, values (m, c), ranges, usual.

    The target, where it is a number, is the last.
    """

    at: list[int]
    values: Floats
    ranges: list[Range]
    usual: Bools

    @classmethod
    def of(cls, table: Table, rows: Indices) -> "Columns":
        """Columns that have a range."""
        at: list[int] = []
        values: list[Floats] = []
        ranges: list[Range] = []
        tried = [(j, c) for j, c in enumerate(table.features) if c.kind == "numeric"]
        if table.task == "regression":
            tried.append((TARGET, table.target))
        for j, column in tried:
            if len(at) < MOST_COLUMNS or j == TARGET:
                own = np.asarray(column.values[rows], dtype=np.float64)
                if (found := Range.of(own)) is not None:
                    at.append(j)
                    values.append(own)
                    ranges.append(found)
        cells = np.column_stack(values) if at else np.zeros((len(rows), 0))
        parts = [r.holds(v) | np.isnan(v) for r, v in zip(ranges, values)]
        usual = np.column_stack(parts) if at else np.ones((len(rows), 0), dtype=bool)
        return cls(at, cells, ranges, usual)

    def name(self, table: Table, j: int) -> str:
        """What the table calls one of them."""
        at = self.at[j]
        return (table.target if at == TARGET else table.features[at]).name


class Candidates(NamedTuple):
    """Rows of which a pair of columns may have been exchanged.

    both : rows with both values unusual, neither once exchanged
    single : flagged rows with one value unusual, neither once exchanged; none with the
        target, of which a row may be flagged for any reason
    by_chance : rows with both that there would be if the columns were independent
    """

    a: int
    b: int
    both: Indices
    single: Indices
    by_chance: float


def swapped_columns(
    table: Table, found: CrossFit, flags: Bools, level: float
) -> tuple[Finding, ...]:
    """Pairs of columns with rows that are usual and fit once exchanged.

    Parameters
    ----------
    table : Table
    found : CrossFit
    flags : array of bool of shape (m,)
        Of the used rows.
    level : float
        False claims of a clean table, on average.

    Returns
    -------
    findings : tuple of Finding
        Of the kind "swap", that of most rows first; a row is in one of them at most.
        Of the rows tried most must fit; more than would be tried, or would fit with
        other rows' values, by chance (Poisson, over all pairs); and on the whole they
        must fit clearly better exchanged than as they are.
    """
    columns = Columns.of(table, found.rows)
    pairs = list(_candidates(columns, flags))
    if not pairs:
        return ()
    tried = np.unique(np.concatenate([np.r_[p.both, p.single] for p in pairs]))
    judge = _Judge.without(table, found, columns, flags, tried)
    if judge is None:
        return ()
    level /= max(len(columns.at) * (len(columns.at) - 1) / 2, 1.0)
    proven = [(p, judge.proven(p, level)) for p in pairs]
    findings, free = [], np.ones(len(found.rows), dtype=bool)
    for pair, rows in sorted(proven, key=lambda entry: -len(entry[1])):
        rows = np.sort(rows[free[rows]])
        if len(rows) < FEWEST:
            continue
        free[rows] = False
        names = [columns.name(table, j) for j in (pair.a, pair.b)]
        where = first_rows(found.rows[rows])
        cells = columns.values[rows][:, [pair.a, pair.b]]
        changes = [
            Change(row, names[k], short_number(own[k]), short_number(own[1 - k]))
            for row, own in zip(where, cells.tolist(), strict=False)
            for k in (0, 1)
        ]
        findings.append(Finding("slips", "swap", names, where, len(rows), {}, {},
                                changes))  # fmt: skip
    return tuple(findings)


def _candidates(columns: Columns, flags: Bools) -> Iterator[Candidates]:
    """Pairs with enough rows, more than chance would give."""
    unusual = np.sum(~columns.usual, axis=1)
    near = np.flatnonzero((unusual >= 2) | (flags & (unusual >= 1)))
    values, usual = columns.values[near], columns.usual[near]
    out = np.flatnonzero(unusual >= 1)
    for a, b in combinations(range(len(columns.at)), 2):
        into_b = columns.ranges[b].holds(values[:, a])
        into_a = columns.ranges[a].holds(values[:, b])
        fine = into_a & into_b
        both = near[fine & ~usual[:, a] & ~usual[:, b]]
        alone = flags[near] & (columns.at[b] != TARGET)
        single = near[fine & alone & (usual[:, a] != usual[:, b])]
        if len(both) + len(single) < FEWEST:
            continue
        count_a = (
            columns.ranges[b].holds(columns.values[out, a]) & ~columns.usual[out, a]
        )
        count_b = (
            columns.ranges[a].holds(columns.values[out, b]) & ~columns.usual[out, b]
        )
        chance = float(count_a.sum()) * float(count_b.sum()) / len(flags)
        yield Candidates(a, b, both[:MOST_TRIED], single[:MOST_TRIED], chance)


class _Judge(NamedTuple):
    """A fit to rows that are neither flagged nor tried."""

    table: Table
    rows: Indices
    columns: Columns
    usual: Indices
    preparation: Preparation
    model: Any
    seed: int
    least_scale: float

    @classmethod
    def without(
        cls,
        table: Table,
        found: CrossFit,
        columns: Columns,
        flags: Bools,
        tried: Indices,
    ) -> "_Judge | None":
        fine = ~flags
        fine[tried] = False
        usual = np.flatnonzero(fine)
        if len(usual) > MOST_USUAL:
            usual = usual[:: -(-len(usual) // MOST_USUAL)]
        y = table.y[found.rows[usual]]
        if len(usual) < FEWEST_USUAL or len(np.unique(y)) < 2:
            return None
        preparation = Preparation(table.features).fit(found.rows[usual])
        X = preparation.transform(found.rows[usual])
        # Exchanged values lie where no other rows are: only a plane has a view there.
        plane = clone(found.whole.robust).set_params(kernel="linear")
        model = fitted(plane, X, y)[0]
        seed = int(found.whole.robust.random_state)
        return cls(
            table, found.rows, columns, usual, preparation, model, seed,
            found.least_scale,
        )  # fmt: skip

    def proven(self, pair: Candidates, level: float) -> Indices:
        """Rows of the pair that fit exchanged, or none if that may be chance."""
        rows: Indices = np.concatenate([pair.both, pair.single])
        cells = self.columns.values[rows]
        as_is = self.misfit(rows, pair, cells[:, pair.a], cells[:, pair.b])
        swapped = self.misfit(rows, pair, cells[:, pair.b], cells[:, pair.a])
        fits = swapped < FITS
        gain = as_is - swapped
        clear = gain.sum() >= CLEAR_GAIN * float(np.sqrt(np.sum(gain**2)))
        chance = pair.by_chance + self._by_other_values(pair)
        accident = float(poisson.sf(fits.sum() - 1, chance))
        enough = max(FEWEST, MAJORITY * len(rows))
        if not clear or not gain.any() or fits.sum() < enough or accident > level:
            return rows[:0]
        return rows[fits]

    def _by_other_values(self, pair: Candidates) -> float:
        """Single rows that would fit with the usual value of any other row."""
        rows = pair.single
        if not len(rows):
            return 0.0
        rng = np.random.default_rng(self.seed)
        cells, hits = self.columns.values[rows], 0.0
        lost = ~self.columns.usual[rows, pair.a]
        for _ in range(DONORS):
            donor = self.columns.values[rng.choice(self.usual, len(rows))]
            first = np.where(lost, donor[:, pair.a], cells[:, pair.b])
            second = np.where(lost, cells[:, pair.a], donor[:, pair.b])
            misfit = self.misfit(rows, pair, first, second)
            hits += float(np.sum(misfit < FITS)) / DONORS
        return hits

    def misfit(
        self, rows: Indices, pair: Candidates, first: Floats, second: Floats
    ) -> Floats:
        """Misfit of rows with these values in the two columns, at most MOST_MISFIT."""
        at = self.rows[rows]
        X, y = self.preparation.transform(at), self.table.y[at]
        scaling = self.preparation.scaling_
        for j, values in ((pair.a, first), (pair.b, second)):
            if self.columns.at[j] == TARGET:
                y = values
                continue
            p = self.preparation.position(self.columns.at[j])
            known = ~np.isnan(values)  # a donor may lack it
            X[known, p] = (values[known] - scaling.centre[p]) / scaling.scale[p]
        if self.table.task == "regression":
            expected, scale = expect(self.model, X, self.least_scale)
            away = np.abs(y - expected) / scale
        else:
            away = self._surprise(X, y)
        return np.asarray(np.minimum(away, MOST_MISFIT))

    def _surprise(self, X: Floats, y: AnyArray) -> Floats:
        """−log of the label's probability, over that of the likeliest one."""
        proba = self.model.predict_proba(X)
        place = np.searchsorted(self.model.classes_, y).clip(0, proba.shape[1] - 1)
        own = proba[np.arange(len(y)), place]
        own = np.where(self.model.classes_[place] == y, own, 0.0)
        ratio = np.maximum(own, LEAST_PROBABILITY) / proba.max(axis=1)
        return np.asarray(-np.log(ratio))
