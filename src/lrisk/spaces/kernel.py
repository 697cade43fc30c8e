"""The functions f = Σ_i w_i k(x_i, ·) of a reproducing kernel Hilbert space.

θ is the table of coefficients w, one row for each training row, flat; the inner product
is ⟨a, b⟩ = aᵀKb. In it the gradient of f(x_i) is k(x_i, ·), whose table is the unit
vector e_i: a gradient step changes w directly, without another product by K (paper 2,
algorithm 1).
"""

import functools
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .._params import refused
from .._typing import Floats, Indices
from .base import Space
from .kernels import Kernel
from .linear import LinearSpace


class KernelSpace(Space):
    """Functions Σ w_i k(x_i, ·) over the training rows x_i.

    Parameters
    ----------
    kernel : Kernel
        The function k of two rows.
    X : array or CSR array of shape (n, d)
        Training rows; the kernel matrix itself if it is precomputed.
    n_scores : int, default=1
        Scores for each row; with more than one, scores have shape (n, k).

    See Also
    --------
    FactoredSpace : The same functions, as linear ones of features.
    NystroemSpace : With a few centres, for many rows.
    lrisk.KernelRiskRegressor : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import Kernel, KernelSpace
    >>> space = KernelSpace(Kernel("linear"), np.array([[1.0], [2.0]]))
    >>> space.scores(np.array([1.0, 1.0]))
    array([3., 6.])
    """

    intercept = False

    def __init__(self, kernel: Kernel, X: Any, *, n_scores: int = 1) -> None:
        self.kernel = kernel
        self.X = X
        self.n_rows = X.shape[0]
        self.n_scores = n_scores
        self.size = self.n_rows * n_scores
        kernel.check_training("KernelSpace", X)
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

    def largest_curvature(self, mass: Floats) -> float:
        """‖m^½Km^½‖, by Lanczos, rounded up by more than its tolerance."""
        K, root = self.matrix(), np.sqrt(mass)
        n = self.n_rows
        if n < 50:
            scaled = root[:, None] * K * root
            return max(float(np.linalg.eigvalsh(scaled)[-1]), 0.0)
        if not K.any():
            return 0.0  # Lanczos cannot begin
        operator = scipy.sparse.linalg.LinearOperator(
            (n, n), matvec=lambda v: root * (K @ (root * v.ravel())), dtype=np.float64
        )
        start = np.random.default_rng(0).uniform(0.5, 1.5, n)
        (value,) = scipy.sparse.linalg.eigsh(
            operator, k=1, which="LA", v0=start, tol=1e-8, return_eigenvectors=False
        )
        return max(float(value), 0.0) * (1.0 + 1e-7)

    def at(self, X: Any) -> "KernelRows":
        """The same functions over other rows (of k(x, x_i) if precomputed)."""
        return KernelRows(self.kernel, self.X, X, self.n_scores)

    def factored(self) -> "FactoredSpace":
        """The same functions as linear ones in features Φ with K = ΦΦᵀ.

        By Cholesky with complete pivoting, which stops at the numerical rank; a linear
        kernel of few features is its own factor.
        """
        if self.kernel.name == "linear" and self.X.shape[1] <= self.n_rows:
            return FactoredSpace(self.X, n_scores=self.n_scores)
        K = np.asfortranarray(self.new_matrix())
        rounding = self.n_rows * np.finfo(np.float64).eps * float(np.max(np.diag(K)))
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
            K, tol=rounding, lower=1, overwrite_a=1
        )
        features = np.empty((self.n_rows, rank))
        features[order - 1] = np.tril(factor[:, :rank])
        return FactoredSpace(features, n_scores=self.n_scores, pivots=order[:rank] - 1)

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
    """Functions Σ w_i k(c_i, ·) over the rows of X, evaluated block by block.

    Parameters
    ----------
    kernel : Kernel
        The function k of two rows.
    centres : array or CSR array of shape (n, d)
        The rows c_i; not used if the kernel is precomputed.
    X : array or CSR array of shape (m, d)
        Rows to evaluate at; k(x, c_i), shape (m, n), if precomputed.
    n_scores : int, default=1
        Functions to evaluate at once; with more than one, w has shape (n, k).

    See Also
    --------
    KernelSpace : The same functions at the training rows.
    NystroemSpace : With a few centres, for many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import Kernel, KernelRows
    >>> rows = KernelRows(Kernel("linear"), np.array([[1.0], [2.0]]), np.array([[3.0]]))
    >>> rows.scores(np.array([1.0, 1.0]))  # 1·3 + 2·3
    array([9.])
    """

    #: Entries of k(x, c_i) held at a time.
    block_entries = 4_000_000

    def __init__(self, kernel: Kernel, centres: Any, X: Any, n_scores: int = 1) -> None:
        self.kernel = kernel
        self.centres = centres
        self.X = X
        self.n_rows = X.shape[0]
        self.n_scores = n_scores

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x), shape (m,) or (m, k); centres without coefficients cost nothing."""
        table = theta.reshape(-1, self.n_scores)
        used = np.flatnonzero(np.any(table != 0.0, axis=1))
        result = np.zeros((self.n_rows, self.n_scores))
        if used.size > 0:
            everything = used.size == len(table)
            precomputed = self.kernel.precomputed
            centres = self.centres
            if not everything and not precomputed:
                centres = centres[used]
            step = max(1, self.block_entries // used.size)
            for start in range(0, self.n_rows, step):
                rows = slice(start, min(start + step, self.n_rows))
                block = self.X[rows]
                if not precomputed:
                    block = self.kernel(block, centres)
                elif not everything:
                    block = block[:, used]
                result[rows] = block @ table[used]
        return result[:, 0] if self.n_scores == 1 else result


class FactoredSpace(LinearSpace):
    """A kernel space as the linear one of its features Φ, with ΦΦᵀ the kernel matrix.

    Parameters
    ----------
    features : array or CSR array of shape (n, r)
        The features Φ of the n rows.
    n_scores : int, default=1
        Scores for each row; with more than one, scores have shape (n, k).
    pivots : array of shape (r,) or None, default=None
        Rows on which Φ is a lower triangle.

    See Also
    --------
    KernelSpace : The same functions, by the coefficients of the rows.
    NystroemSpace : For more rows than a kernel matrix can have.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import FactoredSpace
    >>> space = FactoredSpace(np.array([[1.0, 0.0], [0.5, 2.0]]), pivots=np.arange(2))
    >>> space.coefficients(np.array([1.0, 2.0]))
    array([0.5, 1. ])
    """

    def __init__(
        self, features: Any, *, n_scores: int = 1, pivots: Indices | None = None
    ) -> None:
        super().__init__(features, intercept=False, n_scores=n_scores)
        self.pivots = pivots

    def coefficients(self, theta: Floats) -> Floats:
        """Kernel coefficients w with Φᵀw = θ; flat."""
        right = theta.reshape(self.n_features, self.n_scores)
        if self.pivots is None:
            dense = self._block(slice(0, self.n_rows))
            return np.asarray(np.linalg.lstsq(dense.T, right, rcond=None)[0]).ravel()
        table = np.zeros((self.n_rows, self.n_scores))
        table[self.pivots] = scipy.linalg.solve_triangular(
            self.X[self.pivots], right, lower=True, trans=1, check_finite=False
        )
        return table.ravel()

    def features_of(self, coefficients: Floats) -> Floats:
        """θ = Φᵀw; flat."""
        table = coefficients.reshape(self.n_rows, self.n_scores)
        return self._transposed_times(table).ravel()
