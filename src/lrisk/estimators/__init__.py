"""Estimators: scikit-learn's interface to the objective."""

from .certification import certify
from .kernel import KernelRiskClassifier, KernelRiskRegressor
from .linear import RiskClassifier, RiskRegressor

__all__ = [
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "RiskClassifier",
    "RiskRegressor",
    "certify",
]
