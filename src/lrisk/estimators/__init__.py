"""Estimators: scikit-learn's interface to the objective."""

from .calibration import RegressionCalibration
from .certification import certify
from .cluster import RiskKMeans
from .kernel import KernelRiskClassifier, KernelRiskRegressor
from .label_errors import LabelErrorDetector
from .linear import RiskClassifier, RiskRegressor
from .noise_classifier import NoiseCorrectedClassifier
from .noise_kernel import NoiseCorrectedKernelRegressor
from .noise_linear import NoiseCorrectedRegressor
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
    "RiskPath",
    "RiskRegressor",
    "RiskRegressorCV",
    "RobustClassifier",
    "RobustRegressor",
    "certify",
    "risk_path",
]
