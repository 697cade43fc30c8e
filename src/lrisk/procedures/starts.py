"""Where to begin a search that only goes downhill.

Deterministic starts come first: they are the same in every run, and on most data one
of them is in the best basin already. Each start is a point; the C-steps from it do the
rest.
"""

from collections.abc import Iterator

import numpy as np

from .._typing import Floats
from ..objective import Objective, Point
from ..solvers._loops.elemental import elemental_fits
from ..solvers.trimming.concentration import NewtonRefit, RidgeRefit
from ..solvers.trimming.kept import LowestRows
from ..spectra import Mean

#: Rows that elemental starts look at; above, a random sample of this size.
ELEMENTAL_ROWS = 300
#: Columns above which a few rows say nothing under contamination.
ELEMENTAL_COLUMNS = 30
#: Elemental starts that are taken to the end.
BEST = 10


def middle_weights(objective: Objective) -> Floats:
    """Weights that keep the targets nearest to their median."""
    y, ranking = objective.y, objective.ranking
    order = np.argsort(y)
    half = np.searchsorted(np.cumsum(ranking.mass[order]), 0.5)
    middle = y[order[min(int(half), len(y) - 1)]]
    return _lowest(objective).weights(np.abs(y - middle))


def _lowest(objective: Objective) -> LowestRows:
    """The spectrum, or for a ranked range the rows below its upper end."""
    ranking = objective.ranking
    if ranking.spectrum.shape == "range":
        ranking = ranking.with_spectrum(ranking.spectrum.in_two_steps()[0])
    return LowestRows(ranking)


def linear_regression_starts(
    objective: Objective, rng: np.random.Generator, n_elemental: int
) -> Iterator[tuple[str, Point]]:
    """Zero, median, least squares, Huber, then the best elemental starts."""
    space = objective.space
    refit = NewtonRefit(objective)
    zero = objective.at(np.zeros(space.size))
    yield "zero", zero
    yield "median", refit(middle_weights(objective), zero)
    least = refit(objective.ranking.mass, zero)
    yield "least squares", least
    yield "huber", huber(objective, least)
    for theta in elemental(objective, rng, n_elemental):
        yield "elemental", objective.at(theta)


def huber(objective: Objective, point: Point, rounds: int = 15) -> Point:
    """Huber's M-estimate by reweighting, its scale from the median of |residuals|."""
    refit = NewtonRefit(objective)
    mass = objective.ranking.mass
    for _ in range(rounds):
        residuals = np.abs(point.scores - objective.y)
        cut = 1.345 * 1.4826 * float(np.median(residuals))
        if cut == 0.0:
            return point
        weights = mass * np.minimum(1.0, cut / np.maximum(residuals, 1e-300))
        point = refit(weights, point)
    return point


def elemental(
    objective: Objective, rng: np.random.Generator, count: int
) -> list[Floats]:
    """The best of many fits to as many random rows as there are parameters (FAST-LTS).

    Two C-steps follow each. With unequal weights rows are drawn in proportion to them
    and judged as equals, which is good enough for a start.
    """
    space, ranking = objective.space, objective.ranking
    n, m = space.n_rows, space.size
    if count == 0 or m > min(ELEMENTAL_COLUMNS, n):
        return []
    chosen = np.arange(n)
    if n > 2 * ELEMENTAL_ROWS:
        chosen = rng.choice(n, ELEMENTAL_ROWS, replace=False, p=ranking.mass)
    rows = np.concatenate([block for _, block in space.at(space.X[chosen]).blocks()])
    sigma = ranking.spectrum.weights(n)
    share = float(np.sum(sigma > 0.5 * sigma.max())) / n
    kept = min(max(round(share * len(chosen)), min(m + 1, len(chosen))), len(chosen))
    ridge = np.full(m, objective.mu * kept)
    if space.intercept:
        ridge[-1] = 0.0
    keys = rng.random((count, len(chosen)))
    if not ranking.equal:
        keys = keys ** (1.0 / ranking.row_weight[chosen])
    width = min(3 * m, len(chosen))
    order = np.argpartition(-keys, width - 1, axis=1)[:, :width]
    order = np.take_along_axis(
        order, np.argsort(-np.take_along_axis(keys, order, 1), axis=1), 1
    )
    fits, sums = elemental_fits(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(objective.y[chosen]),
        ridge,
        kept,
        np.ascontiguousarray(order),
        2,
    )
    best: list[int] = []
    for i in np.argsort(sums, kind="stable"):
        again = best and sums[i] <= sums[best[-1]] * (1.0 + 1e-9)
        if np.isfinite(sums[i]) and not again:
            best.append(int(i))
        if len(best) == BEST:
            break
    return [fits[i] for i in best]


def class_starts(
    objective: Objective, rng: np.random.Generator, n_halves: int
) -> Iterator[tuple[str, Point]]:
    """The fit of the mean loss, of heavier penalties, and of random halves."""
    space = objective.space
    refit = NewtonRefit(objective)
    zero = objective.at(np.zeros(space.size))
    mass = objective.ranking.mass
    yield "mean", refit(mass, zero)
    for factor in (10.0, 1000.0):
        heavy = Objective(
            objective.ranking.with_spectrum(Mean()),
            objective.loss,
            space,
            objective.y,
            factor * max(objective.alpha, 1e-3),
        )
        yield "heavy", objective.at(NewtonRefit(heavy)(mass, zero).theta)
    for _ in range(n_halves):
        half = mass * (rng.random(len(mass)) < 0.5)
        if half.sum() > 0:
            yield "half", refit(half / half.sum(), zero)


def median_kernel_start(objective: Objective, refit: RidgeRefit) -> Point:
    """The fit of the targets nearest to their median."""
    weights = middle_weights(objective)
    return refit.point(weights, refit.ridge.fit(weights))
