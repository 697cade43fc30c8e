"""Spectra: how sorted losses are weighted.

Names that are imported as themselves are for the package and not listed.
"""

from .base import SMOOTHINGS as SMOOTHINGS
from .base import Spectrum
from .custom import CustomSpectrum
from .names import ALIASES as ALIASES
from .names import FAMILIES as FAMILIES
from .names import parse_spectrum as parse_spectrum
from .ranges import RankedRange, Subquantile, Superquantile
from .smooth import ESRM, Extremile, Mean, RiskSeekingExtremile, WorstCase

__all__ = [
    "ESRM",
    "CustomSpectrum",
    "Extremile",
    "Mean",
    "RankedRange",
    "RiskSeekingExtremile",
    "Spectrum",
    "Subquantile",
    "Superquantile",
    "WorstCase",
]
