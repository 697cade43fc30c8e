"""Spaces: what the model f is."""

from .base import Space
from .kernel import FactoredSpace, KernelRows, KernelSpace
from .kernels import Kernel
from .linear import LinearSpace

__all__ = [
    "FactoredSpace",
    "Kernel",
    "KernelRows",
    "KernelSpace",
    "LinearSpace",
    "Space",
]
