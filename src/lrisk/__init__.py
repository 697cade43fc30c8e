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
    RiskClassifierCV,
    RiskKMeans,
    RiskRegressor,
    RiskRegressorCV,
    certify,
    risk_path,
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
    "RiskClassifierCV",
    "RiskKMeans",
    "RiskRegressor",
    "RiskRegressorCV",
    "__version__",
    "analysis",
    "certify",
    "datasets",
    "displays",
    "losses",
    "metrics",
    "noise",
    "risk",
    "risk_path",
    "risk_weights",
    "solvers",
    "spectra",
]
