"""What follows when a solver for very many rows stalls: `Newton`, from where it was."""

from ..certificate import relative_gap
from .lagrangian import Progress
from .newton import Newton
from .solution import Monitor, Solution, Status


def finished(
    progress: Progress, status: Status, max_iter: int, monitor: Monitor | None
) -> Solution:
    """The solution as it stands, or that of `Newton` if there was a stall."""
    if status is not Status.STALLED:
        return progress.solution(status)
    objective = progress.objective
    reached = f"a gap of {progress.gap:.1e}"
    if not progress.certified:
        reached = f"a stationarity of {progress.stationarity:.1e}"
    newton = Newton(tol=progress.tol, max_iter=max_iter)
    # A λ that proves little is no good centre.
    weights = progress.weights if progress.gap < 1e-2 else None
    solution = newton.solve(objective, progress.theta, weights=weights, monitor=monitor)
    note = f"changed to newton, since the passes over all rows stalled at {reached}"
    solution.history[0]["note"] = note
    if progress.primal < solution.objective:  # the best point, and the best bound
        solution.theta, solution.objective = progress.theta, progress.primal
        gap = max(solution.objective - solution.dual, 0.0)
        solution.gap = relative_gap(objective, solution.objective, gap)
    solution.history = progress.history + solution.history
    solution.n_iter += progress.n_iter
    solution.solver = newton.name
    return solution
