"""What a user is to be warned of after a fit."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._warnings import CollapsedFitWarning
from ..objective import Objective
from ..procedures.constant_fit import nearly_constant
from ..solvers import Solution, Status
from .problem import Fit

#: Part of the targets' spread, or of a unit of log-odds, below which predictions differ
#: by rounding only.
CONSTANT = float(np.finfo(np.float64).eps)
#: How a solve ends that did not get where it was going.
UNFINISHED = (
    Status.MAX_ITER,
    Status.EPOCHS_DONE,
    Status.STEPS_TAKEN,
    Status.DIVERGED,
    Status.INTERRUPTED,
)


def complaints(
    estimator: Any, objective: Objective, fit: Fit, tol: float
) -> list[tuple[str, type[Warning]]]:
    """That the solver gave up, or that the features make no difference.

    Parameters
    ----------
    estimator : RiskEstimator
        Whose name, alpha and spectrum the messages show.
    objective : Objective
    fit : Fit
    tol : float
        What the solver was to reach.
    """
    solution = fit.solution
    found = unfinished(estimator, solution, tol)
    if found or fit.collapsed:
        return found
    return _constant_complaint(estimator, objective, solution)


def unfinished(
    estimator: Any, solution: Solution, tol: float
) -> list[tuple[str, type[Warning]]]:
    """That the solver gave up before the gap was small enough.

    Where no bound exists (an infinite gap), a search that ends by itself did all it
    could. A finite gap is another matter: there is a bound, and it proves too little.
    """
    gave_up = (Status.MAX_ITER, Status.STALLED, Status.DIVERGED)
    unproven = solution.status is Status.UNCERTIFIED and np.isfinite(solution.gap)
    if not (solution.status in gave_up or unproven) or solution.gap <= tol:
        return []
    reached = f"relative gap {solution.gap:.1e}, tol={tol:g}"
    if not np.isfinite(solution.gap):
        reached = f"tol={tol:g}"
    why, advice = solution.status.value, "raise max_iter, loosen tol, or raise alpha"
    if unproven:
        why = "no step lowers the objective further, but the proof is not as tight"
        advice = "loosen tol, or raise alpha"
    if solution.status is Status.DIVERGED:
        advice = "use learning_rate='auto' or a smaller number"
    message = (
        f"{type(estimator).__name__}: {why} ({reached}); the best "
        f"fit found is kept. To go further {advice}."
    )
    return [(message, ConvergenceWarning)]


def collapsed(estimator: Any) -> tuple[str, type[Warning]]:
    """That the best fit of classes is constant."""
    message = (
        f"{type(estimator).__name__}: under spectrum={estimator.spectrum!r} no use of "
        "the features lowers the risk, so the best fit is constant. Use a "
        "milder spectrum, such as 'superquantile:0.3' or 'extremile:1.5'."
    )
    return message, CollapsedFitWarning


def _constant_complaint(
    estimator: Any, objective: Objective, solution: Solution
) -> list[tuple[str, type[Warning]]]:
    """That the features make no difference, unless there is none in them.

    Of a fit that did not get to its end there are other complaints.
    """
    if solution.status in UNFINISHED:
        return []
    space, theta = objective.space, solution.theta
    spread = whole = 1.0
    if not objective.loss.classifies:
        whole = float(np.ptp(objective.y))
    # Quantiles of very many targets take long; nearly every fit is done with here.
    if whole == 0.0 or not nearly_constant(space, theta, CONSTANT * whole):
        return []
    if not objective.loss.classifies:
        low, high = np.quantile(objective.y, [0.25, 0.75])
        spread = float(high - low)
        # One absurd target is another matter than targets of an absurd size.
        if whole > 1e3 * spread:
            return []
    if spread == 0.0 or not nearly_constant(space, theta, CONSTANT * spread):
        return []
    somewhere = space.penalised(np.ones(space.size))
    if not np.any(space.penalised(theta)) and nearly_constant(space, somewhere, 0):
        return []
    message = (
        f"{type(estimator).__name__}: the features do not change a digit of the "
        f"predictions: alpha={estimator.alpha:g} outweighs features, or targets, of "
        "this size"
    )
    if objective.ranking.spectrum.monotone != "flat":
        message += f", or spectrum={estimator.spectrum!r} is too strong"
    message += ". Rescale them, with StandardScaler for example, or lower alpha."
    return [(message, CollapsedFitWarning)]
