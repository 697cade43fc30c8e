"""Losses of PyTorch models weighed by their ranks, in the place of their mean.

Needs the extra ``torch``; nothing else in lrisk imports this package. Its files need
torch and numpy alone; smoothing and the fits of `lrisk` proper compile loops.
"""

from .._extras import optional

optional("torch", "lrisk.torch")

from .reduction import SpectralRisk  # noqa: E402
from .table import RiskTable  # noqa: E402

__all__ = ["RiskTable", "SpectralRisk"]
