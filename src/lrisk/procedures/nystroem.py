"""Kernel models over few centres: which rows the centres are, and where to begin.

Under a spectrum that leaves rows out an exact pilot on some 1,500 rows says what to
expect of the others; of the rows of lowest loss the centres are drawn, and C-steps, on
a sample where rows are very many, settle which rows to keep. One pass over the kept
rows then makes the fit. Few C-steps are best: a model of few centres is limited by its
bias, and a lower objective is not always a lower test error.

Rows are drawn by hashing their contents: the same rows are drawn whatever their order,
and copies of a row count as one row with the sum of their weights.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Bools, Floats, Indices
from ..grouped_ranking import GroupedRanking
from ..losses import Loss, Squared
from ..objective import Objective
from ..ranking import Ranking
from ..solvers import Solution
from ..solvers.solution import Monitor, Status
from ..solvers.trimming.concentration import Concentration, Descent
from ..solvers.trimming.kept import LowestRows, inliers
from ..solvers.trimming.refits import RangeRefit, refit_for
from ..spaces import (
    FactoredSpace,
    Kernel,
    KernelSpace,
    NystroemSpace,
    SelectedRows,
    Space,
)
from ..spaces.nystroem import Centres, kernel_scores, row_blocks
from .trimming import minimise_trimmed

#: Rows of the exact pilot.
PILOT_ROWS = 1500
#: Rows of the sample for each centre, and C-steps on it.
SAMPLED, SAMPLE_STEPS = 20, 3
#: Rows looked at for each centre, and the share of the usual kernel below which a row
#: is a centre for itself alone.
CANDIDATES, ISOLATED = 3, 0.01
#: Entries of X that are hashed at a time.
HASHED = 100_000
#: Factors that spread bits upwards, and the places by which they are folded downwards.
MIXING, SPREAD = (0xD6E8FEB86659FD93, 0xA3B195354A39B70D), (31, 32)

Keys = NDArray[np.uint64]


# -- drawing rows ----------------------------------------------------------------------


def row_keys(X: Any, salt: int, y: Floats | None = None) -> Keys:
    """A random number for each row that depends on the row's contents only.

    Zeros do not count, so that dense and sparse rows have the same keys.

    Parameters
    ----------
    X : array, memory map or CSR array of shape (n, d), or SelectedRows
    salt : int
        Another one gives other keys.
    y : array of shape (n,) or None
        If given, it belongs to the row.
    """
    n, d = X.shape
    salts = salts_of(d, salt)
    keys = np.empty(n, dtype=np.uint64)
    for rows, block in row_blocks(X, max(1, HASHED // max(d, 1))):
        keys[rows] = _block_keys(block, salts)
    if y is not None:
        keys += _mixed(_bits(y) ^ salts[d])
    return _mixed(keys)


def salts_of(n_features: int, salt: int) -> Keys:
    """What is mixed into the bits of each column, and of the target last."""
    draws = np.random.default_rng(salt)
    return draws.integers(2**64, size=n_features + 1, dtype=np.uint64)


def _block_keys(block: Any, salts: Keys) -> Keys:
    """Σ_j mixed(x_ij, j), in whole numbers that wrap around."""
    matrix: Any = block
    if sp.issparse(block):
        terms = _mixed(_bits(matrix.data) ^ salts[matrix.indices])
        terms[matrix.data == 0] = 0
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms)])
        return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
    terms = _mixed(_bits(block) ^ salts[:-1])
    terms[np.asarray(block) == 0] = 0
    return np.asarray(np.sum(terms, axis=1, dtype=np.uint64))


def _bits(values: Any) -> Keys:
    """The bits of numbers as doubles; −0 is 0."""
    exact = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    return np.asarray(exact).view(np.uint64)


def _mixed(bits: Keys) -> Keys:
    """Spread every bit over all: two rounds of multiplication and folding."""
    first, second = map(np.uint64, SPREAD)
    bits = bits ^ (bits >> first)
    for factor in MIXING:
        bits = bits * np.uint64(factor)
        bits ^= bits >> second
    return bits


class Draw(NamedTuple):
    """Distinct rows: their numbers, and the weights of all copies together."""

    rows: Indices
    weights: Floats


def drawn(keys: Keys, count: int, weights: Floats | None = None) -> Draw:
    """At most so many distinct rows, those of the lowest keys, in their order."""
    among = np.arange(len(keys))
    if 2 * count < len(keys):  # sorting fewer is enough, unless these are copies
        lowest = np.flatnonzero(keys <= np.partition(keys, 2 * count)[2 * count])
        if len(np.unique(keys[lowest])) >= count:
            among = lowest
    values, first = np.unique(keys[among], return_index=True)
    values, first = values[:count], among[first[:count]]
    own = among[keys[among] <= values[-1]]
    given = np.ones(len(own)) if weights is None else weights[own]
    place = np.searchsorted(values, keys[own])
    return Draw(first, np.bincount(place, weights=given).astype(np.float64))


# -- which rows to keep, and the centres -----------------------------------------------


class Rows:
    """What a search among centres asks of the rows: here of those in memory."""

    def selected(self, X: Any, rows: Indices) -> Any:
        """Some of the rows, read when they are asked for."""
        return SelectedRows(X, rows)

    def taken(self, X: Any, rows: Indices) -> Any:
        """Some of the rows as a matrix of their own."""
        return X[rows]

    def keys(self, X: Any, salt: int, y: Floats | None = None) -> Keys:
        """`row_keys`."""
        return row_keys(X, salt, y)

    def scores(self, kernel: Kernel, centres: Floats, X: Any, table: Floats) -> Floats:
        """`kernel_scores`."""
        return kernel_scores(kernel, centres, X, table)

    def nearness(self, kernel: Kernel, X: Any, rows: Indices, others: Floats) -> Floats:
        """Mean |k(x, z)| of some rows x over others; shape (m,)."""
        return np.asarray(np.mean(np.abs(kernel(X[rows], others)), axis=1))

    def space(
        self,
        kernel: Kernel,
        centres: Any,
        mu: float | None,
        X: Any,
        n_scores: int,
        held: bool = False,
    ) -> Any:
        """The centres' span over the rows."""
        factor = Centres(kernel, centres, mu)
        return NystroemSpace(factor, X, n_scores=n_scores, held=held)


IN_MEMORY = Rows()


class RowsToFit(NamedTuple):
    """What is to be minimised over some rows, whatever the space.

    kernel : Kernel
    X : array, memory map or CSR array of shape (n, d), SelectedRows, or what `rows` is
        about
    y : targets as the loss wants them
    ranking : the spectrum over the rows
    rows : how to compute with X
    """

    kernel: Kernel
    X: Any
    y: Floats
    ranking: Ranking
    loss: Loss
    n_scores: int
    alpha: float
    rows: Rows = IN_MEMORY

    def drawn(self, draw: Draw) -> "RowsToFit":
        """The same over distinct rows that were drawn."""
        ranking = Ranking(self.ranking.spectrum, len(draw.rows), draw.weights)
        X = self.rows.selected(self.X, draw.rows)
        return self._replace(X=X, y=self.y[draw.rows], ranking=ranking)

    def over(self, space: Space) -> Objective:
        """The objective over a space of functions on these rows."""
        return Objective(self.ranking, self.loss, space, self.y, self.alpha)

    def kept(self, scores: Floats, balanced: bool) -> "Kept":
        """Rank the rows by their losses at given scores, (n, k)."""
        y, ranking, groups = self.y, self.ranking, np.zeros(len(self.y))
        losses = self.loss.value(y, scores[:, 0] if self.n_scores == 1 else scores)
        if balanced:
            ranking, groups = GroupedRanking.by(ranking, y), y
        weights = LowestRows(ranking).weights(losses)
        return Kept(losses, weights, inliers(ranking, losses, weights, groups))


class Kept(NamedTuple):
    """What an earlier fit says of the rows: their losses, weights, and who is kept."""

    losses: Floats
    weights: Floats
    inliers: Bools


class SampleFit(NamedTuple):
    """An exact fit to some rows: f = Σ_i c_i k(x_i, ·), and which of them it keeps."""

    rows: Any
    table: Floats
    kept: Bools

    @classmethod
    def of(cls, problem: RowsToFit, solver: Concentration, salt: int) -> "SampleFit":
        """Minimise over the rows of a small problem."""
        rows = problem.X[:].astype(np.float64)
        space = KernelSpace(problem.kernel, rows, n_scores=problem.n_scores)
        objective = problem.over(space)
        ranking, squared = problem.ranking, isinstance(problem.loss, Squared)
        factored: FactoredSpace | None = None
        if not (ranking.spectrum.keeps and squared and problem.alpha > 0):
            factored = space.factored()
            objective = objective.with_space(factored)
        found = minimise_trimmed(objective, solver, rng=np.random.default_rng(salt))
        theta = found.theta if factored is None else factored.coefficients(found.theta)
        return cls(rows, theta.reshape(-1, problem.n_scores), found.weights > 0)

    def scores(self, problem: RowsToFit) -> Floats:
        """Values at the rows of a problem, shape (n, k)."""
        return problem.rows.scores(problem.kernel, self.rows, problem.X, self.table)

    def seen(self, problem: RowsToFit, rows: Indices) -> Bools:
        """Which of some rows are not all but orthogonal to those that the pilot keeps.

        Under a Gaussian kernel a row far from all others has its own target for a
        residual, which may be small; it would be a centre for itself alone.
        """
        kept = self.rows[self.kept]
        near = problem.rows.nearness(problem.kernel, problem.X, rows, kept)
        return np.asarray(near >= ISOLATED * np.median(near))


class Beginning(NamedTuple):
    """The centres, as numbers of rows, and the rows to begin with."""

    centres: Indices
    kept: Kept


def begin_trimmed(
    problem: RowsToFit, n_components: int, solver: Concentration, salts: tuple[int, int]
) -> Beginning:
    """SampleFit, centres from the rows it keeps, and C-steps on a sample of many rows.

    Parameters
    ----------
    problem : RowsToFit
        Under a spectrum that leaves rows out.
    n_components : int
    solver : Concentration
        How the pilot is fitted, and whether classes are trimmed by themselves.
    salts : tuple of int
        For the draws of rows and of centres.
    """
    rows, X, balanced = problem.rows, problem.X, solver.class_balanced
    keys = rows.keys(X, salts[0], problem.y)
    weight = problem.ranking.row_weight
    pilot = SampleFit.of(
        problem.drawn(drawn(keys, PILOT_ROWS, weight)), solver, salt=salts[0]
    )
    some, numbers = problem, np.arange(X.shape[0])
    if sampled(X.shape[0], n_components):
        draw = drawn(keys, SAMPLED * n_components, weight)
        some, numbers = problem.drawn(draw), draw.rows
    kept = some.kept(pilot.scores(some), balanced)
    candidates = np.flatnonzero(kept.inliers)
    own = rows.keys(rows.selected(some.X, candidates), salts[1])
    candidates = candidates[drawn(own, CANDIDATES * n_components).rows]
    seen = pilot.seen(some, candidates)
    centres = numbers[candidates[seen][:n_components]]
    if some is problem:
        return Beginning(centres, kept)
    # The sample has the penalty per mass of all rows, which it stands for.
    some = some._replace(
        alpha=problem.alpha * some.ranking.total / problem.ranking.total
    )
    double = X[centres].astype(np.float64)
    mu = problem.alpha / problem.ranking.total
    space = rows.space(problem.kernel, double, mu, some.X, problem.n_scores)
    steps = Concentration(max_iter=SAMPLE_STEPS, class_balanced=balanced)
    found = concentrate(some.over(space), steps, kept)
    scores = space.at(X).scores(found.theta).reshape(-1, problem.n_scores)
    return Beginning(centres, problem.kept(scores, balanced))


def pilot_solver(given: object) -> Concentration:
    """How the pilot is fitted: as the fit itself where that is by concentration."""
    return given if isinstance(given, Concentration) else Concentration()


def sampled(n_rows: int, n_components: int) -> bool:
    """Whether a sample of the rows tells enough of which rows to keep."""
    return n_rows > 2 * SAMPLED * n_components


def default_steps(n_rows: int, n_components: int) -> int:
    """Fits over all rows unless a limit is given: one where a sample had some."""
    return 1 if sampled(n_rows, n_components) else SAMPLE_STEPS


def drawn_centres(
    X: Any, n_components: int, salt: int, rows: Rows = IN_MEMORY
) -> Indices:
    """Centres from all rows, for spectra that leave none out."""
    return drawn(rows.keys(X, salt), n_components).rows


def concentrate(
    objective: Objective,
    solver: Concentration,
    kept: Kept,
    monitor: Monitor | None = None,
) -> Solution:
    """C-steps over all rows, from the rows that an earlier fit keeps.

    `solver.max_iter` counts the fits; the status says if all of them were needed.
    """
    solver.check(objective)
    if solver.class_balanced:
        grouped = GroupedRanking.by(objective.ranking, objective.y)
        objective = objective.with_ranking(grouped)
    descent = Descent(objective, solver.tol, solver.max_iter, monitor)
    refit = refit_for(objective)
    space = objective.space
    shape = (space.n_rows,) if space.n_scores == 1 else (space.n_rows, space.n_scores)
    start = objective.evaluate_losses(np.zeros(space.size), np.zeros(shape))
    if isinstance(refit, RangeRefit):  # which looks at the losses
        start = start._replace(losses=kept.losses)
    point = refit(kept.weights, start)
    descent.record(descent.value(point), "pilot")
    left = solver.max_iter - 1
    found = descent.run(refit, point, left, "pilot") if left else point
    solution = descent.solution(found)
    if descent.n_iter >= solver.max_iter:
        return replace(solution, status=Status.STEPS_TAKEN)
    return solution
