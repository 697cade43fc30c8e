"""Starts for the solvers in the space of centres: k-means++ by the objective.

Seeds are drawn one after the other. A row is a candidate with probability in proportion
to λ_i D_i, its share of the objective with the seeds so far (D_i the squared distance
to the nearest of them); of several candidates the one that leaves the lowest objective
is taken. For the mean this is the greedy k-means++. For a trimmed spectrum the rows
that are far from every seed weigh nothing: an outlier is not drawn, or, where it is,
lowers the objective less than a row among others.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._params import refused
from ..._typing import Floats
from ...objective import Objective
from ...ranking import Ranking
from ...spaces import CenterSpace
from ..solution import Monitor, Solution, Solver

#: Seeds are looked for among so many rows, and so many for each centre.
MOST_ROWS, ROWS_PER_CENTRE = 20_000, 100


def seeds(
    owner: object, space: CenterSpace, ranking: Ranking, rng: np.random.Generator
) -> Floats:
    """Draw k rows as a first θ.

    Raises ValueError if fewer than k rows are distinct.
    """
    k = space.n_scores
    most = max(MOST_ROWS, ROWS_PER_CENTRE * k)
    if space.n_rows > most:
        rows = rng.choice(space.n_rows, most, p=ranking.mass)
        space = space.at(space.X[np.sort(rows)])
        ranking = Ranking(ranking.spectrum, most)
    trials = CenterSpace(space.X, 2 + int(math.log(k)))
    chosen = np.empty((k, space.n_features))
    distances = np.full(space.n_rows, np.inf)
    chances = ranking.mass
    for j in range(k):
        rows = rng.choice(space.n_rows, trials.n_scores, p=chances)
        points = trials.points(rows)
        to_seeds = np.minimum(trials.scores(points.ravel()), distances[:, None])
        risks = [ranking.risk(column) for column in to_seeds.T]
        best = int(np.argmin(risks))
        chosen[j], distances = points[best], to_seeds[:, best].copy()
        if j + 1 < k:
            chances = _chances(owner, ranking, distances, j + 1, k)
    return chosen.ravel()


def _chances(
    owner: object, ranking: Ranking, distances: Floats, found: int, wanted: int
) -> Floats:
    """λ_i D_i over its sum; D_i alone where all rows that count are at a seed."""
    for shares in (ranking.weights(distances) * distances, ranking.mass * distances):
        total = shares.sum()
        if total > 0:
            return np.asarray(shares / total)
    raise _too_few_distinct(owner, found, wanted)


def _too_few_distinct(owner: object, found: int, wanted: int) -> ValueError:
    rule = f"at most the number of distinct rows, {found}"
    remedy = "ask for fewer clusters"
    return ValueError(refused(owner, "n_clusters", rule, wanted, remedy))


def first_centers(owner: object, init: Any, space: CenterSpace) -> Floats:
    """Given centres as θ, if they can be centres."""
    shape = (space.n_scores, space.n_features)
    try:
        first = np.array(init, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        rule, remedy = "a name or an array of numbers", "pass 'k-means++'"
        raise ValueError(refused(owner, "init", rule, init, remedy)) from None
    if first.shape != shape:
        rule, remedy = f"of shape {shape}", "pass one centre for each cluster"
        raise ValueError(refused(owner, "init", rule, first.shape, remedy))
    if not np.all(np.isfinite(first)):
        bad = first[~np.isfinite(first)][0]
        raise ValueError(refused(owner, "init", "finite", bad, "pass real centres"))
    return first.ravel()


def check_enough_rows(owner: object, space: CenterSpace, ranking: Ranking) -> None:
    """Refuse more clusters than rows, than rows that are kept, or distinct rows."""
    n, k, spectrum = space.n_rows, space.n_scores, ranking.spectrum
    if k > n:
        rule = f"at most the number of rows with weight, n_samples={n}"
        remedy = "ask for fewer clusters"
        raise ValueError(refused(owner, "n_clusters", rule, k, remedy))
    end = float(spectrum.inverse(1.0))
    sums = np.cumsum(np.sort(ranking.mass))
    # the lightest rows first: no choice of rows to keep holds more of them
    whole = int(np.searchsorted(sums, end * (1.0 + 1e-9), side="right"))
    if whole < k:
        rule = (
            f"such that at least {k} of the n_samples={n} rows are kept ({whole} are)"
        )
        remedy = "keep more rows or ask for fewer clusters"
        raise ValueError(refused(owner, "spectrum", rule, spectrum, remedy))
    distinct = space.distinct_rows(k)
    if distinct < k:
        raise _too_few_distinct(owner, distinct, k)


def lowest(
    objective: Objective,
    solver: Solver,
    starts: Iterable[Floats],
    *,
    rng: np.random.Generator,
    monitor: Monitor | None = None,
) -> Solution:
    """Solve from each of the starts; the solution with the lowest objective."""
    best: Solution | None = None
    for start in starts:
        found = solver.solve(objective, start, rng=rng, monitor=monitor)
        # of starts that end at the same centres, in another order, the first
        if best is None or found.objective < (1.0 - 1e-10) * best.objective:
            best = found
    assert best is not None
    return best
