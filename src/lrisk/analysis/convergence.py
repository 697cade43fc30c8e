"""How a solver came to its solution."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import refused
from .._typing import Floats


class Convergence(NamedTuple):
    """How a fit went: one entry per record of its history.

    Parameters
    ----------
    iteration, passes, seconds : arrays of shape (m,)
        What was spent so far; `passes` over the data is NaN where it is not counted.
    objective : array of shape (m,)
        Value of what is minimised, penalty included.
    gap : array of shape (m,)
        Relative duality gap; infinite or NaN where there is none.
    excess : array of shape (m,)
        Objective less the best of the run, relative to that: what is left where there
        is no gap.

    See Also
    --------
    convergence : Makes it from a fitted model.
    lrisk.displays.ConvergenceDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RiskRegressor
    >>> from lrisk.analysis import convergence
    >>> X = np.arange(20.0)[:, None]
    >>> run = convergence(RiskRegressor().fit(X, np.sqrt(X[:, 0])))
    >>> bool(run.objective[-1] <= run.objective[0])
    True
    """

    iteration: Floats
    passes: Floats
    seconds: Floats
    objective: Floats
    gap: Floats
    excess: Floats


def convergence(estimator: Any) -> Convergence:
    """Turn the `history_` of a fitted estimator into arrays.

    Parameters
    ----------
    estimator : fitted estimator with a `history_`
        For example a `lrisk.RiskRegressor`.

    Returns
    -------
    Convergence
        One entry per record: iteration, seconds, objective, gap.

    See Also
    --------
    lrisk.displays.ConvergenceDisplay : Draws it.

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
