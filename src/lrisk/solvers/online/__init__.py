"""Learners of corrected losses that see every row once."""

from .kernel import KernelState, OnlineKernel
from .linear import LinearState, OnlineLinear, OnlineSolver, squared_norms

__all__ = [
    "KernelState",
    "LinearState",
    "OnlineKernel",
    "OnlineLinear",
    "OnlineSolver",
    "squared_norms",
]
