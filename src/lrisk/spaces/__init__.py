"""Spaces: what the model f is."""

from .base import Space
from .centers import CenterSpace
from .kernel import FactoredSpace, KernelRows, KernelSpace
from .kernels import Kernel
from .linear import LinearSpace
from .nystroem import NystroemFeatures, NystroemSpace, SelectedRows

__all__ = [
    "CenterSpace",
    "FactoredSpace",
    "Kernel",
    "KernelRows",
    "KernelSpace",
    "LinearSpace",
    "NystroemFeatures",
    "NystroemSpace",
    "SelectedRows",
    "Space",
]
