"""Metrics: scores by risk, on clean rows and of clusters."""

from .clusters import clustering_accuracy
from .corrected import corrected_risk, make_corrected_scorer
from .risk import loss_quantiles, make_risk_scorer, risk_score, row_losses

__all__ = [
    "clustering_accuracy",
    "corrected_risk",
    "loss_quantiles",
    "make_corrected_scorer",
    "make_risk_scorer",
    "risk_score",
    "row_losses",
]
