"""Semismooth Newton on the augmented Lagrangian: the certified default solver."""

import itertools
from dataclasses import replace

import numpy as np

from ..._typing import Floats, Indices
from ...certificate import Bound, proven_slack, relative_gap
from ...objective import Objective, Point
from ...permutahedron import Projection, risk_and_excess
from ...spaces import Space
from ...spaces.capabilities import linear
from ...spectra import Mean
from .._linalg import solve_positive
from ..line_search import armijo, backtrack
from ..solution import Monitor, Solution, Solver, Status
from ._loops.blocks import center_blocks
from .continuation import minimise_softened, needs_continuation
from .lagrangian import Lagrangian, Smoothed
from .progress import Progress

#: Shares of a step that are tried: the last is 2e-9 of it, near the rounding of φ.
HALVINGS = 30
#: Promised relative fall below which a step of no use is put down to rounding.
HOPEFUL = 1e-10
#: Times the tolerance that a gap is estimated at when it is worth a proof.
NEAR = 2.0
#: Parameters up to which a dense Hessian pays.
MOST_PARAMETERS = 2500
#: Relative doubt about F that is no more than its rounding.
TRUSTED = 1e-12
#: Entries of gathered gradient rows held at a time.
CHUNK = 500_000


class Newton(Solver):
    """Newton's method, to a proven optimum.

    On the augmented Lagrangian: the Hessian of φ at λ is XᵀΛℓ″X + μI plus, for each
    block of pooled rows, 1/ν times the weighted scatter of the gradients ℓ′_i x_i about
    their mean. Each outer iteration is solved until its own error is a tenth of the
    smoothing's, then the centre moves.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Limit on Newton steps.

    See Also
    --------
    LBFGS : For models too large for a Hessian.
    Band : Faster for superquantiles of many rows.

    Notes
    -----
    Needs O(size²) memory and O(n·size²) time a step, with size the number of
    parameters; for n < d it works in n dimensions. The start is the fit of the mean
    loss.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import Newton
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", solver=Newton(tol=1e-10)).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-10)
    True
    """

    name = "newton"
    kinks = True
    requires = frozenset({"scores", "pullback", "gram", "gradient_rows"})

    def __init__(self, tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.validate()

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Minimise from `start`, or from the fit of the mean loss."""
        rotated = linear(objective.space).rotated()
        if rotated is None:
            return self._continue(objective, start, weights, monitor)
        space, basis = rotated
        if start is not None:
            coef, intercept = linear(objective.space).split(start)
            start = space.join(basis.T @ coef, intercept)
        within = objective.with_space(space)
        solution = self._continue(within, start, weights, monitor)
        coef, intercept = space.split(solution.theta)
        table = [basis @ coef, intercept[None]] if space.intercept else [basis @ coef]
        inside = space.scores(solution.theta)
        solution = replace(solution, theta=np.vstack(table).ravel())
        if not np.isfinite(solution.gap):  # nothing is claimed
            return solution
        lost = np.empty(space.n_rows)
        for rows, block in linear(objective.space).blocks():
            block = block[:, : len(basis)] - space.X[rows] @ basis.T
            lost[rows] = np.sqrt(np.einsum("ij,ij->i", block, block))
        doubt = _doubt(objective, solution, inside, lost)
        known = relative_gap(objective, solution.objective, doubt)
        if known <= max(self.tol, TRUSTED):
            return solution
        # Beside one row of 10⁹ the digits of the others are lost in the rotation.
        if objective.size <= MOST_PARAMETERS:
            start = solution.theta
            return self._continue(objective, start, solution.weights, monitor)
        primal = objective.value_at(solution.theta)
        dual = max(solution.dual - doubt, 0.0)
        gap = relative_gap(objective, primal, max(primal - dual, 0.0))
        status = Status.STALLED
        return replace(solution, objective=primal, dual=dual, gap=gap, status=status)

    def _continue(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Minimise, through softened losses where the loss needs them."""
        if not needs_continuation(objective):
            return self._minimise(objective, start, weights, monitor)

        def inner(
            softened: Objective,
            tol: float,
            limit: int,
            start: Floats | None,
            weights: Floats | None,
            monitor: Monitor | None,
        ) -> Solution:
            newton = Newton(tol=tol, max_iter=limit)
            return newton._minimise(softened, start, weights, monitor)

        return minimise_softened(
            objective,
            inner,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            weights=weights,
            monitor=monitor,
        )

    def _minimise(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        progress = Progress(objective, self.tol, monitor)
        flat = objective.ranking.spectrum.monotone == "flat"
        if start is None:
            start = np.zeros(objective.space.size)
            if not flat:
                start = mean_fit(objective, min(self.max_iter, 20))
        point = objective.at(start)
        lagrangian = Lagrangian(objective, point.losses, center=weights)
        unmoved = 0
        while progress.n_iter < self.max_iter:
            before, counted = progress.stationarity, progress.n_iter
            point, smoothed, finished = self._descend(lagrangian, point, progress)
            if progress.done:
                return progress.solution()
            moved = progress.stationarity <= 0.9 * before and before > 0.0
            unmoved = 0 if moved else unmoved + 1
            weights = smoothed.projection.weights
            if unmoved >= 8 and (lagrangian.tight or flat):
                self._prove_last(progress, point, weights)
                return progress.solution(Status.STALLED)
            if finished:
                steps = progress.n_iter - counted
                lagrangian.tighten(weights, progress.primal, steps)
            else:
                lagrangian.soften()
        self._prove_last(progress, point, lagrangian.at(point).projection.weights)
        return progress.solution(Status.MAX_ITER)

    def _prove(
        self,
        progress: Progress[Objective],
        point: Point,
        weights: Floats,
        step: Floats,
        gradient: Floats,
        decrement: float,
        *,
        certainly: bool = False,
    ) -> Bound:
        """Bound F − min F from a Newton step for Φ(·, λ), if the gap looks small.

        A proof costs as much as a step, and before the end it would prove little. On
        flat pieces the decrement says nothing, and there is always one.
        """
        objective = progress.objective
        risk, excess = risk_and_excess(objective.ranking, point.losses, weights)
        primal = risk + point.penalty
        looks = relative_gap(objective, primal, excess + decrement)
        if looks > NEAR * progress.tol and not (certainly or objective.loss.flat):
            return Bound(primal, excess, np.inf)
        slack = proven_slack(objective, point, weights, step, gradient)
        return Bound(primal, excess, *slack)

    def _prove_last(
        self, progress: Progress[Objective], point: Point, weights: Floats
    ) -> None:
        """Bound what a search that is given up has reached, if nothing has been."""
        objective = progress.objective
        if progress.certified:
            return
        gradient, hessian = objective.gradient_and_hessian(point, weights)
        step = solve_positive(hessian, -gradient)
        decrement = _decrement(objective, hessian, gradient, step)
        proof = self._prove(
            progress, point, weights, step, gradient, decrement, certainly=True
        )
        progress.record(point.theta, weights, proof, decrement, 0.0)

    def _descend(
        self, lagrangian: Lagrangian, point: Point, progress: Progress[Objective]
    ) -> tuple[Point, Smoothed, bool]:
        """Minimise φ until its error is small beside the smoothing's.

        False in the last place means that too many steps were needed: φ is too far
        from smooth.
        """
        objective = lagrangian.objective
        smoothed = lagrangian.at(point)
        for _ in range(40):
            progress.n_iter += 1
            weights = smoothed.projection.weights
            gradient, hessian = objective.gradient_and_hessian(point, weights)
            step = solve_positive(hessian, -gradient)
            decrement = _decrement(objective, hessian, gradient, step)
            proof = self._prove(progress, point, weights, step, gradient, decrement)
            progress.record(point.theta, weights, proof, decrement, lagrangian.nu)
            error = (
                min(proof.slack, decrement) if proof.slack == np.inf else proof.slack
            )
            small = error <= 0.1 * proof.excess
            if progress.done or small or progress.n_iter >= self.max_iter:
                return point, smoothed, True
            damped = lagrangian.damping.add(hessian, objective, point, weights)
            if (
                add_scatter(
                    hessian, objective, point, smoothed.projection, lagrangian.nu
                )
                or damped
            ):
                step = solve_positive(hessian, -gradient)
            slope = float(gradient @ step)
            moved = _search(lagrangian, point, smoothed.value, step, slope)
            if moved is None:
                hopeful = -slope > HOPEFUL * abs(smoothed.value)
                if hopeful and lagrangian.damping.rise():
                    continue
                return point, smoothed, True
            point, smoothed, length = moved
            lagrangian.damping.learn(length)
        return point, smoothed, False


def mean_fit(objective: Objective, max_iter: int = 20) -> Floats:
    """A few Newton steps for the mean loss, near which a search begins."""
    plain = objective.with_ranking(objective.ranking.with_spectrum(Mean()))
    progress = Progress(plain, 1e-2, None)
    point = plain.at(np.zeros(objective.space.size))
    newton = Newton(tol=progress.tol, max_iter=max_iter)
    newton._descend(Lagrangian(plain, point.losses), point, progress)
    return progress.theta


def newton_size(space: Space) -> int:
    """Parameters that `Newton` works with; for n < d it works in n dimensions."""
    space = linear(space)
    columns = space.n_columns
    if space.n_rows < space.n_features:
        fits = space.n_rows * space.n_features <= space.most_rotated
        columns = space.n_rows + space.intercept if fits else columns
    return columns * space.n_scores


def _doubt(
    objective: Objective, solution: Solution, inside: Floats, lost: Floats
) -> float:
    """How far F and its bound may be off where rows x are not quite those rotated, z.

    With e the scores of x − z at θ, and ε = Σλ‖ℓ′‖‖x − z‖ what the gradient may err by,
    the bound errs by Σλℓ′e + ε√(2·slack/μ) + ε²/2μ; what F is at θ can be seen.

    Parameters
    ----------
    objective : Objective
        Over x.
    solution : Solution
    inside : array of shape (n,) or (n, k)
        Scores of z at θ.
    lost : array of shape (n,)
        ‖x − z‖.
    """
    point = objective.at(solution.theta)
    table = (len(lost), -1)
    slopes = objective.loss.derivative(objective.y, point.scores).reshape(table)
    apart = (point.scores - inside).reshape(table)
    share = solution.weights * np.linalg.norm(slopes, axis=1)
    doubt = float(share @ np.linalg.norm(apart, axis=1))
    if objective.mu > 0.0:
        error, gap = float(share @ lost), max(solution.objective - solution.dual, 0.0)
        doubt += error * float(np.sqrt(2.0 * gap / objective.mu))
        doubt += error * (error / (2.0 * objective.mu))
    return max(doubt, abs(objective.value(point) - solution.objective))


def _decrement(
    objective: Objective, hessian: Floats, gradient: Floats, step: Floats
) -> float:
    """Half of |g·Δ|; infinite where nothing at all bends along part of the gradient."""
    if objective.mu == 0.0:
        bare = np.diagonal(hessian) <= 0.0
        if np.any(np.abs(gradient[bare]) > 1e-12 * objective.loss.lipschitz):
            return np.inf
    return 0.5 * abs(float(gradient @ step))


def _search(
    lagrangian: Lagrangian, point: Point, value: float, step: Floats, slope: float
) -> tuple[Point, Smoothed, float] | None:
    """Halve the step until φ falls enough; None when it does not."""
    objective = lagrangian.objective
    slack = 1e-15 * abs(value)
    if not slope < -slack:
        return None
    dz = objective.space.scores(step)

    def evaluate(t: float) -> tuple[float, tuple[Point, Smoothed]]:
        candidate = objective.along(point, step, dz, t)
        smoothed = lagrangian.at(candidate)
        return smoothed.value, (candidate, smoothed)

    trial = backtrack(evaluate, armijo(value, slope, slack), HALVINGS)
    return (*trial.found, trial.length) if trial.enough else None


def add_scatter(
    hessian: Floats,
    objective: Objective,
    point: Point,
    projection: Projection,
    nu: float,
) -> bool:
    """Add the pooled blocks' part of the Hessian of φ in place; False if none."""
    pooled, starts = projection.rows, projection.starts
    if len(pooled) == 0:
        return False
    most = max(1, CHUNK // objective.space.size)
    for group in _groups(starts, most):
        edges = starts[group.start : group.stop + 1]
        rows = pooled[edges[0] : edges[-1]]
        slopes = objective.loss.derivative(objective.y[rows], point.scores[rows])
        gathered = linear(objective.space).gradient_rows(rows, slopes)
        center_blocks(gathered, objective.ranking.row_weight[rows], edges - edges[0])
        hessian += gathered.T @ gathered / nu
    return True


def _groups(starts: Indices, most: int) -> list[slice]:
    """Cut consecutive blocks into groups of about `most` rows, never inside a block.

    Blocks begin at `starts`, whose last entry is where they end.
    """
    count, end = len(starts) - 1, int(starts[-1])
    if end <= most:
        return [slice(0, count)]
    cuts = np.searchsorted(starts[1:], np.arange(most, end + most, most))
    edges = np.unique(np.concatenate([[0], cuts + 1]).clip(max=count))
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
