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
    """The chosen learning rate, and the mean final risk for each one tried."""

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
    grid : sequence of float
    seeds : sequence of int

    Returns
    -------
    Tuning
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
