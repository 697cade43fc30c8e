"""Squared hinge loss ℓ(y, z) = (1 − m)₊² of the margin m = (2y − 1)z, y ∈ {0, 1}."""

from typing import Any, NamedTuple

import numpy as np

from .._jit import implements
from .._typing import Floats
from .base import (
    Loss,
    balanced_in_box,
    scalar_derivative,
    scalar_row_forms,
    scalar_value,
)


class SquaredHinge(Loss):
    """Squared hinge loss (1 − m)₊² of two classes with m = (2y − 1)z, as ``LinearSVC``.

    Dual points have β = −(2y − 1)a ≥ 0; the conjugate is −β + β²/4. Rows beyond the
    margin cost nothing at all. The scores are not log-odds: there are no probabilities.

    See Also
    --------
    Logistic : For probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    array([0., 1., 4.])
    """

    name = "squared_hinge"
    classifies = True
    smoothness = 2.0
    lipschitz = np.inf

    def value(self, y: Floats, z: Floats) -> Floats:
        """(1 − m)₊²."""
        return _shortfall(y, z) ** 2

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """−2(2y − 1)(1 − m)₊."""
        return -2.0 * _signs(y) * _shortfall(y, z)

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Both from one shortfall."""
        short = _shortfall(y, z)
        return short**2, -2.0 * _signs(y) * short

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """2 where m < 1, zero beyond."""
        return np.where(_shortfall(y, z) > 0.0, 2.0 * v, 0.0)

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """Conjugate −β + β²/4 with β = −(2y − 1)a ≥ 0."""
        beta = -_signs(y) * a
        return beta * (0.25 * beta - 1.0)

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """Clip β at zero."""
        return np.clip(a, *_box(y))

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """Shift and clip."""
        return balanced_in_box(a, weights, *_box(y))

    def fenchel_young(self, y: Floats, z: Floats, a: Floats) -> Floats:
        """((1 − m)₊ − β/2)² + β(m − 1)₊, without cancellation."""
        beta = -_signs(y) * a
        short = 1.0 - _signs(y) * z
        missed = np.maximum(short, 0.0) - 0.5 * beta
        return missed**2 + beta * np.maximum(-short, 0.0)

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """2p − 1 with p the share of the second class."""
        return np.asarray(2.0 * float(mass @ y) - 1.0)

    def compiled(self) -> NamedTuple:
        """Type for compiled loops."""
        return CompiledSquaredHinge(self.smoothness)


def _signs(y: Floats) -> Floats:
    return 2.0 * y - 1.0


def _shortfall(y: Floats, z: Floats) -> Floats:
    """(1 − m)₊."""
    return np.maximum(1.0 - _signs(y) * z, 0.0)


def _box(y: Floats) -> tuple[Floats, Floats]:
    """Where β ≥ 0: a ≤ 0 for the second class and a ≥ 0 for the first."""
    second = y > 0.5
    return np.where(second, -np.inf, 0.0), np.where(second, 0.0, np.inf)


class CompiledSquaredHinge(NamedTuple):
    """Squared hinge loss in compiled code."""

    smoothness: float


@implements(scalar_value, CompiledSquaredHinge)
def _value(loss: Any, y: Any, z: Any) -> Any:
    short = max(1.0 - (2.0 * y - 1.0) * z, 0.0)
    return short * short


@implements(scalar_derivative, CompiledSquaredHinge)
def _derivative(loss: Any, y: Any, z: Any) -> Any:
    sign = 2.0 * y - 1.0
    return -2.0 * sign * max(1.0 - sign * z, 0.0)


scalar_row_forms(CompiledSquaredHinge)
