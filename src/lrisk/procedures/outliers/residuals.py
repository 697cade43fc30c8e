"""What a line says of rows that it has not seen, and how much it lets them pull."""

from typing import NamedTuple

import numpy as np

from ..._typing import Floats
from .constants import CONSTANTS as C
from .linear_fit import LinearFit, fit_linear

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
