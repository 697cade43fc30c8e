"""Which solver ``"auto"`` means."""

from ..objective import Objective
from .concentration import Concentration
from .lbfgs import LBFGS
from .newton import MOST_PARAMETERS, Newton
from .solution import Solver


def automatic_solver(objective: Objective) -> type[Solver]:
    """Newton where a Hessian fits, L-BFGS above; concentration if not convex.

    For n < d Newton works in n dimensions, so the smaller of the two counts.
    """
    if objective.ranking.spectrum.monotone in ("down", "none"):
        return Concentration
    space = objective.space
    columns = space.n_columns
    if space.n_rows < space.n_features:
        fits = space.n_rows * space.n_features <= space.most_rotated
        columns = space.n_rows + space.intercept if fits else columns
    return Newton if columns * space.n_scores <= MOST_PARAMETERS else LBFGS
