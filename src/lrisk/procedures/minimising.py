"""Minimise with any solver, and search round those that only go downhill.

Concentration finds the nearest floor of an objective that is not convex; what matters
there is where it begins. Other solvers need no help.
"""

import numpy as np

from .._typing import Floats
from ..objective import Objective
from ..solvers import Concentration, Solution, Solver
from ..solvers.solution import Monitor
from .nystroem import Kept, concentrate
from .trimming import minimise_trimmed


def minimise(
    objective: Objective,
    solver: Solver,
    start: Floats | None = None,
    *,
    weights: Floats | None = None,
    begun: Kept | None = None,
    rng: np.random.Generator | None = None,
    monitor: Monitor | None = None,
) -> Solution:
    """The best point that the solver, or a search round it, finds.

    Parameters
    ----------
    objective : Objective
    solver : Solver
    start : array of shape (size,) or None
        θ to begin from, or to try before other starts.
    weights : array of shape (n,) or None
        λ of a solution near by.
    begun : Kept or None
        Which rows a pilot keeps; then the search begins with those and nowhere else.
    rng : Generator or None
    monitor : callable or None
    """
    if not isinstance(solver, Concentration):
        return solver.solve(objective, start, weights=weights, rng=rng, monitor=monitor)
    if begun is not None:
        return concentrate(objective, solver, begun, monitor)
    return minimise_trimmed(objective, solver, start, rng=rng, monitor=monitor)
