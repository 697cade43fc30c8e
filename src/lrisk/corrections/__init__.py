"""Corrections: what the knowledge of the noise does to losses and spaces."""

from .conditional_score import ConditionalScore, MultinomialScore
from .covariances import CorrectedRows, corrected_rows
from .features import RandomFeatures
from .kernels import (
    KERNELS,
    CorrectableKernel,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
)
from .landmarks import OneCopy, pair_quadratic
from .moments import (
    corrected_gradients,
    corrected_gram,
    corrected_least_squares,
    corrected_losses,
)
from .surrogates import Surrogate

__all__ = [
    "KERNELS",
    "ConditionalScore",
    "CorrectableKernel",
    "CorrectedRows",
    "Gaussian",
    "Laplacian",
    "Matern",
    "MultinomialScore",
    "OneCopy",
    "RandomFeatures",
    "RationalQuadratic",
    "Surrogate",
    "corrected_gradients",
    "corrected_gram",
    "corrected_least_squares",
    "corrected_losses",
    "corrected_rows",
    "pair_quadratic",
]
