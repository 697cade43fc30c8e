"""Learning when the plain average of the losses is the wrong thing to minimise."""

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import (
        analysis,
        baselines,
        datasets,
        displays,
        losses,
        metrics,
        noise,
        outofcore,
        solvers,
        spectra,
        utils,
    )
    from ._warnings import CollapsedFitWarning, NoiseMismatchWarning
    from .analysis.audit import AuditResult, audit
    from .estimators import (
        KernelRiskClassifier,
        KernelRiskRegressor,
        LabelErrorDetector,
        NoiseCorrectedClassifier,
        NoiseCorrectedKernelRegressor,
        NoiseCorrectedRegressor,
        OutlierDetector,
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
    from .report import write_audit
    from .tables import TablePreparation

__all__ = [
    "AuditResult",
    "CollapsedFitWarning",
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "LabelErrorDetector",
    "NoiseCorrectedClassifier",
    "NoiseCorrectedKernelRegressor",
    "NoiseCorrectedRegressor",
    "NoiseMismatchWarning",
    "OutlierDetector",
    "RegressionCalibration",
    "RiskClassifier",
    "RiskClassifierCV",
    "RiskKMeans",
    "RiskRegressor",
    "RiskRegressorCV",
    "RobustClassifier",
    "RobustRegressor",
    "TablePreparation",
    "__version__",
    "analysis",
    "audit",
    "baselines",
    "certify",
    "datasets",
    "displays",
    "losses",
    "metrics",
    "noise",
    "outofcore",
    "risk",
    "risk_path",
    "risk_weights",
    "solvers",
    "spectra",
    "utils",
    "write_audit",
]

# Names are imported when they are first asked for: `lrisk --help` must not wait for
# scikit-learn and numba.
_MODULES = {
    "analysis", "baselines", "datasets", "displays", "losses", "metrics", "noise",
    "outofcore", "solvers", "spectra", "utils",
}  # fmt: skip
_HOMES = {
    "AuditResult": ".analysis.audit",
    "audit": ".analysis.audit",
    "CollapsedFitWarning": "._warnings",
    "NoiseMismatchWarning": "._warnings",
    "TablePreparation": ".tables",
    "risk": ".ranking",
    "risk_weights": ".permutahedron",
    "write_audit": ".report",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(_HOMES.get(name, ".estimators"), __name__)
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
