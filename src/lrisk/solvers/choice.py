"""Which solver ``"auto"`` means."""

from ..objective import Objective
from .certified.band import Band
from .certified.lbfgs import LBFGS
from .certified.newton import MOST_PARAMETERS, Newton, newton_size
from .certified.whitening import whitenable
from .solution import Solver
from .trimming.concentration import Concentration

#: Rows from which a sample of them is worth its while.
MANY_ROWS = 20_000
#: Products n·size² up to which the Hessian of a multinomial model, of k² blocks, pays.
MOST_WORK = 5e8


def automatic_solver(objective: Objective) -> type[Solver]:
    """Choose the solver that is fastest for an objective.

    Newton where a Hessian fits, L-BFGS above; concentration if not convex. For n < d
    Newton works in n dimensions, so the smaller of the two counts. With many rows a
    superquantile goes to the band and a smooth spectrum to whitened L-BFGS; both first
    look for a collapse and end with Newton if they stall.

    Parameters
    ----------
    objective : Objective
        What is to be minimised.

    Returns
    -------
    type
        A subclass of `Solver`.

    See Also
    --------
    Newton, LBFGS, Band, Concentration : What it chooses from.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Squared
    >>> from lrisk.objective import Objective
    >>> from lrisk.ranking import Ranking
    >>> from lrisk.solvers import automatic_solver
    >>> from lrisk.spaces import LinearSpace
    >>> from lrisk.spectra import Subquantile, Superquantile
    >>> space = LinearSpace(np.eye(3), intercept=True)
    >>> for spectrum in (Superquantile(0.5), Subquantile(0.5)):
    ...     ranking = Ranking(spectrum, 3)
    ...     objective = Objective(ranking, Squared(), space, np.ones(3), 1.0)
    ...     print(automatic_solver(objective).name)
    newton
    concentration
    """
    ranking, space = objective.ranking, objective.space
    if ranking.spectrum.trims:
        return Concentration
    work = float(space.n_rows) * space.size**2
    many_scores = objective.loss.per_class and work > MOST_WORK
    if newton_size(space) > MOST_PARAMETERS or many_scores:
        return LBFGS
    if space.n_rows >= MANY_ROWS and whitenable(objective):
        if ranking.spectrum.smooth:
            return LBFGS
        if ranking.selects:
            return Band
    return Newton
