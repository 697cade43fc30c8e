"""Displays: pictures of fits, in scikit-learn's Display convention."""

from .losses import LossDisplay

__all__ = ["LossDisplay"]
