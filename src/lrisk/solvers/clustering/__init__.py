"""Solvers in the space of centres."""

from .centers import Alternating, CenterSGD, clustering

__all__ = [
    "Alternating",
    "CenterSGD",
    "clustering",
]
