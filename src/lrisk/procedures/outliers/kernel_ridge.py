"""Gaussian-kernel ridge regression with every residual left out of its own fit."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Floats, Indices

#: Weights below this enter a fit no more; where places are left out of it, they are no
#: less than the second.
SMALLEST_WEIGHT, LEAST_WEIGHT = 1e-3, 1e-6
#: Entries of a matrix between new rows and centres held at once: what a core's cache
#: holds, since each entry is passed over several times.
BLOCK_ENTRIES = 100_000


#: Rows that are left out of a fit together, by place; those of a place alone are not
#: among them.
Together = tuple[Indices, ...]


def together(places: Indices | None) -> Together:
    """The rows of every place that has more than one."""
    if places is None:
        return ()
    order = np.argsort(places, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(places[order])) + 1)
    return tuple(part for part in parts if len(part) > 1)


class RidgeFit(NamedTuple):
    """f = K a with residuals left out of their own fit for all rows, and weights."""

    residuals: Floats
    coefficients: Floats
    weights: Floats


def blocks(n: int, m: int) -> Iterator[slice]:
    """Parts of n rows whose distances to m others are held at once."""
    step = max(1, BLOCK_ENTRIES // max(m, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class DistancesTo(NamedTuple):
    """‖a − b‖² to the rows b of a table, in one product.

    Of (a, ‖a‖², 1) and (−2b, 1, ‖b‖²): passes over all pairs are what takes time. Rows
    are taken from the middle of the table, against cancellation.
    """

    middle: Floats
    table: Floats

    @classmethod
    def rows(cls, B: Floats) -> "DistancesTo":
        """To the rows of B."""
        middle = B.mean(axis=0)
        table = np.ones((len(B), B.shape[1] + 2))
        centred = np.subtract(B, middle, out=table[:, :-2])
        np.einsum("ij,ij->i", centred, centred, out=table[:, -1])
        centred *= -2.0
        return cls(middle, table)

    def __call__(self, A: Floats) -> Floats:
        """Shape (len(A), len(B))."""
        wide = np.ones((len(A), self.table.shape[1]))
        centred = np.subtract(A, self.middle, out=wide[:, :-2])
        np.einsum("ij,ij->i", centred, centred, out=wide[:, -2])
        out = np.asarray(wide @ self.table.T)
        return np.maximum(out, 0.0, out=out)


def squared_distances(A: Floats, B: Floats) -> Floats:
    """‖a − b‖² for all pairs, shape (len(A), len(B)); exactly symmetric if A is B."""
    if A is not B:
        return DistancesTo.rows(B)(A)
    A = A - A.mean(axis=0)
    out = np.asarray(A @ A.T)
    out *= -2.0
    norms = np.einsum("ij,ij->i", A, A)
    out += norms[:, None]
    out += norms
    np.fill_diagonal(out, 0.0)
    return np.maximum(out, 0.0, out=out)


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
        K = bumps(self.squares, gamma)
        K += self.products
        K += 1.0
        return K


def bumps(squares: Floats, gamma: float) -> Floats:
    """exp(−γ‖a − b‖²)."""
    K = np.multiply(squares, -gamma)
    return np.exp(K, out=K)


def weighted_ridge(
    K: Floats, y: Floats, weights: Floats, penalty: float, places: Together = ()
) -> RidgeFit:
    """Minimise Σ w_i (y_i − f(x_i))² + λ‖f‖²; residuals of rows as if left out.

    With A = K_SS + λ diag(1/w) over the rows S of some weight, f = K_:S A⁻¹ y_S; the
    residual of a row in S left out is (A⁻¹y)_i / (A⁻¹)_ii, of any other y − f. Those of
    rows G left out together are (A⁻¹)_GG⁻¹ (A⁻¹y)_G; then all rows have some weight.
    """
    used = np.flatnonzero(weights > SMALLEST_WEIGHT)
    if places:
        weights, used = np.maximum(weights, LEAST_WEIGHT), np.arange(len(y))
    whole = len(used) == len(y)
    A = K.copy() if whole else K.take(used, axis=0).take(used, axis=1)
    A.flat[:: len(used) + 1] += penalty / weights[used]
    left_out, solved = left_out_and_solution(A, y[used], places)
    coefficients = np.zeros(len(y))
    coefficients[used] = solved
    residuals = y - K @ coefficients
    residuals[used] = left_out
    return RidgeFit(residuals, coefficients, weights)


def left_out_residuals(
    solved: Floats, diagonal: Floats, places: Together, block: Callable[..., Floats]
) -> Floats:
    """Residuals left out, of A⁻¹y, the diagonal of A⁻¹, and its blocks."""
    out = np.asarray(solved / diagonal)
    for own in places:
        out[own] = np.linalg.solve(block(own), solved[own])
    return out


def left_out_and_solution(
    A: Floats, y: Floats, places: Together = ()
) -> tuple[Floats, Floats]:
    """Residuals left out, and A⁻¹y, with more ridge where rounding needs it.

    With A = UᵀU the diagonal of A⁻¹ is Σ_j (U⁻¹)²_ij: a third of its work is saved.
    """
    diagonal = A.diagonal().copy()
    extra = 0.0
    while True:
        factor, info = scipy.linalg.lapack.dpotrf(A.T, lower=0, overwrite_a=0, clean=1)
        if info == 0:
            break
        extra = max(10.0 * extra, 1e-12 * float(diagonal.mean()))
        A.flat[:: len(y) + 1] = diagonal + extra
    solved = scipy.linalg.lapack.dpotrs(factor, y, lower=0)[0]
    inverse = scipy.linalg.lapack.dtrtri(factor, lower=0, overwrite_c=1)[0].T
    diagonal = np.einsum("ji,ji->i", inverse, inverse)

    def block(own: Indices) -> Floats:
        return np.asarray(inverse[:, own].T @ inverse[:, own])

    return left_out_residuals(solved, diagonal, places, block), solved


class EigenRidge(NamedTuple):
    """Eigen-decomposition of a kernel matrix: all penalties for the price of one."""

    values: Floats
    vectors: Floats
    squares: Floats

    @classmethod
    def of(cls, K: Floats) -> "EigenRidge":
        """Eigenvalues and vectors; rounding below zero is zero."""
        values, vectors = scipy.linalg.eigh(K, overwrite_a=True, check_finite=False)
        return cls(np.maximum(values, 0.0), vectors, vectors * vectors)

    def left_out(self, y: Floats, penalty: float, places: Together = ()) -> RidgeFit:
        """Residuals of the unweighted fit without a row, or without its place."""
        shrink = 1.0 / (self.values + penalty)
        solved = self.vectors @ (shrink * (self.vectors.T @ y))

        def block(own: Indices) -> Floats:
            return np.asarray((self.vectors[own] * shrink) @ self.vectors[own].T)

        diagonal = self.squares @ shrink
        residuals = left_out_residuals(solved, diagonal, places, block)
        return RidgeFit(residuals, solved, np.ones(len(y)))
