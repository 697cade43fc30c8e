"""Data sets: generators for what the library is about."""

from .generators import make_hidden_group

__all__ = ["make_hidden_group"]
