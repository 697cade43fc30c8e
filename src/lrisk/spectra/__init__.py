"""Spectra: how sorted losses are weighted."""

from .base import Spectrum
from .custom import CustomSpectrum
from .names import ALIASES, FAMILIES, parse_spectrum
from .ranges import RankedRange, Subquantile, Superquantile
from .smooth import ESRM, Extremile, Mean, RiskSeekingExtremile, WorstCase

__all__ = [
    "ALIASES",
    "ESRM",
    "FAMILIES",
    "CustomSpectrum",
    "Extremile",
    "Mean",
    "RankedRange",
    "RiskSeekingExtremile",
    "Spectrum",
    "Subquantile",
    "Superquantile",
    "WorstCase",
    "parse_spectrum",
]
