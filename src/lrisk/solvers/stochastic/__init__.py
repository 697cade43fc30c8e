"""Solvers that draw rows at random: increasing spectra, epoch by epoch."""

from .base import StochasticSolver, Work
from .lsvrg import LSVRG
from .prospect import Prospect
from .sgd import SGD, SRDA
from .sorel import SOREL
from .stream import Stream
from .tuning import Tuning, tune_learning_rate

__all__ = [
    "LSVRG",
    "SGD",
    "SOREL",
    "SRDA",
    "Prospect",
    "StochasticSolver",
    "Stream",
    "Tuning",
    "Work",
    "tune_learning_rate",
]
