"""Linear functions f(x) = (x − m)·w + b over the rows of a dense or CSR matrix.

θ is flat: the coefficients, then the intercept, if there is one; for k scores the same
in k columns, θ = [W; b] of shape (d + 1, k), row by row. The offset m, a column mean,
is subtracted wherever X is used and never from X itself: it keeps w as it is, moves
only the intercept, and spares the Gram matrix the near-collinearity of an uncentred
column with the column of ones.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._typing import AnyArray, Floats, Indices
from ._loops import first_and_second
from .base import Space
from .offset import leave_outliers, some_rows
from .rows import Rows, row_access

Matrix = AnyArray | sp.csr_array


class LinearSpace(Space):
    """Linear functions of the features of each row.

    Parameters
    ----------
    X : array or CSR array of shape (n, d), float32 or float64
        The rows, read where they are.
    intercept : bool
        Whether θ ends in a constant for each score.
    n_scores : int, default=1
        Scores for each row; with more than one, scores have shape (n, k).
    offset : array of shape (d,) or None, default=None
        What is subtracted from every row wherever X is used, such as the column means.

    See Also
    --------
    KernelSpace : For relations that are not linear.
    lrisk.RiskRegressor : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import LinearSpace
    >>> space = LinearSpace(np.array([[1.0], [2.0]]), intercept=True)
    >>> space.scores(np.array([3.0, 0.5]))  # 3x + ½
    array([3.5, 6.5])
    """

    #: Entries of X converted to dense float64 at a time, in at most so many rows.
    block_entries, block_rows = 4_000_000, 2048
    #: Entries of X up to which a dense and centred copy is kept.
    kept_entries = 100_000
    #: Columns up to which a plain loop over these is faster than a product of matrices.
    few_columns = 24
    #: Rows from which the means are taken from some of them.
    many_rows = 200_000
    #: Entries of X up to which `rotated` makes a dense copy.
    most_rotated = 50_000_000

    def __init__(
        self,
        X: Matrix,
        *,
        intercept: bool,
        n_scores: int = 1,
        offset: Floats | None = None,
    ) -> None:
        self.X: Any = X
        self.intercept = intercept
        self.n_scores = n_scores
        self.offset = offset
        self.n_rows, self.n_features = X.shape
        self.n_columns = self.n_features + intercept
        self.size = self.n_columns * n_scores
        self._sparse = sp.issparse(X)
        self._exact = not self._sparse and X.dtype == np.float64

    @classmethod
    def centred(
        cls, X: Matrix, mass: Floats, *, intercept: bool, n_scores: int = 1
    ) -> "LinearSpace":
        """The space with the column means under `mass` as offset, if intercepted.

        Of very many rows some are enough, since any offset near the means will do; and
        where a few entries carry the mean far away the median is taken.
        """
        plain = cls(X, intercept=intercept, n_scores=n_scores)
        if not intercept:
            return plain
        if plain._sparse or plain.n_rows < cls.many_rows:
            means = plain._transposed_times(mass[:, None])[:, 0]
        else:
            strips = np.arange(0, plain.n_rows - 16, 500)
            rows = (strips[:, None] + np.arange(16)).ravel()
            some = cls(X[rows], intercept=False)
            share = mass[rows, None] / mass[rows].sum()
            means = some._transposed_times(share)[:, 0]
        some_block = plain._block(some_rows(plain.n_rows))
        leave_outliers(means, some_block[:, : plain.n_features])
        plain._settle_constants(means)
        return cls(X, intercept=intercept, n_scores=n_scores, offset=means)

    # -- θ ---------------------------------------------------------------------------

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (d, k) and intercepts (k,), zero if there are none."""
        table = theta.reshape(self.n_columns, self.n_scores)
        if self.intercept:
            return table[:-1], table[-1]
        return table, np.zeros(self.n_scores)

    def uncentred(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (d, k) and intercepts (k,) of the function without offset."""
        coef, intercept = self.split(theta)
        if self.offset is not None:
            intercept = intercept - self.offset @ coef
        return coef, intercept

    def join(self, coef: Floats, intercept: Floats) -> Floats:
        """The inverse of `uncentred`."""
        if self.offset is not None:
            intercept = intercept + self.offset @ coef
        table = np.vstack([coef, intercept[None, :]]) if self.intercept else coef
        return np.ascontiguousarray(table, dtype=np.float64).ravel()

    def inner(self, a: Floats, b: Floats) -> float:
        """⟨a, b⟩ of the coefficients; intercepts do not count."""
        return float(np.vdot(self.split(a)[0], self.split(b)[0]))

    def penalised(self, theta: Floats) -> Floats:
        """θ with its intercepts set to zero: the gradient of ½⟨θ, θ⟩."""
        result = theta.copy()
        if self.intercept:
            result[-self.n_scores :] = 0.0
        return result

    # -- functions of θ over the rows --------------------------------------------------

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x_i), shape (n,) or (n, k)."""
        coef, intercept = self.split(theta)
        scores = self._times(coef)
        shift = intercept if self.offset is None else intercept - self.offset @ coef
        scores += shift
        return scores[:, 0] if self.n_scores == 1 else scores

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i ∇f_θ(x_i), flat like θ; r has the shape of the scores."""
        r = r.reshape(self.n_rows, self.n_scores)
        gradient = np.empty((self.n_columns, self.n_scores))
        inner = gradient[: self.n_features]
        inner[:] = self._transposed_times(r)
        if self.intercept or self.offset is not None:
            total = r.sum(axis=0)
            if self.offset is not None:
                inner -= self.offset[:, None] * total
            if self.intercept:
                gradient[-1] = total
        return gradient.ravel()

    def gram(self, c: Floats) -> Floats:
        """Σ_i ∇f(x_i) C_i ∇f(x_i)ᵀ, shape (size, size).

        c holds non-negative scalars (n,) or positive semi-definite blocks (n, k, k).
        """
        if c.ndim == 1:
            return self._scalar_gram(c)
        m, k = self.n_columns, self.n_scores
        result = np.zeros((m, k, m, k))
        for rows, block in self.blocks():
            for a in range(k):
                for b in range(a + 1):
                    result[:, a, :, b] += block.T @ (c[rows, a, b, None] * block)
        for a in range(k):
            for b in range(a):
                result[:, b, :, a] = result[:, a, :, b].T
        return result.reshape(self.size, self.size)

    def pullback_and_gram(
        self, theta: Floats, r: Floats, c: Floats
    ) -> tuple[Floats, Floats]:
        """`pullback` and `gram` at once."""
        few = self.n_rows * self.n_columns <= self.kept_entries
        if self.n_scores > 1 or self.size > self.few_columns or not few:
            return self.pullback(theta, r), self.gram(c)
        gradient, gram = np.zeros(self.size), np.zeros((self.size, self.size))
        first_and_second(self._whole, r, c, gradient, gram)
        return gradient, gram

    def column_gram(self, c: Floats) -> Floats:
        """Σ_i c_i x_i x_iᵀ with x = [x − offset, 1], whatever the number of scores."""
        return self._scalar_gram(c)

    def gradient_rows(self, rows: Indices, r: Floats) -> Floats:
        """r_i ∇f(x_i) for the given rows, shape (m, size)."""
        if self.n_scores == 1 and self.n_rows * self.n_columns <= self.kept_entries:
            return np.asarray(r[:, None] * self._whole[rows])
        block = self._block(rows)
        if self.n_scores == 1:
            block *= r[:, None]
            return block
        products = np.einsum("ij,ik->ijk", block, r)
        return np.asarray(products).reshape(len(rows), self.size)

    def largest_curvature(self, mass: Floats) -> float:
        """Largest eigenvalue of Σ m_i x_i x_iᵀ, with x = [x − offset, 1]."""
        plain = LinearSpace(self.X, intercept=self.intercept, offset=self.offset)
        return float(np.linalg.eigvalsh(plain.gram(mass))[-1])

    # -- views and capabilities --------------------------------------------------------

    def at(self, X: Matrix) -> "LinearSpace":
        """The same functions over other rows."""
        return LinearSpace(
            X, intercept=self.intercept, n_scores=self.n_scores, offset=self.offset
        )

    def restricted(self, rows: Indices) -> "LinearSpace":
        """The same functions over some of the rows."""
        return self.at(self.X[rows])

    def take(self, rows: Indices) -> "LinearSpace":
        """The same functions over some of the rows, as dense float64 of their own."""
        block = self._block(rows)[:, : self.n_features]
        return LinearSpace(block, intercept=self.intercept, n_scores=self.n_scores)

    def rows(self) -> Rows:
        """Row access for compiled loops: of X − m where dense, of X itself in CSR."""
        return row_access(self.X, None if self._sparse else self.offset)

    def uncentred_space(self) -> "LinearSpace":
        """The same functions without an offset: another intercept, the same w."""
        return LinearSpace(self.X, intercept=self.intercept, n_scores=self.n_scores)

    @property
    def sparse(self) -> bool:
        """Whether X is in CSR form."""
        return bool(self._sparse)

    def squared_norms(self) -> Floats:
        """‖(x_i − m, 1)‖² for each row (without the 1 where there is no intercept)."""
        if self._sparse and self.offset is None:
            squares = np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
            return np.asarray(squares, dtype=np.float64) + self.intercept
        result = np.empty(self.n_rows)
        for rows, block in self.blocks():
            result[rows] = np.einsum("ij,ij->i", block, block)
        return result

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Slices of rows as dense float64 [x − m, 1], never all at once."""
        for rows in self._slices():
            yield rows, self._block(rows)

    def rotated(self) -> tuple["LinearSpace", Floats] | None:
        """For n < d: the same functions in r ≤ n coordinates, and the basis Q (d, r).

        The penalty keeps w in the span of the rows, w = Qv with X − 1mᵀ = RᵀQᵀ and
        ‖w‖ = ‖v‖, so nothing is lost. Directions that are nothing but rounding (centred
        rows have rank n − 1) are left out. None when there is nothing to gain.
        """
        entries = self.n_rows * self.n_features
        if self.n_rows >= self.n_features or entries > self.most_rotated:
            return None
        rows = self._block(slice(0, self.n_rows))[:, : self.n_features]
        # Pivots tell rounding from directions, but are slow to choose among d long
        # columns: the n × n triangle has the same ones.
        outer, square = scipy.linalg.qr(
            rows.T, mode="economic", overwrite_a=True, check_finite=False
        )
        inner, triangle, order = scipy.linalg.qr(
            square, pivoting=True, check_finite=False
        )
        sizes = np.abs(np.diagonal(triangle))
        rounding = self.n_features * np.finfo(np.float64).eps * sizes.max(initial=0.0)
        # One at least, even of rows of zeros: no solver is made for no parameters.
        rank = max(int(np.sum(sizes > rounding)), 1)
        basis = outer @ inner[:, :rank]
        coordinates = np.empty((self.n_rows, rank))
        coordinates[order] = triangle[:rank].T
        small = LinearSpace(
            coordinates,
            intercept=self.intercept,
            n_scores=self.n_scores,
        )
        return small, np.asarray(basis, dtype=np.float64)

    def _settle_constants(self, means: Floats) -> None:
        """Make the means of constant columns exact, so that they centre to zero.

        Left to rounding, such a column would be a tiny copy of the intercept's.
        """
        first = self.X[[0]].toarray()[0] if self._sparse else self.X[0]
        near = (first != means) & (np.abs(first - means) <= 1e-8 * np.abs(means))
        for j in np.flatnonzero(near):
            column = self.X[:, [j]].toarray() if self._sparse else self.X[:, j]
            if np.all(column == first[j]):
                means[j] = first[j]

    def diagonal(self, c: Floats) -> Floats:
        """Σ_i c_i (x_i − m)² for each column, the intercept's Σc last."""
        if self._sparse:  # without making it dense
            squares = self.X.multiply(self.X).T @ c
            if self.offset is not None:
                m = self.offset
                squares = squares - 2.0 * m * (self.X.T @ c) + m**2 * c.sum()
            result = np.maximum(squares, 0.0)
            return np.append(result, c.sum()) if self.intercept else np.asarray(result)
        result = np.zeros(self.n_columns)
        for rows, block in self.blocks():
            result += c[rows] @ block**2
        return result

    # -- products with X ---------------------------------------------------------------

    def _block(self, rows: Any) -> Floats:
        """Rows of [X − m, 1] as a dense float64 array of their own."""
        if not isinstance(rows, slice) and len(rows) > self.block_rows:
            block = np.empty((len(rows), self.n_columns))
            for start in range(0, len(rows), self.block_rows):
                part = slice(start, start + self.block_rows)
                block[part] = self._block(rows[part])
            return block
        part = self.X[rows]
        part = part.toarray() if self._sparse else part
        block = np.empty((part.shape[0], self.n_columns))
        if self.offset is None:
            block[:, : self.n_features] = part
        else:
            np.subtract(part, self.offset, out=block[:, : self.n_features])
        if self.intercept:
            block[:, -1] = 1.0
        return block

    def _slices(self) -> Iterator[slice]:
        fit = self.block_entries // max(self.n_columns, 1)
        height = max(1, min(self.block_rows, fit))
        for start in range(0, self.n_rows, height):
            yield slice(start, min(start + height, self.n_rows))

    def _raw_blocks(self) -> Iterator[tuple[slice, Floats]]:
        for rows in self._slices():
            yield rows, self.X[rows].astype(np.float64)

    def _times(self, coef: Floats) -> Floats:
        if self._exact or self._sparse:
            return np.asarray(self.X @ coef, dtype=np.float64)
        result = np.empty((self.n_rows, coef.shape[1]))
        for rows, block in self._raw_blocks():
            result[rows] = block @ coef
        return result

    def _transposed_times(self, r: Floats) -> Floats:
        if self._exact or self._sparse:
            return np.asarray(self.X.T @ r, dtype=np.float64)
        result = np.zeros((self.n_features, r.shape[1]))
        for rows, block in self._raw_blocks():
            result += block.T @ r[rows]
        return result

    @functools.cached_property
    def _whole(self) -> Floats:
        """All rows of [X − m, 1], where they are few enough to be kept."""
        return self._block(slice(0, self.n_rows))

    def _scalar_gram(self, c: Floats) -> Floats:
        if self.n_rows * self.n_columns <= self.kept_entries:
            counted, whole = np.flatnonzero(c), self._whole
            if 2 * len(counted) <= len(c):  # a superquantile leaves most rows out
                c, whole = c[counted], whole[counted]
            return np.asarray((c[:, None] * whole).T @ whole)
        result = np.zeros((self.n_columns, self.n_columns))
        root = np.sqrt(c)
        for rows, block in self.blocks():
            block *= root[rows, None]
            result += block.T @ block
        return result
