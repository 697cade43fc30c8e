"""Analysis: the numbers behind every picture; no matplotlib, no HTML."""

from .clusters import ClusterMap, cluster_map
from .losses import LossSummary, left_out, summarise_losses

__all__ = [
    "ClusterMap",
    "LossSummary",
    "cluster_map",
    "left_out",
    "summarise_losses",
]
