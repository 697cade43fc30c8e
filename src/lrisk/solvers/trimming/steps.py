"""Steps of the subquantile algorithm that see which rows are kept, and its filter."""

from collections.abc import Callable

import numpy as np

from ..._typing import Bools, Floats
from ...objective import Objective
from ...spaces.base import Space
from ...spaces.capabilities import bounded, kernel_matrix, row_access
from ..line_search import armijo, backtrack

#: The median absolute deviation of a normal variable, in its standard deviations.
NORMAL = 0.6745
#: Halvings of a step that a line search may try.
HALVINGS = 60

#: From θ, the gradient there, the losses and the weights of the rows to a step.
Moving = Callable[[Floats, Floats, Floats, Floats], float]


def squared_features(space: Space) -> Floats:
    """k(x_i, x_i) of every row; for linear functions ‖x_i‖²."""
    if hasattr(space, "matrix"):
        return np.diagonal(kernel_matrix(space).matrix()).copy()
    return np.asarray(row_access(space).squared_norms())


def far_rows(space: Space, limit: float, most: int) -> Bools:
    """Rows whose k(x, x) is far from the middle (paper 2, section 3.2).

    The paper says "far from the mean" and no more. Far rows move mean and deviation, so
    it is median and median absolute deviation here, as a normal variable's standard
    deviation, times `limit`; and at most the `most` farthest rows.
    """
    square = squared_features(space)
    middle = float(np.median(square))
    away = np.abs(square - middle)
    spread = float(np.median(away)) / NORMAL
    # A Gaussian kernel has k(x, x) = 1 up to rounding.
    far = away > limit * spread + 1e-9 * middle
    if far.sum() > most:
        order = np.argsort(-away, kind="stable")
        far[order[most:]] = False
    return far


def kept_step(objective: Objective) -> Moving:
    """1/β of the rows that are kept: the curvature of the present Φ(·, λ), as lemma 25.

    Their λ replace the bound over all rows, which wrong rows of large features make
    many times larger. Found anew when the kept rows change.
    """
    known: tuple[Floats, float] | None = None

    def step(theta: Floats, gradient: Floats, losses: Floats, taken: Floats) -> float:
        nonlocal known
        if known is None or not np.array_equal(known[0], taken):
            curvature = bounded(objective.space).largest_curvature(taken)
            curvature *= objective.loss.smoothness
            known = taken, 1.0 / max(curvature + objective.mu, 1e-300)
        return known[1]

    return step


def searched_step(objective: Objective, first: float) -> Moving:
    """Backtracking on Φ(·, λ) from twice the step before (Armijo's rule).

    The first one begins from `first`, 1/β of all rows, doubled until it is refused.
    """
    space, loss, y = objective.space, objective.loss, objective.y
    last = first * 2.0**HALVINGS

    def step(theta: Floats, gradient: Floats, losses: Floats, taken: Floats) -> float:
        nonlocal last

        def value(at: Floats, own: Floats) -> float:
            return float(taken @ own) + 0.5 * objective.mu * space.inner(at, at)

        def evaluate(share: float) -> tuple[float, None]:
            at = theta - share * start * gradient
            with np.errstate(over="ignore", invalid="ignore"):
                own = loss.value(y, space.scores(at))
                found = value(at, np.where(taken > 0, own, 0.0))
            return (found if np.isfinite(found) else np.inf), None

        start = 2.0 * last
        now = value(theta, np.where(taken > 0, losses, 0.0))
        # In the coefficients of a kernel the gradient's norm is that of the space.
        square = space.inner(gradient, gradient)
        if space.intercept:
            square = float(gradient @ gradient)
        rounding = 1e-14 * abs(now)
        enough = armijo(now, -start * square, rounding)
        last = start * backtrack(evaluate, enough, 2 * HALVINGS).length
        return last

    return step
