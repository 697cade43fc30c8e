"""Learning when the plain average of the losses is the wrong thing to minimise."""

from . import analysis, datasets, displays, losses, metrics, noise, solvers, spectra
from ._version import __version__
from ._warnings import CollapsedFitWarning, NoiseMismatchWarning
from .estimators import (
    KernelRiskClassifier,
    KernelRiskRegressor,
    NoiseCorrectedClassifier,
    NoiseCorrectedKernelRegressor,
    NoiseCorrectedRegressor,
    RegressionCalibration,
    RiskClassifier,
    RiskKMeans,
    RiskRegressor,
    RobustClassifier,
    certify,
)
from .permutahedron import risk_weights
from .ranking import risk

__all__ = [
    "CollapsedFitWarning",
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "NoiseCorrectedClassifier",
    "NoiseCorrectedKernelRegressor",
    "NoiseCorrectedRegressor",
    "NoiseMismatchWarning",
    "RegressionCalibration",
    "RiskClassifier",
    "RiskKMeans",
    "RiskRegressor",
    "RobustClassifier",
    "__version__",
    "analysis",
    "certify",
    "datasets",
    "displays",
    "losses",
    "metrics",
    "noise",
    "risk",
    "risk_weights",
    "solvers",
    "spectra",
]
