"""Analysis: the numbers behind every picture."""

from .losses import LossSummary, left_out, summarise_losses

__all__ = ["LossSummary", "left_out", "summarise_losses"]
