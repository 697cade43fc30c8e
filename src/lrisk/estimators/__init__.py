"""Estimators: scikit-learn's interface to the objective."""

from .certification import certify
from .linear import RiskClassifier, RiskRegressor

__all__ = ["RiskClassifier", "RiskRegressor", "certify"]
