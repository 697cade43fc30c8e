"""Sets of k centres c_1 … c_k; the scores of a row are its squared distances to them.

θ is flat: the centres (k, d), row by row, and f_θ(x)_j = ‖x − c_j‖². Dense rows are
compared with the centres by differences, which keeps small distances exact; sparse rows
by ‖x‖² − 2x·c + ‖c‖², which costs what is stored and loses the digits that ‖x‖² has in
excess of the distance.
"""

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._jit import jit
from .._typing import Floats, Indices
from .linear import LinearSpace, Matrix


class CenterSpace:
    """Sets of k centres: the scores of a row are its squared distances to them.

    Parameters
    ----------
    X : array or CSR array of shape (n, d), float32 or float64
        The rows, read where they are.
    n_centers : int
        How many centres, k.

    See Also
    --------
    LinearSpace : For linear functions instead of distances.
    lrisk.RiskKMeans : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import CenterSpace
    >>> space = CenterSpace(np.array([[0.0], [3.0]]), n_centers=2)
    >>> space.scores(np.array([0.0, 1.0]))
    array([[0., 1.],
           [9., 4.]])
    """

    #: There is none; the name is part of what an objective asks a space.
    intercept = False

    def __init__(self, X: Matrix, n_centers: int) -> None:
        self.X: Any = X
        self.n_rows, self.n_features = X.shape
        self.n_scores = n_centers
        self.size = n_centers * self.n_features
        self._linear = LinearSpace(X, intercept=False, n_scores=n_centers)

    # -- θ ---------------------------------------------------------------------------

    def centers(self, theta: Floats) -> Floats:
        """θ as the centres it stands for, shape (k, d)."""
        return theta.reshape(self.n_scores, self.n_features)

    def inner(self, a: Floats, b: Floats) -> float:
        """⟨a, b⟩ over all coordinates."""
        return float(np.vdot(a, b))

    def penalised(self, theta: Floats) -> Floats:
        """All of θ: the gradient of ½⟨θ, θ⟩."""
        return theta.copy()

    # -- functions of θ over the rows --------------------------------------------------

    def scores(self, theta: Floats) -> Floats:
        """‖x_i − c_j‖², shape (n, k)."""
        centres = self.centers(theta)
        if self._linear.sparse:
            return self._expanded(centres)
        scores = np.empty((self.n_rows, self.n_scores))
        for rows, block in self._linear.blocks():
            _squared_distances(block, centres, scores[rows])
        return scores

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_ij ∇‖x_i − c_j‖² = 2(Σ_i r_ij)c_j − 2Σ_i r_ij x_i, flat like θ."""
        sums = self._linear.pullback(theta, r).reshape(self.n_features, self.n_scores)
        total = r.sum(axis=0)[:, None]
        return np.asarray(2.0 * (total * self.centers(theta) - sums.T)).ravel()

    def nearest(self, theta: Floats) -> tuple[Indices, Floats]:
        """Index of each row's nearest centre and the squared distance to it.

        Block by block and without the (n, k) scores: a product finds the centre, a
        difference gives the distance.
        """
        centres = self.centers(theta)
        labels = np.empty(self.n_rows, dtype=np.int64)
        losses = np.empty(self.n_rows)
        if self._linear.sparse:
            scores = self._expanded(centres)
            labels[:] = scores.argmin(axis=1)
            losses[:] = scores[np.arange(self.n_rows), labels]
            return labels, losses
        # The product compares well only near zero, so everything is moved there.
        middle = centres.mean(axis=0)
        moved = np.ascontiguousarray(centres - middle)
        half_norms = 0.5 * np.einsum("jf,jf->j", moved, moved)
        shifted = LinearSpace(self.X, intercept=False, offset=middle)
        for rows, block in shifted.blocks():
            products = block @ moved.T
            _choose(block, moved, products, half_norms, labels[rows], losses[rows])
        return labels, losses

    # -- views and capabilities --------------------------------------------------------

    def sums(self, labels: Indices, weights: Floats) -> tuple[Floats, Floats]:
        """Σ λ_i x_i and Σ λ_i over the rows of each centre, shapes (k, d) and (k,)."""
        counts: Any = np.bincount(labels, weights, minlength=self.n_scores)
        totals = np.asarray(counts, dtype=np.float64)
        if self._linear.sparse or self.X.dtype == np.float64:
            product: Any = self._members(labels, weights) @ self.X
            return (product.toarray() if self._linear.sparse else product), totals
        sums = np.zeros((self.n_scores, self.n_features))
        for rows, block in self._linear.blocks():
            sums += self._members(labels[rows], weights[rows]) @ block
        return sums, totals

    def points(self, rows: Any) -> Floats:
        """The given rows as a dense float64 array."""
        part = self.X[rows]
        part = part.toarray() if self._linear.sparse else part
        return np.array(part, dtype=np.float64)

    def at(self, X: Matrix) -> "CenterSpace":
        """The same centres over other rows."""
        return CenterSpace(X, self.n_scores)

    def squared_norms(self) -> Floats:
        """Curvature of a row's scores in the centres: 2, wherever it lies."""
        return np.full(self.n_rows, 2.0)

    def distinct_rows(self, limit: int) -> int:
        """How many rows differ from each other, counted up to a limit."""
        seen: set[bytes] = set()
        for _, block in self._linear.blocks():
            block += 0.0  # −0 is 0
            for row in block:
                seen.add(row.tobytes())
                if len(seen) >= limit:
                    return limit
        return len(seen)

    @functools.cached_property
    def _row_norms(self) -> Floats:
        return self._linear.squared_norms()

    def _expanded(self, centres: Floats) -> Floats:
        products = self._linear.scores(centres.T.ravel())
        scores = products.reshape(self.n_rows, self.n_scores)
        scores *= -2.0
        scores += self._row_norms[:, None]
        scores += np.einsum("jf,jf->j", centres, centres)
        return np.maximum(scores, 0.0, out=scores)

    def _members(self, labels: Indices, weights: Floats) -> sp.csc_array:
        """λ_i at (label of i, i): one entry in each of the columns."""
        starts = np.arange(len(labels) + 1)
        shape = (self.n_scores, len(labels))
        return sp.csc_array((weights, labels, starts), shape=shape)


@jit
def _squared_distances(block: Any, centres: Any, out: Any) -> Any:
    for i in range(block.shape[0]):
        for j in range(centres.shape[0]):
            total = 0.0
            for f in range(block.shape[1]):
                difference = block[i, f] - centres[j, f]
                total += difference * difference
            out[i, j] = total


@jit
def _choose(
    block: Any, centres: Any, products: Any, half_norms: Any, labels: Any, losses: Any
) -> Any:
    """The centre with the smallest ½‖c‖² − x·c, and the distance by differences."""
    for i in range(block.shape[0]):
        best, least = 0, half_norms[0] - products[i, 0]
        for j in range(1, centres.shape[0]):
            value = half_norms[j] - products[i, j]
            if value < least:
                best, least = j, value
        total = 0.0
        for f in range(block.shape[1]):
            difference = block[i, f] - centres[best, f]
            total += difference * difference
        labels[i] = best
        losses[i] = total
