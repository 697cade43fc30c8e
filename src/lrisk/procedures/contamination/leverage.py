"""Rows far from the others in X that pull a line their way.

A flexible reference follows such rows and cannot judge them; a linear model is ruled by
them. They are left out of a linear fit only if most of them misfit a robust line
through the rest, and the fit to the rest clearly gains.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .feature_errors import suspected_columns
from .final_fit import LinearFit, fit_linear
from .groups import FEWEST, LARGEST_SHARE, MOST_OF_A_KIND, groups_apart
from .reference import capped_error
from .robust_scale import distance_as_a_whole, half_scale

#: Columns from which on a single row may be gross, and by how much its logarithmic
#: distance is beyond the next: 4.5 times as far in every column.
GROSS_COLUMNS, GROSS_GAP = 3, 1.5
#: Scales by which far rows must misfit, and the least gain in squared error.
MISFIT, GAIN = 6.0, 0.05


class Suspects(NamedTuple):
    """Rows that may pull, and how many of them must misfit at least.

    Rows far out as a whole need not be a group: a single one may rule the line.
    """

    rows: Bools
    fewest: int

    def may_pull(self, pulling: Bools) -> bool:
        """Whether enough of them are left, and not too many."""
        count = np.sum(self.rows & ~pulling)
        return bool(self.fewest <= count <= LARGEST_SHARE * len(pulling))


def suspected_rows(X: Floats, group: Bools) -> list[Suspects]:
    """What may pull a line.

    Rows far out as a whole, a group found before, groups apart in X, and rows with a
    value behind a gap.
    """
    far = [rows for _, rows in suspected_columns(X)]
    groups = [group, *groups_apart(X), *far[:MOST_OF_A_KIND]]
    return [Suspects(_gross_rows(X), 1), *(Suspects(g, FEWEST) for g in groups)]


def _gross_rows(X: Floats) -> Bools:
    """Rows of three columns and more far out as a whole, behind a gap.

    As by another unit in all columns. Without the gap, or by one or two columns, they
    may be the end of a tail, which a line fits badly where the relation is curved.
    """
    nobody, n = np.zeros(len(X), dtype=bool), len(X)
    if X.shape[1] < GROSS_COLUMNS:
        return nobody
    distance, limit = distance_as_a_whole(X, np.ones(n), np.ones(n, dtype=bool))
    ordered = np.sort(distance)
    ordered = ordered[max(0, np.searchsorted(ordered, limit, "right") - 1) :]
    gaps = np.flatnonzero(np.diff(ordered) >= GROSS_GAP)
    return distance > ordered[gaps[0]] if len(gaps) else nobody


def pulling_rows(
    X: Floats, y: Floats, weights: Floats, group: Bools, alpha: float | None
) -> Bools:
    """Suspected rows that misfit a robust line through the rest.

    Named only if dropping them pays, and up to 35 % of all rows. What pays most goes
    first, and the others are tried again: as long as one rules the line, it is others
    that seem to misfit.
    """
    pulling = np.zeros(len(y), dtype=bool)
    suspected = [s for s in suspected_rows(X, group) if s.may_pull(pulling)]
    while suspected:
        left = ~pulling
        lines = Lines(X[left], y[left], weights[left], alpha)
        with np.errstate(over="ignore", invalid="ignore"):  # of rows soon left out
            trials = [_tried(lines, s.rows[left], s.fewest) for s in suspected]
        best = min(trials, key=lambda trial: trial.error)
        found = pulling.copy()
        found[left] = best.pulling
        if best.error > 1.0 - GAIN or found.sum() > LARGEST_SHARE * len(y):
            break
        pulling = found
        suspected = [
            s
            for s, trial in zip(suspected, trials, strict=True)
            if trial.error < 1.0 and s.may_pull(pulling)
        ]
    return pulling


class Tried(NamedTuple):
    """A fit without some suspects.

    pulling : suspects that misfit the line through the rest
    error : squared error of the rest without them, as a share of that with them; one if
        too few misfit
    """

    pulling: Bools
    error: float


class Lines:
    """Linear fits to parts of a table."""

    def __init__(
        self, X: Floats, y: Floats, weights: Floats, alpha: float | None
    ) -> None:
        self.X, self.y, self._weights, self._alpha = X, y, weights, alpha

    def through(self, rows: Bools) -> LinearFit:
        """The fit to some rows."""
        X, y, weights = self.X[rows], self.y[rows], self._weights[rows]
        return fit_linear(X, y, weights, self._alpha)

    @cached_property
    def whole(self) -> LinearFit:
        """The fit to all rows, with which every trial is compared."""
        return self.through(np.ones(len(self.y), dtype=bool))


def _tried(lines: Lines, suspects: Bools, fewest: int) -> Tried:
    """Suspects that misfit the robust line through the rest, and whether that pays."""
    X, y, rest = lines.X, lines.y, ~suspects
    line, fitted = lines.through(rest), rest
    reach = 3.0 * half_scale(line.left_out)
    near = rest.copy()
    near[rest] = np.abs(line.left_out - np.median(line.left_out)) <= reach
    if near.sum() > max(X.shape[1] + 1, 0.5 * rest.sum()):
        line, fitted = lines.through(near), near
    away = np.abs(y - line.predict(X))
    away[fitted] = np.abs(line.left_out)  # as of rows it has not seen
    scale = half_scale(away[rest])
    pulling = suspects & (away > MISFIT * scale)
    few = pulling.sum() < max(fewest, 0.5 * suspects.sum())
    if few or np.mean(pulling[suspects]) <= 5.0 * np.mean(away[rest] > MISFIT * scale):
        return Tried(pulling, 1.0)
    without, cap = lines.through(~pulling), MISFIT * scale
    before = capped_error(lines.whole.left_out[rest], cap)
    after = capped_error(without.left_out[rest[~pulling]], cap)
    if not np.isfinite(before):  # with values too far out to be squared
        return Tried(pulling, 0.0 if np.isfinite(after) else 1.0)
    return Tried(pulling, after / max(before, 1e-300))
