"""The half of the rows that lies nearest to a line of its own.

Least squares follows a few rows anywhere, and so does every method that begins with it.
Least trimmed squares does not: the line that fits the nearest half of the rows best
passes by the other half, whatever these are (Rousseeuw and Van Driessen 2006).
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Bools, Floats
from ...solvers.elemental import elemental_fits, largest
from .._robust.scales import (
    COMPRESSED_BEYOND,
    compress,
    half_scale,
    mean_log_distance,
    shortest_half,
)
from .constants import CONSTANTS as C
from .residuals import Rows, halves_left_out

#: Parts of the targets' order, and directions that are tried in a plane: enough to see
#: an end of some tenths of the rows.
SLICES, ANGLES = 10, 8


def nearest_half(distance: Floats, weights: Floats, share: float = 0.5) -> Bools:
    """The nearest rows that hold half of the weight, or another share.

    Along the last axis of `distance`.
    """
    order = np.argsort(np.abs(distance), axis=-1, kind="stable")
    held = np.cumsum(weights[order], axis=-1)
    before = np.sum(held < share * held[..., -1:], axis=-1, keepdims=True)
    near = np.zeros(distance.shape, dtype=bool)
    np.put_along_axis(near, order, np.arange(len(weights)) <= before, axis=-1)
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
    starts = [
        nearest_half(_outlyingness(part.Z), own),
        *_elemental_halves(part, rng),
        *_halves_by_slices(part),
    ]
    best = min(_concentrated(part, starts), key=lambda end: end.square)
    factors = np.zeros(len(y))
    factors[few] = best.half
    fit = part.line(best.half.astype(np.float64))
    return nearest_half(rows.residuals(fit, factors).left_out, weights)


class Concentrated(NamedTuple):
    """A half, and the mean square residual of the half nearest to its own line."""

    square: float
    half: Bools


def _concentrated(
    rows: Rows, starts: list[Bools], steps: int = C.rounds
) -> list[Concentrated]:
    """C-steps from every start: fit a half, take what it fits best, and again."""
    ends = [Concentrated(np.inf, half) for half in starts]
    halves, going = np.array(starts), np.arange(len(starts))
    for _ in range(steps):
        residuals = halves_left_out(rows, halves)
        nearest = nearest_half(residuals, rows.weights)
        counts = nearest * rows.weights
        squares = np.sum(counts * residuals**2, axis=1) / np.sum(counts, axis=1)
        for i, square, half in zip(going, squares, halves, strict=True):
            if square < ends[i].square:
                ends[i] = Concentrated(float(square), half)
        moved = np.any(nearest != halves, axis=1)
        halves, going = nearest[moved], going[moved]
        if len(going) == 0:
            break
    return ends


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


def _halves_by_slices(part: Rows) -> list[Bools]:
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
    begun = sorted(_concentrated(part, starts, 2), key=lambda end: end.square)
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
