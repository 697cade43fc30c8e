"""The line of the majority, and how far each row is from it.

Least squares follows a few rows anywhere, and so does every method that begins with it.
Least trimmed squares does not: the line that fits the nearest half of the rows best
passes by the other half, whatever these are (Rousseeuw and Van Driessen 2006). It is
where a linear fit begins; which rows belong is then asked of all rows, in units of what
the line itself can know of their place.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Bools, Floats
from ...solvers._loops.elemental import elemental_fits
from .final_fit import LinearFit, fit_linear
from .populations import FAR_RESIDUAL, TOO_FAR, expected_beyond, split
from .robust_scale import COMPRESSED_BEYOND, Columns, compress, half_scale

#: Rows that elemental starts look at, starts, and those that are taken to the end. With
#: 30 % wrong rows and 11 parameters, or 12 % and 31, one of 50 random starts has none:
#: that none of 500 has none has a chance of 1 in 20,000.
SAMPLE_ROWS, STARTS, BEST = 600, 500, 5
#: Columns up to which elemental starts can be hoped to hold right rows only.
ELEMENTAL_COLUMNS = 30
#: Principal directions in which rows far out are looked for.
DIRECTIONS = 10
#: C-steps of a start, and rounds of weighing.
STEPS, ROUNDS = 20, 12
#: Scales beyond which a residual counts like one at the edge: one in 370 of a Gaussian.
HELD_BEYOND = 3.0
#: Scales beyond which a residual has no say at all. Student's t of five degrees, the
#: heaviest noise that is promised for, is beyond once in 8,400 rows.
LEFT_OUT_BEYOND = 10.0
#: Leverage, in units of the mean p/n, up to which a row is like any other.
USUAL_LEVERAGE = 4.0
#: What a row that is left out must gain for the others, in log likelihood: a residual
#: of the noise has 1.4, one that may lie anywhere within ten scales on either side 3.
#: So the line of the majority counts if it leaves out 30 % of the rows and the others
#: are tighter by half, or a single row and they are tighter at all.
COST = 1.5


class Line(NamedTuple):
    """A line, and what it says of all rows.

    fit : over robustly standardised columns
    u : residuals in scales; each is divided by what its own place adds to the noise
    scale : of the residuals, in units of y
    factors : weight of every row in the fit, 1 for an ordinary one, 0 for none
    """

    fit: LinearFit
    u: Floats
    scale: float
    factors: Floats

    @property
    def left_out(self) -> int:
        """Rows without weight."""
        return int(np.sum(self.factors == 0.0))


class Residuals(NamedTuple):
    """What a line says of rows it has not seen, each left out of its own fit.

    u : e/√(1 + g), with e the residual of the row left out and g its leverage: a far
        row may differ from a line that knows little there. In units of y.
    leverage : g = zᵀ(ZᵀWZ + α)⁻¹z over the other rows
    """

    u: Floats
    leverage: Floats

    @classmethod
    def of(cls, fit: LinearFit, Z: Floats, y: Floats, weights: Floats) -> "Residuals":
        """Of all rows; `weights` (0 for none) are those they have in the fit."""
        h = fit.leverage(Z)
        others = np.maximum(1.0 - weights * h, 1e-10)
        g = h / others
        with np.errstate(over="ignore"):
            away = (y - fit.predict(Z)) / others
            return cls(np.asarray(away / np.sqrt(1.0 + g)), np.asarray(g))

    def factors(self, scale: float, usual: float) -> Floats:
        """Weights under which no row moves the fit far (Schweppe's form of Huber's).

        A row pulls by c/√(1 + g) noise scales at most, c = 3, and so moves the fit by
        c√(g/(1 + g)) of its standard errors. At a residual of u > c scales that is a
        weight of c/(u + g(u − c)). Beyond ten scales it is zero; a row of more than the
        `usual` leverage, which would still move the fit by three of its errors, has
        none beyond c.
        """
        u, g, c = np.abs(self.u) / scale, self.leverage, HELD_BEYOND
        with np.errstate(over="ignore", invalid="ignore"):
            held = np.where(u > c, c / (u + g * (u - c)), 1.0)
        most = np.where(g > usual, c, LEFT_OUT_BEYOND)
        return np.where(u <= most, held, 0.0)


def nearest_half(distance: Floats, weights: Floats) -> Bools:
    """The nearest rows that hold half of the weight."""
    order = np.argsort(np.abs(distance), kind="stable")
    held = np.cumsum(weights[order])
    near = np.zeros(len(weights), dtype=bool)
    near[order[: int(np.searchsorted(held, 0.5 * held[-1])) + 1]] = True
    return near


def majority_line(
    X: Floats,
    y: Floats,
    weights: Floats,
    usual: Bools,
    alpha: float | None,
    rng: np.random.Generator,
) -> Line:
    """The line through most rows, and their factors in it.

    Two lines are settled: one begins with all `usual` rows, one with the half of them
    that lies nearest to a line of its own. The second counts if the usual rows are so
    much tighter about it that the rows it leaves out are worth it. All rows have their
    factor, the unusual ones too.
    """
    Z = Columns.of(X[usual]).bounded(X)
    unit = float(np.mean(weights))  # that of a row whose noise is the noise
    weights = weights / unit
    alpha = None if alpha is None else alpha / unit
    ordinary = _settled(Z, y, weights, usual, usual, alpha)
    half = usual.copy()
    half[usual] = _tightest_half(Z[usual], y[usual], weights[usual], alpha, rng)
    majority = _settled(Z, y, weights, usual, half, alpha)
    gain = len(y) * np.log(ordinary.scale / majority.scale)
    more = majority.left_out - ordinary.left_out
    return majority if gain > COST * max(more, 1) else ordinary


def _settled(
    Z: Floats,
    y: Floats,
    weights: Floats,
    usual: Bools,
    start: Bools,
    alpha: float | None,
) -> Line:
    """Fit some rows, weigh all by their residuals, and again until that settles.

    Rows of a population apart, or beyond what a single one reaches, have no weight; the
    others are held. The scale is that of the usual rows.
    """
    factors = start.astype(np.float64)
    ones = np.ones(Z.shape[1])
    usual_leverage = USUAL_LEVERAGE * (Z.shape[1] + 1) / len(y)
    line: Line | None = None
    for _ in range(ROUNDS):
        used = factors > 0.0
        fit = fit_linear(Z[used], y[used], weights[used], alpha, factors[used], ones)
        residuals = Residuals.of(fit, Z, y, weights * factors)
        scale = max(half_scale(residuals.u[usual]), _rounding(fit, Z[usual], y[usual]))
        u = residuals.u / scale
        again = residuals.factors(scale, usual_leverage)
        again[outlying(u)] = 0.0
        line = Line(fit, u, scale, again)
        if np.max(np.abs(again - factors)) < 0.01:
            break
        factors = again
    assert line is not None
    return line


def _rounding(fit: LinearFit, Z: Floats, y: Floats) -> float:
    """What is left of residuals that should vanish, as of exact data.

    64 units in the last place of the terms, or 1e-9 of the targets' spread, which is
    more than the smallest penalty bends a line.
    """
    size = np.abs(y) + np.abs(Z) @ np.abs(fit.coef) + abs(fit.intercept)
    least = 64.0 * np.finfo(float).eps * float(np.median(size))
    return max(least, 1e-9 * half_scale(y - np.median(y)), 1e-300)


def outlying(u: Floats) -> Bools:
    """Rows of a second population, or too far out for a single one."""
    far = expected_beyond(u) < TOO_FAR
    if not np.any(np.abs(u) > HELD_BEYOND + 1.0):
        return far
    held = compress(u, FAR_RESIDUAL)
    found = split(held)
    if found.found and found.populations is not None:
        far |= found.populations.outlier_probability(held) > 0.5
    return far


def _tightest_half(
    Z: Floats,
    y: Floats,
    weights: Floats,
    alpha: float | None,
    rng: np.random.Generator,
) -> Bools:
    """The half whose own line fits it best, of those that several starts lead to."""
    n = len(y)
    few = np.arange(n)
    if n > SAMPLE_ROWS:
        share = weights / np.sum(weights)
        few = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False, p=share))
    part = (Z[few], y[few], weights[few] if n <= SAMPLE_ROWS else np.ones(len(few)))
    starts = [
        nearest_half(_outlyingness(part[0]), part[2]),
        *_elemental_halves(*part, rng),
    ]
    best: tuple[float, LinearFit, Floats] | None = None
    for start in starts:
        found = _concentrated(*part, start, alpha)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    if len(few) == n:
        return nearest_half(best[2], weights)
    own = np.zeros(n)
    own[few] = nearest_half(best[2], part[2])
    return nearest_half(Residuals.of(best[1], Z, y, own).u, weights)


def _concentrated(
    Z: Floats, y: Floats, weights: Floats, half: Bools, alpha: float | None
) -> tuple[float, LinearFit, Floats]:
    """C-steps: fit a half, take the half that it fits best; its mean square too."""
    best: tuple[float, LinearFit, Floats] | None = None
    ones = np.ones(Z.shape[1])
    for _ in range(STEPS):
        own = np.where(half, weights, 0.0)
        fit = fit_linear(Z[half], y[half], weights[half], alpha, scale=ones)
        residuals = Residuals.of(fit, Z, y, own).u
        nearest = nearest_half(residuals, weights)
        square = float(np.average(residuals[nearest] ** 2, weights=weights[nearest]))
        if best is None or square < best[0]:
            best = (square, fit, residuals)
        if np.array_equal(nearest, half):
            break
        half = nearest
    assert best is not None
    return best


def _elemental_halves(
    Z: Floats, y: Floats, weights: Floats, rng: np.random.Generator
) -> list[Bools]:
    """Halves nearest to the best of many lines through a few random rows each."""
    n, m = len(Z), Z.shape[1] + 1
    if m > ELEMENTAL_COLUMNS + 1 or 2 * m > n:
        return []
    middle, size = float(np.median(y)), half_scale(y - np.median(y)) or 1.0
    target = (y - middle) / size
    rows = np.column_stack([Z, np.ones(n)])
    keys = rng.random((STARTS, n)) ** (1.0 / weights)
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
        if not np.isfinite(sums[i]) or len(halves) == BEST:
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
    ways = scipy.linalg.svd(held, full_matrices=False)[2][:DIRECTIONS]
    along = np.abs(np.column_stack([held, held @ ways.T]))
    scale = np.array([half_scale(column) for column in along.T])
    return np.asarray(np.max(along / np.where(scale > 0.0, scale, np.inf), axis=1))
