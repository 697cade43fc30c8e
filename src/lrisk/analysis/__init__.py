"""The numbers behind every picture; no matplotlib, no HTML."""

from .clusters import ClusterMap, cluster_map
from .convergence import Convergence, convergence
from .curves import LossQuantiles, SpectrumCurve, quantile_curve, spectrum_curve
from .losses import LossSummary, left_out, summarise_losses
from .outliers import (
    ContaminationPath,
    OutlierMap,
    contamination_path,
    outlier_map,
    robust_path,
)
from .scores import ThresholdCurve, score_histogram, threshold_curve

__all__ = [
    "ClusterMap",
    "ContaminationPath",
    "Convergence",
    "LossQuantiles",
    "LossSummary",
    "OutlierMap",
    "SpectrumCurve",
    "ThresholdCurve",
    "cluster_map",
    "contamination_path",
    "convergence",
    "left_out",
    "outlier_map",
    "quantile_curve",
    "robust_path",
    "score_histogram",
    "spectrum_curve",
    "summarise_losses",
    "threshold_curve",
]
