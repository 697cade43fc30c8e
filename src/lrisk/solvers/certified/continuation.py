"""Continuation over softened losses: for kinks, and for flat pieces far from the start.

Pinball and absolute loss have a kink, where Newton's method knows no curvature, and on
the flat pieces of these and of Huber's loss there is none at all. Both are cured by
`lrisk.losses.Softened`: the problem is solved for a wide curved piece first, and each
fit is the start of the next, narrower one.

What is proven is always the gap of the loss itself. The softened loss has the same dual
domain, so its slopes a at a fit are dual points of the loss with the kink, too, and

    F(θ) − min F ≤ excess + Σλ_i FY(z_i, a_i) + ‖μw + Xᵀ(λ∘a)‖²/(2μ),   FY ≤ ω·max|a|²/4

where only the rows on the curved piece, few at the end, count in the sum. So the gap
falls in proportion to the width ω, and ω need not be as small as the tolerance.
"""

from collections.abc import Callable

import numpy as np

from ..._typing import Floats
from ...certificate import dual_bound
from ...objective import Objective
from ..solution import Monitor, Solution, Status
from .progress import Progress, resumed

#: What minimises a softened objective: its tolerance and limit, start and centre.
Inner = Callable[
    [Objective, float, int, Floats | None, Floats | None, Monitor | None], Solution
]

#: From one width to the next, and the most widths.
NARROWER, MOST_WIDTHS = 0.1, 24
#: Tolerance of the first fit, and that of each other one beside the gap to come.
FIRST, BESIDE = 1e-2, 0.1
#: First width of a warm start beside that of a cold one.
WARM = 1e-2


def needs_continuation(objective: Objective) -> bool:
    """Whether the loss has flat pieces at the scale of these targets."""
    loss = objective.loss
    return loss.flat and loss.softened(_first_width(objective)) is not loss


def minimise_softened(
    objective: Objective,
    inner: Inner,
    *,
    tol: float,
    max_iter: int,
    start: Floats | None,
    weights: Floats | None,
    monitor: Monitor | None,
) -> Solution:
    """Minimise through narrower and narrower softened losses.

    Parameters
    ----------
    objective : Objective
    inner : callable
        Minimises one softened objective.
    tol : float
        Relative duality gap of the objective itself at which to stop.
    max_iter : int
        Limit on the iterations of all inner solves together.
    start, weights : arrays or None
        As for `Solver.solve`.
    monitor : callable or None
        Told of each width.
    """
    progress = Progress(objective, tol, monitor)
    width = _first_width(objective)
    if start is not None and weights is not None:
        width *= WARM
    unmoved = 0
    for _ in range(MOST_WIDTHS):
        loss = objective.loss.softened(width)
        left = max(max_iter - progress.n_iter, 1)
        if loss is objective.loss:
            last = resumed(progress, monitor)
            return progress.joined(inner(objective, tol, left, start, weights, last))
        before = _error(progress)
        accuracy = min(FIRST, max(BESIDE * NARROWER * before, BESIDE * progress.tol))
        softened = objective.with_loss(loss)
        solution = inner(softened, accuracy, left, start, weights, None)
        progress.n_iter += solution.n_iter
        _prove(progress, softened, solution, width)
        if progress.done:
            return progress.solution()
        if progress.n_iter >= max_iter:
            return progress.solution(Status.MAX_ITER)
        # A start that is good enough for this width says nothing of narrower ones.
        if solution.n_iter > 1:
            unmoved = unmoved + 1 if _error(progress) > 0.9 * before else 0
        if unmoved >= 8:
            break
        start, weights = solution.theta, solution.weights
        width *= NARROWER
    return progress.solution(Status.STALLED)


def _error(progress: Progress[Objective]) -> float:
    """The relative gap; without penalty, and so without proof, the stationarity."""
    if progress.certified:
        return progress.distance
    scale = max(progress.primal, np.finfo(np.float64).tiny)
    return progress.stationarity / scale


def _first_width(objective: Objective) -> float:
    """A width on whose curved piece most residuals of the constant fit lie."""
    center = float(objective.mean_scores()) if objective.space.intercept else 0.0
    return objective.loss.scale(objective.y, objective.ranking.mass, center)


def _prove(
    progress: Progress[Objective], softened: Objective, solution: Solution, width: float
) -> None:
    """Bound the gap of the loss itself by the dual point of the softened fit."""
    point, weights = progress.objective.at(solution.theta), solution.weights
    slopes = solution.slopes
    if slopes is None:  # no penalty, and so no proof
        slopes = softened.loss.derivative(softened.y, point.scores)
    proof, fitted = dual_bound(progress.objective, point, weights, slopes)
    decrement = fitted + solution.history[-1]["stationarity"]
    progress.record(point.theta, weights, proof, decrement, 0.0)
    progress.history[-1]["width"] = width
