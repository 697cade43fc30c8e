"""Learning when the plain average of the losses is the wrong thing to minimise."""

import importlib
from typing import TYPE_CHECKING, Any

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
    RobustClassifier,
    RobustRegressor,
    certify,
    risk_path,
)
from .permutahedron import risk_weights
from .ranking import risk

if TYPE_CHECKING:
    from . import baselines

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
    "RobustClassifier",
    "RobustRegressor",
    "__version__",
    "analysis",
    "baselines",
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


def __getattr__(name: str) -> Any:
    """Import what only comparisons need when it is first asked for."""
    if name == "baselines":
        return importlib.import_module(".baselines", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
