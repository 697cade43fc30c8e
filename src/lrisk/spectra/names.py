"""Spectra by name: the registry and the parser of ``"superquantile:0.9"``."""

import difflib
from typing import Any

from .._params import refused
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
    if not isinstance(spectrum, str):
        rule = "a name such as 'superquantile:0.9' or a Spectrum"
        raise TypeError(
            refused("lrisk", "spectrum", rule, spectrum, "pass one of those")
        )
    name, *values = spectrum.strip().lower().split(":")
    name = name.replace("-", "_")
    known = [*FAMILIES, *ALIASES]
    if (name := ALIASES.get(name, name)) not in FAMILIES:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else "see lrisk.spectra"
        rule = f"one of {', '.join(known)}"
        message = refused("lrisk", "spectrum", rule, spectrum, remedy)
        raise ValueError(message.replace("?.", "?"))
    family: Any = FAMILIES[name]
    try:
        numbers = [float(value) for value in values]
        return family(*numbers) if numbers else family()  # type: ignore[no-any-return]
    except (ValueError, TypeError) as error:
        if isinstance(error, ValueError) and str(error).startswith(family.__name__):
            raise
        names = ":".join(family._names()) or "no parameter"
        rule = f"'{name}' followed by {names}"
        remedy = "separate numbers by colons"
        raise ValueError(refused("lrisk", "spectrum", rule, spectrum, remedy)) from None
