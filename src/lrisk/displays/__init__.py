"""Pictures by matplotlib, in scikit-learn's Display convention."""

from .clusters import ClusterDisplay

__all__ = ["ClusterDisplay"]
