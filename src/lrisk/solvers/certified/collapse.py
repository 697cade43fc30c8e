"""The collapse certificate: logistic fits whose best coefficients are all zero.

Under a strong spectrum and overlapping classes no use of the features lowers the
largest losses, and w = 0 with all losses tied at log 2 is best. A descent finds this
out slowly, since every loss ties there; but it is proven by any λ in the permutahedron
with Σλ_i s_i x_i = 0, s = ±1 the class (and Σλs = 0 with an intercept). Among those the
nearest to the masses,

    min ½Σ(λ_i − p_i)²/p_i   over λ in P, Σλ_i s_i x_i = 0,

has the dual  min_v φ(v) = max_{λ∈P} −λ·(Bv) − ½Σ(λ − p)²/p  with rows b_i = s_i x_i:
the smoothed risk of the "losses" −b_i·v. If there is a λ, φ is bounded from below by
−½max_P χ²(λ); a φ below that proves that there is none.
"""

from dataclasses import replace

import numpy as np

from ..._typing import Floats
from ...capped import capped_weights
from ...certificate import Bound, local_slack
from ...losses import Logistic
from ...objective import Objective
from ...permutahedron import proximal_weights
from ...spaces.capabilities import linear
from .._linalg import Factor
from ..line_search import armijo, backtrack
from ..solution import Monitor, Solution
from .progress import Progress
from .sampling import stratified
from .whitening import SMALLEST, Memory

#: Shares of a step that are tried; the last, a thousandth, is taken all the same.
HALVINGS = 11
#: Evaluations over all rows before the search is given up, and over a sample.
CAP, SAMPLE_CAP = 15, 40


def certified_collapse(
    objective: Objective, tol: float, monitor: Monitor | None
) -> Solution | None:
    """The zero fit with its proof if that is the best of a logistic model, or None."""
    rising = objective.ranking.spectrum.monotone == "up"
    logistic = isinstance(objective.loss, Logistic)
    if not (rising and logistic) or objective.mu == 0.0:
        return None
    n, size = objective.space.n_rows, objective.space.size
    rows = stratified(n, min(n, 2 * SMALLEST))
    sample = objective.sampled(rows)
    gram = linear(sample.space).gram(sample.ranking.mass)
    gram[np.diag_indices(size)] += sample.mu
    metric = Factor(gram)
    search = _Search(sample, metric, np.zeros(size))
    lowest = _lowest(sample)
    for _ in range(SAMPLE_CAP):
        if search.residual <= 1e-3 * size / n:
            break
        if search.value < 1.01 * lowest:
            return None
        search.step()
    else:
        return None
    progress = Progress(objective, tol, monitor)
    search = _Search(objective, search.metric(), search.v)
    zero = np.zeros(size)
    point = objective.at(zero)
    value = float(np.log(2.0))
    for _ in range(CAP):
        progress.n_iter += 1
        gradient = -0.5 * search.pull
        slack = np.inf
        if 2.0 * search.residual * n / len(rows) <= progress.tol:
            weights = search.weights[rows]
            slack = local_slack(sample, point.scores[rows], weights, gradient)
        proof = Bound(value, 0.0, slack)
        progress.record(zero, search.weights, proof, search.residual, 0.0)
        if progress.done:
            note = "the fit without features looked best"
            return replace(progress.solution().noted(note), solver="collapse")
        if search.value < 1.01 * lowest:
            return None
        search.step()
    return None


def _lowest(objective: Objective) -> float:
    """−½max χ² over the permutahedron, attained at its vertices."""
    ranking = objective.ranking
    weights = ranking.weights(np.arange(float(ranking.n_rows)))
    return -0.5 * float(np.sum((weights - ranking.mass) ** 2 / ranking.mass))


class _Search:
    """L-BFGS on φ over a metric."""

    def __init__(self, objective: Objective, metric: Factor, v: Floats) -> None:
        self.objective = objective
        self.memory = Memory(metric, 20)
        self._signs = 2.0 * objective.y - 1.0
        self.v = v
        self.value, self.weights, self.pull = self._evaluate(v)

    def _evaluate(self, v: Floats) -> tuple[float, Floats, Floats]:
        """φ, λ and −∂φ/∂v = Σλ_i b_i."""
        ranking, space = self.objective.ranking, self.objective.space
        losses = space.scores(v)
        losses *= -self._signs
        if ranking.selects:
            weights = capped_weights(ranking, losses, ranking.mass, ranking.total)
        else:
            nu = ranking.total
            weights = proximal_weights(ranking, losses, ranking.mass, nu).weights
        squares = float(weights @ weights) * ranking.n_rows
        if not ranking.equal:
            squares = float(np.sum(weights**2 / ranking.mass))
        value = float(weights @ losses) - 0.5 * (squares - 1.0)
        np.multiply(weights, self._signs, out=losses)
        return value, weights, space.pullback(v, losses)

    def metric(self) -> Factor:
        """The Hessian of φ, where the blocks of pooled rows are simple; else the old.

        Under a superquantile the rows strictly between zero and their caps are one
        block, so the Hessian is their weighted covariance.
        """
        ranking, space = self.objective.ranking, self.objective.space
        if not ranking.selects:
            return self.memory.metric
        cap = (1.0 - 1e-12) / (1.0 - ranking.spectrum.support[0])
        inside = (self.weights > 0.0) & (self.weights < cap * ranking.mass)
        free = np.where(inside, ranking.mass, 0.0)
        total = float(free.sum())
        if total * ranking.n_rows <= 5 * space.size:
            return self.memory.metric
        pull = space.pullback(self.v, free * self._signs)
        matrix = linear(space).gram(free) - np.outer(pull, pull) / total
        matrix[np.diag_indices(space.size)] += self.objective.mu
        return Factor(matrix)

    @property
    def residual(self) -> float:
        """Estimate of the gap in units of log 2 that the λ would leave."""
        return float(self.pull @ self.memory.metric.solve(self.pull))

    def step(self) -> None:
        """One step of L-BFGS."""
        direction = self.memory.direction(-self.pull)
        slope = -float(self.pull @ direction)

        def evaluate(t: float) -> tuple[float, tuple[Floats, float, Floats, Floats]]:
            v = self.v + t * direction
            value, weights, pull = self._evaluate(v)
            return value, (v, value, weights, pull)

        trial = backtrack(evaluate, armijo(self.value, slope), HALVINGS)
        before = self.pull
        self.v, self.value, self.weights, self.pull = trial.found
        self.memory.add(trial.length * direction, before - self.pull)
