"""Row access for compiled loops: one loop serves dense and CSR data.

``row_dot(rows, i, w)`` is x_i·w and ``row_axpy(rows, i, c, w)`` adds c·x_i to w in
place; which code runs is settled by the type of `rows` when the loop is compiled.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._jit import implements
from .._typing import AnyArray, Floats


class DenseRows(NamedTuple):
    """Rows of a C-contiguous matrix."""

    X: AnyArray


class CentredRows(NamedTuple):
    """Rows of a C-contiguous matrix less an offset."""

    X: AnyArray
    offset: AnyArray


class CSRRows(NamedTuple):
    """Rows of a matrix in compressed sparse row form."""

    data: AnyArray
    indices: AnyArray
    indptr: AnyArray


Rows = DenseRows | CentredRows | CSRRows


def row_access(X: AnyArray | sp.csr_array, offset: Floats | None = None) -> Rows:
    """Rows of X, or of X − offset, in few types so that little is compiled twice."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        indices = X.indices.astype(np.int64, copy=False)
        return CSRRows(
            _plain(X.data), _plain(indices), _plain(X.indptr.astype(np.int64))
        )
    if offset is not None:
        return CentredRows(_plain(X), offset)
    return DenseRows(_plain(X))


def _plain(array: AnyArray) -> AnyArray:
    """C-contiguous, writeable (read-only arrays are another type to numba), float."""
    if array.dtype.kind == "f" and array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else array.copy()


def row_dot(rows: Any, i: int, w: AnyArray) -> float:
    """x_i·w, in compiled code."""
    raise NotImplementedError("only available in compiled code")


def row_axpy(rows: Any, i: int, c: float, w: AnyArray) -> None:
    """w += c·x_i, in compiled code."""
    raise NotImplementedError("only available in compiled code")


@implements(row_dot, DenseRows)
def _dense_dot(rows: Any, i: Any, w: Any) -> Any:
    X = rows.X
    total = 0.0
    for j in range(X.shape[1]):
        total += X[i, j] * w[j]
    return total


@implements(row_dot, CentredRows)
def _centred_dot(rows: Any, i: Any, w: Any) -> Any:
    X, offset = rows.X, rows.offset
    total = 0.0
    for j in range(X.shape[1]):
        total += (X[i, j] - offset[j]) * w[j]
    return total


@implements(row_dot, CSRRows)
def _csr_dot(rows: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        total += rows.data[k] * w[rows.indices[k]]
    return total


@implements(row_axpy, DenseRows)
def _dense_axpy(rows: Any, i: Any, c: Any, w: Any) -> Any:
    X = rows.X
    for j in range(X.shape[1]):
        w[j] += c * X[i, j]


@implements(row_axpy, CentredRows)
def _centred_axpy(rows: Any, i: Any, c: Any, w: Any) -> Any:
    X, offset = rows.X, rows.offset
    for j in range(X.shape[1]):
        w[j] += c * (X[i, j] - offset[j])


@implements(row_axpy, CSRRows)
def _csr_axpy(rows: Any, i: Any, c: Any, w: Any) -> Any:
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        w[rows.indices[k]] += c * rows.data[k]
