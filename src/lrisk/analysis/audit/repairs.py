"""Slips that, undone, make rows fit: factors, signs, labels, exchanged columns."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...tables import Table
from .crossfit import CrossFit, Fold
from .models import expect
from .reasons import expected_of
from .result import Repair

#: Factors of decimal and unit slips: what the value must be multiplied by.
FACTORS = {"x10": 10.0, "/10": 0.1, "x100": 100.0, "/100": 0.01, "x1000": 1000.0,
           "/1000": 0.001, "sign": -1.0, "x2.2046": 2.2046, "/2.2046": 1 / 2.2046,
           "x2.54": 2.54, "/2.54": 1 / 2.54}  # fmt: skip
#: Scales beyond which a row does not fit, and within which a repaired one does.
MISFIT, FITS = 4.0, 2.0
#: Least rows and least share of the flagged rows; rows that would fit by chance count
#: this many times against a repair.
FEWEST, SHARE, CHANCE_FACTOR = 3, 0.05, 2.0
#: Share of the flagged rows from which on chance does not count.
NEARLY_ALL = 0.8
#: Rows and columns tried.
MOST_ROWS, MOST_COLUMNS = 400, 30


class _Try(NamedTuple):
    column: str
    kind: str
    fits: Bools
    by_chance: float


def likely_repairs(
    table: Table, found: CrossFit, at: Indices, flags: Bools, swaps: list[Repair]
) -> list[Repair]:
    """Repairs of flagged rows (positions among the used rows), the commonest first.

    A repair must make enough rows fit: nearly all of them, or clearly more than it
    would if the repaired targets were dealt out anew among the flagged rows. Exchanged
    columns (`swaps`) explain more than other slips, and their rows are left out here.
    """
    told = [row - 1 for repair in swaps for row in repair.rows]
    at = at[~np.isin(found.rows[at], told)][:MOST_ROWS]
    if len(at) < FEWEST:
        return []
    if table.task == "classification":
        return _relabelled(table, found, at)
    return _slips(table, found, at, flags)


def _slips(table: Table, found: CrossFit, at: Indices, flags: Bools) -> list[Repair]:
    """Factors and signs in the target or in one feature."""
    y = table.y[found.rows[at]]
    off = np.abs(y - found.expected[at]) > MISFIT * found.scale[at]
    tries = [
        *_target_slips(table, found, at, y),
        *_feature_slips(table, found, at, y, flags),
    ]
    # Where a value of a feature is wrong the target may be off by little.
    slipped = np.any([t.fits for t in tries if t.column != table.target.name], axis=0)
    free = off | slipped
    repairs = []
    while tries:
        gains = [float(np.sum(t.fits & free)) - t.by_chance for t in tries]
        best = tries.pop(int(np.argmax(gains)))
        fits = best.fits & free
        chance = CHANCE_FACTOR * best.by_chance
        if fits.sum() >= NEARLY_ALL * len(at) and len(np.unique(y[fits])) >= FEWEST:
            chance = 0.0
        if fits.sum() < max(FEWEST, SHARE * len(at), chance):
            continue
        rows = [int(row) + 1 for row in found.rows[at[fits]]]
        repairs.append(Repair(_words(best, len(rows)), best.column, best.kind, rows))
        free &= ~fits
    return repairs


def _words(found: _Try, count: int) -> str:
    rows = f"{count} flagged rows fit"
    if found.kind == "sign":
        return f"{rows} if the sign of {found.column} is turned."
    verb = "multiplied" if found.kind[0] == "x" else "divided"
    return f"{rows} if {found.column} is {verb} by {found.kind[1:]}."


def _target_slips(
    table: Table, found: CrossFit, at: Indices, y: Floats
) -> Iterator[_Try]:
    expected, scale = found.expected[at], found.scale[at]
    for kind, factor in FACTORS.items():
        away = np.abs(factor * y[:, None] - expected) / scale
        fits = np.diag(away) < FITS
        others = (np.sum(away < FITS) - fits.sum()) / max(len(at) - 1, 1)
        yield _Try(table.target.name, kind, fits, float(others))


def _feature_slips(
    table: Table, found: CrossFit, at: Indices, y: Floats, flags: Bools
) -> Iterator[_Try]:
    """Values outside the usual range that are inside once repaired, and then fit."""
    numeric = [
        j for j, column in enumerate(table.features) if column.kind == "numeric"
    ][:MOST_COLUMNS]
    ranges = {}
    for j in numeric:
        values = table.features[j].values[found.rows[~flags]]
        if np.isnan(values).all():
            values = table.features[j].values[found.rows]
        ranges[j] = np.nanquantile(values, [0.02, 0.98])
    cells = {j: table.features[j].values[found.rows[at]] for j in numeric}
    for j in numeric:
        low, high = ranges[j]
        outside = (cells[j] < low) | (cells[j] > high)
        for kind, factor in FACTORS.items():
            new = factor * cells[j]
            tried = outside & (new >= low) & (new <= high)
            fits = _fit_with(found, at, y, {j: new}, tried)
            yield _Try(table.features[j].name, kind, fits, 0.0)


def _fit_with(
    found: CrossFit, at: Indices, y: Floats, changed: dict[int, Floats], tried: Bools
) -> Bools:
    """Which of the tried rows fit with the changed values."""
    fits = np.zeros(len(at), dtype=bool)
    if tried.sum() < FEWEST:
        return fits
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(tried & (found.fold[at] == k))
        if len(own):
            X = _changed(fold, found.rows[at[own]], own, changed)
            expected, scale = expect(fold.robust, X, found.least_scale)
            fits[own] = np.abs(y[own] - expected) < FITS * scale
    return fits


def _changed(
    fold: Fold, rows: Indices, own: Indices, changed: dict[int, Floats]
) -> Floats:
    X = fold.preparation.transform(rows)
    scaling = fold.preparation.scaling_
    for j, values in changed.items():
        p = fold.preparation.position(j)
        X[:, p] = (values[own] - scaling.centre[p]) / scaling.scale[p]
    return X


def _relabelled(table: Table, found: CrossFit, at: Indices) -> list[Repair]:
    """Flagged rows that look like another class than theirs."""
    pairs: dict[tuple[str, str], list[int]] = {}
    for i in at:
        row = int(found.rows[i])
        own, likely = (
            table.classes[int(table.y[row])],
            expected_of(table, found, int(i)),
        )
        if own != likely:
            pairs.setdefault((own, likely), []).append(row + 1)
    least = max(FEWEST, SHARE * len(at))
    return [
        Repair(
            f"{len(rows)} flagged rows labelled {own} look like {likely}.",
            table.target.name, "relabel", rows,
        )
        for (own, likely), rows in sorted(pairs.items(), key=lambda p: -len(p[1]))
        if len(rows) >= least
    ]  # fmt: skip
