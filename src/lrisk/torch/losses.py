"""Losses of one score on tensors: the formulas of `lrisk.losses`, row by row.

Only what parts of the rows need. Shapes: y, z and a are (n,), of 64 bits.
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ..losses import Logistic, Loss, Squared, SquaredHinge
from ..losses.clipped import ClippedResidual

#: Margins above which log(1 + e^m) is m to the last bit.
LINEAR = 40.0


class TensorLoss(Protocol):
    """A loss as parts on a device ask for it; each method is that of `Loss`."""

    def value_and_derivative(self, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """ℓ and ℓ′."""

    def curvature(self, y: Tensor, z: Tensor) -> Tensor:
        """ℓ″."""

    def to_dual_domain(self, y: Tensor, a: Tensor) -> Tensor:
        """The nearest point at which the conjugate is finite."""

    def fenchel_young(self, y: Tensor, z: Tensor, a: Tensor) -> Tensor:
        """ℓ(y, z) + ℓ*(y, a) − a·z."""


def on_tensors(loss: Loss) -> TensorLoss:
    """The same loss of tensors."""
    if isinstance(loss, Squared):
        return _Squared()
    if isinstance(loss, Logistic):
        return _Logistic()
    if isinstance(loss, SquaredHinge):
        return _SquaredHinge()
    if isinstance(loss, ClippedResidual) and loss.width > 0.0:
        return _Clipped(*loss.bounds, loss.width)
    raise NotImplementedError(f"{loss!r} has no form for tensors")


class _Squared(NamedTuple):
    """½(z − y)²."""

    def value_and_derivative(self, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        r = z - y
        return torch.addcmul(r.new_zeros(()), r, r, value=0.5), r

    def curvature(self, y: Tensor, z: Tensor) -> Tensor:
        return torch.ones_like(z)

    def to_dual_domain(self, y: Tensor, a: Tensor) -> Tensor:
        return a

    def fenchel_young(self, y: Tensor, z: Tensor, a: Tensor) -> Tensor:
        return (z - y - a).square_().mul_(0.5)


class _Logistic(NamedTuple):
    """log(1 + e^m) of the margin m = (1 − 2y)z, whose derivative is ±1/(1 + e^{−m})."""

    def value_and_derivative(self, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        sign = torch.sub(y.new_ones(()), y, alpha=2.0)
        margin = sign * z
        value = torch.nn.functional.softplus(margin, threshold=LINEAR)
        return value, sign.mul_(margin.sigmoid_())

    def curvature(self, y: Tensor, z: Tensor) -> Tensor:
        e = z.abs().neg_().exp_()
        return e.div_((1.0 + e).square_())

    def to_dual_domain(self, y: Tensor, a: Tensor) -> Tensor:
        return torch.clamp(a, -y, 1.0 - y)

    def fenchel_young(self, y: Tensor, z: Tensor, a: Tensor) -> Tensor:
        miss = a.abs()
        entropy = torch.special.xlogy(miss, miss)
        entropy += torch.special.xlogy(1.0 - miss, 1.0 - miss)
        value, _ = self.value_and_derivative(y, z)
        return (value + entropy - a * z).clamp_(min=0.0)


class _SquaredHinge(NamedTuple):
    """(1 − m)₊² of the margin m = (2y − 1)z."""

    def value_and_derivative(self, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        sign = 2.0 * y - 1.0
        short = (1.0 - sign * z).clamp_(min=0.0)
        return short * short, sign.mul_(short).mul_(-2.0)

    def curvature(self, y: Tensor, z: Tensor) -> Tensor:
        return ((2.0 * y - 1.0) * z < 1.0).double().mul_(2.0)

    def to_dual_domain(self, y: Tensor, a: Tensor) -> Tensor:
        return torch.where(y > 0.5, a.clamp(max=0.0), a.clamp(min=0.0))

    def fenchel_young(self, y: Tensor, z: Tensor, a: Tensor) -> Tensor:
        sign = 2.0 * y - 1.0
        beta, short = -sign * a, 1.0 - sign * z
        missed = short.clamp(min=0.0) - 0.5 * beta
        return missed.square_().add_(beta.mul_(short.neg_().clamp_(min=0.0)))


class _Clipped(NamedTuple):
    """max_{a ∈ [l, h]} a·r − (ω/2)a² of the residual r = z − y: Huber's loss."""

    low: float
    high: float
    width: float

    def value_and_derivative(self, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        r = z - y
        a = r.clamp(self.width * self.low, self.width * self.high).div_(self.width)
        return r.sub_(a, alpha=0.5 * self.width).mul_(a), a

    def curvature(self, y: Tensor, z: Tensor) -> Tensor:
        r = z - y
        curved = (r > self.width * self.low) & (r < self.width * self.high)
        return curved.double().div_(self.width)

    def to_dual_domain(self, y: Tensor, a: Tensor) -> Tensor:
        return a.clamp(self.low, self.high)

    def fenchel_young(self, y: Tensor, z: Tensor, a: Tensor) -> Tensor:
        _, best = self.value_and_derivative(y, z)
        apart = (z - y).sub_(best + a, alpha=0.5 * self.width)
        return (best - a).mul_(apart).clamp_(min=0.0)
