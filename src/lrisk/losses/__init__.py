"""Losses: what one row costs."""

from .base import Loss, scalar_derivative, scalar_value
from .logistic import Logistic
from .multinomial import Multinomial
from .squared import Squared

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (Squared, Logistic, Multinomial)
}

__all__ = [
    "LOSSES",
    "Logistic",
    "Loss",
    "Multinomial",
    "Squared",
    "scalar_derivative",
    "scalar_value",
]
