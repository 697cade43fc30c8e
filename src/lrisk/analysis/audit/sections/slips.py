"""Slips that, undone, make rows fit: exchanged columns, factors, signs."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from ...._typing import Bools, Floats, Indices
from ....tables import Table
from ..crossfit import CrossFit, Fits
from ..facts import Change, Finding
from ..models import expect
from ..numbers import counted
from .base import Context, first_rows
from .repairs import DEGREES, INCHES, POINTS, POUNDS, Repair, either_way, repair_of

#: What is tried: decimal and unit slips, degrees, and a sign.
REPAIRS = (*either_way(*POINTS, POUNDS, INCHES), *DEGREES, Repair(-1.0))
#: Scales beyond which a row does not fit, and within which a repaired one does.
MISFIT, FITS = 4.0, 2.0
#: Least rows of a slip.
FEWEST = 3
#: Other factors, up to four and a half times as small or as large: as many rows as fit
#: after those of one side, on average, fit by chance. (Any small one makes targets fit
#: that lie about zero.)
OTHER_FACTORS = np.exp([np.linspace(-1.5, 0.0, 16), np.linspace(0.0, 1.5, 16)])
#: Rows whose values stand in for a row's own, to see what fits by chance.
DONORS = 5
#: Rows and columns tried.
MOST_ROWS, MOST_COLUMNS = 400, 30


class Slips:
    """Changes of one kind that make flagged rows fit.

    Exchanged columns come first and keep their rows. A factor, a sign or another scale
    of degrees is stated if more rows fit by it than by chance: of the m flagged rows
    that are left, k fit although only a share q does with some other factor near it (of
    the target) or with another row's value (of a feature), and P(Binomial(m, q) ≥ k) is
    less than the section's level, half of which is divided among the slips of the
    target and half among those of features. Of two that explain the same rows, as
    pounds and inches may, the one after which they fit better is stated.
    """

    name, title = "slips", "Slips that would explain rows"
    kinds = ("swap", "factor", "sign", "degrees")
    advice = "Compare the slips with their source before you change anything."

    def find(self, context: Context) -> list[Finding]:
        """Exchanged columns, then the slip that explains most of the other rows."""
        table, found, flags = context.table, context.found, context.flags
        if found is None or flags is None:
            return []
        swaps = list(context.swaps)
        if table.task != "regression":
            return swaps
        told = [row - 1 for finding in swaps for row in finding.rows]
        flagged = np.flatnonzero(flags & ~np.isin(found.rows, told))
        worst = np.argsort(-found.scores[flagged], kind="stable")[:MOST_ROWS]
        at = np.sort(flagged[worst])
        if len(at) < FEWEST:
            return swaps
        return [*swaps, *_factors(table, found, at, flags, context.level)]

    def words(self, finding: Finding) -> str:
        """How many rows fit, and after which change."""
        names = [column[:60] for column in finding.columns]
        if finding.kind == "swap":
            rows = counted(finding.count, "row")
            return f"{' and '.join(names)} look exchanged in {rows}."
        rows = f"{finding.count} flagged rows fit if"
        if finding.kind == "sign":
            return f"{rows} the sign of {names[0]} is turned."
        repair = repair_of(finding.numbers)
        return f"{rows} {names[0]} is {repair.words() if repair else 'changed'}."


class _Try(NamedTuple):
    """A change of one column, and how well its rows then fit.

    tried : rows that it may concern
    misfit : of each row once changed, in noise scales
    by_chance : share of the tried rows that would fit by accident
    before : values as they are
    level : chance of a false claim that this one may have
    """

    column: str
    repair: Repair
    tried: Bools
    misfit: Floats
    by_chance: float
    before: Floats
    level: float

    @property
    def fits(self) -> Bools:
        """Which rows fit once changed."""
        return self.tried & (self.misfit < FITS)

    def merit(self, free: Bools) -> float:
        """How well it explains the free rows: Σ (FITS² − misfit²) of those that fit."""
        own = self.misfit[self.fits & free]
        return float(np.sum(FITS**2 - own**2))

    def is_proven(self, free: Bools) -> bool:
        """Whether as many of the free rows would hardly fit by accident."""
        k = int(np.sum(self.fits & free))
        m = int(np.sum(self.tried & free))
        return k >= FEWEST and binom.sf(k - 1, m, self.by_chance) < self.level


def _factors(
    table: Table, found: CrossFit, at: Indices, flags: Bools, level: float
) -> Iterator[Finding]:
    """Factors and signs in the target or in one feature; no row is explained twice."""
    y = table.y[found.rows[at]]
    expected, scale = _expected(found, at)
    of_target = list(_target_slips(table, y, expected, scale, 0.5 * level))
    of_features = list(_feature_slips(table, found, at, y, flags, 0.5 * level))
    tries = [*of_target, *of_features]
    # Where a value of a feature is wrong the target may be off by little.
    slipped = np.any([t.fits for t in of_features], axis=0)
    free = (np.abs(y - expected) > MISFIT * scale) | slipped
    # Features first: what is expected of rows with a wrong value is wrong as well, and
    # another factor of the target may undo that, too.
    while tries:
        best = max(tries, key=lambda t: (t.column != table.target.name, t.merit(free)))
        tries = [t for t in tries if t is not best]
        if best.is_proven(free):
            fits = best.fits & free
            yield _finding(found.rows[at[fits]], best, best.before[fits])
            free &= ~fits


def _expected(found: CrossFit, at: Indices) -> tuple[Floats, Floats]:
    """What is expected of rows, and noise scales, by fits that resist wrong rows.

    Predictions from elsewhere may have learnt from rows with the very slip, and are
    off where these are many: there the audit's own fits are asked.
    """
    if not found.own_label:
        return found.expected[at], found.scale[at]
    expected, scale = np.zeros((2, len(at)))
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(found.fold[at] == k)
        if len(own):
            X = fold.preparation.transform(found.rows[at[own]])
            expected[own], scale[own] = expect(fold.robust, X, found.least_scale)
    return expected, scale


def _finding(rows: Indices, found: _Try, before: Floats) -> Finding:
    repair, shown = found.repair, first_rows(rows)
    after = repair.of(before).tolist()
    changes = [
        Change(row, found.column, f"{old:.6g}", f"{new:.6g}")
        for row, old, new in zip(shown, before.tolist(), after, strict=False)
    ]
    return Finding("slips", repair.kind, [found.column], shown, len(rows),
                   repair.numbers, {}, changes)  # fmt: skip


def _target_slips(
    table: Table, y: Floats, expected: Floats, scale: Floats, level: float
) -> Iterator[_Try]:
    every, level = np.ones(len(y), dtype=bool), level / len(REPAIRS)
    for repair in REPAIRS:
        new = repair.of(y)
        others = np.abs(OTHER_FACTORS[..., None] * new - expected) / scale
        chance = float(np.mean(others < FITS, axis=(1, 2)).max())
        misfit = np.abs(new - expected) / scale
        yield _Try(table.target.name, repair, every, misfit, chance, y, level)


def _feature_slips(
    table: Table,
    found: CrossFit,
    at: Indices,
    y: Floats,
    flags: Bools,
    level: float,
) -> Iterator[_Try]:
    """Values outside the usual range that are inside once repaired, and then fit."""
    numeric = [
        j for j, column in enumerate(table.features) if column.kind == "numeric"
    ][:MOST_COLUMNS]
    rng = np.random.default_rng(0)
    level /= max(len(numeric), 1) * len(REPAIRS)
    for j in numeric:
        column = table.features[j]
        usual = column.values[found.rows[~flags]]
        usual = usual[~np.isnan(usual)]
        if not len(usual):
            continue
        low, high = np.quantile(usual, [0.02, 0.98])
        cells = column.values[found.rows[at]]
        outside = (cells < low) | (cells > high)
        donors = [
            _misfit_with(found, at, y, j, rng.choice(usual, len(at)), outside)
            for _ in range(DONORS)
        ]
        chance = np.mean(np.array(donors) < FITS, axis=0)
        for repair in REPAIRS:
            new = repair.of(cells)
            tried = outside & (new >= low) & (new <= high)
            misfit = _misfit_with(found, at, y, j, new, tried)
            by_chance = float(chance[tried].mean()) if tried.any() else 1.0
            yield _Try(column.name, repair, tried, misfit, by_chance, cells, level)


def _misfit_with(
    found: CrossFit, at: Indices, y: Floats, j: int, values: Floats, tried: Bools
) -> Floats:
    """Misfits of the tried rows with these values of the j-th feature; infinite else.

    Too few rows are not worth asking the models.
    """
    misfit = np.full(len(at), np.inf)
    if tried.sum() < FEWEST:
        return misfit
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(tried & (found.fold[at] == k))
        if len(own):
            X = _changed(fold, found.rows[at[own]], j, values[own])
            expected, scale = expect(fold.robust, X, found.least_scale)
            misfit[own] = np.abs(y[own] - expected) / scale
    return misfit


def _changed(fold: Fits, rows: Indices, j: int, values: Floats) -> Floats:
    X = fold.preparation.transform(rows)
    scaling, p = fold.preparation.scaling_, fold.preparation.position(j)
    X[:, p] = (values - scaling.centre[p]) / scaling.scale[p]
    return X
