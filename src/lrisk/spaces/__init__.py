"""Spaces: what the model f is."""

from .base import Space
from .kernel import KernelSpace
from .kernels import Kernel
from .linear import LinearSpace

__all__ = ["Kernel", "KernelSpace", "LinearSpace", "Space"]
