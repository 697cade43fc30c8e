"""Losses: what one row costs.

Names that are imported as themselves are for the package and not listed: registries,
what compiled loops call, and losses that no estimator takes by name.
"""

from .base import Loss
from .base import row_slopes as row_slopes
from .base import row_value as row_value
from .base import scalar_derivative as scalar_derivative
from .base import scalar_value as scalar_value
from .clipped import Absolute, Huber, Pinball
from .clipped import Softened as Softened
from .hinge import SquaredHinge
from .logistic import Logistic
from .multinomial import Multinomial
from .names import CLASS_LOSSES as CLASS_LOSSES
from .names import LOSSES as LOSSES
from .names import NUMBER_LOSSES as NUMBER_LOSSES
from .names import parse_loss as parse_loss
from .nearest import NearestCentre as NearestCentre
from .squared import Squared

__all__ = [
    "Absolute",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Pinball",
    "Squared",
    "SquaredHinge",
]
