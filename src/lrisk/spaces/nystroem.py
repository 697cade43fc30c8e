"""Nyström's approximation of a kernel space: Σ_j c_j k(z_j, ·) over few centres z.

With K the kernel matrix of the centres and LLᵀ its pivoted Cholesky factor, the space
is the linear one of the features φ(x) = L⁻¹k_Z(x): ‖f‖ is its own norm in the kernel's
space, and where the centres are all rows nothing is lost. The features of many rows are
never held at once: blocks of k(x, z) are evaluated, used and overwritten, so that a
pass needs O(n + m² + block) memory and reads X in order.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.linalg

from .._typing import Floats, Indices
from .kernels import Kernel, KernelColumns
from .linear import LinearSpace

#: Entries of k(x, z), or of x, in one block, which so stays in the cache; most rows.
BLOCK_ENTRIES, BLOCK_ROWS = 500_000, 2048
#: Share of rows that are not zero below which it pays to leave out those that are.
WORTH_LEAVING_OUT = 0.95
#: Entries of features up to which they are computed once and held (400 MB).
HELD_ENTRIES = 50_000_000


class SelectedRows:
    """Some rows of a matrix, read where they are when they are asked for.

    Parameters
    ----------
    X : array, memory map or CSR array of shape (n, d)
        The matrix; nothing of it is copied until rows are asked for.
    rows : array of shape (k,)
        Numbers of the rows, in ascending order if X is to be read in order.

    See Also
    --------
    NystroemSpace : Takes it in the place of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import SelectedRows
    >>> rows = SelectedRows(np.arange(10.0)[:, None], np.array([2, 5, 7]))
    >>> rows.shape, rows[1:].ravel()
    ((3, 1), array([5., 7.]))
    """

    def __init__(self, X: Any, rows: Indices) -> None:
        nested = isinstance(X, SelectedRows)
        self.X: Any = X.X if nested else X
        self.rows: Indices = X.rows[rows] if nested else rows
        self.shape, self.dtype = (len(rows), X.shape[1]), X.dtype

    def __getitem__(self, rows: Any) -> Any:
        """The matrix's rows themselves."""
        return self.X[self.rows[rows]]


def block_height(n_centres: int, n_features: int) -> int:
    """Rows in one block."""
    return max(1, min(BLOCK_ENTRIES // max(n_centres, n_features, 1), BLOCK_ROWS))


def row_blocks(X: Any, height: int) -> Iterator[tuple[slice, Any]]:
    """Slices of the rows of a matrix, and these rows as they are stored."""
    for start in range(0, X.shape[0], height):
        rows = slice(start, min(start + height, X.shape[0]))
        yield rows, X[rows]


class Centres:
    """Centres z, as many as are independent of each other, and the factor L.

    Parameters
    ----------
    kernel : Kernel
        Of features, not precomputed.
    Z : array or CSR array of shape (m, d)
    mu : float or None, default=None
        The penalty with which Gram matrices of k_Z(x) are to be used, rows having mass
        one together. Their rounding is magnified in directions in which K is small;
        centres that add no more than would drown in it are left out. None means that
        only features themselves are used: those within rounding of K are left out.

    Attributes
    ----------
    rows : array or CSR array of shape (r, d)
        The centres that are used.
    used : array of shape (r,)
        Their numbers.
    factor : array of shape (r, r)
        L, a lower triangle.
    """

    #: Share of the penalty up to which rounding may reach, and the largest tolerance.
    share, loosest = 0.1, 1e-4

    def __init__(self, kernel: Kernel, Z: Any, mu: float | None = None) -> None:
        self.kernel, self.given = kernel, Z
        K = np.asfortranarray(kernel(Z, Z))
        largest = float(np.max(np.diag(K), initial=0.0))
        size = float(np.max(np.sum(np.abs(K), axis=0), initial=0.0))
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
            K, tol=self.least(len(K), largest, size, mu), lower=1, overwrite_a=1
        )
        self.used: Indices = np.asarray(order[:rank] - 1, dtype=np.int64)
        self.rows = Z[self.used]
        self.factor: Floats = np.asfortranarray(np.tril(factor[:rank, :rank]))
        self.count = int(rank)

    @classmethod
    def least(cls, m: int, largest: float, size: float, mu: float | None) -> float:
        """What a centre has to add to those before it, k(z, z) without what they tell.

        Parameters
        ----------
        m : int
            Centres.
        largest, size : float
            The largest k(z, z), and the largest sum of sizes in a column of K.
        mu : float or None
            As of the class.
        """
        eps = float(np.finfo(np.float64).eps)
        tolerance = m * eps
        if mu is not None:
            rounding = eps * size**2 / m
            drowned = rounding / max(cls.share * mu * largest, 1e-300)
            tolerance = max(tolerance, min(drowned, cls.loosest))
        return tolerance * largest

    def inward(self, right: Floats) -> Floats:
        """L⁻¹ times columns."""
        return self._solve(right, "N")

    def outward(self, right: Floats) -> Floats:
        """L⁻ᵀ times columns: coefficients of k(z, ·) from those of φ."""
        return self._solve(right, "T")

    def _solve(self, right: Floats, trans: Literal["N", "T"]) -> Floats:
        return np.asarray(
            scipy.linalg.solve_triangular(
                self.factor, right, lower=True, trans=trans, check_finite=False
            )
        )

    def coefficients(self, table: Floats) -> Floats:
        """Coefficients (m, k) of all given centres, zero where one is not used."""
        result = np.zeros((self.given.shape[0], table.shape[1]))
        result[self.used] = self.outward(table)
        return result

    def features_of(self, coefficients: Floats) -> Floats:
        """The inverse of `coefficients`."""
        return self.inward(self.kernel(self.rows, self.given) @ coefficients)

    def evaluator(self, height: int) -> KernelColumns:
        """k(·, z) of the used centres for blocks of so many rows."""
        return KernelColumns(self.kernel, self.rows, height)


class NystroemFeatures:
    """Features of rows by their kernel with a few centres; only blocks of them exist.

    They are the matrix Φ = k_Z(X) L⁻ᵀ of shape (n, r).

    Parameters
    ----------
    centres : Centres
        The centres and the factor L of their kernel matrix.
    X : array, memory map or CSR array of shape (n, d), or SelectedRows
        The rows, read block by block.

    See Also
    --------
    NystroemSpace : Linear functions of these features.
    sklearn.kernel_approximation.Nystroem : The same idea as a transformer.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import Kernel, NystroemFeatures
    >>> from lrisk.spaces.nystroem import Centres
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> NystroemFeatures(Centres(Kernel("rbf"), X[::10]), X).shape[0]
    50
    """

    def __init__(self, centres: Centres, X: Any) -> None:
        self.centres = centres
        self.source = X
        self.shape = (X.shape[0], centres.count)
        self.dtype = np.dtype(np.float64)
        self.height = block_height(centres.count, X.shape[1])

    def __getitem__(self, rows: Any) -> Floats:
        """φ of some rows as an array of their own."""
        block = self.centres.kernel(self.source[rows], self.centres.rows)
        return np.ascontiguousarray(self.centres.inward(block.T).T)

    def __matmul__(self, table: Floats) -> Floats:
        """Φ times columns."""
        return self.times_kernel(self.centres.outward(table))

    def times_kernel(self, table: Floats) -> Floats:
        """k_Z(X) times columns."""
        result = np.empty((self.shape[0], table.shape[1]))
        kernel = self.centres.evaluator(self.height)
        for rows, block in row_blocks(self.source, self.height):
            result[rows] = kernel(block) @ table
        return result

    @property
    def T(self) -> "_Transposed":  # noqa: N802 (as in NumPy)
        """Φᵀ, for products."""
        return _Transposed(self)

    def transposed_times(self, r: Floats) -> Floats:
        """Φᵀ times columns."""
        result = np.zeros((self.shape[1], r.shape[1]))
        kernel = self.centres.evaluator(self.height)
        for rows, block in row_blocks(self.source, self.height):
            result += kernel(block).T @ r[rows]
        return self.centres.inward(result)

    def moments(self, c: Floats, y: Floats | None = None) -> tuple[Floats, Floats]:
        """Σ c_i φ_i φ_iᵀ and Σ c_i y_i φ_i in one pass over the rows that have weight.

        Both are of k_Z first and then brought to φ, at the price of m³, not n·m².
        """
        r = self.shape[1]
        gram, right = np.zeros((r, r), order="F"), np.zeros(r)
        kernel = self.centres.evaluator(self.height)
        for rows, block in row_blocks(self.source, self.height):
            weight, used = c[rows], np.flatnonzero(c[rows])
            if used.size == 0:
                continue
            if used.size < len(weight):
                block, weight = block[used], weight[used]
            K = kernel(block)
            if y is not None:
                right += (weight * y[rows][used]) @ K
            gram = _add_square(gram, K, weight)
        gram = np.tril(gram) + np.tril(gram, -1).T
        half = self.centres.inward(gram).T
        whole = self.centres.inward(np.ascontiguousarray(half))
        return 0.5 * (whole + whole.T), self.centres.inward(right)


def _add_square(gram: Floats, K: Floats, weight: Floats) -> Floats:
    """Add Σ c_i k_i k_iᵀ to the lower triangle of a matrix, in place.

    Rows far from all centres, where a Gaussian kernel is zero, are left out.
    """
    alive = np.any(K, axis=1)
    if np.count_nonzero(alive) < WORTH_LEAVING_OUT * len(K):
        K, weight = K[alive], weight[alive]
        if len(K) == 0:
            return gram
    common = float(weight[0])
    if np.any(weight != common):
        K *= np.sqrt(weight)[:, None]
        common = 1.0
    return np.asarray(
        scipy.linalg.blas.dsyrk(
            common, K.T, beta=1.0, c=gram, overwrite_c=1, lower=1, trans=0
        )
    )


class _Transposed:
    def __init__(self, features: NystroemFeatures) -> None:
        self._features = features

    def __matmul__(self, r: Floats) -> Floats:
        return self._features.transposed_times(r)


class NystroemSpace(LinearSpace):
    """Functions Σ_j c_j k(z_j, ·) of a few centres, as linear ones of their features φ.

    Parameters
    ----------
    centres : Centres
        The centres z_j and the factor of their kernel matrix.
    X : array, memory map or CSR array of shape (n, d), or SelectedRows
        The rows, read block by block.
    n_scores : int, default=1
        Scores for each row; with more than one, scores have shape (n, k).
    held : bool, default=False
        Compute the features once, n·r numbers, and hold them.

    See Also
    --------
    KernelSpace : With every row a centre.
    NystroemFeatures : The features.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import Kernel, NystroemSpace
    >>> from lrisk.spaces.nystroem import Centres
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> space = NystroemSpace(Centres(Kernel("rbf"), X[::10]), X)
    >>> space.n_rows, space.size
    (50, 5)
    """

    def __init__(
        self, centres: Centres, X: Any, *, n_scores: int = 1, held: bool = False
    ) -> None:
        self.centres = centres
        self.features = NystroemFeatures(centres, X)
        self.held = held
        matrix: Any = self.features
        if held:
            matrix = np.empty(self.features.shape)
            for rows, _ in row_blocks(matrix, self.features.height):
                matrix[rows] = self.features[rows]
        super().__init__(matrix, intercept=False, n_scores=n_scores)
        self._last: tuple[Floats, Floats] | None = None

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x_i), shape (n,) or (n, k); the last are remembered, for passes cost."""
        if self._last is None or not np.array_equal(self._last[0], theta):
            self._last = theta.copy(), super().scores(theta)
        return self._last[1].copy()

    def moments(self, c: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Σ c_i φ_i φ_iᵀ and Σ c_i y_i φ_i; one score only."""
        if self.held:
            return self._scalar_gram(c), self._transposed_times((c * y)[:, None])[:, 0]
        return self.features.moments(c, y)

    def at(self, X: Any) -> "NystroemSpace":
        """The same functions over other rows."""
        return NystroemSpace(self.centres, X, n_scores=self.n_scores)

    def restricted(self, rows: Indices) -> LinearSpace:
        """The same functions over some of the rows."""
        if self.held:
            return LinearSpace(self.X[rows], intercept=False, n_scores=self.n_scores)
        return self.at(SelectedRows(self.features.source, rows))

    def coefficients(self, theta: Floats) -> Floats:
        """Coefficients c of the given centres; flat."""
        table = theta.reshape(self.n_features, self.n_scores)
        return self.centres.coefficients(table).ravel()

    def features_of(self, coefficients: Floats) -> Floats:
        """θ of the function with given coefficients; flat."""
        table = coefficients.reshape(-1, self.n_scores)
        return self.centres.features_of(table).ravel()

    @property
    def rows(self) -> Any:
        """Row access for compiled loops, where the features are held; missing else."""
        if not self.held:
            raise AttributeError("features that are not held have no rows")
        return super().rows

    def _scalar_gram(self, c: Floats) -> Floats:
        return super()._scalar_gram(c) if self.held else self.features.moments(c)[0]


def kernel_scores(kernel: Kernel, centres: Any, X: Any, table: Floats) -> Floats:
    """Σ_j c_j k(z_j, x_i) in blocks, shape (n, k), for a table c of shape (m, k)."""
    used = np.flatnonzero(np.any(table != 0.0, axis=1))
    result = np.zeros((X.shape[0], table.shape[1]))
    if used.size:
        height = block_height(used.size, X.shape[1])
        columns = KernelColumns(kernel, centres[used], height)
        for rows, block in row_blocks(X, height):
            result[rows] = columns(block) @ table[used]
    return result
