"""Spectral risks of PyTorch models: reducers of the losses of rows.

Needs the extra ``torch``; nothing else in lrisk imports this package. Its files need
torch and numpy alone; smoothing and the fits of `lrisk` proper compile loops.
"""

try:
    import torch as torch
except ImportError:
    raise ImportError("lrisk.torch needs torch: pip install 'lrisk[torch]'") from None

from .reduction import SpectralRisk
from .table import RiskTable

__all__ = ["RiskTable", "SpectralRisk"]
