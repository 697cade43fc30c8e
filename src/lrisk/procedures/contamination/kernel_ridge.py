"""Gaussian-kernel ridge regression with every residual left out of its own fit."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Floats

#: Weights below this enter a fit no more.
SMALLEST_WEIGHT = 1e-3
#: Entries of a kernel matrix between new rows and centres held at once.
BLOCK_ENTRIES = 4_000_000


class RidgeFit(NamedTuple):
    """f = K a with leave-one-out residuals for all rows."""

    residuals: Floats
    coefficients: Floats


def squared_distances(A: Floats, B: Floats) -> Floats:
    """‖a − b‖² for all pairs, shape (len(A), len(B))."""
    middle = B.mean(axis=0)
    same = A is B
    B = B - middle
    A = B if same else A - middle
    out = np.asarray(A @ B.T)
    out *= -2.0
    out += np.einsum("ij,ij->i", A, A)[:, None]
    out += np.einsum("ij,ij->i", B, B)
    np.maximum(out, 0.0, out=out)
    if same:
        np.fill_diagonal(out, 0.0)
    return out


class Pairs(NamedTuple):
    """‖a − b‖² and a·b/d for all pairs of rows, of which the kernel is made."""

    squares: Floats
    products: Floats

    @classmethod
    def of(cls, A: Floats, B: Floats) -> "Pairs":
        """For the rows of A and B, each pair once."""
        products = np.asarray(A @ B.T)
        products /= A.shape[1]
        return cls(squared_distances(A, B), products)

    @property
    def unit(self) -> float:
        """1/median of the positive squared distances; one if there is none."""
        positive = self.squares[self.squares > 0.0]
        return 1.0 / float(np.median(positive)) if len(positive) else 1.0

    def kernel(self, gamma: float) -> Floats:
        """exp(−γ‖a − b‖²) + a·b/d + 1: a bump, a plane and a level.

        In many dimensions bumps alone would need very many rows to make a plane.
        """
        K = np.multiply(self.squares, -gamma)
        np.exp(K, out=K)
        K += self.products
        K += 1.0
        return K


def weighted_ridge(K: Floats, y: Floats, weights: Floats, penalty: float) -> RidgeFit:
    """Minimise Σ w_i (y_i − f(x_i))² + λ‖f‖²; residuals of rows as if left out.

    With A = K_SS + λ diag(1/w) over the rows S of some weight, f = K_:S A⁻¹ y_S; the
    residual of a row in S left out is (A⁻¹y)_i / (A⁻¹)_ii, of any other y − f.
    """
    used = np.flatnonzero(weights > SMALLEST_WEIGHT)
    whole = len(used) == len(y)
    A = K.copy() if whole else K[np.ix_(used, used)]
    A.flat[:: len(used) + 1] += penalty / weights[used]
    inverse_diagonal, solved = inverse_and_solution(A, y[used])
    coefficients = np.zeros(len(y))
    coefficients[used] = solved
    residuals = y - (K @ coefficients if whole else K[:, used] @ solved)
    residuals[used] = solved / inverse_diagonal
    return RidgeFit(residuals, coefficients)


def inverse_and_solution(A: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Diagonal of A⁻¹, and A⁻¹y, with more ridge where rounding needs it."""
    diagonal = A.diagonal().copy()
    extra = 0.0
    while True:
        factor, info = scipy.linalg.lapack.dpotrf(A.T, lower=0, overwrite_a=0, clean=0)
        if info == 0:
            break
        extra = max(10.0 * extra, 1e-12 * float(diagonal.mean()))
        A.flat[:: len(y) + 1] = diagonal + extra
    solved = scipy.linalg.lapack.dpotrs(factor, y, lower=0)[0]
    inverse = scipy.linalg.lapack.dpotri(factor, lower=0, overwrite_c=1)[0]
    return inverse.diagonal().copy(), solved


class Spectrum(NamedTuple):
    """Eigen-decomposition of a kernel matrix: all penalties for the price of one."""

    values: Floats
    vectors: Floats
    squares: Floats

    @classmethod
    def of(cls, K: Floats) -> "Spectrum":
        """Eigenvalues and vectors; rounding below zero is zero."""
        values, vectors = scipy.linalg.eigh(K, overwrite_a=True, check_finite=False)
        return cls(np.maximum(values, 0.0), vectors, vectors * vectors)

    def left_out(self, y: Floats, penalty: float) -> RidgeFit:
        """Leave-one-out residuals of the unweighted fit."""
        shrink = 1.0 / (self.values + penalty)
        solved = self.vectors @ (shrink * (self.vectors.T @ y))
        return RidgeFit(solved / (self.squares @ shrink), solved)
