"""Displays: pictures by matplotlib, in scikit-learn's Display convention."""

from .clusters import ClusterDisplay
from .losses import LossDisplay

__all__ = ["ClusterDisplay", "LossDisplay"]
