"""Squared loss ℓ(y, z) = ½(y − z)²."""

from typing import Any, NamedTuple

import numpy as np

from .._jit import implements
from .._typing import Floats
from .base import Loss, rounding_unit, scalar_derivative, scalar_row_forms, scalar_value


class Squared(Loss):
    """Squared error ½(y − z)²: the fit goes through the mean of the targets.

    Its conjugate is ya + ½a².

    See Also
    --------
    Huber : Limits what one row can do.
    Absolute : For the median instead of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Squared
    >>> Squared().value(np.zeros(2), np.array([1.0, 3.0]))
    array([0.5, 4.5])
    """

    name = "squared"
    smoothness = 1.0
    lipschitz = np.inf
    self_concordance = 0.0

    def value(self, y: Floats, z: Floats) -> Floats:
        """½(y − z)²."""
        value = z - y
        value *= value
        value *= 0.5
        return value

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """The residual z − y."""
        return z - y

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """½r² and r = z − y."""
        residual = z - y
        value = residual * residual
        value *= 0.5
        return value, residual

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """The curvature is 1."""
        return v.copy()

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """Conjugate ya + ½a², finite everywhere."""
        return a * (y + 0.5 * a)

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """Any a will do."""
        return a

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """Shift by the weighted mean."""
        return np.asarray(a - (weights @ a) / weights.sum())

    def fenchel_young(self, y: Floats, z: Floats, a: Floats) -> Floats:
        """½(z − y − a)², without the cancellation of the general form."""
        return 0.5 * (z - y - a) ** 2

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """The mean."""
        return np.asarray(float(mass @ y))

    def resolution(self, y: Floats) -> float:
        """½(8ε max|y|)²."""
        return 0.5 * rounding_unit(y) ** 2

    def compiled(self) -> NamedTuple:
        """Type for compiled loops."""
        return CompiledSquared(self.smoothness)


class CompiledSquared(NamedTuple):
    """Squared loss in compiled code."""

    smoothness: float


@implements(scalar_value, CompiledSquared)
def _value(loss: Any, y: Any, z: Any) -> Any:
    return 0.5 * (z - y) * (z - y)


@implements(scalar_derivative, CompiledSquared)
def _derivative(loss: Any, y: Any, z: Any) -> Any:
    return z - y


scalar_row_forms(CompiledSquared)
