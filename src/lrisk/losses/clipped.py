"""Losses of a residual whose slope is clipped: Huber, pinball, absolute.

All are one formula. With r = z − y, bounds l < 0 < h of the slope and a width ω ≥ 0

    ℓ(y, z) = max_{a ∈ [l, h]}  a·r − (ω/2)a²

with the maximiser a = clip(r/ω, l, h) as its derivative, and the conjugate
ya + (ω/2)a² on [l, h]. Huber's loss has ω = 1 and bounds ±δ; at ω = 0 there is a kink
at r = 0, and the loss is the pinball's. The dual domain does not depend on ω, which is
what makes a softened fit prove something about the fit with the kink.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from .._jit import implements
from .._params import check_real
from .._typing import Floats
from .base import (
    Loss,
    balanced_in_box,
    rounding_unit,
    scalar_derivative,
    scalar_row_forms,
    scalar_value,
)


class ClippedResidual(Loss):
    """Base of the losses whose slope in the residual is clipped."""

    flat = True

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest slope, l < 0 < h."""
        raise NotImplementedError

    @property
    def width(self) -> float:
        """ω, the inverse of the curvature between the flat pieces."""
        return 0.0

    @property
    def smoothness(self) -> float:
        """1/ω."""
        return 1.0 / self.width if self.width > 0.0 else np.inf

    @property
    def lipschitz(self) -> float:
        """max(−l, h)."""
        low, high = self.bounds
        return max(-low, high)

    def value(self, y: Floats, z: Floats) -> Floats:
        """max_a a·r − (ω/2)a²."""
        return self.value_and_derivative(y, z)[0]

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """clip(r/ω, l, h); at a kink zero, which is a subgradient."""
        low, high = self.bounds
        r = z - y
        if self.width == 0.0:
            return np.where(r > 0.0, high, np.where(r < 0.0, low, 0.0))
        # Clipped before the division, which might overflow.
        np.clip(r, self.width * low, self.width * high, out=r)
        r /= self.width
        return r

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """a·(r − ωa/2) and a."""
        a = self.derivative(y, z)
        value = z - y
        value -= (0.5 * self.width) * a
        value *= a
        return value, a

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """1/ω between the flat pieces, zero on them."""
        if self.width == 0.0:
            return np.zeros_like(v)
        low, high = self.bounds
        r = z - y
        curved = (r > self.width * low) & (r < self.width * high)
        return np.where(curved, v, 0.0) / self.width

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """Conjugate ya + (ω/2)a² on [l, h]."""
        return a * (y + 0.5 * self.width * a)

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """Clip to [l, h]."""
        return np.clip(a, *self.bounds)

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """Shift and clip."""
        return balanced_in_box(a, weights, *self.bounds)

    def fenchel_young(self, y: Floats, z: Floats, a: Floats) -> Floats:
        """(a* − a)(r − ω(a* + a)/2) with a* = ℓ′(z): both factors have one sign."""
        best = self.derivative(y, z)
        apart = z - y - (0.5 * self.width) * (best + a)
        return np.maximum((best - a) * apart, 0.0)

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """The quantile of level −l/(h − l), or where the mean slope vanishes if ω > 0.

        It is the c with Σ p_i ℓ′(y_i, c) = 0, and that sum rises in c.
        """
        low, high = self.bounds
        least, most = float(y.min()), float(y.max())
        if self.width == 0.0 or least == most:
            order = np.argsort(y)
            level = -low / (high - low)
            place = int(np.searchsorted(np.cumsum(mass[order]), level * (1 - 1e-12)))
            return np.asarray(y[order[min(place, len(y) - 1)]])

        def slope(c: float) -> float:
            return float(mass @ self.derivative(y, np.full_like(y, c)))

        near = 1e-12 * (most - least)
        return np.asarray(brentq(slope, least, most, xtol=near, maxiter=500))

    def softened(self, width: float) -> Loss:
        """The same bounds over a larger width."""
        return self if width <= self.width else Softened(*self.bounds, width)

    def scale(self, y: Floats, mass: Floats, center: float) -> float:
        """The mean of ``|y − c|`` over the smaller bound."""
        low, high = self.bounds
        return (float(mass @ np.abs(y - center)) or 1.0) / min(-low, high)

    def secant(self, y: Floats, z: Floats) -> Floats:
        """ℓ′/r: the weight by which iterated least squares would count the row."""
        r = z - y
        away = np.abs(r) > 0.0
        safe = np.where(away, r, 1.0)
        return np.where(away, self.derivative(y, z) / safe, 0.0)

    def resolution(self, y: Floats) -> float:
        """The loss of a residual of 8ε max|y|, on the side where it is larger."""
        unit = rounding_unit(y)
        return float(self.value(np.zeros(2), np.array([-unit, unit])).max())

    def compiled(self) -> NamedTuple:
        """Type and numbers for compiled loops, which need a width."""
        if self.width == 0.0:
            return super().compiled()
        return CompiledClipped(*self.bounds, self.width)


class Huber(ClippedResidual):
    """Huber's loss: squared for small errors, in proportion to large ones.

    It is ½(y − z)² up to ``|y − z|`` = δ, then ``δ|y − z| − ½δ²``. Large residuals cost
    in proportion to their size, so one row pulls at the fit with a force of at most δ;
    the conjugate is that of squared loss on ``|a| ≤ δ``.

    Parameters
    ----------
    delta : float > 0, default=1.35
        Where the squared part ends, in units of the targets.

    See Also
    --------
    Absolute : In proportion to the error from zero on.
    Squared : Without a limit on what one row can do.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Huber
    >>> Huber(delta=1.0).value(np.zeros(3), np.array([0.5, 1.0, 3.0]))
    array([0.125, 0.5  , 2.5  ])
    """

    name = "huber"

    def __init__(self, delta: float = 1.35) -> None:
        self.delta = delta
        self.validate()

    def validate(self) -> None:
        """0 < δ < ∞."""
        remedy = "for δ → ∞ use 'squared', for δ → 0 'absolute'"
        check_real(self, "delta", self.delta, low=0, low_open=True, remedy=remedy)

    @property
    def bounds(self) -> tuple[float, float]:
        """±δ."""
        return -float(self.delta), float(self.delta)

    @property
    def width(self) -> float:
        """One: the curvature of squared loss."""
        return 1.0


class Pinball(ClippedResidual):
    """Loss of quantile regression, max(τ(y − z), (τ − 1)(y − z)): least at a quantile.

    A model fitted with it predicts the τ-quantile of the targets. Its conjugate is ya
    on −τ ≤ a ≤ 1 − τ. The kink at y = z is dealt with by smoothing, and the duality gap
    is always that of the loss with the kink.

    Parameters
    ----------
    tau : float in (0, 1), default=0.5
        The quantile; ½ gives half the absolute error.

    See Also
    --------
    Absolute : For the median.
    sklearn.metrics.mean_pinball_loss : The mean of this loss, as a metric.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Pinball
    >>> Pinball(tau=0.9).value(np.zeros(2), np.array([-1.0, 1.0]))
    array([0.9, 0.1])
    """

    name = "pinball"
    smooth = False

    def __init__(self, tau: float = 0.5) -> None:
        self.tau = tau
        self.validate()

    def validate(self) -> None:
        """0 < τ < 1."""
        limits: dict[str, Any] = {"low": 0, "high": 1}
        limits.update(low_open=True, high_open=True, remedy="0.5 is the median")
        check_real(self, "tau", self.tau, **limits)

    @property
    def bounds(self) -> tuple[float, float]:
        """−τ and 1 − τ."""
        return -float(self.tau), 1.0 - float(self.tau)


class Absolute(ClippedResidual):
    """Absolute error ``|y − z|``: the fit goes through the median of the targets.

    It is dealt with like the pinball loss, of which it is twice ½.

    See Also
    --------
    Pinball : For other quantiles than the median.
    Huber : Nearly the same for large errors, and smooth at zero.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Absolute
    >>> Absolute().value(np.zeros(2), np.array([-1.0, 2.0]))
    array([1., 2.])
    """

    name = "absolute"
    smooth = False

    @property
    def bounds(self) -> tuple[float, float]:
        """±1."""
        return -1.0, 1.0


class Softened(ClippedResidual):
    """A clipped loss of any bounds and width, for the way to one that is narrower.

    Not among ``lrisk.losses.LOSSES``, since no estimator takes it by name.
    """

    name = "softened"

    def __init__(self, low: float = -1.0, high: float = 1.0, width: float = 1.0):
        self.low = low
        self.high = high
        self._width = width

    @staticmethod
    def _attribute(name: str) -> str:
        return "_width" if name == "width" else name

    @property
    def bounds(self) -> tuple[float, float]:
        """As given."""
        return self.low, self.high

    @property
    def width(self) -> float:
        """As given."""
        return self._width


class CompiledClipped(NamedTuple):
    """Loss of a clipped slope in compiled code."""

    low: float
    high: float
    width: float


@implements(scalar_value, CompiledClipped)
def _value(loss: Any, y: Any, z: Any) -> Any:
    r = z - y
    a = min(max(r, loss.width * loss.low), loss.width * loss.high) / loss.width
    return a * (r - 0.5 * loss.width * a)


@implements(scalar_derivative, CompiledClipped)
def _derivative(loss: Any, y: Any, z: Any) -> Any:
    return min(max(z - y, loss.width * loss.low), loss.width * loss.high) / loss.width


scalar_row_forms(CompiledClipped)
