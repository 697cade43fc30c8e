"""Data sets: generators for what the library is about."""

from .clouds import make_dirty_clouds
from .generators import make_hidden_group

__all__ = ["make_dirty_clouds", "make_hidden_group"]
