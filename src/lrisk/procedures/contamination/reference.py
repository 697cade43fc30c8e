"""The flexible references by which rows are judged, whatever the final model is.

Residuals of a misspecified model cannot tell structure from contamination, so rows are
compared with Gaussian-kernel ridge fits: one that resists contamination, and an
ordinary one that tells whether what the first calls outliers is predictable after all.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Floats
from .kernel_ridge import (
    BLOCK_ENTRIES,
    Pairs,
    RidgeFit,
    Spectrum,
    weighted_ridge,
)
from .robust_scale import Columns, half_scale, shortest_half, spread

#: Widths, in units of 1/median squared distance, and penalties of the robust reference.
GAMMAS, PENALTIES = (0.3, 1.0, 4.0), (0.003, 0.03, 0.3)
#: The same for the ordinary one.
ORDINARY_GAMMAS = (0.1, 0.3, 1.0, 4.0)
ORDINARY_PENALTIES = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
#: Rows on which widths and penalties are compared.
SEARCH_ROWS = 400
#: Tukey's constant for 95 % efficiency at the Gaussian, and Huber's.
BISQUARE, HUBER = 4.685, 1.345


class Reference(NamedTuple):
    """A fitted reference.

    residuals : y − f(x) of its own rows, each left out of its fit
    columns, rows, gamma, coefficients, level : what predicts other rows
    """

    residuals: Floats
    columns: Columns
    rows: Floats
    gamma: float
    coefficients: Floats
    level: float

    def predict(self, X: Floats) -> Floats:
        """Values at new rows."""
        out = np.empty(len(X))
        used = self.coefficients != 0.0
        if not used.any():
            return np.full(len(X), self.level)
        rows, coefficients = self.rows[used], self.coefficients[used]
        step = max(1, BLOCK_ENTRIES // max(len(rows), 1))
        for start in range(0, len(X), step):
            Z = self.columns.compressed(X[start : start + step])
            K = Pairs.of(Z, rows).kernel(self.gamma)
            out[start : start + step] = K @ coefficients + self.level
        return out


def capped_error(residuals: Floats, cap: float) -> float:
    """Mean of min(e², c²): a few gross residuals cannot decide a choice."""
    return float(np.mean(np.minimum(np.abs(residuals), cap) ** 2))


def best_of(fits: list[RidgeFit], y: Floats) -> int:
    """Which fit has the lowest product of two capped errors.

    A cap of the order of y's spread sees the whole relation but, under contamination,
    hardly anything else than outliers; a cap of three residual scales sees how well the
    majority fits but would give up a steep part of the relation for it.
    """
    wide = 2.0 * spread(y)
    narrow = 3.0 * min(half_scale(fit.residuals) for fit in fits)
    tiny = np.finfo(float).tiny
    errors = [
        np.log(max(capped_error(fit.residuals, wide), tiny))
        + np.log(max(capped_error(fit.residuals, narrow), tiny))
        for fit in fits
    ]
    return int(np.argmin(errors))


def robust_reference(X: Floats, y: Floats, columns: Columns) -> Reference:
    """Gaussian-kernel ridge regression by half-samples, then Tukey's bisquare.

    Each of a few widths and penalties is tried on at most 400 rows from two starts (the
    rows of the shortest half of y, and those nearest to a Huber fit); the one with the
    lowest capped leave-one-out error is fitted to all rows.
    """
    rows = columns.compressed(X)
    low, high = shortest_half(y)
    level = 0.5 * (low + high)
    few = np.linspace(0, len(y) - 1, min(len(y), SEARCH_ROWS)).astype(int)
    pairs = Pairs.of(rows[few], rows[few])
    unit = pairs.unit
    fits: list[RidgeFit] = []
    for width in GAMMAS:
        K = pairs.kernel(width * unit)
        starts = _starts(K, y[few] - level, low - level, high - level)
        for penalty in PENALTIES:
            fits += [_robust_fit(K, y[few] - level, penalty, s) for s in starts]
    choice, start = divmod(best_of(fits, y[few]), 2)
    width, penalty = (
        GAMMAS[choice // len(PENALTIES)],
        PENALTIES[choice % len(PENALTIES)],
    )
    fit = fits[2 * choice + start]
    if len(few) < len(y):
        K = Pairs.of(rows, rows).kernel(width * unit)
        starts = _starts(K, y - level, low - level, high - level)
        fits = [_robust_fit(K, y - level, penalty, start) for start in starts]
        fit = fits[best_of(fits, y)]
    return Reference(
        fit.residuals, columns, rows, width * unit, fit.coefficients, level
    )


def ordinary_reference(X: Floats, y: Floats, columns: Columns) -> Reference:
    """Ordinary Gaussian-kernel ridge regression, width and penalty by leave-one-out.

    Targets are held within fifty scales, against overflow only.
    """
    rows = columns.compressed(X)
    low, high = shortest_half(y)
    level, reach = 0.5 * (low + high), 50.0 * max(high - low, spread(y))
    held = np.clip(y - level, -reach, reach)
    few = np.linspace(0, len(y) - 1, min(len(y), SEARCH_ROWS)).astype(int)
    pairs = Pairs.of(rows[few], rows[few])
    unit = pairs.unit
    best: tuple[float, float, float] | None = None
    for width in ORDINARY_GAMMAS:
        spectrum = Spectrum.of(pairs.kernel(width * unit))
        for penalty in ORDINARY_PENALTIES:
            residuals = spectrum.left_out(held[few], penalty).residuals
            error = float(np.mean(residuals * residuals))
            if best is None or error < best[0]:
                best = (error, width, penalty)
    assert best is not None
    error, width, penalty = best
    K = Pairs.of(rows, rows).kernel(width * unit)
    fit = weighted_ridge(K, held, np.ones(len(y)), penalty)
    residuals = y - level - (held - fit.residuals)
    return Reference(residuals, columns, rows, width * unit, fit.coefficients, level)


def weighted_reference(reference: Reference, y: Floats, weights: Floats) -> Reference:
    """The ordinary reference of weighted rows, over the columns of another one."""
    rows = reference.rows
    used = weights > 0.5
    level = float(np.average(y, weights=weights))
    cap = 3.0 * half_scale(reference.residuals[used])
    few = np.flatnonzero(used)
    few = few[np.linspace(0, len(few) - 1, min(len(few), SEARCH_ROWS)).astype(int)]
    pairs = Pairs.of(rows[few], rows[few])
    unit = pairs.unit
    best: tuple[float, float, float] | None = None
    for width in ORDINARY_GAMMAS:
        spectrum = Spectrum.of(pairs.kernel(width * unit))
        for penalty in ORDINARY_PENALTIES:
            residuals = spectrum.left_out(y[few] - level, penalty).residuals
            error = capped_error(residuals, cap)
            if best is None or error < best[0]:
                best = (error, width, penalty)
    assert best is not None
    _, width, penalty = best
    K = Pairs.of(rows, rows).kernel(width * unit)
    fit = weighted_ridge(K, y - level, weights, penalty)
    return reference._replace(
        residuals=fit.residuals,
        gamma=width * unit,
        coefficients=fit.coefficients,
        level=level,
    )


def _starts(K: Floats, y: Floats, low: float, high: float) -> list[Floats]:
    """Weights of the shortest half of y, and of the half nearest to a Huber fit."""
    middle = ((y >= low) & (y <= high)).astype(np.float64)
    weights = np.ones(len(y))
    residuals = y
    for _ in range(4):
        residuals = weighted_ridge(K, y, weights, 1.0).residuals
        cut = HUBER * half_scale(residuals)
        weights = np.clip(cut / np.maximum(np.abs(residuals), 1e-300), 1e-2, 1.0)
    return [middle, _nearest_half(residuals)]


def _nearest_half(residuals: Floats) -> Floats:
    weights = np.zeros(len(residuals))
    order = np.argsort(np.abs(residuals), kind="stable")
    weights[order[: len(residuals) // 2 + 1]] = 1.0
    return weights


def _robust_fit(K: Floats, y: Floats, penalty: float, weights: Floats) -> RidgeFit:
    """Half-sample C-steps under penalties that fall to λ, then bisquare steps."""
    for level, steps in (
        (3.0 * max(penalty, 1.0), 4),
        (2.0 * max(penalty, 0.3), 4),
        (penalty, 8),
    ):
        for _ in range(steps):
            fit = weighted_ridge(K, y, weights, level)
            nearest = _nearest_half(fit.residuals)
            if np.array_equal(nearest, weights):
                break
            weights = nearest
    fit = weighted_ridge(K, y, weights, penalty)
    scale = half_scale(fit.residuals)
    for _ in range(8):
        if scale <= 0.0:
            break
        u = fit.residuals / (BISQUARE * scale)
        bisquare = np.where(np.abs(u) < 1.0, (1.0 - u * u) ** 2, 0.0)
        if np.max(np.abs(bisquare - weights)) < 0.02:
            break
        weights = bisquare
        fit = weighted_ridge(K, y, weights, penalty)
        scale = min(scale, half_scale(fit.residuals))
    return fit
