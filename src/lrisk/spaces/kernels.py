"""Kernels by scikit-learn's names: k(x, x′) for all pairs of two sets of rows.

Only positive definite kernels are here: for others ‖f‖² may be negative and nothing in
the theory holds.
"""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from .._params import check_count, check_real, refused
from .._typing import Bools, Floats, Indices

KernelName = str | Callable[..., float]

#: Which of gamma, degree and coef0 each named kernel takes.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "cosine": (),
}

#: γ‖x‖² beyond which rounding of products is felt in γ‖x − z‖² (by 1e-9).
FAR = 1e6
#: Entries beyond it are as good as infinite; their squares must not be.
LARGEST = 1e150


class Kernel:
    """A positive definite function of two rows.

    Parameters
    ----------
    name : str or callable
        ``"linear"`` x·x′, ``"poly"`` (γ x·x′ + c₀)^degree, ``"rbf"`` exp(−γ‖x − x′‖²),
        ``"laplacian"`` exp(−γ‖x − x′‖₁), ``"cosine"``, ``"precomputed"``, or a function
        of two rows.
    gamma : float or None
        γ; None means 1/n_features.
    degree, coef0 : float
    params : mapping or None
        Keyword arguments for a callable kernel.
    """

    def __init__(
        self,
        name: KernelName = "rbf",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.params = dict(params or {})

    def validate(self, owner: object = "Kernel") -> None:
        """Refuse unknown names and parameters that give no positive definite kernel."""
        known = (*PARAMETERS, "precomputed")
        if not callable(self.name) and self.name not in known:
            close = difflib.get_close_matches(str(self.name), known, n=1)
            remedy = f"did you mean {close[0]!r}" if close else "or pass a function"
            rule = f"one of {', '.join(map(repr, known))} or a function of two rows"
            raise ValueError(refused(owner, "kernel", rule, self.name, remedy))
        if self.gamma is not None:
            remedy = "None means 1/n_features"
            check_real(owner, "gamma", self.gamma, low=0, low_open=True, remedy=remedy)
        if self.name in ("poly", "polynomial"):
            check_count(owner, "degree", self.degree)
            remedy = "a negative one gives no positive definite kernel"
            check_real(owner, "coef0", self.coef0, low=0, remedy=remedy)

    def with_gamma(self, gamma: float) -> "Kernel":
        """The same kernel with another γ."""
        return Kernel(
            self.name,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.params,
        )

    @property
    def precomputed(self) -> bool:
        """Whether "rows" are already those of a kernel matrix."""
        return isinstance(self.name, str) and self.name == "precomputed"

    @property
    def trusted(self) -> bool:
        """Whether it is positive definite by its formula."""
        return isinstance(self.name, str) and self.name in PARAMETERS

    def __call__(self, X: Any, Z: Any) -> Floats:
        """K with K_ij = k(X_i, Z_j), shape (n, m); a new array, float64, row by row."""
        if self.precomputed:
            return np.array(_dense(X), order="C")
        if callable(self.name):
            return self._pairs(self.name, X, Z)
        gamma = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        match self.name:
            case "linear":
                return _products(X, Z)
            case "cosine":
                return _products(_unit(X), _unit(Z))
            case "rbf":
                return _gaussian(X, Z, gamma)
            case "laplacian":
                K = cdist(_dense(X), _dense(Z), "cityblock")
                K *= -gamma
                return np.exp(K, out=K)
            case _:
                K = _products(X, Z)
                K *= gamma
                K += self.coef0
                return np.asarray(np.power(K, self.degree, out=K))

    def _pairs(self, function: Callable[..., float], X: Any, Z: Any) -> Floats:
        same = X is Z
        left = _dense(X)
        right = left if same else _dense(Z)
        K = np.empty((len(left), len(right)))
        for i, x in enumerate(left):
            for j, z in enumerate(right[: i + 1] if same else right):
                K[i, j] = function(x, z, **self.params)
        if same:
            upper = np.triu_indices(len(K), 1)
            K[upper] = K.T[upper]
        return K


class KernelColumns:
    """k(·, z_j) for centres z that stay the same, block after block of rows.

    The Gaussian kernel of dense rows is one matrix product and one exponential:
    −γ‖x − z‖² = (2γx, −γ‖x‖², 1)·(z, 1, −γ‖z‖²).

    Parameters
    ----------
    kernel : Kernel
    Z : array or CSR array of shape (m, d)
    height : int
        Most rows in a block.
    """

    def __init__(self, kernel: Kernel, Z: Any, height: int) -> None:
        self.kernel, self.Z = kernel, Z
        self._folded: Floats | None = None
        if kernel.name == "rbf" and not _sparse(Z):
            m, d = Z.shape
            gamma = 1.0 / d if kernel.gamma is None else float(kernel.gamma)
            centres = np.asarray(Z, dtype=np.float64)
            self._gamma, self._middle = gamma, np.median(centres, axis=0)
            centred = _clipped(centres - self._middle)
            squares = gamma * _squares(centred)
            self._far = np.flatnonzero(squares > FAR)
            self._folded = np.empty((d + 2, m))
            self._folded[:d] = 2.0 * gamma * centred.T
            self._folded[d], self._folded[d + 1] = 1.0, -squares
            self._left, self._out = np.ones((height, d + 2)), np.empty((height, m))

    def __call__(self, X: Any) -> Floats:
        """k(x_i, z_j), shape (at most height, m); the next call may overwrite it."""
        if self._folded is None or _sparse(X):
            return self.kernel(X, self.Z)
        n, d = X.shape
        left = self._left[:n]
        np.subtract(X, self._middle, out=left[:, :d])
        np.clip(left[:, :d], -LARGEST, LARGEST, out=left[:, :d])
        left[:, d] = -self._gamma * np.einsum("ij,ij->i", left[:, :d], left[:, :d])
        K = np.matmul(left, self._folded, out=self._out[:n])
        _far_pairs(K, X, self.Z, -left[:, d] > FAR, self._far, self._gamma)
        return np.exp(K, out=K)


def _sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if _sparse(X) else X, dtype=np.float64)


def _products(X: Any, Z: Any) -> Floats:
    if _sparse(X) or _sparse(Z):
        product = X @ Z.T
        product = product.toarray() if _sparse(product) else product
        return np.ascontiguousarray(product, dtype=np.float64)
    X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    return np.ascontiguousarray(X @ Z.T)


def _gaussian(X: Any, Z: Any, gamma: float) -> Floats:
    """exp(−γ‖x − z‖²) by products, far from everything by differences."""
    left, right = _centred(X, Z)
    squares = gamma * _squares(left)
    others = squares if X is Z else gamma * _squares(right)
    K = _products(left, right)
    K *= 2.0 * gamma
    K -= squares[:, None]
    K -= others
    _far_pairs(K, X, Z, squares > FAR, np.flatnonzero(others > FAR), gamma)
    np.minimum(K, 0.0, out=K)
    if X is Z:
        np.fill_diagonal(K, 0.0)
    return np.exp(K, out=K)


def _far_pairs(
    K: Floats, X: Any, Z: Any, rows: Bools, columns: Indices, gamma: float
) -> None:
    """Set −γ‖x − z‖² between rows that are both far out, where products cancel."""
    if len(columns) and rows.any():
        far = np.flatnonzero(rows)
        apart = cdist(_dense(X[far]), _dense(Z[columns]), "sqeuclidean")
        K[np.ix_(far, columns)] = -gamma * apart


def _centred(X: Any, Z: Any) -> tuple[Any, Any]:
    """Both without the median of Z, which leaves differences of rows as they are.

    ‖x − z‖² from products cancels where the rows are far from zero and near each other.
    The median, as one row far out would move the mean away from all the others. Sparse
    rows stay sparse, and so as they are.
    """
    if _sparse(X) or _sparse(Z):
        return X, Z
    right = np.asarray(Z, dtype=np.float64)
    middle = np.median(right, axis=0)
    centred = _clipped(right - middle)
    if X is Z:
        return centred, centred
    return _clipped(np.asarray(X, dtype=np.float64) - middle), centred


def _clipped(X: Floats) -> Floats:
    """No entry so large that its square overflows."""
    return np.clip(X, -LARGEST, LARGEST, out=X)


def _squares(X: Any) -> Floats:
    if _sparse(X):
        squared = X.astype(np.float64).power(2).sum(axis=1)
        return np.asarray(squared, dtype=np.float64).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _unit(X: Any) -> Any:
    """Rows of length one; a zero row stays zero."""
    norms = np.sqrt(_squares(X))
    inverse = 1.0 / np.where(norms > 0, norms, 1.0)
    return sp.diags_array(inverse) @ X if _sparse(X) else X * inverse[:, None]
