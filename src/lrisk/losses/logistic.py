"""Logistic loss ℓ(y, z) = log(1 + e^z) − yz for y ∈ {0, 1}."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from .._jit import implements
from .._typing import Floats
from .base import (
    Loss,
    balanced_in_box,
    scalar_derivative,
    scalar_row_forms,
    scalar_value,
)


class Logistic(Loss):
    """Logistic loss log(1 + e^z) − yz of two classes y ∈ {0, 1}, with log-odds z.

    Dual points are a = p − y with p ∈ [0, 1] in the place of the probability; the
    conjugate is p ln p + (1 − p) ln(1 − p).

    See Also
    --------
    Multinomial : For more than two classes.
    SquaredHinge : For a margin instead of probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Logistic
    >>> Logistic().value(np.array([1.0, 1.0]), np.array([0.0, 3.0])).round(3)
    array([0.693, 0.049])
    """

    name = "logistic"
    classifies = True
    smoothness = 0.25
    lipschitz = 1.0
    self_concordance = 1.0

    def value(self, y: Floats, z: Floats) -> Floats:
        """Value log(1 + e^z) − yz, as log(1 + e^{−|m|}) + max(m, 0) of the margin m."""
        margin = (1.0 - 2.0 * y) * z
        value = np.log1p(_shrunk(z))
        value += np.maximum(margin, 0.0, out=margin)
        return value

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """Derivative p − y with p = 1/(1 + e^{−z}), accurate when it is tiny."""
        e = _shrunk(z)
        return _slopes(y, z, e, 1.0 + e)

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Both from one exponential e = e^{−|m|} of the margin m = (1 − 2y)z.

        ℓ = log(1 + e) + max(m, 0) and ℓ′ = ±1/(1 + e) or ±e/(1 + e): nothing overflows
        and what is tiny stays accurate.
        """
        sign = 1.0 - 2.0 * y
        margin = sign * z
        e = np.abs(margin)
        np.negative(e, out=e)
        np.exp(e, out=e)
        value = np.log1p(e)
        wrong = margin > 0.0
        np.maximum(margin, 0.0, out=margin)
        value += margin
        sign /= 1.0 + e
        np.copyto(e, 1.0, where=wrong)
        sign *= e
        return value, sign

    def slope_and_curvature(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Both from one exponential."""
        e = _shrunk(z)
        whole = 1.0 + e
        curvature = e / whole
        curvature /= whole
        return _slopes(y, z, e, whole), curvature

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """Curvature p(1 − p) = e/(1 + e)² with e = e^{−|z|}."""
        e = _shrunk(z)
        whole = 1.0 + e
        e /= whole
        e /= whole
        e *= v
        return e

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """Conjugate p ln p + (1 − p) ln(1 − p) with p = a + y."""
        miss = np.abs(a)  # p and 1 − p are |a| and 1 − |a| in some order
        entropy = xlogy(miss, miss) + xlogy(1.0 - miss, 1.0 - miss)
        return np.asarray(entropy, dtype=np.float64)

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """Clip p = a + y to [0, 1]."""
        return np.clip(a, -y, 1.0 - y)

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """Shift p and clip it so that Σλa = 0."""
        return balanced_in_box(a, weights, -y, 1.0 - y)

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """Log-odds of the mean."""
        mean = min(max(float(mass @ y), 1e-15), 1.0 - 1e-15)
        return np.asarray(np.log(mean) - np.log1p(-mean))

    def compiled(self) -> NamedTuple:
        """Type for compiled loops."""
        return CompiledLogistic(self.smoothness)


def _shrunk(z: Floats) -> Floats:
    """e^{−|z|}, which never overflows."""
    e = np.abs(z)
    np.negative(e, out=e)
    return np.asarray(np.exp(e, out=e))


def _slopes(y: Floats, z: Floats, e: Floats, whole: Floats) -> Floats:
    """±1/(1 + e) where the margin (1 − 2y)z is positive, ±e/(1 + e) elsewhere."""
    sign = 1.0 - 2.0 * y
    slopes = np.where(sign * z > 0.0, 1.0, e)
    slopes /= whole
    slopes *= sign
    return slopes


class CompiledLogistic(NamedTuple):
    """Logistic loss in compiled code."""

    smoothness: float


@implements(scalar_value, CompiledLogistic)
def _value(loss: Any, y: Any, z: Any) -> Any:
    tail = np.log1p(np.exp(-abs(z)))
    return tail + ((1.0 - y) * z if z > 0 else -y * z)


@implements(scalar_derivative, CompiledLogistic)
def _derivative(loss: Any, y: Any, z: Any) -> Any:
    sign = 1.0 - 2.0 * y
    return sign / (1.0 + np.exp(-sign * z))


scalar_row_forms(CompiledLogistic)
