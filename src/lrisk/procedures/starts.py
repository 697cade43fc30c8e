"""Where to begin a search that only goes downhill.

Deterministic starts come first: they are the same in every run, and on most data one
of them is in the best basin already. Each start is a point; the C-steps from it do the
rest.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import Bools, Floats
from ..objective import Objective, Point
from ..solvers.elemental import elemental_fits, largest
from ..solvers.trimming.kept import LowestRows
from ..solvers.trimming.refits import NewtonRefit, RidgeRefit
from ..spaces import CenterSpace, LinearSpace
from ..spaces.capabilities import LinearFunctions, linear

#: Rows that elemental starts look at; above, a random sample of this size.
ELEMENTAL_ROWS = 300
#: Columns above which a few rows say nothing under contamination.
ELEMENTAL_COLUMNS = 30
#: Elemental starts that are taken to the end.
BEST = 10
#: Median distances from the nearest middle of a class beyond which a row is far.
FAR = 3.0
#: Steps towards the middles; a tenth as many are usual, more where rows lie far out.
MIDDLE_STEPS = 100
#: Last step towards a middle, as a share of the rows' (harmonic) mean distance from it.
MIDDLE_TOL = 0.01


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
) -> Iterator[tuple[str, Floats]]:
    """θ of zero, median, least squares, Huber, then the best elemental starts."""
    space = objective.space
    refit = NewtonRefit(objective)
    zero = np.zeros(space.size)
    yield "zero", zero
    yield "median", refit(middle_weights(objective), objective.at(zero)).theta
    least = refit(objective.ranking.mass, objective.at(zero)).theta
    yield "least squares", least
    yield "huber", huber(objective, objective.at(least)).theta
    for theta in elemental(objective, rng, n_elemental):
        yield "elemental", theta


def huber(objective: Objective, point: Point, rounds: int = 15) -> Point:
    """Huber's M-estimate by reweighting, its scale from the median of |residuals|."""
    refit = NewtonRefit(objective)
    mass = objective.ranking.mass
    for _ in range(rounds):
        residuals = point.scores - objective.y
        np.abs(residuals, out=residuals)
        cut = 1.345 * 1.4826 * float(np.median(residuals))
        if cut == 0.0:
            return point
        np.maximum(residuals, cut, out=residuals)
        weights = np.divide(cut, residuals, out=residuals)  # min(1, cut/|residual|)
        weights *= mass
        point = refit(weights, point)
    return point


def elemental(
    objective: Objective, rng: np.random.Generator, count: int
) -> list[Floats]:
    """The best of many fits to as many random rows as there are parameters (FAST-LTS).

    Two C-steps follow each. With unequal weights rows are drawn in proportion to them
    and judged as equals, which is good enough for a start.
    """
    space, ranking = linear(objective.space), objective.ranking
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
    fits, sums = elemental_fits(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(objective.y[chosen]),
        ridge,
        kept,
        largest(keys, min(3 * m, len(chosen))),
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


def half_starts(
    objective: Objective, rng: np.random.Generator, count: int
) -> Iterator[tuple[str, Floats]]:
    """θ of fits of the mean loss of random halves, for classes."""
    refit = NewtonRefit(objective)
    zero = objective.at(np.zeros(objective.space.size))
    mass = objective.ranking.mass
    for _ in range(count):
        half = mass * (rng.random(len(mass)) < 0.5)
        if half.sum() > 0:
            yield "half", refit(half / half.sum(), zero).theta


def near_rows(objective: Objective) -> Bools:
    """Rows that lie where the classes are, shape (n,): the others lie far from all.

    Far is beyond `FAR` median distances from the nearest of the classes' middles, and
    no more rows are far than the spectrum leaves out, if it leaves any out at all.
    """
    ranking = objective.ranking
    middles = class_middles(objective)
    space = CenterSpace(linear(objective.space).X, len(middles))
    distance = np.sqrt(space.scores(middles.ravel()).min(axis=1))
    order = np.argsort(distance)
    half = int(np.searchsorted(np.cumsum(ranking.mass[order]), 0.5))
    median = distance[order[min(half, len(order) - 1)]]
    shares = ranking.kept_shares(distance)
    kept = (shares == 1.0) & np.any(shares < 1.0)
    return np.asarray(kept | (distance <= FAR * median))


def class_middles(objective: Objective) -> Floats:
    """argmin_c Σ_i m_i‖x_i − c‖ over the rows of each class, shape (k, d).

    The spatial median (Weiszfeld's steps from the mean): fewer than half of a class
    cannot carry it away, and it turns with the features, as the penalty does.
    """
    mass = objective.ranking.mass
    labels, codes = np.unique(objective.y, return_inverse=True)
    space = CenterSpace(linear(objective.space).X, len(labels))
    sums, totals = space.sums(codes, mass)
    middles, rows = sums / totals[:, None], np.arange(len(codes))
    for _ in range(MIDDLE_STEPS):
        distance = np.sqrt(space.scores(middles.ravel())[rows, codes])
        # A row at the middle itself has no direction to pull in.
        unit = float(np.median(distance)) or float(distance.max()) or 1.0
        distance = np.maximum(distance, 1e-9 * unit)
        sums, pulls = space.sums(codes, mass / distance)
        last, middles = middles, sums / pulls[:, None]
        moved = np.linalg.norm(middles - last, axis=1)
        if np.all(moved <= MIDDLE_TOL * totals / pulls):
            break
    return middles


class Tethered(NamedTuple):
    """An objective of classes over centred rows, its intercept penalised.

    Attributes
    ----------
    objective : Objective
        Over all rows.
    near : Objective
        Over those that are not far from all classes.
    heaviest : float
        A penalty μ above all curvature of the losses, c·S′(0)·Σm‖x‖² with c = sup ℓ″:
        the minimiser is about a gradient step from zero. A larger one would shrink it
        and leave the order of the losses as it is.
    unit : float
        Entry of the column that stands for the intercept; 0 without intercept.
    """

    objective: Objective
    near: Objective
    heaviest: float
    unit: float

    def under(self, mu: float) -> Objective:
        """The objective over the near rows under another penalty."""
        given = self.near
        alpha = mu * given.ranking.total
        return Objective(given.ranking, given.loss, given.space, given.y, alpha)

    def weights(self, theta: Floats) -> Floats:
        """λ of all rows at θ, shape (n,)."""
        point = self.objective.at(theta)
        return LowestRows(self.objective.ranking).weights(point.losses)

    def free(self, theta: Floats, space: LinearFunctions) -> Floats:
        """θ of the same function in the space of the features as they are.

        A space without intercept cannot hold the constant, which is left out.
        """
        coef, constant = linear(self.objective.space).uncentred(theta)
        if self.unit:
            coef, constant = coef[:-1], constant + self.unit * coef[-1]
        return space.join(coef, constant)


def tethered(objective: Objective) -> Tethered:
    """The objective without anything by which a stiff model could favour one class.

    Of a ranked range only the upper end counts. An intercept is the coefficient of one
    more column, constant and of the average spread of the others; and the rows are
    centred, since the mean of kernel features does what an intercept does. A row's say
    in a stiff model grows with its distance, without a limit, so that a few wrong rows
    far out would rule it: rows far from all classes are left out on the way.

    Parameters
    ----------
    objective : Objective
        Over a linear space, under a spectrum that trims.
    """
    space, lowest = objective.space, _lowest(objective)
    X: Any = linear(space).X
    near = near_rows(objective)
    mass = objective.ranking.mass
    if not near.all():
        mass = np.where(near, mass, 0.0) / mass[near].sum()
    centred = LinearSpace.centred(X, mass, intercept=True)
    offset = centred.offset
    assert offset is not None
    spread = centred.diagonal(mass)[:-1]
    unit = 0.0
    if space.intercept:
        unit = float(np.sqrt(spread.mean())) or 1.0
        X, offset = _with_column(X, unit), np.append(offset, 0.0)
        spread = np.append(spread, unit**2)
    inner = LinearSpace(X, intercept=False, n_scores=space.n_scores, offset=offset)
    heaviest = objective.loss.smoothness * lowest.density * float(spread.sum())
    objective = objective.with_ranking(lowest.ranking).with_space(inner)
    among = objective if near.all() else objective.restricted(np.flatnonzero(near))
    return Tethered(objective, among, heaviest, unit)


def _with_column(X: Any, value: float) -> Any:
    """Rows with one more column that is the same in all of them."""
    parts: Any = [X, np.full((X.shape[0], 1), value, dtype=X.dtype)]
    return sp.csr_array(sp.hstack(parts)) if sp.issparse(X) else np.hstack(parts)


def median_kernel_start(objective: Objective, refit: RidgeRefit) -> Point:
    """The fit of the targets nearest to their median."""
    weights = middle_weights(objective)
    return refit.point(weights, refit.ridge.fit(weights))
