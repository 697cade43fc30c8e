"""Losses: what one row costs."""

from .base import Loss, row_slopes, row_value, scalar_derivative, scalar_value
from .clipped import Absolute, Huber, Pinball, Softened
from .hinge import SquaredHinge
from .logistic import Logistic
from .multinomial import Multinomial
from .names import CLASS_LOSSES, LOSSES, NUMBER_LOSSES, parse_loss
from .nearest import NearestCentre
from .squared import Squared

__all__ = [
    "CLASS_LOSSES",
    "LOSSES",
    "NUMBER_LOSSES",
    "Absolute",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "NearestCentre",
    "Pinball",
    "Softened",
    "Squared",
    "SquaredHinge",
    "parse_loss",
    "row_slopes",
    "row_value",
    "scalar_derivative",
    "scalar_value",
]
