"""The half of the rows that lies nearest to a line of its own.

Least squares follows a few rows anywhere, and so does every method that begins with it.
Least trimmed squares does not: the line that fits the nearest half of the rows best
passes by the other half, whatever these are (Rousseeuw and Van Driessen 2006).
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Bools, Floats
from ...solvers._loops.elemental import elemental_fits
from .._robust.scales import (
    COMPRESSED_BEYOND,
    compress,
    half_scale,
    mean_log_distance,
)
from .constants import CONSTANTS as C
from .linear_fit import LinearFit
from .residuals import Rows


def nearest_half(distance: Floats, weights: Floats) -> Bools:
    """The nearest rows that hold half of the weight."""
    order = np.argsort(np.abs(distance), kind="stable")
    held = np.cumsum(weights[order])
    near = np.zeros(len(weights), dtype=bool)
    near[order[: int(np.searchsorted(held, 0.5 * held[-1])) + 1]] = True
    return near


def tightest_half(rows: Rows, rng: np.random.Generator) -> Bools:
    """The half whose own line fits it best, of those that several starts lead to.

    Rows far out as a whole are not asked, if they are fewer than half: a line through
    them and a few others is near to all of them, and flat for the rest.
    """
    Z, y, weights = rows[:3]
    distance, far = mean_log_distance(Z, weights, np.ones(len(y), dtype=bool))
    few = np.flatnonzero(distance <= far)
    if 2.0 * np.sum(weights[few]) < np.sum(weights):
        few = np.arange(len(y))
    own = weights[few]
    if len(few) > C.half_rows:
        drawn = rng.choice(len(few), C.half_rows, replace=False, p=own / np.sum(own))
        few, own = few[np.sort(drawn)], np.ones(C.half_rows)
    part = rows._replace(Z=Z[few], y=y[few], weights=own)
    starts = [
        nearest_half(_outlyingness(part.Z), own),
        *_elemental_halves(part, rng),
    ]
    ends = [_concentrated(part, start) for start in starts]
    best = min(ends, key=lambda end: end.square)
    factors = np.zeros(len(y))
    factors[few] = best.half
    return nearest_half(rows.residuals(best.fit, factors).left_out, weights)


class Concentrated(NamedTuple):
    """A half, its own line, and the mean square residual of the half nearest to it."""

    square: float
    fit: LinearFit
    half: Bools


def _concentrated(rows: Rows, half: Bools) -> Concentrated:
    """C-steps: fit a half, take the half that it fits best, and again."""
    best: Concentrated | None = None
    for _ in range(C.concentration_steps):
        factors = half.astype(np.float64)
        fit = rows.line(factors)
        residuals = rows.residuals(fit, factors).left_out
        nearest = nearest_half(residuals, rows.weights)
        squares, weights = residuals[nearest] ** 2, rows.weights[nearest]
        square = float(np.average(squares, weights=weights))
        if best is None or square < best.square:
            best = Concentrated(square, fit, half)
        if np.array_equal(nearest, half):
            break
        half = nearest
    assert best is not None
    return best


def _elemental_halves(part: Rows, rng: np.random.Generator) -> list[Bools]:
    """Halves nearest to the best of many lines through a few random rows each."""
    Z, y, weights, _, origin = part
    n, m = len(Z), part.parameters
    if Z.shape[1] > C.elemental_columns or 2 * m > n:
        return []
    middle, size = float(np.median(y)), half_scale(y - np.median(y)) or 1.0
    if origin is None:
        target, rows = (y - middle) / size, np.column_stack([Z, np.ones(n)])
    else:
        target, rows = y / size, Z - origin
    keys = rng.random((C.starts, n)) ** (1.0 / weights)
    width = min(3 * m, n)
    order = np.argsort(-keys, axis=1, kind="stable")[:, :width]
    kept = min((n + m + 1) // 2, n)
    fits, sums = elemental_fits(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(target),
        np.full(m, 1e-9),
        kept,
        np.ascontiguousarray(order),
        2,
    )
    halves: list[Bools] = []
    last = np.inf
    for i in np.argsort(sums, kind="stable"):
        if not np.isfinite(sums[i]) or len(halves) == C.best_starts:
            break
        if abs(sums[i] - last) > 1e-9 * sums[i]:
            halves.append(nearest_half(target - rows @ fits[i], weights))
        last = sums[i]
    return halves


def _outlyingness(Z: Floats) -> Floats:
    """How far out rows are in the direction in which they are farthest; shape (n,).

    Among the columns and the first principal directions of the rows, held near: a group
    far out makes a direction of its own.
    """
    held = compress(Z, COMPRESSED_BEYOND)
    held = held - np.median(held, axis=0)
    ways = scipy.linalg.svd(held, full_matrices=False)[2][: C.directions]
    along = np.abs(np.column_stack([held, held @ ways.T]))
    scale = np.array([half_scale(column) for column in along.T])
    return np.asarray(np.max(along / np.where(scale > 0.0, scale, np.inf), axis=1))
