"""The functions f = Σ_i w_i k(x_i, ·) of a reproducing kernel Hilbert space.

θ is the table of coefficients w, one row for each training row, flat; the inner product
is ⟨a, b⟩ = aᵀKb. In it the gradient of f(x_i) is k(x_i, ·), whose table is the unit
vector e_i: a gradient step changes w directly, without another product by K (paper 2,
algorithm 1).
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .._params import refused
from .._typing import Floats, Indices
from .base import Space
from .kernels import Kernel
from .linear import LinearSpace


class KernelSpace(Space):
    """The span of k(x_i, ·) over training rows.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR array of shape (n, d)
        Training rows; the kernel matrix itself if it is precomputed.
    n_scores : int, default=1
    """

    intercept = False
    #: Entries of k(x, x_i) held at a time by `at`.
    block_entries = 4_000_000

    def __init__(self, kernel: Kernel, X: Any, *, n_scores: int = 1) -> None:
        self.kernel = kernel
        self.X = X
        self.n_rows = X.shape[0]
        self.n_scores = n_scores
        self.size = self.n_rows * n_scores
        if kernel.precomputed and X.shape[0] != X.shape[1]:
            rule, remedy = (
                "square for kernel='precomputed'",
                "pass K over training rows",
            )
            raise ValueError(refused("KernelSpace", "X", rule, X.shape, remedy))
        if not kernel.trusted:
            self._check_positive()

    @functools.cached_property
    def _matrix(self) -> Floats:
        return self.new_matrix()

    def matrix(self) -> Floats:
        """K, shape (n, n); kept, so do not write into it."""
        return self._matrix

    def new_matrix(self) -> Floats:
        """K as an array of the caller's own."""
        if "_matrix" in vars(self):
            return self._matrix.copy()
        return self.kernel(self.X, self.X)

    def forget_matrix(self) -> None:
        """Give the memory of K back."""
        vars(self).pop("_matrix", None)

    # -- functions of θ ----------------------------------------------------------------

    def scores(self, theta: Floats) -> Floats:
        """Kw, shape (n,) or (n, k)."""
        return self._shaped(self.matrix() @ self._table(theta))

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i k(x_i, ·), whose coefficients are r itself."""
        return np.array(r, dtype=np.float64).ravel()

    def inner(self, a: Floats, b: Floats) -> float:
        """aᵀKb, summed over the scores."""
        return float(np.vdot(self._table(a), self.matrix() @ self._table(b)))

    def penalised(self, theta: Floats) -> Floats:
        """θ: the gradient of ½⟨θ, θ⟩."""
        return theta.copy()

    def largest_curvature(self) -> float:
        """‖K‖, by Lanczos; never below the true norm by more than its tolerance."""
        return largest_eigenvalue(self.matrix())

    def at(self, X: Any) -> "KernelRows":
        """The same functions over other rows (of k(x, x_i) if precomputed)."""
        return KernelRows(self, X)

    def factored(self) -> "FactoredKernel":
        """The same functions as linear ones in features Φ with K = ΦΦᵀ.

        By Cholesky with complete pivoting, which stops at the numerical rank.
        """
        K = np.asfortranarray(self.new_matrix())
        rounding = self.n_rows * np.finfo(np.float64).eps * float(np.max(np.diag(K)))
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
            K, tol=rounding, lower=1, overwrite_a=1
        )
        triangle = np.tril(factor[:, :rank])
        features = np.empty((self.n_rows, rank))
        features[order - 1] = triangle
        space = LinearSpace(features, intercept=False, n_scores=self.n_scores)
        return FactoredKernel(space, order[:rank] - 1)

    def _table(self, theta: Floats) -> Floats:
        return theta.reshape(self.n_rows, self.n_scores)

    def _shaped(self, table: Floats) -> Floats:
        return table[:, 0] if self.n_scores == 1 else table

    def _check_positive(self) -> None:
        """Refuse a matrix that is not symmetric or has a clearly negative eigenvalue.

        Kernel matrices are often singular, so rounding is given some room.
        """
        K = self.matrix()
        scale = float(np.max(np.abs(K), initial=0.0))
        remedy = "use a positive definite kernel"
        if not np.allclose(K, K.T, rtol=1e-7, atol=1e-10 * scale):
            worst = float(np.max(np.abs(K - K.T)))
            rule = "a symmetric matrix"
            value = f"entries apart by {worst:.3g}"
            raise ValueError(refused("KernelSpace", "kernel", rule, value, remedy))
        room = 1e-8 * max(float(np.trace(K)), scale)
        shifted = np.asfortranarray(K.copy())
        shifted[np.diag_indices_from(shifted)] += room + np.finfo(np.float64).tiny
        _, info = scipy.linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)
        if info > 0:
            lowest = float(np.linalg.eigvalsh(K)[0])
            rule = "positive semi-definite"
            value = f"eigenvalue {lowest:.3g}"
            raise ValueError(refused("KernelSpace", "kernel", rule, value, remedy))


class KernelRows:
    """Functions of a `KernelSpace` over other rows, evaluated block by block."""

    def __init__(self, space: KernelSpace, X: Any) -> None:
        self.space = space
        self.X = X
        self.n_rows = X.shape[0]

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x), shape (m,) or (m, k); rows without coefficients cost nothing."""
        space = self.space
        table = theta.reshape(space.n_rows, space.n_scores)
        used = np.flatnonzero(np.any(table != 0.0, axis=1))
        result = np.zeros((self.n_rows, space.n_scores))
        if used.size == 0:
            return space._shaped(result)
        everything = used.size == space.n_rows
        table = table if everything else table[used]
        precomputed = space.kernel.precomputed
        centres = None if precomputed else space.X if everything else space.X[used]
        step = max(1, space.block_entries // used.size)
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            block = self.X[rows]
            if not precomputed:
                block = space.kernel(block, centres)
            elif not everything:
                block = block[:, used]
            result[rows] = block @ table
        return space._shaped(result)


class FactoredKernel(NamedTuple):
    """A kernel space as a linear one: the space of Φ, and the rows it is spanned by."""

    space: LinearSpace
    pivots: Indices

    def coefficients(self, theta: Floats) -> Floats:
        """Coefficients w with Φᵀw = θ, supported on the pivots; flat."""
        space = self.space
        triangle = space.X[self.pivots]
        table = np.zeros((space.n_rows, space.n_scores))
        table[self.pivots] = scipy.linalg.solve_triangular(
            triangle,
            theta.reshape(space.n_features, space.n_scores),
            lower=True,
            trans=1,
            check_finite=False,
        )
        return table.ravel()

    def features_of(self, coefficients: Floats) -> Floats:
        """θ = Φᵀw; flat."""
        table = coefficients.reshape(self.space.n_rows, self.space.n_scores)
        return np.asarray(self.space.X.T @ table).ravel()


def largest_eigenvalue(matrix: Floats) -> float:
    """Largest eigenvalue of a positive semi-definite matrix, from a fixed start."""
    n = len(matrix)
    if n < 50:
        return max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)
    start = np.random.default_rng(0).uniform(0.5, 1.5, n)
    (value,) = scipy.sparse.linalg.eigsh(
        matrix, k=1, which="LA", v0=start, tol=1e-8, return_eigenvectors=False
    )
    return float(value) * (1.0 + 1e-7)
