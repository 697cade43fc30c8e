"""Small problems for the stochastic solvers, and how they are run."""

import copy

import numpy as np
from transcriptions import Problem

from lrisk.losses import LOSSES
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers.stochastic import Work
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum


def data(loss="squared", n=60, d=4, seed=0, k=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(size=d)
    if not LOSSES[loss].classifies:
        return X, z + rng.normal(size=n)
    if not LOSSES[loss].per_class:
        return X, (z + rng.logistic(size=n) > 0) * 1.0
    scores = X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1) * 1.0


def build(X, y, loss="squared", spectrum="extremile:2", *, intercept=False, weight=None,
          alpha=1.0):  # fmt: skip
    kind = LOSSES[loss]()
    n_scores = int(y.max()) + 1 if kind.per_class else 1
    ranking = Ranking(parse_spectrum(spectrum), len(y), weight)
    space = LinearSpace.centred(X, ranking.mass, intercept=intercept, n_scores=n_scores)
    return Objective(ranking, kind, space, y, alpha)


def run(solver, objective, seed=0, **changes):
    changed = copy.copy(solver).set_params(**changes)
    return changed.solve(objective, rng=np.random.default_rng(seed))


def begun(objective, start=None):
    """Work with everything evaluated at the start."""
    work = Work(objective, start)
    work.evaluate()
    return work


def last_iterate(solver, objective, rate, *, epochs=3, seed=5):
    """The last iterate (not the best) after some epochs at a fixed rate."""
    rng = np.random.default_rng(seed)
    work = begun(objective)
    state = solver.begin(work, rng)
    for _ in range(epochs):
        solver.epoch(work, state, rate, rng)
        work.evaluate()
    return work.theta()


#: Each pair of a loop and a loss is compiled anew; these two differ in every formula.
PRINTED = [
    (loss, spectrum, full)
    for loss in ("squared", "logistic")
    for spectrum in ("mean", "superquantile:0.4", "extremile:2")
    for full in (False, True)
]


def printed(loss, spectrum, full, alpha=1.0):
    """An objective and its transcription; `full` means intercept and weights."""
    X, y = data(loss)
    weight = np.random.default_rng(9).uniform(0.5, 2.0, len(y)) if full else None
    objective = build(
        X + 1.0, y, loss, spectrum, intercept=full, weight=weight, alpha=alpha
    )
    family = parse_spectrum(spectrum)
    problem = Problem(
        X + 1.0, y, loss, objective.mu, family, intercept=full, weight=weight
    )
    return objective, problem


class Grid:
    """Stands for a generator: its numbers lie evenly, one in each of `count` cells."""

    def random(self, shape):
        count = shape[0] if isinstance(shape, tuple) else shape
        points = (np.arange(count) + 0.5) / count
        if isinstance(shape, tuple):
            return np.broadcast_to(points[:, None], shape).copy()
        return points
