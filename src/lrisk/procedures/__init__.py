"""Procedures: recipes of several stages above the solvers."""

from .minimising import minimise
from .trimming import minimise_trimmed

__all__ = ["minimise", "minimise_trimmed"]
