"""Unknown contamination: which rows do not fit, how many, and the fit without.

`judge_table` judges the rows, `fit_judged` fits the rest.
"""

from .explanation import Explainer, OutlierExplanation
from .regression import Model, RobustFit, fit_judged
from .rows import Distinct, equal_rows, joined_places
from .table import (
    Judge,
    Judgement,
    judge_predictions,
    judge_table,
    nothing_judged,
    ranking_score,
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
    "equal_rows",
    "fit_judged",
    "joined_places",
    "judge_predictions",
    "judge_table",
    "nothing_judged",
    "ranking_score",
    "told_share",
]
