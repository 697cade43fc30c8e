"""Estimators: scikit-learn's interface to the objective."""

from .certification import certify
from .linear import RiskClassifier, RiskRegressor
from .noise_kernel import NoiseCorrectedKernelRegressor
from .noise_linear import NoiseCorrectedRegressor

__all__ = [
    "NoiseCorrectedKernelRegressor",
    "NoiseCorrectedRegressor",
    "RiskClassifier",
    "RiskRegressor",
    "certify",
]
