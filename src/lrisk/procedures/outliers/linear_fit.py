"""Ridge regression by leave-one-out, with the leverage and the errors of its line."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import ndtri

from ..._typing import Floats, Indices
from .._robust.scales import FARTHEST, mere_rounding, weighted_quantiles
from .constants import CONSTANTS as C
from .kernel_ridge import BLOCK_ENTRIES, blocks

#: Penalties tried, in units of the mean weight of the rows; the first is for relations
#: without noise, which any other would bend, of twice as many rows as columns.
LINEAR_ALPHAS = np.array([1e-9, *np.geomspace(1e-3, 1e4, 22)])
#: Share of a row below which a part of it is rounding: what the smallest direction kept
#: may leave, with one row as far out as is usable.
UNSEEN = 1e-6
#: Ratio of eigenvalues below which half the digits of a Gram matrix are not enough.
ILL_CONDITIONED = 1e-8
#: Size of values up to which their squares are numbers.
SQUARED = 1e150
#: Leverage of a row in a direction that no other has.
UNKNOWN = 1e60
#: Rows that are sorted for the quartiles of the columns.
MOST_SORTED = 10_000


class Scaling(NamedTuple):
    """Weighted means and standard deviations of the columns a model is fitted to."""

    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats, weights: Floats) -> "Scaling":
        """Of some rows; constant columns are left as they are.

        Values count up to ten robust scales from the median (quartiles, of at most ten
        thousand rows): one row in another unit must not make all others equal. Where
        what lies between the quartiles is rounding, all count.
        """
        few = np.linspace(0, len(X) - 1, min(len(X), MOST_SORTED)).astype(int)
        levels = [0.05, 0.25, 0.5, 0.75, 0.95]
        quantiles = weighted_quantiles(X[few], weights[few], levels)
        _, low, middle, high, _ = quantiles
        reach = C.most_scales * (high - low) / (2.0 * float(ndtri(0.75)))
        reach = np.where(mere_rounding(np.delete(quantiles, 2, axis=0)), SQUARED, reach)
        mass = float(np.sum(weights))
        sums, squares = np.zeros_like(middle), np.zeros_like(middle)
        for part in blocks(len(X), X.shape[1]):  # no copy of a large table
            away = np.clip(X[part] - middle, -reach, reach)
            sums += weights[part] @ away
            squares += weights[part] @ (away * away)
        center = middle + sums / mass
        scale = np.sqrt(np.maximum(squares / mass - (sums / mass) ** 2, 0.0))
        tiny = scale <= 1e-12 * np.maximum(np.abs(center), 1e-300)
        return cls(center, np.where(tiny, 1.0, scale))

    def __call__(self, X: Floats) -> Floats:
        """(X − center)/scale, within what can be squared."""
        with np.errstate(over="ignore"):
            Z = np.asarray((X - self.center) / self.scale)
        return np.clip(Z, -FARTHEST, FARTHEST, out=Z)


class LinearFit(NamedTuple):
    """f(x) = coef·x + intercept, its penalty, and residuals left out of the fit.

    basis, squares, mass : directions of the standardised rows, their sums of squares,
        and the sum of the weights
    level_variance : of its level, in that of the noise; 0 without an intercept
    """

    scaling: Scaling
    coef: Floats
    intercept: float
    alpha: float
    left_out: Floats
    basis: Floats
    squares: Floats
    mass: float
    level_variance: float

    def predict(self, X: Floats) -> Floats:
        """Values at other rows."""
        return np.asarray(X @ self.coef + self.intercept)

    def leverage(self, X: Floats) -> Floats:
        """Variance of f(x) in that of the noise: zᵀ(ZᵀWZ + α)⁻¹z + 1/Σw; shape (n,).

        Without an intercept the last term is missing. All but infinite in directions
        that the rows of the fit do not have: a penalty is no knowledge.
        """
        out = np.empty(len(X))
        for part in blocks(len(X), X.shape[1]):  # no copy of a large table
            out[part] = self._leverage(self.scaling(X[part]))
        return out + self.level_variance

    def _leverage(self, z: Floats) -> Floats:
        along = z @ self.basis
        seen = np.asarray((along * along) @ (1.0 / (self.squares + self.alpha)))
        if self.basis.shape[1] < z.shape[1]:
            rest = z - along @ self.basis.T
            size = np.max(np.abs(z), axis=1, keepdims=True)
            rest[np.abs(rest) < UNSEEN * size] = 0.0
            seen += UNKNOWN * (np.max(np.abs(rest), axis=1) > 0.0)
        return seen


def standard_errors(
    fit: LinearFit, X: Floats, weights: Floats, factors: Floats
) -> Floats:
    """Standard errors of the coefficients, whatever the noise; shape (d,).

    The sandwich M (Σ w_i (a_i e_i)² z_i z_iᵀ) M of an M-estimator, with the factors a
    that hold rows back, residuals e left out of the fit (MacKinnon and White's HC3),
    and M = (Σ w_i z_i z_iᵀ + α)⁻¹ over the rows not held, which alone follow the line.
    They do not know of the bias of the penalty.
    """
    free = weights * (factors == np.max(factors))
    A = fit.alpha * np.eye(X.shape[1])
    for part in blocks(*X.shape):
        Z = fit.scaling(X[part])
        A += (Z.T * free[part]) @ Z
    M = scipy.linalg.pinvh(A, check_finite=False)
    pull = np.sqrt(weights) * factors * fit.left_out
    size = max(float(np.max(np.abs(pull))), 1e-300)  # against overflow
    sums = np.zeros(X.shape[1])
    for part in blocks(*X.shape):
        moved = fit.scaling(X[part]) @ M
        moved *= pull[part, None] / size
        sums += np.einsum("ij,ij->j", moved, moved)
    return np.asarray(np.sqrt(sums) * size / fit.scaling.scale)


def fit_linear(
    X: Floats,
    y: Floats,
    weights: Floats,
    alpha: float | None = None,
    factors: Floats | None = None,
    scale: Floats | None = None,
    origin: Floats | None = None,
) -> LinearFit:
    """Ridge regression on standardised columns; α by leave-one-out unless given.

    Minimises Σ w_i (y_i − f(x_i))² + α‖v‖², v the coefficients of standardised columns
    z about their weighted mean. With ZᵀWZ = V diag(s²) Vᵀ a row's own share of its fit
    is w_i Σ_j (z_iᵀv_j)²/(s_j² + α) + w_i/Σw. Standardised rows are made block by
    block: nothing is held that is as large as a table of several blocks.

    With `factors` a, which hold rows back, the weights are w∘a, and α has the least
    Σ w_i a_i² e_i², e_i the residuals left out: what a row can add to that is bounded
    like its pull on the fit. Rows with a factor of 0 take no part, and have no residual
    left out. `scale` is that of the columns, if it is known. A line without intercept
    is 0 at its `origin`, shape (d,).
    """
    table = _Table.of(X, y, weights, factors)
    y, weights, n, d = table.y, table.weights, len(table.y), X.shape[1]
    if scale is None:
        scale = Scaling.of(table.rows(slice(None)), weights).scale
    mass, unit = float(np.sum(weights)), float(np.mean(weights))
    level, level_variance, center = 0.0, 0.0, origin
    if center is None:
        level, level_variance = float(np.average(y, weights=weights)), 1.0 / mass
        center = table.mean()
    scaling = Scaling(center, scale)
    target = y - level
    standardised = table.standardised(scaling)
    values, V = _directions(standardised, weights, n, d)
    turn = V / np.sqrt(values)
    projected = np.zeros(len(values))
    for part in blocks(n, d):
        projected += (weights[part] * target[part]) @ (standardised(part) @ turn)
    alphas = LINEAR_ALPHAS if n > 2 * d else LINEAR_ALPHAS[1:]
    grid = alphas * unit if alpha is None else np.array([alpha])

    def left_out(part: slice, penalties: Floats) -> Floats:
        """Residuals of some rows left out, for each penalty."""
        shrink = values / (values + penalties[:, None])
        rows = standardised(part) @ turn
        residuals = target[part, None] - rows @ (shrink * projected).T
        own = weights[part, None] * ((rows * rows) @ shrink.T + level_variance)
        return np.asarray(residuals / np.maximum(1.0 - own, 1e-10))

    best = 0
    if len(grid) > 1:
        errors = np.zeros(len(grid))
        counts = weights if table.factors is None else weights * table.factors
        for part in blocks(n, len(grid)):
            left = left_out(part, grid)
            errors += counts[part] @ (left * left)
        best = int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
    penalty = float(grid[best])
    left = np.empty(n)
    for part in blocks(n, d):
        left[part] = left_out(part, grid[best : best + 1])[:, 0]
    slopes = V @ (np.sqrt(values) / (values + penalty) * projected)
    coef = slopes / scaling.scale
    intercept = level - float(coef @ scaling.center)
    return LinearFit(
        scaling, coef, intercept, penalty, left, V, values, mass, level_variance
    )


class _Table(NamedTuple):
    """Rows that take part in a linear fit, block by block.

    X : all rows, or if they are a single block those that take part
    weights : with the factors in them
    places : which rows of X they are; None for all
    """

    X: Floats
    y: Floats
    weights: Floats
    factors: Floats | None
    places: Indices | None

    @classmethod
    def of(
        cls, X: Floats, y: Floats, weights: Floats, factors: Floats | None
    ) -> "_Table":
        """The rows whose factor is not 0."""
        if factors is None:
            return cls(X, y, weights, None, None)
        if np.all(factors > 0.0):
            return cls(X, y, weights * factors, factors, None)
        places = np.flatnonzero(factors > 0.0)
        factors = factors[places]
        y, weights = y[places], weights[places] * factors
        if len(places) * X.shape[1] <= BLOCK_ENTRIES:
            return cls(X[places], y, weights, factors, None)
        return cls(X, y, weights, factors, places)

    def rows(self, part: slice) -> Floats:
        """Some of them."""
        return self.X[part] if self.places is None else self.X[self.places[part]]

    def mean(self) -> Floats:
        """Weighted mean of the columns, that of a constant one without rounding."""
        first = self.rows(slice(0, 1))[0]
        total = np.zeros_like(first)
        for part in blocks(len(self.y), self.X.shape[1]):
            total += self.weights[part] @ (self.rows(part) - first)
        return np.asarray(first + total / np.sum(self.weights))

    def standardised(self, scaling: Scaling) -> Callable[[slice], Floats]:
        """Makes standardised rows of a part; of a single block once and for all."""
        if len(self.y) * self.X.shape[1] > BLOCK_ENTRIES:
            return lambda part: scaling(self.rows(part))
        Z = scaling(self.rows(slice(None)))
        return lambda part: Z[part]


def _directions(
    standardised: Callable[[slice], Floats], weights: Floats, n: int, d: int
) -> tuple[Floats, Floats]:
    """Eigenvalues of ZᵀWZ that are not rounding, and their directions, (d, k).

    By the singular values of √W Z where columns are nearly copies of each other, or a
    row is so far out that the others are lost beside its square.
    """
    root = np.sqrt(weights)[:, None]
    if d > n:
        Z = standardised(slice(None)) * root
        _, s, Vt = scipy.linalg.svd(Z, full_matrices=False)
        kept = s > n * np.finfo(float).eps * max(s[0], 1e-300)
        return s[kept] ** 2, Vt[kept].T
    gram = np.zeros((d, d))
    for part in blocks(n, d):
        Z = standardised(part) * root[part]
        gram += Z.T @ Z
    values, V = scipy.linalg.eigh(gram)
    if values[0] > ILL_CONDITIONED * values[-1]:
        return values, V
    triangle = np.zeros((0, d))
    for part in blocks(n, d):
        Z = standardised(part) * root[part]
        both = np.concatenate([triangle, Z])
        triangle = scipy.linalg.qr(both, mode="r", check_finite=False)[0][:d]
    _, s, Vt = scipy.linalg.svd(triangle)
    kept = s > 8.0 * np.sqrt(n) * np.finfo(float).eps * max(s[0], 1e-300)
    return s[kept] ** 2, Vt[: len(s)][kept].T
