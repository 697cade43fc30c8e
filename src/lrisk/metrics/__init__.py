"""Metrics: scores by risk and their intervals, on clean rows and of clusters."""

from .clusters import clustering_accuracy
from .corrected import corrected_risk, make_corrected_scorer
from .intervals import RiskComparison, RiskInterval, compare_risks, risk_interval
from .risk import loss_quantiles, make_risk_scorer, risk_score, row_losses

__all__ = [
    "RiskComparison",
    "RiskInterval",
    "clustering_accuracy",
    "compare_risks",
    "corrected_risk",
    "loss_quantiles",
    "make_corrected_scorer",
    "make_risk_scorer",
    "risk_interval",
    "risk_score",
    "row_losses",
]
