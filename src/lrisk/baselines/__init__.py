"""Robust methods of other papers, as scikit-learn estimators, to compare with.

RANSAC, Huber's regression and Theil-Sen are in scikit-learn, trimmed least squares is
``lrisk.RiskRegressor("subquantile:p")``. Unlike `lrisk.RobustRegressor` most of these
must be told the contamination, and none of them takes sample weights, since their
papers have none.
"""

from .crr import ConsistentRobustRegressor
from .sever import Sever
from .stir import StirRegressor
from .tilted import TiltedClassifier, TiltedRegressor
from .torrent import TorrentRegressor

__all__ = [
    "ConsistentRobustRegressor",
    "Sever",
    "StirRegressor",
    "TiltedClassifier",
    "TiltedRegressor",
    "TorrentRegressor",
]
