"""What follows when a solver for very many rows stalls: `Newton`, from where it was."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..._typing import Floats
from ...objective import Objective
from ..solution import Monitor, Solution, Status
from .collapse import certified_collapse
from .newton import Newton
from .progress import Progress, resumed


def minimise_or_newton(
    objective: Objective,
    descend: Callable[[Progress[Objective]], Status],
    *,
    tol: float,
    max_iter: int,
    monitor: Monitor | None,
) -> Solution:
    """Look for a collapse, else descend, and end with `Newton` after a stall.

    Parameters
    ----------
    objective : Objective
    descend : callable
        Passes over all rows, recorded in the `Progress` it is given.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Limit on Newton steps.
    monitor : callable or None
        Told of each iteration.
    """
    progress = Progress(objective, tol, monitor)
    try:
        collapsed = certified_collapse(objective, tol, monitor)
        if collapsed is not None:
            return collapsed
        status = descend(progress)
    except np.linalg.LinAlgError:  # a metric of a sample that is not finite
        status = Status.STALLED
    progress.settle()
    if status is Status.CONVERGED and not progress.done:
        status = Status.STALLED
    stuck = status is Status.MAX_ITER and not progress.certified
    if status is Status.STALLED or stuck:
        return after_stall(progress, max_iter, monitor)
    return progress.solution(status)


def changed_to_newton(
    objective: Objective,
    why: str,
    start: Floats | None,
    weights: Floats | None,
    *,
    tol: float,
    max_iter: int,
    monitor: Monitor | None,
) -> Solution:
    """The solution of `Newton`, with a note in its history why it was taken."""
    newton = Newton(tol=tol, max_iter=max_iter)
    solution = newton.solve(objective, start, weights=weights, monitor=monitor)
    return replace(
        solution.noted(f"changed to newton, since {why}"), solver=newton.name
    )


def after_stall(
    progress: Progress[Objective], max_iter: int, monitor: Monitor | None
) -> Solution:
    """The solution of `Newton` from the best point, or that point if it is better."""
    reached = f"a gap of {progress.gap:.1e}"
    if not progress.certified:
        reached = f"a stationarity of {progress.stationarity:.1e}"
    # A λ that proves little is no good centre, and no point no good start.
    weights = progress.weights if progress.gap < 1e-2 else None
    solution = changed_to_newton(
        progress.objective,
        f"the passes over all rows stalled at {reached}",
        progress.theta if progress.history else None,
        weights,
        tol=progress.tol,
        max_iter=max_iter,
        monitor=resumed(progress, monitor),
    )
    return progress.joined(solution)
