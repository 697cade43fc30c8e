"""Pictures by matplotlib, in scikit-learn's Display convention."""

from .clusters import ClusterDisplay
from .convergence import ConvergenceDisplay
from .curves import LossQuantileDisplay, SpectrumDisplay
from .losses import LossDisplay
from .outliers import ContaminationPathDisplay, OutlierDisplay

__all__ = [
    "ClusterDisplay",
    "ContaminationPathDisplay",
    "ConvergenceDisplay",
    "LossDisplay",
    "LossQuantileDisplay",
    "OutlierDisplay",
    "SpectrumDisplay",
]
