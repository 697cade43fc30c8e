"""Kernel ridge regression by leave-one-out, over all rows or over centres."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Floats, Indices
from ...spaces import Kernel, NystroemSpace
from ...spaces.nystroem import HELD_ENTRIES, Centres
from .._robust.scales import USABLE
from ..nystroem import drawn_centres
from .constants import CONSTANTS as C
from .kernel_ridge import (
    EigenRidge,
    Pairs,
    Together,
    blocks,
    left_out_and_solution,
    together,
)
from .linear_fit import Scaling

#: Penalties tried, and factors on the default γ.
KERNEL_ALPHAS = np.geomspace(1e-4, 10.0, 11)
GAMMA_FACTORS = tuple(np.geomspace(0.03, 3.0, 7))


def usable(Z: Floats) -> Floats:
    """Standardised rows, of which arithmetic does not lose the distances of others."""
    return np.clip(Z, -USABLE, USABLE)


class KernelFit(NamedTuple):
    """f(x) = Σ a_i k(x_i, x) + level over standardised rows."""

    kernel: Kernel
    scaling: Scaling
    rows: Floats
    dual_coef: Floats
    level: float
    alpha: float
    left_out: Floats

    def predict(self, X: Floats) -> Floats:
        """Values at other rows."""
        out = np.empty(len(X))
        for part in blocks(len(X), len(self.rows)):
            Z = usable(self.scaling(X[part]))
            out[part] = self.kernel(Z, self.rows) @ self.dual_coef
        return out + self.level


class Components(NamedTuple):
    """How many centres a kernel model has, and what draws them."""

    number: int
    salt: int


class Prepared(NamedTuple):
    """Standardised columns, the target about its level, and the chosen parameters."""

    scaling: Scaling
    Z: Floats
    level: float
    target: Floats
    kernel: Kernel
    penalty: float


def _prepared(
    X: Floats,
    y: Floats,
    weights: Floats,
    kernel: Kernel,
    alpha: float | None,
    search_gamma: bool,
    factors: Floats,
    intercept: bool,
    places: Indices | None,
) -> Prepared:
    """What a kernel fit begins with; γ and α that are not given by leave-one-out."""
    scaling = Scaling.of(X, weights)
    Z = usable(scaling(X))
    level = float(np.average(y, weights=weights)) if intercept else 0.0
    target = y - level
    few = np.linspace(0, len(y) - 1, min(len(y), C.reference_rows)).astype(int)
    penalty = alpha
    if alpha is None or search_gamma:
        kernel, penalty = _search(
            Z[few],
            target[few],
            weights[few],
            kernel,
            alpha,
            search_gamma,
            factors[few],
            together(None if places is None else places[few]),
        )
    assert penalty is not None
    return Prepared(scaling, Z, level, target, kernel, penalty)


def fit_kernel(
    X: Floats,
    y: Floats,
    weights: Floats,
    kernel: Kernel,
    *,
    alpha: float | None = None,
    search_gamma: bool = True,
    components: Components | None = None,
    factors: Floats | None = None,
    intercept: bool = True,
    places: Indices | None = None,
) -> KernelFit:
    """Kernel ridge regression on standardised columns; γ and α by leave-one-out.

    Over all rows, or over fewer `components` drawn from them. `factors` as in
    `fit_linear`; f is about the mean of y, or without an `intercept` about 0. Rows of
    one of the `places` are left out of a fit together.
    """
    factors = np.ones(len(y)) if factors is None else factors
    weights = weights * factors
    begun = _prepared(
        X, y, weights, kernel, alpha, search_gamma, factors, intercept, places
    )
    if components is not None and components.number < len(y):
        drawn = drawn_centres(X, components.number, components.salt)
        return _over_centres(begun, weights, begun.Z[drawn])
    scaling, Z, level, target, kernel, penalty = begun
    A = kernel(Z, Z)
    A.flat[:: len(y) + 1] += penalty / weights
    left_out, dual = left_out_and_solution(A, target, together(places))
    return KernelFit(kernel, scaling, Z, dual, level, penalty, left_out)


def _over_centres(begun: Prepared, weights: Floats, rows: Floats) -> KernelFit:
    """The fit with features φ of these centres.

    With A = Σ w φφᵀ + α it is A⁻¹Σ w y φ, and a row left out of it has the residual
    e_i/(1 − w_i φ_iᵀA⁻¹φ_i).
    """
    scaling, Z, level, target, kernel, penalty = begun
    held = len(Z) * len(rows) <= HELD_ENTRIES
    mu = None if held else penalty / float(np.sum(weights))
    space = NystroemSpace(Centres(kernel, rows, mu), Z, held=held)
    gram, right = space.moments(weights, target)
    gram.flat[:: len(gram) + 1] += penalty
    factor = scipy.linalg.cho_factor(gram, lower=True, check_finite=False)
    theta = scipy.linalg.cho_solve(factor, right)
    left_out = target - space.scores(theta)
    for part, block in space.blocks():
        half = scipy.linalg.solve_triangular(factor[0], block.T, lower=True)
        own = weights[part] * np.einsum("ij,ij->j", half, half)
        left_out[part] /= np.maximum(1.0 - own, 1e-10)
    dual = space.coefficients(theta)
    return KernelFit(kernel, scaling, rows, dual, level, penalty, left_out)


def _search(
    Z: Floats,
    y: Floats,
    weights: Floats,
    kernel: Kernel,
    alpha: float | None,
    search_gamma: bool,
    factors: Floats,
    places: Together,
) -> tuple[Kernel, float]:
    """The γ and α of the least Σ w_i a_i e_i², with residuals left out of the fit.

    The weights w have the factors a in them already; see `fit_linear`.
    """
    kernels = [kernel]
    if search_gamma:
        unit = Pairs.of(Z, Z).unit
        kernels = [kernel.with_gamma(factor * unit) for factor in GAMMA_FACTORS]
    root = np.sqrt(weights)
    grid = KERNEL_ALPHAS * float(np.mean(weights)) if alpha is None else [alpha]
    best: tuple[float, Kernel, float] | None = None
    for candidate in kernels:
        K = candidate(Z, Z)
        K *= root[:, None]
        K *= root
        eigen = EigenRidge.of(K)
        for penalty in grid:
            left = eigen.left_out(root * y, penalty, places).residuals
            error = float((factors * left) @ left)
            if best is None or error < best[0]:
                best = (error, candidate, float(penalty))
    assert best is not None
    return best[1], best[2]
