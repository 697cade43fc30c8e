"""Whether the fit without features is the best that classes allow.

Under a strong spectrum and overlapping classes no use of the features lowers the
largest losses. A fit that looks constant is then solved to a tight gap, whatever the
tolerance asked for, since a loose one proves nothing.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Floats
from ..certificate import relative_gap
from ..losses import Logistic
from ..objective import Objective
from ..solvers import Newton, Solution, automatic_solver
from ..spaces import LinearSpace, Space

#: Relative gap above which a solution proves nothing of a constant.
PROVING = 0.1
#: Spread of the scores, in log-odds, of a fit that looks constant.
LOOKS = 0.1
#: How far above the solution a constant may be that a tight solve may yet prove best.
WITHIN = 1e-6
#: Relative gaps of the tight solve, and of the constant itself.
TIGHT, EXACT = 1e-9, 1e-11
#: How far above the lower bound the best constant may be: a few times the tight gap.
ABOVE = 1e-7


def without_features(objective: Objective, solution: Solution) -> tuple[Solution, bool]:
    """The constant fit if it is proven to be the best, and whether it is.

    Otherwise the solution, or a better one that was found on the way. Under the mean
    spectrum a constant fit is ordinary and nothing is tried. Without intercepts, as in
    a kernel space, the constant is zero.

    Parameters
    ----------
    objective : Objective
        Of classes.
    solution : Solution
    """
    flat = objective.ranking.spectrum.monotone == "flat"
    if flat or not solution.gap < PROVING:
        return solution, False
    space = objective.space
    if solution.solver == "collapse":  # proven already
        intercepts = np.zeros(space.n_scores)
        return replace(solution, theta=_constant(space, intercepts)), True
    if not nearly_constant(space, solution.theta, LOOKS):
        return solution, False
    intercepts, value = _best_constant(objective)
    solver: Any = automatic_solver(objective)
    tight = solver(tol=TIGHT)
    if solution.gap > tight.tol and value <= solution.objective * (1.0 + WITHIN):
        better = tight.solve(objective, solution.theta, weights=solution.weights)
        if better.dual > solution.dual:
            solution = replace(solution, dual=better.dual, weights=better.weights)
        if better.objective < solution.objective:
            solution = replace(solution, theta=better.theta, objective=better.objective)
        gap = max(solution.objective - solution.dual, 0.0)
        gap = relative_gap(objective, solution.objective, gap)
        solution = replace(solution, gap=gap)
    # Under a heavy penalty little use of the features is best, which is not none.
    best = value <= solution.objective * (1.0 + EXACT)
    if not best or value > max(solution.dual, 0.0) * (1.0 + ABOVE):
        return solution, False
    gap = relative_gap(objective, value, max(value - solution.dual, 0.0))
    theta = _constant(space, intercepts)
    return replace(solution, theta=theta, objective=value, gap=gap), True


def nearly_constant(space: Any, theta: Floats, within: float) -> bool:
    """Whether no two rows' scores differ by more; a few rows may already say no."""
    if hasattr(space, "take") and space.n_rows > 1000:
        some = space.take(np.linspace(0, space.n_rows - 1, 1000).astype(np.intp))
        if np.max(np.ptp(some.scores(theta), axis=0)) > within:
            return False
    return bool(np.max(np.ptp(space.scores(theta), axis=0)) <= within)


def _best_constant(objective: Objective) -> tuple[Floats, float]:
    """Intercepts of the best constant, and its risk."""
    space = objective.space
    bare = objective.with_space(
        LinearSpace(
            np.empty((space.n_rows, 0)),
            intercept=space.intercept,
            n_scores=space.n_scores,
        )
    )
    if not space.intercept:
        return np.zeros(space.n_scores), bare.value(bare.at(np.zeros(0)))
    if isinstance(objective.loss, Logistic):
        intercepts = np.array([_best_log_odds(objective)])
    else:
        intercepts = Newton(tol=EXACT).solve(bare).theta
    return intercepts, bare.value(bare.at(intercepts))


def _best_log_odds(objective: Objective) -> float:
    """The best constant score of two classes.

    All rows of a class lose alike: above zero those of class 0 lose more. With σ₀ their
    weight as the worst rows, the risk is σ₀log(1 + eᵇ) + (1 − σ₀)log(1 + e⁻ᵇ), least
    where the odds are (1 − σ₀)/σ₀, if that is above zero; likewise below it.
    """
    for sign, worst in ((1.0, 0.0), (-1.0, 1.0)):
        last = objective.y == worst
        sigma = objective.ranking.sigma(np.argsort(last, kind="stable"))
        weight = float(sigma[len(sigma) - np.count_nonzero(last) :].sum())
        if weight < 0.5:
            return sign * float(np.log1p(-weight) - np.log(weight))
    return 0.0


def _constant(space: Space, intercepts: Floats) -> Floats:
    """θ of a constant."""
    theta = np.zeros(space.size)
    if space.intercept:
        theta[-space.n_scores :] = intercepts
    return theta
