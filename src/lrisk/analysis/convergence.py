"""How a solver came to its solution."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import refused
from .._typing import Floats


class Convergence(NamedTuple):
    """The records of a fit as arrays, one entry per record.

    Attributes
    ----------
    iteration, passes, seconds : arrays of shape (m,)
        What was spent so far; `passes` over the data is NaN where it is not counted.
    objective : array of shape (m,)
    gap : array of shape (m,)
        Relative duality gap; infinite or NaN where there is none.
    excess : array of shape (m,)
        Objective less the best of the run, relative to that: what is left where there
        is no gap.
    """

    iteration: Floats
    passes: Floats
    seconds: Floats
    objective: Floats
    gap: Floats
    excess: Floats


def convergence(estimator: Any) -> Convergence:
    """Read `history_` of a fitted estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", alpha=0.01).fit(X, y)
    >>> run = convergence(model)
    >>> bool(run.gap[-1] <= 1e-6), bool(run.excess.min() == 0.0)
    (True, True)
    """
    check_is_fitted(estimator)
    history = getattr(estimator, "history_", None)
    if not history:
        rule = "fitted by a solver that keeps a history"
        remedy = "use fit, not partial_fit, of a Risk estimator"
        raise ValueError(refused("lrisk", "estimator", rule, estimator, remedy))

    def column(name: str) -> Floats:
        return np.array([record.get(name, np.nan) for record in history], np.float64)

    objective = column("objective")
    known = objective[np.isfinite(objective)]
    best = float(known.min()) if known.size else np.nan
    excess = (objective - best) / max(abs(best), np.finfo(np.float64).tiny)
    return Convergence(
        iteration=column("iteration"),
        passes=column("passes"),
        seconds=column("seconds"),
        objective=objective,
        gap=column("gap"),
        excess=excess,
    )
