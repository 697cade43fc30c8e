"""Learning when the plain average of the losses is the wrong thing to minimise."""

from . import analysis, datasets, displays, losses, metrics, solvers, spectra
from ._version import __version__
from ._warnings import CollapsedFitWarning
from .estimators import (
    KernelRiskClassifier,
    KernelRiskRegressor,
    RiskClassifier,
    RiskRegressor,
    certify,
)
from .permutahedron import risk_weights
from .ranking import risk

__all__ = [
    "CollapsedFitWarning",
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "RiskClassifier",
    "RiskRegressor",
    "__version__",
    "analysis",
    "certify",
    "datasets",
    "displays",
    "losses",
    "metrics",
    "risk",
    "risk_weights",
    "solvers",
    "spectra",
]
