"""Unknown contamination: which rows do not fit, how many, and the fit without.

`detect` judges the rows, `fit_judged` fits the rest.
"""

from .._robust.explanation import Explainer, OutlierExplanation
from .._robust.rows import Distinct, canonical_order, equal_rows, joined_places
from .detection import Detection, nothing_detected, ranking_score, with_given_share
from .detector import Detector
from .regression import Model, RobustFit, fit_judged
from .table import detect, detect_by_predictions

__all__ = [
    "Detection",
    "Detector",
    "Distinct",
    "Explainer",
    "Model",
    "OutlierExplanation",
    "RobustFit",
    "canonical_order",
    "detect",
    "detect_by_predictions",
    "equal_rows",
    "fit_judged",
    "joined_places",
    "nothing_detected",
    "ranking_score",
    "with_given_share",
]
