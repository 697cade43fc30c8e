"""The half of the rows that lies nearest to a line of its own.

Least squares follows a few rows anywhere, and so does every method that begins with it.
Least trimmed squares does not: the line that fits the nearest half of the rows best
passes by the other half, whatever these are (Rousseeuw and Van Driessen 2006).
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Bools, Floats
from ...solvers._loops.elemental import elemental_fits, largest
from .._robust.scales import (
    COMPRESSED_BEYOND,
    compress,
    half_scale,
    mean_log_distance,
    shortest_half,
)
from .constants import CONSTANTS as C
from .linear_fit import LinearFit
from .residuals import Rows

#: Parts of the targets' order, and directions that are tried in a plane: enough to see
#: an end of some tenths of the rows.
SLICES, ANGLES = 10, 8


def nearest_half(distance: Floats, weights: Floats, share: float = 0.5) -> Bools:
    """The nearest rows that hold half of the weight, or another share."""
    order = np.argsort(np.abs(distance), kind="stable")
    held = np.cumsum(weights[order])
    near = np.zeros(len(weights), dtype=bool)
    near[order[: int(np.searchsorted(held, share * held[-1])) + 1]] = True
    return near


def least_trimmed_half(rows: Rows, rng: np.random.Generator) -> Bools:
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
    most = max(C.half_rows, C.half_rows_a_parameter * rows.parameters)
    if len(few) > most:
        drawn = rng.choice(len(few), most, replace=False, p=own / np.sum(own))
        few, own = few[np.sort(drawn)], np.ones(most)
    part = rows._replace(Z=Z[few], y=y[few], weights=own)
    fitted: Fitted = {}
    starts = [
        nearest_half(_outlyingness(part.Z), own),
        *_elemental_halves(part, rng),
        *_halves_by_slices(part, fitted),
    ]
    ends = [_concentrated(part, start, fitted) for start in starts]
    best = min(ends, key=lambda end: end.square)
    factors = np.zeros(len(y))
    factors[few] = best.half
    return nearest_half(rows.residuals(best.fit, factors).left_out, weights)


class Concentrated(NamedTuple):
    """A half, its own line, and what that says.

    square : mean square residual of the half nearest to the line
    nearest : that half
    """

    square: float
    fit: LinearFit
    half: Bools
    nearest: Bools


#: Halves that have been fitted, by their bits: many starts lead to the same few.
Fitted = dict[bytes, Concentrated]


def _concentrated(
    rows: Rows, half: Bools, fitted: Fitted, steps: int = C.rounds
) -> Concentrated:
    """C-steps: fit a half, take the half that it fits best, and again."""
    best: Concentrated | None = None
    for _ in range(steps):
        bits = np.packbits(half).tobytes()
        step = fitted.get(bits)
        if step is None:
            step = fitted[bits] = _step(rows, half)
        if best is None or step.square < best.square:
            best = step
        if np.array_equal(step.nearest, half):
            break
        half = step.nearest
    assert best is not None
    return best


def _step(rows: Rows, half: Bools) -> Concentrated:
    """Fit a half, and find the one that its line fits best."""
    factors = half.astype(np.float64)
    fit = rows.line(factors)
    residuals = rows.residuals(fit, factors).left_out
    nearest = nearest_half(residuals, rows.weights)
    squares, weights = residuals[nearest] ** 2, rows.weights[nearest]
    square = float(np.average(squares, weights=weights))
    return Concentrated(square, fit, half, nearest)


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
    keys = rng.random((C.starts, n))
    if np.any(weights != 1.0):
        keys = keys ** (1.0 / weights)
    kept = min((n + m + 1) // 2, n)
    fits, sums = elemental_fits(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(target),
        np.full(m, 1e-9),
        kept,
        largest(keys, min(3 * m, n)),
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


def _halves_by_slices(part: Rows, fitted: Fitted) -> list[Bools]:
    """Halves that hold few wrong rows where elemental starts hardly hold none.

    Wrong targets at one end of a direction are not at its other end. Which direction is
    told by the means of rows whose targets are alike (sliced inverse regression, Li
    1991): they span the plane of the relation and of what is wrong. Of both halves in
    several directions of that plane those count that lie nearest to lines of their own
    after two steps. Gross targets anywhere lie outside the shortest half of them.
    """
    Z, y, weights = part[:3]
    if part.parameters <= C.elemental_parameters:
        return []
    held = compress(Z, COMPRESSED_BEYOND)
    held = held - np.average(held, axis=0, weights=weights)
    slices = np.array_split(np.argsort(y, kind="stable"), SLICES)
    means = np.array([weights[own] @ held[own] for own in slices])
    means /= np.sqrt([[np.sum(weights[own])] for own in slices])
    gram = (held.T * weights) @ held
    gram.flat[:: len(gram) + 1] += 1e-9 * float(np.trace(gram))
    ways = scipy.linalg.eigh(means.T @ means, gram)[1][:, :-3:-1]
    share = min(max(0.25, C.rows_a_parameter * part.parameters / len(y)), 0.5)
    angles = np.arange(ANGLES) * np.pi / ANGLES
    along = held @ ways @ np.array([np.cos(angles), np.sin(angles)])[: ways.shape[1]]
    starts = [
        nearest_half(values - end, weights, share)
        for values in along.T
        for end in (values.min(), values.max())
    ]
    begun = sorted(
        (_concentrated(part, start, fitted, 2) for start in starts),
        key=lambda end: end.square,
    )
    low, high = shortest_half(y)
    usual = nearest_half(y - 0.5 * (low + high), weights)
    return [usual, *(end.half for end in begun[: C.best_starts])]


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
