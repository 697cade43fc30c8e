"""Why a row does not fit: how far off, how far out, and by which column."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._typing import Floats, Indices
from .scales import Columns

#: Ridge on the correlation of columns, against constant and collinear ones.
RIDGE = 1e-2
#: Rows from which the relations are taken, at most, or so many times the columns.
MOST_ROWS, ROWS_A_COLUMN = 10_000, 20
#: Share of a column's surprise that counts although the misfit stays without it.
SURPRISE_ALONE = 0.1


class OutlierExplanation(NamedTuple):
    """Why rows do not fit.

    Attributes
    ----------
    residual : array of shape (n,)
        Distance of the target from what the flexible reference expects, in local noise
        scales.
    leverage : array of shape (n,)
        Root mean square of the features in robust scales from their medians, growing by
        the logarithm beyond 3.
    contributions : array of shape (n, d)
        How much a column is to blame: the square of its distance from what the other
        columns of the row let expect, times the share of the misfit that goes away if
        it had that value.
    columns : array of int of shape (n, d)
        Columns in falling order of contribution.
    """

    residual: Floats
    leverage: Floats
    contributions: Floats
    columns: Indices


class Explainer(NamedTuple):
    """Relations among the columns of inliers: z_j given the others.

    With P the inverse of the (ridged) second moments of compressed columns, the
    expectation of z_j given the others is z_j − (Pz)_j/P_jj, its variance 1/P_jj.
    """

    columns: Columns
    precision: Floats
    center: Floats

    @classmethod
    def of(cls, X: Floats) -> "Explainer":
        """From rows that fit, or of very many from rows evenly spaced among them."""
        most = max(MOST_ROWS, ROWS_A_COLUMN * X.shape[1])
        if len(X) > most:
            X = X[np.linspace(0, len(X) - 1, most).astype(int)]
        columns = Columns.of(X)
        Z = columns.compressed(X)
        center = Z.mean(axis=0)
        covariance = np.atleast_2d(np.cov(Z, rowvar=False, bias=True))
        ridge = RIDGE * max(float(np.mean(np.diag(covariance))), 1e-12)
        covariance.flat[:: len(covariance) + 1] += ridge
        return cls(columns, np.asarray(np.linalg.inv(covariance)), center)

    def expected(self, X: Floats) -> Floats:
        """Each value as the other columns of its row let expect it, in units of X."""
        Z = self.columns.compressed(X)
        pull = (Z - self.center) @ self.precision
        # Inside the compression expected values are what they are in plain units.
        return self.columns.center + self.columns.scale * (
            Z - pull / np.diag(self.precision)
        )

    def explain(
        self,
        expect: Callable[[Floats], tuple[Floats, Floats]],
        X: Floats,
        y: Floats,
    ) -> OutlierExplanation:
        """Blame columns for the misfit of rows.

        `expect` gives the expected targets of rows and the scales of their noise.
        """
        value, scale = expect(X)
        residual = (y - value) / scale
        Z = self.columns.compressed(X)
        diagonal = np.diag(self.precision)
        pull = (Z - self.center) @ self.precision
        expected = self.expected(X)
        surprise = np.abs(pull) / np.sqrt(diagonal)
        contributions = np.empty_like(Z)
        for j in range(X.shape[1]):
            usual = X.copy()
            usual[:, j] = expected[:, j]
            left = np.abs(y - expect(usual)[0]) / scale
            gone = np.clip(1.0 - left / np.maximum(np.abs(residual), 1e-12), 0.0, 1.0)
            contributions[:, j] = surprise[:, j] ** 2 * (SURPRISE_ALONE + gone)
        order = np.argsort(-contributions, axis=1, kind="stable")
        leverage = np.sqrt(np.mean(Z**2, axis=1))
        return OutlierExplanation(residual, leverage, contributions, order)
