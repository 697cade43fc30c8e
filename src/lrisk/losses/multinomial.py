"""Multinomial loss ℓ(y, z) = log Σ_k e^{z_k} − z_y for y ∈ {0, …, k−1}."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from .._jit import implements
from .._typing import Floats
from .base import Loss, row_slopes, row_value


class Multinomial(Loss):
    """Logistic loss of several classes (softmax): log Σ_k e^{z_k} − z_y.

    It is what ``loss="logistic"`` means for more than two classes. Dual points are a =
    p − e_y with p in the simplex; the conjugate is Σ p_k ln p_k.

    See Also
    --------
    Logistic : For two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Multinomial
    >>> Multinomial().value(np.array([0.0]), np.zeros((1, 4))).round(3)
    array([1.386])
    """

    name = "multinomial"
    classifies = True
    smoothness = 0.5
    lipschitz = float(np.sqrt(2.0))
    per_class = True

    def value(self, y: Floats, z: Floats) -> Floats:
        """Value log Σ e^{z_k} − z_y ≥ 0."""
        margin = z - z[_rows(y), _codes(y), None]
        top = margin.max(axis=1)
        return np.asarray(top + np.log(np.exp(margin - top[:, None]).sum(axis=1)))

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """Derivative softmax(z) − e_y, accurate when it is tiny."""
        a = softmax(z)
        codes, rows = _codes(y), _rows(y)
        a[rows, codes] = 0.0
        a[rows, codes] = -a.sum(axis=1)
        return a

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Both from one softmax."""
        rows, codes = _rows(y), _codes(y)
        shifted = z - _row_max(z)
        own = shifted[rows, codes]
        np.exp(shifted, out=shifted)
        total = _row_sum(shifted)
        # Where the own class is far ahead, log Σ loses what the others sum to.
        shifted[rows, codes] = 0.0
        others = _row_sum(shifted)
        ahead = others < 0.5
        value = np.where(ahead, np.log1p(others * ahead), np.log(total) - own)
        shifted /= total[:, None]
        shifted[rows, codes] = -others / total
        return value, shifted

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """(diag p − ppᵀ)v."""
        return self.bend(y, z)(v)

    def bend(self, y: Floats, z: Floats) -> Callable[[Floats], Floats]:
        """`curvature_times` at one z, with p computed once."""
        p = softmax(z)

        def times(v: Floats) -> Floats:
            product = p * v
            product -= p * _row_sum(product)[:, None]
            return product

        return times

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """Σ p ln p with p = a + e_y."""
        p = _probabilities(y, a)
        return np.asarray(np.sum(xlogy(p, np.maximum(p, 1e-300)), axis=1))

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """Clip p = a + e_y at zero and divide by its sum (near, not nearest)."""
        p = np.maximum(_probabilities(y, a), 0.0)
        p /= p.sum(axis=1, keepdims=True)
        return _from_probabilities(y, p)

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """Give p the class masses π_k = Σ_{y_i=k} λ_i, then mix with π until p ≥ 0.

        A class without weight takes no probability at all (its intercept is free to
        fall to −∞), so it is emptied first.
        """
        p = _probabilities(y, a)
        shares = np.bincount(_codes(y), weights, minlength=a.shape[1]) / weights.sum()
        if np.any(shares == 0):
            p = np.where(shares > 0, np.maximum(p, 1e-12), 0.0)
            p /= p.sum(axis=1, keepdims=True)
        p = p + (shares - weights @ p / weights.sum())
        short = p < 0
        if np.any(short):
            room = (shares - p)[short]
            mix = min(1.0, float(np.max(-p[short] / np.maximum(room, 1e-300))))
            p = np.maximum((1.0 - mix) * p + mix * shares, 0.0)
        return _from_probabilities(y, p)

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """Logarithms of the shares of the classes."""
        shares = np.bincount(_codes(y), mass, minlength=n_scores)
        return np.log(np.maximum(shares, 1e-300))

    def compiled(self) -> NamedTuple:
        """Type for compiled loops."""
        return CompiledMultinomial(self.smoothness)


class CompiledMultinomial(NamedTuple):
    """Multinomial loss in compiled code."""

    smoothness: float


@implements(row_value, CompiledMultinomial)
def _value(loss: Any, y: Any, z: Any) -> Any:
    top = z[0]
    for c in range(z.shape[0]):
        top = max(top, z[c])
    total = 0.0
    for c in range(z.shape[0]):
        total += np.exp(z[c] - top)
    return np.log(total) + (top - z[int(y)])


@implements(row_slopes, CompiledMultinomial)
def _slopes(loss: Any, y: Any, z: Any, out: Any) -> Any:
    top = z[0]
    for c in range(z.shape[0]):
        top = max(top, z[c])
    total = 0.0
    for c in range(z.shape[0]):
        out[c] = np.exp(z[c] - top)
        total += out[c]
    others = 0.0
    for c in range(z.shape[0]):
        out[c] /= total
        if c != int(y):
            others += out[c]
    out[int(y)] = -others


def softmax(z: Floats) -> Floats:
    """e^{z_k}/Σ e^{z_j} along the last axis, without overflow."""
    e: Floats = z - _row_max(z)
    np.exp(e, out=e)
    e /= _row_sum(e)[:, None]
    return e


# Reductions along a short last axis are slow in numpy; these are not.


def _row_max(z: Floats) -> Floats:
    return np.asarray(np.ascontiguousarray(z.T).max(axis=0))[:, None]


def _row_sum(z: Floats) -> Floats:
    return np.asarray(z @ np.ones(z.shape[1]))


def _codes(y: Floats) -> Any:
    return y.astype(np.intp)


def _rows(y: Floats) -> Any:
    return np.arange(y.shape[0])


def _probabilities(y: Floats, a: Floats) -> Floats:
    p = a.copy()
    p[_rows(y), _codes(y)] += 1.0
    return p


def _from_probabilities(y: Floats, p: Floats) -> Floats:
    a = p.copy()
    a[_rows(y), _codes(y)] = 0.0
    a[_rows(y), _codes(y)] = -a.sum(axis=1)
    return a
