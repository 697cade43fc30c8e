"""Procedures: recipes of several stages above the solvers."""

from .trimming import minimise_trimmed

__all__ = ["minimise_trimmed"]
