"""Groups of rows far from the others in X that pull a line their way.

A flexible reference follows such rows and cannot judge them; a linear model is ruled by
them. They are left out of a linear fit only if most of them misfit a robust line
through the rest, and the fit to the rest clearly gains.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .._robust.scales import half_scale
from .constants import CONSTANTS as C
from .feature_errors import suspected_columns
from .groups import groups_apart
from .linear_fit import LinearFit, fit_linear
from .reference import capped_error
from .residuals import Residuals


def suspected_rows(X: Floats, group: Bools) -> list[Bools]:
    """What may pull a line.

    A group found before, groups apart in X, and rows with a value behind a gap.
    """
    far = [rows for _, rows in suspected_columns(X)]
    return [group, *groups_apart(X), *far[: C.most_groups]]


def _may_pull(rows: Bools, leverage_rows: Bools) -> bool:
    """Whether enough of them are left, and not too many."""
    return bool(
        C.fewest_of_group
        <= np.sum(rows & ~leverage_rows)
        <= C.largest_minority * len(leverage_rows)
    )


def find_leverage_rows(
    X: Floats,
    y: Floats,
    weights: Floats,
    group: Bools,
    alpha: float | None,
    intercept: bool = True,
) -> Bools:
    """Suspected rows that misfit a robust line through the rest.

    Named only if dropping them pays, and up to 35 % of all rows. What pays most goes
    first, and the others are tried again: as long as one rules the line, it is others
    that seem to misfit.
    """
    leverage_rows = np.zeros(len(y), dtype=bool)
    suspected = [s for s in suspected_rows(X, group) if _may_pull(s, leverage_rows)]
    while suspected:
        left = ~leverage_rows
        lines = Lines(X[left], y[left], weights[left], alpha, intercept)
        with np.errstate(over="ignore", invalid="ignore"):  # of rows soon left out
            trials = [_tried(lines, rows[left]) for rows in suspected]
        best = min(trials, key=lambda trial: trial.error)
        found = leverage_rows.copy()
        found[left] = best.leverage_rows
        if best.error > 1.0 - C.group_gain or found.sum() > C.largest_minority * len(y):
            break
        leverage_rows = found
        suspected = [
            rows
            for rows, trial in zip(suspected, trials, strict=True)
            if trial.error < 1.0 and _may_pull(rows, leverage_rows)
        ]
    return leverage_rows


class Tried(NamedTuple):
    """A fit without some suspects.

    leverage_rows : suspects that misfit the line through the rest
    error : squared error of the rest without them, as a share of that with them; one if
        too few misfit
    """

    leverage_rows: Bools
    error: float


class Lines:
    """Linear fits to parts of a table."""

    def __init__(
        self,
        X: Floats,
        y: Floats,
        weights: Floats,
        alpha: float | None,
        intercept: bool = True,
    ) -> None:
        self.X, self.y, self.weights, self._alpha = X, y, weights, alpha
        self._origin = None if intercept else np.zeros(X.shape[1])

    def through(self, rows: Bools) -> LinearFit:
        """The fit to some rows."""
        X, y, weights = self.X[rows], self.y[rows], self.weights[rows]
        return fit_linear(X, y, weights, self._alpha, origin=self._origin)

    @cached_property
    def whole(self) -> LinearFit:
        """The fit to all rows, with which every trial is compared."""
        return self.through(np.ones(len(self.y), dtype=bool))


def _tried(lines: Lines, suspects: Bools) -> Tried:
    """Suspects that misfit the robust line through the rest, and whether that pays."""
    X, y, rest = lines.X, lines.y, ~suspects
    line, fitted = lines.through(rest), rest
    reach = 3.0 * half_scale(line.left_out)
    near = rest.copy()
    near[rest] = np.abs(line.left_out - np.median(line.left_out)) <= reach
    if near.sum() > max(X.shape[1] + 1, 0.5 * rest.sum()):
        line, fitted = lines.through(near), near
    residuals = Residuals.of(line, X, y, lines.weights * fitted)
    away = np.abs(residuals.u)
    if fitted.sum() < 2 * X.shape[1]:  # then it is the penalty that knows the place
        away = np.abs(residuals.left_out)
    scale = half_scale(away[rest])
    leverage_rows = suspects & (away > C.apart * scale)
    few = leverage_rows.sum() < max(C.fewest_of_group, 0.5 * suspects.sum())
    if few or np.mean(leverage_rows[suspects]) <= 5.0 * np.mean(
        away[rest] > C.apart * scale
    ):
        return Tried(leverage_rows, 1.0)
    without, cap = lines.through(~leverage_rows), C.apart * scale
    before = capped_error(lines.whole.left_out[rest], cap)
    after = capped_error(without.left_out[rest[~leverage_rows]], cap)
    if not np.isfinite(before):  # with values too far out to be squared
        return Tried(leverage_rows, 0.0 if np.isfinite(after) else 1.0)
    return Tried(leverage_rows, after / max(before, 1e-300))
