"""The numbers behind every picture: no matplotlib, no HTML."""

from .clusters import ClusterMap, cluster_map

__all__ = ["ClusterMap", "cluster_map"]
