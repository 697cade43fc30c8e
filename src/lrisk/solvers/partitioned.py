"""Certified fits of rows in parts, by the descents for very many rows in memory."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from .._params import refused
from .._typing import Floats, Indices
from ..certificate import relative_gap
from ..losses import Loss
from ..objective import Objective
from ..partitions.holding import HeldParts, moved_across
from ..partitions.objective import PartitionedObjective
from ..spectra import Spectrum
from .certified.band import approach
from .certified.progress import Progress, resumed
from .certified.sampling import stratified
from .certified.whitening import SMALLEST, minimise_whitened, sample_size
from .choice import automatic_solver
from .dual_points import slack_at, slack_held
from .sampled_parts import begun, samples_of
from .solution import Monitor, Solution, Status
from .ties import Path, along_ties, nearly_tied

#: Rows, and their entries (32 MB, as much as gradients by bin may take), up to which
#: all of them are gathered after a stall.
MOST_ROWS, MOST_ENTRIES = 100_000, 4_000_000


def minimise_in_parts(
    objective: PartitionedObjective,
    start: Floats | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise F, rows staying where they are.

    Parameters
    ----------
    objective : PartitionedObjective
        Under the mean, a smooth increasing spectrum or a superquantile, of squared,
        Huber, logistic or squared hinge loss.
    start : array of shape (size,) or None
        θ to begin from; None means the fit of a sample.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Limit on iterations.
    monitor : callable or None
        Told of each iteration.

    Returns
    -------
    Solution
        Its weights are what the parts make λ from, or λ where rows are so few that a
        sample would be all of them. After a stall few rows are gathered and fitted in
        memory; of more it holds what has been proven so far.
    """
    check_partitionable(objective.loss, objective.ranking.spectrum)
    progress = Progress(objective, tol, monitor)
    objective.fineness.goal = progress.tol
    if objective.n_rows <= SMALLEST:  # a sample would be all of them
        return _gathered(objective, start, tol, max_iter, monitor)
    try:
        try:
            status = _descend(objective, start, progress, max_iter)
        except np.linalg.LinAlgError:  # a metric of a sample that is not finite
            status = Status.STALLED
        objective.nu = 0.0
        if status is Status.STALLED and progress.gap > progress.tol:
            found = _after_stall(progress, max_iter, monitor)
            if found is not None:
                return found
    except KeyboardInterrupt:
        if not np.isfinite(progress.primal):  # there is nothing to keep
            raise
        status = Status.INTERRUPTED
    objective.nu = 0.0
    return progress.solution(status)


def _gathered(
    objective: PartitionedObjective,
    start: Floats | None,
    tol: float,
    max_iter: int,
    monitor: Monitor | None,
) -> Solution:
    """The fit of all rows in memory."""
    whole = objective.sampled(np.arange(objective.n_rows))
    kind: Any = automatic_solver(whole)
    solver = kind(tol=tol, max_iter=max(max_iter, kind(tol).max_iter))
    found: Solution = solver.solve(whole, start, monitor=monitor)
    return _constant_if_best(objective, found)


def _after_stall(
    progress: Progress[PartitionedObjective], max_iter: int, monitor: Monitor | None
) -> Solution | None:
    """The fit in memory from where the passes stalled; None of too many rows."""
    objective, n = progress.objective, progress.objective.n_rows
    if n > MOST_ROWS or n * objective.size > MOST_ENTRIES:
        return None
    told = resumed(progress, monitor)
    start = progress.theta if progress.history else None
    found = _gathered(objective, start, progress.tol, max_iter, told)
    note = f"rows were gathered, since passes stalled at a gap of {progress.gap:.1e}"
    return progress.joined(found.noted(note))


def _constant_if_best(objective: PartitionedObjective, found: Solution) -> Solution:
    """The fit without features where classes have none that is better."""
    value = objective.targets.constant_value
    if value is None or not value <= found.objective:
        return found
    gap = relative_gap(objective, value, max(value - found.dual, 0.0))
    theta = objective.constant_fit()
    return replace(found, theta=theta, objective=value, gap=gap)


def _descend(
    objective: PartitionedObjective,
    start: Floats | None,
    progress: Progress[PartitionedObjective],
    max_iter: int,
) -> Status:
    """From a sample, or from another one where the first has misled."""
    n = objective.n_rows
    rows = stratified(n, sample_size(objective.ranking, n))
    status = Status.STALLED
    for sample in samples_of(objective, rows):
        status = _descend_from(sample, rows, objective, start, progress, max_iter)
        if status is not Status.STALLED:
            break
    return status


def _descend_from(
    sample: Objective | PartitionedObjective,
    rows: Indices,
    objective: PartitionedObjective,
    start: Floats | None,
    progress: Progress[PartitionedObjective],
    max_iter: int,
) -> Status:
    """By ties where a sample has very many, else, or first, on F itself."""
    sampled = begun(sample, rows, start)
    early = nearly_tied(sample, sampled[1])
    if early:
        path = Path(sample, sampled[1], progress.tol)
        if path.tied and along_ties(objective, path, progress) is Status.CONVERGED:
            return Status.CONVERGED
        sampled = begun(sample, rows, path.theta)
    kinks = objective.loss.self_concordance is None
    if objective.ranking.selects:
        status = approach(
            objective,
            start,
            progress,
            max_iter,
            inside=functools.partial(moved_across, objective),
            hold=functools.partial(HeldParts, objective),
            sampled=sampled,
            prove=functools.partial(slack_held, progress) if kinks else None,
        )
    else:
        status = minimise_whitened(
            objective,
            start,
            progress,
            pairs=20,
            max_iter=max_iter,
            sampled=sampled,
            prove=functools.partial(slack_at, progress) if kinks else None,
        )
    bent = objective.ranking.spectrum.monotone != "flat"
    if status is Status.STALLED and bent and not early:
        path = Path(sample, sampled[1], progress.tol)
        return along_ties(objective, path, progress)
    return status


def check_partitionable(
    loss: Loss, spectrum: Spectrum, owner: object = "lrisk"
) -> None:
    """Refuse what nothing but all rows together could minimise."""
    if not loss.smooth or loss.per_class:
        rule = "squared, huber, logistic or squared_hinge for parts"
        remedy = "fit the other losses in memory"
        raise ValueError(refused(owner, "loss", rule, loss, remedy))
    if not (spectrum.smooth and spectrum.monotone != "down") and not spectrum.selects:
        rule = "the mean, an extremile, an ESRM or a superquantile for parts"
        remedy = "fit other spectra in memory"
        raise ValueError(refused(owner, "spectrum", rule, spectrum, remedy))
