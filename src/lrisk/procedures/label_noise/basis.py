"""Features in which a model is linear, and the way back to its coefficients."""

from typing import NamedTuple

import numpy as np

from ..._typing import Floats

#: Eigenvalues of a kernel matrix kept, in relation to the first.
SMALLEST = 1e-10


class Basis(NamedTuple):
    """Features of rows, made without labels.

    `features`, shape (n, r), lie along their own axes. With an intercept they are
    centred at `middle` and the last column is `constant`: it is penalised like one more
    feature of average size, or the share of a majority class would outweigh heavily
    penalised features. Coefficients over the m columns or centres are ``back @ θ``.
    """

    features: Floats
    back: Floats
    middle: Floats
    constant: float

    def coefficients(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (m, k) and intercepts (k,) of θ, shape (r, k)."""
        slopes = theta[: self.back.shape[1]]
        intercept = -self.middle @ slopes
        if self.constant:
            intercept = intercept + self.constant * theta[-1]
        return self.back @ slopes, np.asarray(intercept)


def linear_basis(
    Z: Floats, weight: Floats, intercept: bool = True, most: int | None = None
) -> Basis:
    """The columns themselves, or the leading axes of (some) rows if those are fewer."""
    n, d = Z.shape
    most = min(n, d if most is None else most)
    back = np.eye(d)
    if d > most:
        some = Z[:: max(1, n // (2 * most))]
        _, sizes, axes = np.linalg.svd(some, full_matrices=False)
        back = axes[:most][sizes[:most] > 1e-10 * sizes.max(initial=1e-300)].T
    return _completed(Z @ back, back, weight, intercept, d)


def kernel_basis(
    products: Floats,
    among: Floats,
    weight: Floats,
    intercept: bool = True,
    n_columns: int = 1,
    most: int | None = None,
) -> Basis:
    """What centres span: k(x, c) U Λ^{−½} with k(c, c′) = UΛUᵀ, leading axes only.

    `products` are k(x, c), shape (n, m), `among` k(c, c′), shape (m, m).
    """
    values, vectors = np.linalg.eigh(among)
    kept = np.flatnonzero(values > max(SMALLEST * values[-1], 1e-12))
    kept = kept[-(most or len(values)) :]
    back = vectors[:, kept] / np.sqrt(values[kept])
    return _completed(products @ back, back, weight, intercept, n_columns)


def _completed(
    features: Floats, back: Floats, weight: Floats, intercept: bool, n_columns: int
) -> Basis:
    """Centre the features, turn them to their own axes, and add a constant."""
    mass = weight / weight.sum()
    middle = mass @ features if intercept else np.zeros(features.shape[1])
    centred = features - middle
    sizes, axes = np.linalg.eigh(centred.T @ (mass[:, None] * centred))
    turned, back, middle = centred @ axes, back @ axes, middle @ axes
    if not intercept:
        return Basis(turned, back, middle, 0.0)
    constant = float(np.sqrt(max(sizes.sum(), 0.0) / max(n_columns, 1))) or 1.0
    column = np.full((len(features), 1), constant)
    return Basis(np.hstack([turned, column]), back, middle, constant)
