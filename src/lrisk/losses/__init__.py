"""Losses: what one row costs."""

from .base import Loss, row_slopes, row_value, scalar_derivative, scalar_value
from .logistic import Logistic
from .multinomial import Multinomial
from .nearest import NearestCentre
from .squared import Squared

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (Squared, Logistic, Multinomial)
}

__all__ = [
    "LOSSES",
    "Logistic",
    "Loss",
    "Multinomial",
    "NearestCentre",
    "Squared",
    "row_slopes",
    "row_value",
    "scalar_derivative",
    "scalar_value",
]
