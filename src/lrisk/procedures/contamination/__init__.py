"""Unknown contamination: which rows do not fit, how many, and the fit without.

`judge_table` judges the rows, `fit_judged` fits the rest.
"""

from .explanation import Explainer, OutlierExplanation
from .regression import Model, RobustFit, fit_judged
from .rows import Distinct
from .table import (
    Judge,
    Judgement,
    judge_predictions,
    judge_table,
    nothing_judged,
    told_share,
)

__all__ = [
    "Distinct",
    "Explainer",
    "Judge",
    "Judgement",
    "Model",
    "OutlierExplanation",
    "RobustFit",
    "fit_judged",
    "judge_predictions",
    "judge_table",
    "nothing_judged",
    "told_share",
]
