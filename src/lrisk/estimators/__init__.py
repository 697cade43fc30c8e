"""Estimators: scikit-learn's interface to the objective."""

from .certification import certify
from .cluster import RiskKMeans
from .kernel import KernelRiskClassifier, KernelRiskRegressor
from .label_errors import LabelErrorDetector
from .linear import RiskClassifier, RiskRegressor
from .meta import RiskMeta
from .noise import (
    NoiseCorrectedClassifier,
    NoiseCorrectedKernelRegressor,
    NoiseCorrectedRegressor,
    RegressionCalibration,
)
from .outliers import OutlierDetector
from .path import RiskPath, risk_path
from .robust import RobustRegressor
from .robust_classifier import RobustClassifier
from .selection import RiskClassifierCV, RiskRegressorCV

__all__ = [
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "LabelErrorDetector",
    "NoiseCorrectedClassifier",
    "NoiseCorrectedKernelRegressor",
    "NoiseCorrectedRegressor",
    "OutlierDetector",
    "RegressionCalibration",
    "RiskClassifier",
    "RiskClassifierCV",
    "RiskKMeans",
    "RiskMeta",
    "RiskPath",
    "RiskRegressor",
    "RiskRegressorCV",
    "RobustClassifier",
    "RobustRegressor",
    "certify",
    "risk_path",
]
