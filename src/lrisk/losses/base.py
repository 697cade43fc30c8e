"""What a loss is: the cost of one row as a function of its score z.

Shapes, here and in every loss: y (n,) holds targets, z the scores, (n,) for scalar
losses and (n, k) for losses over k classes; a has the shape of z and is a point of the
dual space. Every loss is convex in z; those that have kinks say so by `smooth`, give a
subgradient as their derivative, and have a `softened` form without kinks.
"""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._jit import implements
from .._params import Parameters
from .._typing import Floats


class Loss(Parameters):
    """Base of all losses: what one row costs, given its target and its score.

    The score z is what the model predicts: a number or, for classes, log-odds.

    See Also
    --------
    Squared : Of numbers, for ordinary errors.
    Huber : Of numbers, for errors some of which are large.
    Logistic : Of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Huber, Loss, Squared
    >>> isinstance(Squared(), Loss)
    True
    >>> Huber(delta=1.0).derivative(np.zeros(3), np.array([0.5, 1.0, 3.0]))
    array([0.5, 1. , 1. ])
    """

    name: ClassVar[str]
    #: Whether the targets are classes; otherwise they are numbers.
    classifies: ClassVar[bool] = False
    #: Whether the loss is differentiable everywhere.
    smooth: ClassVar[bool] = True
    #: Whether there are pieces without curvature and with a slope; then there is a
    #: `softened` form and a `secant`.
    flat: ClassVar[bool] = False
    #: Whether a row has one score for each class.
    per_class: ClassVar[bool] = False
    #: M with |ℓ‴| ≤ M·ℓ″, where there is one: how fast the curvature may fall.
    self_concordance: ClassVar[float | None] = None

    @property
    def smoothness(self) -> float:
        """Largest curvature sup ℓ″: the constant L of one row in its score."""
        raise NotImplementedError

    @property
    def lipschitz(self) -> float:
        """Largest slope ``sup |ℓ′|``, or infinity."""
        raise NotImplementedError

    def value(self, y: Floats, z: Floats) -> Floats:
        """ℓ(y, z) ≥ 0; shape (n,)."""
        raise NotImplementedError

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """∂ℓ/∂z, of the shape of z."""
        raise NotImplementedError

    def value_and_derivative(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Both at once, where they share work."""
        return self.value(y, z), self.derivative(y, z)

    def slope_and_curvature(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """`derivative` and `curvature` at once, where they share work."""
        return self.derivative(y, z), self.curvature(y, z)

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """∂²ℓ/∂z² applied to v row by row, of the shape of z."""
        raise NotImplementedError

    def bend(self, y: Floats, z: Floats) -> Callable[[Floats], Floats]:
        """`curvature_times` at one z, for many v."""
        return functools.partial(self.curvature_times, y, z)

    def conjugate(self, y: Floats, a: Floats) -> Floats:
        """ℓ*(y, a) = sup_z a·z − ℓ(y, z); shape (n,)."""
        raise NotImplementedError

    def to_dual_domain(self, y: Floats, a: Floats) -> Floats:
        """The nearest point at which the conjugate is finite."""
        raise NotImplementedError

    def to_balanced_dual(self, y: Floats, a: Floats, weights: Floats) -> Floats:
        """A point near a in the dual domain with Σ λ_i a_i = 0.

        This is what an unpenalised intercept demands of a dual point; a "lower bound"
        without it may exceed the minimum.
        """
        raise NotImplementedError

    def fenchel_young(self, y: Floats, z: Floats, a: Floats) -> Floats:
        """ℓ(y, z) + ℓ*(y, a) − a·z ≥ 0, zero where a = ℓ′(z); shape (n,)."""
        product = a * z if z.ndim == 1 else np.einsum("ik,ik->i", a, z)
        return np.maximum(self.value(y, z) + self.conjugate(y, a) - product, 0.0)

    def curvature(self, y: Floats, z: Floats) -> Floats:
        """∂²ℓ/∂z² itself: (n,) for scalar losses, (n, k, k) for losses over classes."""
        if z.ndim == 1:
            return self.curvature_times(y, z, np.ones_like(z))
        blocks = np.empty((*z.shape, z.shape[1]))
        for k in range(z.shape[1]):
            unit = np.zeros_like(z)
            unit[:, k] = 1.0
            blocks[:, :, k] = self.curvature_times(y, z, unit)
        return blocks

    def constant_scores(self, y: Floats, mass: Floats, n_scores: int) -> Floats:
        """Score, or scores, of the constant that minimises the mean loss."""
        raise NotImplementedError

    def softened(self, width: float) -> "Loss":
        """The loss with its flat pieces joined over a width of scores.

        Wider means easier to minimise; at the loss's own width it is the loss itself,
        whose dual domain every softened form shares.
        """
        raise NotImplementedError

    def scale(self, y: Floats, mass: Floats, center: float) -> float:
        """A width that joins the flat pieces for most rows with scores of `center`."""
        raise NotImplementedError

    def secant(self, y: Floats, z: Floats) -> Floats:
        """Curvature of the parabola about y that has the loss's slope at z."""
        raise NotImplementedError

    def resolution(self, y: Floats) -> float:
        """A loss that is nothing but rounding in scores of the size of y."""
        return 0.0

    def compiled(self) -> NamedTuple:
        """The loss for compiled loops: its type selects the scalar forms."""
        raise NotImplementedError


def rounding_unit(y: Floats) -> float:
    """8ε max|y|: residuals of this size are rounding."""
    largest = max(float(y.max()), -float(y.min()))
    return 8.0 * float(np.finfo(np.float64).eps) * largest


def balanced_in_box(
    a: Floats, weights: Floats, low: Floats | float, high: Floats | float
) -> Floats:
    """Shift a and clip it to a box that holds zero, so that Σλa = 0.

    The sum falls in the shift, with slope −Σλ over the rows not clipped: Newton's
    method, kept in a bracket.
    """
    clipped = np.clip(a, low, high)
    total = float(weights @ clipped)
    least, most = -1.0 - np.abs(a).max(), 1.0 + np.abs(a).max()
    # What rounding leaves of a sum that is zero.
    rounding = float(np.finfo(np.float64).eps * (weights @ np.abs(clipped)))
    shift = 0.0
    for _ in range(128):
        if abs(total) <= rounding:
            break
        least, most = (shift, most) if total > 0 else (least, shift)
        moved = a - shift
        free = float(weights @ ((moved > low) & (moved < high)))
        after = shift + total / free if free > 0.0 else np.inf
        if not least < after < most:
            after = 0.5 * (least + most)
        if after in (least, most, shift):
            break
        shift = after
        clipped = np.clip(a - shift, low, high)
        total = float(weights @ clipped)
    return np.asarray(clipped)


# The row forms. Compiled loops call these two, with the scores z (k,) of one row; for
# scalar losses k = 1 and `scalar_row_forms` makes them from the scalar forms.


def row_value(loss: Any, y: float, z: Floats) -> float:
    """ℓ(y, z) of one row, in compiled code."""
    raise NotImplementedError("only available in compiled code")


def row_slopes(loss: Any, y: float, z: Floats, out: Floats) -> None:
    """∂ℓ/∂z of one row into `out`, in compiled code."""
    raise NotImplementedError("only available in compiled code")


def scalar_row_forms(kind: type) -> None:
    """Register the row forms of a loss that has scalar forms."""

    @implements(row_value, kind)
    def value(loss: Any, y: Any, z: Any) -> Any:
        return scalar_value(loss, y, z[0])

    @implements(row_slopes, kind)
    def slopes(loss: Any, y: Any, z: Any, out: Any) -> Any:
        out[0] = scalar_derivative(loss, y, z[0])


# The scalar forms. Compiled loops call these two; each loss gives its own version for
# its own NamedTuple through `lrisk._jit.implements`.


def scalar_value(loss: Any, y: float, z: float) -> float:
    """ℓ(y, z) of one row, in compiled code."""
    raise NotImplementedError("only available in compiled code")


def scalar_derivative(loss: Any, y: float, z: float) -> float:
    """ℓ′(y, z) of one row, in compiled code."""
    raise NotImplementedError("only available in compiled code")
