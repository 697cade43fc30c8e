"""Spectra by name: the registry and the parser of ``"superquantile:0.9"``."""

from .._params import parse_named
from .base import Spectrum
from .ranges import RankedRange, Subquantile, Superquantile
from .smooth import ESRM, Extremile, Mean, RiskSeekingExtremile, WorstCase

FAMILIES: dict[str, type[Spectrum]] = {
    family.name: family
    for family in (
        Mean,
        Superquantile,
        Extremile,
        ESRM,
        WorstCase,
        Subquantile,
        RiskSeekingExtremile,
        RankedRange,
    )
}
ALIASES = {"cvar": "superquantile", "trimmed": "subquantile", "max": "worst_case"}


def parse_spectrum(spectrum: "str | Spectrum") -> Spectrum:
    """Turn ``"superquantile:0.9"`` and the like into a spectrum; objects pass through.

    Parameters after the name are separated by colons; without any the defaults hold.

    Examples
    --------
    >>> parse_spectrum("cvar:0.9")
    Superquantile(q=0.9)
    >>> parse_spectrum("ranked_range:0.1:0.8")
    RankedRange(lower=0.1, upper=0.8)
    """
    if isinstance(spectrum, Spectrum):
        return spectrum
    return parse_named("spectrum", spectrum, FAMILIES, ALIASES, "superquantile:0.9")
