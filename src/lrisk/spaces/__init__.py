"""Spaces: what the model f is."""

from .centers import CenterSpace
from .linear import LinearSpace

__all__ = ["CenterSpace", "LinearSpace"]
