"""Solvers for spectra that trim: decreasing ones and ranked ranges, no proof."""

from .concentration import Concentration
from .subquantile import SubquantileGradient

__all__ = [
    "Concentration",
    "SubquantileGradient",
]
