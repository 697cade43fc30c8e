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
from .related import POINTS

#: What values must be multiplied by: decimal and unit slips, and a sign.
SIZES = (*POINTS, 2.2046, 2.54)
FACTORS = (*SIZES, *(1.0 / size for size in SIZES), -1.0)
#: Scales beyond which a row does not fit, and within which a repaired one does.
MISFIT, FITS = 4.0, 2.0
#: Least rows of a slip.
FEWEST = 3
#: Other factors, up to four and a half times as small or as large: as many rows as fit
#: by those of one side, on average, fit by chance. (Any small one makes targets fit
#: that lie about zero.)
OTHER_FACTORS = np.exp([np.linspace(-1.5, 0.0, 16), np.linspace(0.0, 1.5, 16)])
#: Rows whose values stand in for a row's own, to see what fits by chance.
DONORS = 5
#: Rows and columns tried.
MOST_ROWS, MOST_COLUMNS = 400, 30


class Slips:
    """Changes of one kind that make flagged rows fit.

    Exchanged columns come first and keep their rows. A factor, or a sign, is stated if
    more rows fit by it than by chance: of the m flagged rows that are left, k fit
    although only a share q does with some other factor near it (of the target) or with
    another row's value (of a feature), P(Binomial(m, q) ≥ k) times the number of slips
    tried is less than the section's level.
    """

    name, title = "slips", "Slips that would explain rows"
    kinds = ("swap", "factor", "sign")
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
        factor = finding.numbers["factor"]
        verb = "multiplied" if factor > 1.0 else "divided"
        size = max(factor, 1.0 / factor)
        return f"{rows} {names[0]} is {verb} by {size:.5g}."


class _Try(NamedTuple):
    """A change of one column: new values, rows that then fit, and chance."""

    column: str
    factor: float
    tried: Bools
    fits: Bools
    by_chance: float
    before: Floats

    def significance(self, free: Bools) -> float:
        """The chance that as many of the free rows fit by accident."""
        tried, k = self.tried & free, int(np.sum(self.fits & free))
        return float(binom.sf(k - 1, int(tried.sum()), self.by_chance))


def _factors(
    table: Table, found: CrossFit, at: Indices, flags: Bools, level: float
) -> Iterator[Finding]:
    """Factors and signs in the target or in one feature; no row is explained twice."""
    y = table.y[found.rows[at]]
    tries = [
        *_target_slips(table, found, at, y),
        *_feature_slips(table, found, at, y, flags),
    ]
    level /= len(tries)
    # Where a value of a feature is wrong the target may be off by little.
    slipped = np.any([t.fits for t in tries if t.column != table.target.name], axis=0)
    free = (np.abs(y - found.expected[at]) > MISFIT * found.scale[at]) | slipped
    while tries:
        best = max(tries, key=lambda t: int(np.sum(t.fits & free)))
        tries = [t for t in tries if t is not best]
        fits = best.fits & free
        if fits.sum() < FEWEST or best.significance(free) > level:
            continue
        yield _finding(found.rows[at[fits]], best, best.before[fits])
        free &= ~fits


def _finding(rows: Indices, found: _Try, before: Floats) -> Finding:
    kind = "sign" if found.factor < 0 else "factor"
    changes = [
        Change(row, found.column, f"{old:.6g}", f"{found.factor * old:.6g}")
        for row, old in zip(first_rows(rows), before.tolist(), strict=False)
    ]
    numbers = {"factor": found.factor}
    shown = first_rows(rows)
    return Finding("slips", kind, [found.column], shown, len(rows), numbers, {},
                   changes)  # fmt: skip


def _target_slips(
    table: Table, found: CrossFit, at: Indices, y: Floats
) -> Iterator[_Try]:
    expected, scale = found.expected[at], found.scale[at]
    every = np.ones(len(y), dtype=bool)
    for factor in FACTORS:
        others = np.abs(factor * OTHER_FACTORS[..., None] * y - expected) / scale
        fits = np.abs(factor * y - expected) / scale < FITS
        chance = float(np.mean(others < FITS, axis=(1, 2)).max())
        yield _Try(table.target.name, factor, every, fits, chance, y)


def _feature_slips(
    table: Table, found: CrossFit, at: Indices, y: Floats, flags: Bools
) -> Iterator[_Try]:
    """Values outside the usual range that are inside once repaired, and then fit."""
    numeric = [
        j for j, column in enumerate(table.features) if column.kind == "numeric"
    ][:MOST_COLUMNS]
    rng = np.random.default_rng(0)
    for j in numeric:
        column = table.features[j]
        usual = column.values[found.rows[~flags]]
        usual = usual[~np.isnan(usual)]
        if not len(usual):
            continue
        low, high = np.quantile(usual, [0.02, 0.98])
        cells = column.values[found.rows[at]]
        outside = (cells < low) | (cells > high)
        chance = np.mean(
            [
                _fit_with(found, at, y, j, rng.choice(usual, len(at)), outside)
                for _ in range(DONORS)
            ],
            axis=0,
        )
        for factor in FACTORS:
            new = factor * cells
            tried = outside & (new >= low) & (new <= high)
            fits = _fit_with(found, at, y, j, new, tried)
            by_chance = float(chance[tried].mean()) if tried.any() else 1.0
            yield _Try(column.name, factor, tried, fits, by_chance, cells)


def _fit_with(
    found: CrossFit, at: Indices, y: Floats, j: int, values: Floats, tried: Bools
) -> Bools:
    """Which of the tried rows fit with these values of the j-th feature."""
    fits = np.zeros(len(at), dtype=bool)
    if tried.sum() < FEWEST:
        return fits
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(tried & (found.fold[at] == k))
        if len(own):
            X = _changed(fold, found.rows[at[own]], j, values[own])
            expected, scale = expect(fold.robust, X, found.least_scale)
            fits[own] = np.abs(y[own] - expected) < FITS * scale
    return fits


def _changed(fold: Fits, rows: Indices, j: int, values: Floats) -> Floats:
    X = fold.preparation.transform(rows)
    scaling, p = fold.preparation.scaling_, fold.preparation.position(j)
    X[:, p] = (values - scaling.centre[p]) / scaling.scale[p]
    return X
