"""Solvers that end with a proof: increasing spectra, to a duality gap."""

from .band import Band
from .lbfgs import LBFGS
from .newton import Newton

__all__ = [
    "LBFGS",
    "Band",
    "Newton",
]
