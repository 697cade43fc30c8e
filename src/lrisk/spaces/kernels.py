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

from .._arrays import FEATURE
from .._params import check_count, check_real, refused
from .._typing import Floats
from .offset import leave_outliers, some_rows

#: γ‖x‖² above which −γ‖x − z‖² is not taken from products: rounding in an exponent of
#: 1e7 is some 1e-9, and much farther out rows that are equal would look far apart.
FAR = 1e7

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


class Kernel:
    """A kernel: how alike two rows are, as a positive definite function of both.

    Parameters
    ----------
    name : str or callable, default="rbf"
        ``"linear"`` x·x′, ``"poly"`` (γ x·x′ + c₀)^degree, ``"rbf"`` exp(−γ‖x − x′‖²),
        ``"laplacian"`` exp(−γ‖x − x′‖₁), ``"cosine"``, ``"precomputed"``, or a function
        of two rows.
    gamma : float or None, default=None
        The rate γ; None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term c₀ of the ``"poly"`` kernel; other kernels ignore it.
    params : mapping or None, default=None
        Keyword arguments for a callable kernel.

    See Also
    --------
    KernelSpace : Functions that are sums of a kernel.
    sklearn.metrics.pairwise.pairwise_kernels : Kernels by the same names.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import Kernel
    >>> X = np.array([[0.0], [1.0]])
    >>> Kernel("rbf", gamma=1.0)(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(
        self,
        name: KernelName = "rbf",
        *,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        params = {} if params is None else params
        # What is no mapping is refused by `validate`, in the name of its owner.
        self.params = dict(params) if isinstance(params, Mapping) else params

    def validate(self, owner: object = "Kernel") -> None:
        """Refuse unknown names and parameters that give no positive definite kernel."""
        known = (*PARAMETERS, "precomputed")
        named = isinstance(self.name, str) and self.name in known
        if not callable(self.name) and not named:
            close = difflib.get_close_matches(str(self.name), known, n=1)
            remedy = f"did you mean {close[0]!r}" if close else "or pass a function"
            rule = f"one of {', '.join(map(repr, known))} or a function of two rows"
            raise ValueError(refused(owner, "kernel", rule, self.name, remedy))
        if not isinstance(self.params, Mapping):
            rule, remedy = "a mapping or None", "pass a dict of keyword arguments"
            raise TypeError(refused(owner, "kernel_params", rule, self.params, remedy))
        if self.gamma is not None:
            remedy = "None means 1/n_features"
            check_real(owner, "gamma", self.gamma, low=0, low_open=True, remedy=remedy)
        if self.name in ("poly", "polynomial"):
            check_count(owner, "degree", self.degree)
            remedy = "a negative one gives no positive definite kernel"
            check_real(owner, "coef0", self.coef0, low=0, remedy=remedy)

    @classmethod
    def of(cls, estimator: Any) -> "Kernel":
        """That of an estimator with scikit-learn's parameters of a kernel."""
        return cls(
            estimator.kernel,
            gamma=estimator.gamma,
            degree=estimator.degree,
            coef0=estimator.coef0,
            params=getattr(estimator, "kernel_params", None),
        )

    def check_training(self, owner: object, X: Any) -> None:
        """Refuse what cannot be a precomputed kernel of the training rows."""
        if self.precomputed and X.shape[0] != X.shape[1]:
            rule = "a square matrix for kernel='precomputed'"
            remedy = "pass k(x_i, x_j) of the training rows"
            raise ValueError(refused(owner, "X", rule, X.shape, remedy))

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
            return _bounded(self._pairs(self.name, X, Z))
        gamma = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        match self.name:
            case "linear":
                return _bounded(_products(X, Z))
            case "cosine":
                return _products(_unit(X), _unit(Z))
            case "rbf":
                same, rows, others = X is Z, X, Z
                X, Z = _centred(X, Z)
                K = _products(X, Z)
                K *= 2.0 * gamma
                left, right = gamma * _squares(X), gamma * _squares(Z)
                K -= left[:, None]
                K -= right
                np.minimum(K, 0.0, out=K)
                _settle_far(K, rows, others, left, right, gamma)
                if same:
                    np.fill_diagonal(K, 0.0)
                return np.exp(K, out=K)
            case "laplacian":
                K = cdist(_dense(X), _dense(Z), "cityblock")
                K *= -gamma
                return np.exp(K, out=K)
            case _:
                K = _products(X, Z)
                K *= gamma
                K += self.coef0
                with np.errstate(over="ignore"):  # and refused
                    return _bounded(np.asarray(np.power(K, self.degree, out=K)))

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
            self._gamma, self._mean = gamma, _middle(centres)
            centred = centres - self._mean
            self._folded = np.empty((d + 2, m))
            self._folded[:d] = 2.0 * gamma * centred.T
            self._folded[d], self._folded[d + 1] = 1.0, -gamma * _squares(centred)
            self._left, self._out = np.ones((height, d + 2)), np.empty((height, m))

    def __call__(self, X: Any) -> Floats:
        """k(x_i, z_j), shape (at most height, m); the next call may overwrite it."""
        if self._folded is None or _sparse(X):
            return self.kernel(X, self.Z)
        n, d = X.shape
        left = self._left[:n]
        np.subtract(X, self._mean, out=left[:, :d])
        rows = left[:, :d]
        left[:, d] = -self._gamma * np.einsum("ij,ij->i", rows, rows)
        K = np.matmul(left, self._folded, out=self._out[:n])
        np.minimum(K, 0.0, out=K)
        sizes = -left[:, d], -self._folded[d + 1]
        _settle_far(K, X, self.Z, *sizes, self._gamma)
        return np.exp(K, out=K)


def _settle_far(
    K: Floats, X: Any, Z: Any, left: Floats, right: Floats, gamma: float
) -> None:
    """Take −γ‖x − z‖² from differences where both rows are too far out for products.

    Of a far row and a near one products are good enough: the kernel is zero.

    Parameters
    ----------
    K : array of shape (n, m)
        The exponents, mended in place.
    X, Z : arrays of shapes (n, d) and (m, d)
        As they were given: to be centred would cost far rows their last digits.
    left, right : arrays of shapes (n,) and (m,)
        γ‖x‖² and γ‖z‖².
    """
    far, other = np.flatnonzero(left > FAR), np.flatnonzero(right > FAR)
    if far.size and other.size:
        rows, others = (
            M[places].toarray() if _sparse(M) else M[places]
            for M, places in ((X, far), (Z, other))
        )
        K[np.ix_(far, other)] = -gamma * cdist(rows, others, "sqeuclidean")


def _bounded(K: Floats) -> Floats:
    """Kernel values, if their squares and those times targets can be computed with."""
    size = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if size > FEATURE**2:
        rule = f"such that kernel values are at most {FEATURE**2:.2g}"
        raise ValueError(refused("lrisk", "X", rule, size, "rescale it"))
    return K


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


def _centred(X: Any, Z: Any) -> tuple[Any, Any]:
    """Both without the middle of Z, which leaves differences of rows as they are.

    ‖x − z‖² from products cancels where the rows are far from zero and near each other.
    Sparse rows stay sparse, and so as they are.
    """
    if _sparse(X) or _sparse(Z):
        return X, Z
    right = np.asarray(Z, dtype=np.float64)
    mean = _middle(right)
    centred = right - mean
    return (centred if X is Z else np.asarray(X, dtype=np.float64) - mean), centred


def _middle(Z: Floats) -> Floats:
    """Means of the columns, or medians where a few rows carry the mean far away."""
    means = np.asarray(Z.mean(axis=0))
    leave_outliers(means, Z[some_rows(len(Z))])
    return means


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
