"""What a line says of rows that it has not seen, and how much it lets them pull."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .constants import CONSTANTS as C
from .kernel_ridge import BLOCK_ENTRIES, blocks
from .linear_fit import ILL_CONDITIONED, LinearFit, fit_linear

#: Share of its own fit below which others have no say in it.
LEAST_OTHERS = 1e-10


class Residuals(NamedTuple):
    """Residuals of a line, each of a fit without its own row.

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
        others = np.maximum(1.0 - weights * h, LEAST_OTHERS)
        g = h / others
        with np.errstate(over="ignore"):
            away = (y - fit.predict(Z)) / others
            u = np.asarray(away / np.sqrt(1.0 + g))
        # What a row alone decides, it cannot contradict.
        return cls(np.where(others > LEAST_OTHERS, u, 0.0), np.asarray(g))

    @property
    def left_out(self) -> Floats:
        """e, the residual of the row left out, in units of y."""
        with np.errstate(over="ignore"):
            return np.asarray(self.u * np.sqrt(1.0 + self.leverage))

    def factors(self, scale: float, held: float) -> Floats:
        """Weights under which no row moves the fit far (Schweppe's form of Huber's).

        A row pulls by c/√(1 + g) noise scales at most, c = `held`, and so moves the fit
        by c√(g/(1 + g)) of its standard errors. At a residual of u > c scales that is a
        weight of c/(u + g(u − c)). Beyond eight scales it is zero.
        """
        u, g = np.maximum(np.abs(self.u) / scale, held), self.leverage
        with np.errstate(over="ignore", invalid="ignore"):
            weight = held / (u + g * (u - held))
        return np.where(u <= max(C.left_out_beyond, held), weight, 0.0)


class Rows(NamedTuple):
    """Rows over standardised columns, weights of mean one, and a penalty if given.

    origin : where lines are 0, shape (d,); None for lines with an intercept
    """

    Z: Floats
    y: Floats
    weights: Floats
    alpha: float | None
    origin: Floats | None = None

    @property
    def parameters(self) -> int:
        """Of a line."""
        return int(self.Z.shape[1]) + (self.origin is None)

    def line(self, factors: Floats) -> LinearFit:
        """The line through rows with these factors."""
        Z, y, weights, alpha, origin = self
        unit = np.ones(Z.shape[1])
        return fit_linear(Z, y, weights, alpha, factors, unit, origin)

    def residuals(self, fit: LinearFit, factors: Floats) -> Residuals:
        """Of all rows, by a line in which they have these factors."""
        return Residuals.of(fit, self.Z, self.y, self.weights * factors)


def halves_left_out(rows: Rows, halves: Bools) -> Floats:
    """Residuals of all rows, left out of the lines of several halves; shape of these.

    As `Residuals.left_out` of each; of a small table several at a time, since a line
    alone takes less time than the calls that make it.
    """
    out = np.empty(halves.shape)
    if rows.alpha is None or 2 * rows.Z.size > BLOCK_ENTRIES:
        together = np.zeros(len(halves), dtype=bool)
    else:
        together = np.ones(len(halves), dtype=bool)
        for part in blocks(len(halves), rows.Z.size):
            out[part], together[part] = _left_out_together(
                rows, halves[part] * rows.weights, rows.alpha
            )
    for i in np.flatnonzero(~together):
        factors = halves[i].astype(np.float64)
        out[i] = rows.residuals(rows.line(factors), factors).left_out
    return out


def _left_out_together(
    rows: Rows, weights: Floats, alpha: float
) -> tuple[Floats, Bools]:
    """Residuals left out of lines with these weights, (lines, n), and which can be had.

    With (ZᵀWZ + α)⁻¹ = RRᵀ the values are ZR·(ZR)ᵀWy and the leverages ‖(ZR)_i‖². Not
    to be had are lines whose Gram matrix is ill-conditioned.
    """
    Z, y, origin = rows.Z, rows.y, rows.origin
    mass = np.sum(weights, axis=1, keepdims=True)
    if origin is None:
        center = Z[0] + weights @ (Z - Z[0]) / mass
        target, variance = y - weights @ y[:, None] / mass, 1.0 / mass
    else:
        center, target, variance = origin[None], y[None], np.zeros_like(mass)
    away = Z - center[:, None]
    gram = np.swapaxes(away * weights[..., None], 1, 2) @ away
    values, ways = np.linalg.eigh(gram)
    sound = values[:, 0] > ILL_CONDITIONED * values[:, -1]
    root = ways / np.sqrt(np.where(sound[:, None], values, 1.0) + alpha)[:, None]
    turned = away @ root
    slopes = (weights * target)[:, None] @ turned
    fitted = np.sum(turned * slopes, axis=2)
    leverage = np.sum(turned * turned, axis=2) + variance
    others = np.maximum(1.0 - weights * leverage, LEAST_OTHERS)
    with np.errstate(over="ignore"):
        left = (target - fitted) / others
    return np.where(others > LEAST_OTHERS, left, 0.0), sound
