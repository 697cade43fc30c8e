"""Choice of a learning rate by the paper's rule (paper 1, appendix F.4)."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..._params import refused
from ...objective import Objective
from ..solution import Status
from .base import StochasticSolver

#: The grid of appendix F.4.
GRID = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0)


class Tuning(NamedTuple):
    """The chosen learning rate, and the mean final risk for each one tried.

    Parameters
    ----------
    learning_rate : float
        The rate with the lowest mean final risk.
    risks : dict of float to float
        The mean final risk for each rate that was tried.

    See Also
    --------
    tune_learning_rate : Makes it.

    Examples
    --------
    >>> from lrisk.solvers import Tuning
    >>> Tuning(learning_rate=0.1, risks={0.1: 2.0, 1.0: 3.0}).learning_rate
    0.1
    """

    learning_rate: float
    risks: dict[float, float]


def tune_learning_rate(
    solver: StochasticSolver,
    objective: Objective,
    *,
    grid: Sequence[float] = GRID,
    seeds: Sequence[int] = (1, 2, 3, 4, 5),
) -> Tuning:
    """Pick the rate with the lowest final training risk, averaged over seeds.

    A rate with which any run diverges counts as infinitely bad.

    Parameters
    ----------
    solver : StochasticSolver
        Its own learning rate does not matter; it is not changed.
    objective : Objective
        What is to be minimised.
    grid : sequence of float, default=(0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, \
            1.0, 3.0)
        Rates to try.
    seeds : sequence of int, default=(1, 2, 3, 4, 5)
        Seeds of the runs that are averaged.

    Returns
    -------
    Tuning
        The best rate, and the mean final risk of each.

    See Also
    --------
    LSVRG, SGD : With ``learning_rate="auto"`` no search is needed.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Squared
    >>> from lrisk.objective import Objective
    >>> from lrisk.ranking import Ranking
    >>> from lrisk.solvers import SGD, tune_learning_rate
    >>> from lrisk.spaces import LinearSpace
    >>> from lrisk.spectra import Mean
    >>> x = np.linspace(-1.0, 1.0, 50)
    >>> space = LinearSpace(x[:, None], intercept=False)
    >>> objective = Objective(Ranking(Mean(), 50), Squared(), space, x, 0.1)
    >>> solver = SGD(max_epochs=3)
    >>> tune_learning_rate(solver, objective, grid=[1e-6, 0.1], seeds=[1]).learning_rate
    0.1
    """
    risks = {}
    for rate in grid:
        trial = copy.copy(solver).set_params(learning_rate=rate, certify_every=None)
        finals = []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            solution = trial.run(objective, rng=rng, proof=False)
            if solution.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            diverged = solution.status is Status.DIVERGED
            finals.append(np.inf if diverged else solution.history[-1]["objective"])
            if diverged:
                break
        risks[rate] = float(np.mean(finals))
    best = min(risks, key=lambda rate: risks[rate])
    if not np.isfinite(risks[best]):
        rule, remedy = "small enough for these data", "add smaller rates to the grid"
        raise ValueError(
            refused("tune_learning_rate", "grid", rule, list(grid), remedy)
        )
    return Tuning(best, risks)
