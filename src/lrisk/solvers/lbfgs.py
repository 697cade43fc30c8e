"""L-BFGS: whitened for very many rows, on the augmented Lagrangian for very many d."""

import numpy as np
import scipy.optimize
import scipy.sparse.linalg

from .._typing import Floats
from ..certificate import Bound, bound
from ..objective import Objective, Point
from .collapse import certified_collapse
from .fallback import finished
from .lagrangian import Lagrangian, Progress
from .solution import Monitor, Solution, Solver, Status
from .whitening import minimise_whitened, whitenable


class LBFGS(Solver):
    """Limited-memory quasi-Newton, to a certified optimum.

    Under a smooth spectrum and with many rows F itself is minimised, in coordinates in
    which the Hessian of a sample is the identity (see `whitening`). Otherwise, and for
    models too large for a Hessian, it minimises the same augmented Lagrangian as
    `Newton`, in units of the columns, and proves its result in the same way, with
    Newton steps by conjugate gradients where the bound needs one: O(size) memory.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=5000
        Limit on L-BFGS iterations.
    memory : int, default=20
        Pairs of differences that are kept.
    """

    name = "lbfgs"
    requires = frozenset({"scores", "pullback"})
    #: Iterations between two looks at the gap, and those of conjugate gradients for it.
    rounds, cg_steps = 25, 100

    def __init__(
        self, tol: float = 1e-6, max_iter: int = 5000, memory: int = 20
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory
        self.validate()

    def solve(
        self,
        objective: Objective,
        start: Floats | None = None,
        *,
        weights: Floats | None = None,
        rng: np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise from `start`, or from a fit of a sample or from zero."""
        if not whitenable(objective) or not objective.ranking.spectrum.smooth:
            return self._minimise_lagrangian(objective, start, weights, monitor)
        collapsed = certified_collapse(objective, self.tol, monitor)
        if collapsed is not None:
            return collapsed
        progress = Progress(objective, self.tol, monitor)
        status = minimise_whitened(
            objective, start, progress, pairs=self.memory, max_iter=self.max_iter
        )
        return finished(progress, status, self.max_iter, monitor)

    def _minimise_lagrangian(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        theta = np.zeros(objective.space.size) if start is None else start
        progress = Progress(objective, self.tol, monitor)
        point = objective.at(theta)
        lagrangian = Lagrangian(objective, point.losses, center=weights)
        scale = column_scale(objective)
        unmoved = 0
        while progress.n_iter < self.max_iter:
            before = progress.gap
            point, proof = self._descend(lagrangian, point, scale, progress)
            if progress.done:
                return progress.solution()
            unmoved = unmoved + 1 if progress.gap > 0.99 * before else 0
            if unmoved >= 40:
                return progress.solution(Status.STALLED)
            if proof.slack <= 0.1 * proof.excess:
                weights = lagrangian.at(point).projection.weights
                lagrangian.tighten(weights, progress.primal, self.rounds)
        return progress.solution(Status.MAX_ITER)

    def _descend(
        self, lagrangian: Lagrangian, point: Point, scale: Floats, progress: Progress
    ) -> tuple[Point, Bound]:
        """Some iterations on φ in scaled coordinates, then a look at the gap."""
        objective = lagrangian.objective

        def value_and_gradient(scaled: Floats) -> tuple[float, Floats]:
            at = objective.at(scaled / scale)
            smoothed = lagrangian.at(at)
            gradient = objective.gradient(at, smoothed.projection.weights)
            return smoothed.value, gradient / scale

        result = scipy.optimize.minimize(
            value_and_gradient,
            scale * point.theta,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": min(self.rounds, self.max_iter - progress.n_iter),
                "maxcor": self.memory,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        progress.n_iter += max(int(result.nit), 1)
        point = objective.at(result.x / scale)
        weights = lagrangian.at(point).projection.weights
        gradient = objective.gradient(point, weights)
        step = newton_step(objective, point, weights, gradient, scale, self.cg_steps)
        proof = bound(objective, point, weights, step)
        decrement = 0.5 * abs(float(gradient @ step))
        progress.record(point, weights, proof, decrement, lagrangian.nu)
        return point, proof


def newton_step(
    objective: Objective,
    point: Point,
    weights: Floats,
    gradient: Floats,
    scale: Floats,
    iterations: int,
) -> Floats:
    """Approximate −(∂²Φ)⁻¹∂Φ by conjugate gradients, without forming a matrix."""
    loss, space, y = objective.loss, objective.space, objective.y

    def product(v: Floats) -> Floats:
        bent = loss.curvature_times(y, point.scores, space.scores(v))
        scaled = weights * bent if bent.ndim == 1 else weights[:, None] * bent
        pulled = space.pullback(point.theta, scaled)
        return pulled + objective.mu * space.penalised(v)

    size = space.size
    operator = scipy.sparse.linalg.LinearOperator(
        (size, size), matvec=lambda v: product(v / scale) / scale, dtype=np.float64
    )
    step, _ = scipy.sparse.linalg.cg(
        operator, -gradient / scale, rtol=1e-10, maxiter=iterations
    )
    return np.asarray(step / scale)


def column_scale(objective: Objective) -> Floats:
    """√(L·Σp x² + μ) for each parameter: what makes their units alike."""
    space = objective.space
    squares = space.diagonal(objective.ranking.mass)
    scale = np.sqrt(objective.loss.smoothness * squares + objective.mu)
    scale[scale == 0.0] = 1.0
    return np.repeat(scale, space.n_scores)
