"""Estimators that know the noise of their features."""

from .calibration import RegressionCalibration
from .classifier import NoiseCorrectedClassifier
from .kernel import NoiseCorrectedKernelRegressor
from .linear import NoiseCorrectedRegressor

__all__ = [
    "NoiseCorrectedClassifier",
    "NoiseCorrectedKernelRegressor",
    "NoiseCorrectedRegressor",
    "RegressionCalibration",
]
