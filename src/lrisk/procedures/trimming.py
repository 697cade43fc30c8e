"""Minimise a decreasing spectral risk: starts, paths and exchanges round the C-steps.

The problem is not convex and C-steps only find the nearest floor, so what matters is
where they begin and how they leave a poor floor:

- linear space, squared loss: deterministic starts and elemental ones (FAST-LTS);
- kernel space, squared loss: a path of penalties from heavy to the one asked for, each
  fit starting from the rows the last one kept; elimination of rows one by one
  (``starts=0``: none); then exchanges of kept and excluded rows until none lowers the
  objective. A lower objective is not always a lower test error: with a tiny penalty the
  path alone often predicts better (``swaps=0``). A space that only solves for fits has
  the path alone;
- classes: such a path from a penalty as heavy as the losses curve, where the fit says
  only in which direction the classes lie, over the rows that are not far from all of
  them, and nowhere else unless random halves are asked for. A fit of all rows with a
  light penalty has bent to the wrong ones before any are left out, and among the floors
  it leads to the lowest is not the best: where four rows in ten can be left out, nearly
  any labels can be told apart.
"""

from itertools import chain

import numpy as np

from .._params import refused
from .._typing import Floats
from ..grouped_ranking import GroupedRanking
from ..objective import Objective, Point
from ..solvers import Solution
from ..solvers.solution import Monitor
from ..solvers.trimming.concentration import Concentration, Descent
from ..solvers.trimming.refits import NewtonRefit, RidgeRefit, refit_for
from ..solvers.trimming.trimmed_ridge import TrimmedRidge
from ..spaces.capabilities import linear
from .starts import (
    half_starts,
    linear_regression_starts,
    median_kernel_start,
    tethered,
)

#: Heaviest penalty μ of a path of squared losses, and the least ratio between two
#: members of any path.
HEAVIEST, RATIO = 1e-2, 10.0
#: Most members of a path above μ; further down the kept rows hardly change.
LONGEST = 6
#: Rows up to which thousands of elemental starts cost nothing.
FEW_ROWS = 150


def minimise_trimmed(
    objective: Objective,
    solver: Concentration,
    start: Floats | None = None,
    *,
    rng: np.random.Generator | None = None,
    monitor: Monitor | None = None,
) -> Solution:
    """The best point over all starts.

    Parameters
    ----------
    objective : Objective
        Under a decreasing spectrum or a ranked range, over a linear or kernel space.
    solver : Concentration
        Its parameters say how far to go.
    start : array of shape (size,) or None
        θ of an earlier fit, tried before the others.
    rng : Generator or None
        For random starts.
    monitor : callable or None
    """
    solver.check(objective)
    if solver.class_balanced:
        if not objective.loss.classifies:
            rule, remedy = "False for regression", "it trims within classes"
            raise ValueError(refused(solver, "class_balanced", rule, True, remedy))
        grouped = GroupedRanking.by(objective.ranking, objective.y)
        objective = objective.with_ranking(grouped)
    n = objective.ranking.n_rows
    generator = np.random.default_rng(0) if rng is None else rng
    descent = Descent(objective, solver.tol, solver.max_iter, monitor)
    if not hasattr(objective.space, "gram"):
        return descent.solution(_kernel_ridge(objective, solver, descent, start))
    refit = refit_for(objective)
    if not objective.loss.classifies:
        starts = linear_regression_starts(objective, generator, _count(solver, n))
    else:
        halves = 0 if isinstance(solver.starts, str) else solver.starts
        starts = chain(
            [("path", class_path(objective, solver).theta)],
            half_starts(objective, generator, halves),
        )
    if start is not None:
        starts = chain([("last fit", start)], starts)
    # Of a start and of the best only θ is kept: a point holds two numbers for each row.
    theta, least = np.empty(0), np.inf
    for label, first in starts:
        found = descent.run(refit, objective.at(first), label=label)
        value = descent.value(found)
        if not theta.size or descent.below(value, least):
            theta, least = found.theta, value
        del found
    return descent.solution(objective.at(theta))


def _count(solver: Concentration, n_rows: int) -> int:
    """Elemental starts; many where rows are few."""
    if isinstance(solver.starts, str):
        return 3000 if n_rows <= FEW_ROWS else 500
    return solver.starts


def penalties(mu: float, heaviest: float = HEAVIEST) -> list[float]:
    """The path: from the heaviest down by tens, five times at most, and μ itself."""
    levels = [heaviest / RATIO**k for k in range(LONGEST)]
    return [*(level for level in levels if level >= RATIO * mu), mu]


def class_path(objective: Objective, solver: Concentration) -> Point:
    """The fit of the rows to which a path of penalties leads, for classes.

    Each fit of the path starts from the rows that the last, stiffer one kept, the first
    from all that are not far from every class. The models on the way are tethered: one
    of nothing but a free intercept has the least trimmed loss if it leaves one class
    out.
    """
    way = tethered(objective)
    point: Point | None = None
    for mu in penalties(objective.mu, way.heaviest):
        step = way.under(mu)
        theta = np.zeros(step.space.size) if point is None else point.theta
        descent = Descent(step, solver.tol, solver.max_iter)
        point = descent.run(NewtonRefit(step), step.at(theta))
    assert point is not None
    # Newton's method from zero would not come far where a kept row lies at 10⁹: each
    # step tells that row a little better and moves nothing else.
    free = objective.at(way.free(point.theta, linear(objective.space)))
    return NewtonRefit(objective)(way.weights(point.theta), free)


def _kernel_ridge(
    objective: Objective,
    solver: Concentration,
    descent: Descent,
    start: Floats | None,
) -> Point:
    """Path, elimination and exchanges for squared loss in a kernel space."""
    path = penalties(objective.mu)
    point: Point | None = None
    for mu in path[:-1]:
        refit = RidgeRefit(objective, mu)
        point = median_kernel_start(objective, refit) if point is None else point
        heavy = Descent(objective, solver.tol, solver.max_iter)
        point = heavy.run(refit, refit(heavy.weights(point), point))
        del refit
    refit = RidgeRefit(objective)
    last: Point | None = None
    if start is not None:
        last = objective.at(start)
        last = descent.run(refit, refit(descent.weights(last), last), label="last fit")
    if point is None:
        point = median_kernel_start(objective, refit)
    else:
        point = refit(descent.weights(point), point)
    best = descent.run(refit, point, label="path" if len(path) > 1 else "median")
    if last is not None and descent.lower(last, best):
        best = last
    ridge = refit.ridge
    if not isinstance(ridge, TrimmedRidge) or solver.starts == 0:
        return _exchanges(objective, solver, descent, refit, best)
    weights = ridge.eliminate(
        objective.ranking.mass, 1.0 - objective.ranking.spectrum.support[1]
    )
    greedy = refit.point(weights, ridge.fit(weights))
    greedy = descent.run(refit, greedy, label="elimination")
    if descent.lower(greedy, best):
        best = greedy
    return _exchanges(objective, solver, descent, refit, best)


def _exchanges(
    objective: Objective,
    solver: Concentration,
    descent: Descent,
    refit: RidgeRefit,
    best: Point,
) -> Point:
    """Exchange rows, then C-steps, as long as the objective falls and rounds last."""
    ridge = refit.ridge
    if not isinstance(ridge, TrimmedRidge):
        return best
    for _ in range(exchange_rounds(objective, solver.swaps)):
        moved = ridge.exchange(descent.weights(best))
        if moved is None:
            return best
        weights, fit = moved
        point = refit.point(weights, fit)
        descent.record(descent.value(point), "exchange")
        best = descent.run(refit, point, label="exchange")
    return best


def exchange_rounds(objective: Objective, swaps: int | str) -> int:
    """Rounds of exchanges: as given, or what costs about as much as a factorisation."""
    if not isinstance(swaps, str):
        return int(swaps)
    n = objective.ranking.n_rows
    out = max(1.0, (1.0 - objective.ranking.spectrum.support[1]) * n)
    return int((0.2 * n**3 + 2e9) // (2.0 * n * out**2 + 1.0)) if n > 0 else 0
