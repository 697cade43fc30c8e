"""Spaces: what the model f is."""

from .linear import LinearSpace

__all__ = ["LinearSpace"]
