"""L-BFGS: whitened for very many rows, on the augmented Lagrangian for very many d."""

from collections.abc import Callable

import numpy as np
import scipy.optimize

from ..._typing import Floats
from ...certificate import Bound, bound
from ...objective import Objective, Point
from ...permutahedron import risk_and_excess
from ..solution import Monitor, Solution, Solver, Status
from .continuation import minimise_softened, needs_continuation
from .coordinates import Coordinates, newton_step
from .fallback import after_stall, changed_to_newton, minimise_or_newton
from .lagrangian import Lagrangian
from .newton import MOST_PARAMETERS, newton_size
from .progress import Progress
from .whitening import SMALLEST, minimise_whitened, whitenable

#: Products n·size² up to which Newton's method is a way out of a stall.
MOST_WORK = 5e9


class LBFGS(Solver):
    """Quasi-Newton method of little memory, to a proven optimum.

    Under a smooth spectrum and with many rows F itself is minimised, in coordinates in
    which the Hessian of a sample is the identity (see `whitening`). Otherwise, and for
    models too large for a Hessian, it minimises the same augmented Lagrangian as
    `Newton`, in units of the columns, and proves its result in the same way, with
    Newton steps by conjugate gradients where the bound needs one: O(size) memory.
    Losses with flat pieces go to `Newton` wherever a Hessian fits.

    For many rows or many parameters; ``solver="auto"`` chooses it there.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=5000
        Limit on L-BFGS iterations.
    memory : int, default=20
        Pairs of differences that are kept.

    See Also
    --------
    Newton : Fewer, costlier steps, where a Hessian fits.
    Band : Faster for superquantiles of many rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import LBFGS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile:0.9", solver=LBFGS(tol=1e-8)).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-8)
    True
    """

    name = "lbfgs"
    kinks = True
    requires = frozenset({"scores", "pullback", "diagonal"})
    #: Iterations between two looks at the gap, and those of conjugate gradients for it.
    rounds, cg_steps = 25, 200

    def __init__(
        self, tol: float = 1e-6, max_iter: int = 5000, memory: int = 20
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory
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
        """Minimise from `start`, or from a fit of a sample or from zero."""
        if objective.loss.flat and newton_size(objective.space) <= MOST_PARAMETERS:
            # Differences of gradients know little of a curvature that comes and goes.
            return changed_to_newton(
                objective,
                "the loss has flat pieces and a Hessian fits",
                start,
                weights,
                tol=self.tol,
                max_iter=self.max_iter,
                monitor=monitor,
            )
        if needs_continuation(objective):
            return self._continue(objective, start, weights, monitor)
        if not whitenable(objective) or not objective.ranking.spectrum.smooth:
            progress = Progress(objective, self.tol, monitor)
            status = self._minimise_lagrangian(objective, start, weights, progress)
            if status is Status.STALLED and _hessian_fits(objective):
                return after_stall(progress, self.max_iter, monitor)
            return progress.solution(status)

        def descend(progress: Progress[Objective]) -> Status:
            return minimise_whitened(
                objective, start, progress, pairs=self.memory, max_iter=self.max_iter
            )

        return minimise_or_newton(
            objective, descend, tol=self.tol, max_iter=self.max_iter, monitor=monitor
        )

    def _continue(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        monitor: Monitor | None,
    ) -> Solution:
        def inner(
            softened: Objective,
            tol: float,
            limit: int,
            start: Floats | None,
            weights: Floats | None,
            monitor: Monitor | None,
        ) -> Solution:
            own = LBFGS(tol=tol, max_iter=limit, memory=self.memory)
            progress = Progress(softened, tol, monitor)
            status = own._minimise_lagrangian(softened, start, weights, progress)
            return progress.solution(status)

        return minimise_softened(
            objective,
            inner,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            weights=weights,
            monitor=monitor,
        )

    def _minimise_lagrangian(
        self,
        objective: Objective,
        start: Floats | None,
        weights: Floats | None,
        progress: Progress[Objective],
    ) -> Status | None:
        """Minimise φ with the centre moving on; None where that reached its end."""
        theta = np.zeros(objective.space.size) if start is None else start
        coordinates = Coordinates(objective)
        point = objective.at(theta)
        spectrum = objective.ranking.spectrum
        # With few rows the kinks of F are felt, also under a smooth spectrum.
        many = objective.space.n_rows >= SMALLEST // 2
        if spectrum.smooth and start is None and many:
            point = self._descend_raw(objective, point, coordinates, progress)
            if progress.done:
                return None
        patience = 10 if _hessian_fits(objective) else 40
        lagrangian = Lagrangian(objective, point.losses, center=weights)
        unmoved = 0
        while progress.n_iter < self.max_iter:
            before = progress.stationarity
            point, error, excess = self._descend(
                lagrangian, point, coordinates, progress
            )
            if progress.done:
                return None
            unmoved = unmoved + 1 if progress.stationarity > 0.99 * before else 0
            if unmoved >= patience:
                break
            if error <= 0.1 * excess:
                weights = lagrangian.at(point).projection.weights
                lagrangian.tighten(weights, progress.primal, self.rounds)
        if not progress.certified:
            weights = lagrangian.at(point).projection.weights
            self._look(objective, point, weights, coordinates, progress, 0.0, True)
            if progress.done:
                return None
        limited = progress.n_iter >= self.max_iter
        return Status.MAX_ITER if limited else Status.STALLED

    def _descend_raw(
        self,
        objective: Objective,
        point: Point,
        coordinates: Coordinates,
        progress: Progress[Objective],
    ) -> Point:
        """Minimise F itself, whose spectrum is smooth, as far as its kinks allow."""

        def value_and_gradient(theta: Floats) -> tuple[float, Floats]:
            now = objective.evaluate(theta, objective.space.scores(theta))
            return now.value, now.gradient

        length, unmoved = self.rounds, 0
        while unmoved < 3 and progress.n_iter < self.max_iter:
            before = progress.stationarity
            theta = self._minimise(
                value_and_gradient, point, coordinates, progress, length
            )
            point = objective.at(theta)
            weights = objective.ranking.weights(point.losses)
            coordinates.settle_at(point, weights)
            length = min(2 * length, 4 * self.rounds)
            self._look(objective, point, weights, coordinates, progress, 0.0)
            unmoved = unmoved + 1 if progress.stationarity > 0.5 * before else 0
            if progress.done:
                break
        return point

    def _descend(
        self,
        lagrangian: Lagrangian,
        point: Point,
        coordinates: Coordinates,
        progress: Progress[Objective],
    ) -> tuple[Point, float, float]:
        """Some iterations on φ, then a look at the gap; its two parts, or estimates."""
        objective = lagrangian.objective

        def value_and_gradient(theta: Floats) -> tuple[float, Floats]:
            at = objective.at(theta)
            smoothed = lagrangian.at(at)
            return smoothed.value, objective.gradient(at, smoothed.projection.weights)

        theta = self._minimise(
            value_and_gradient, point, coordinates, progress, self.rounds
        )
        point = objective.at(theta)
        weights = lagrangian.at(point).projection.weights
        coordinates.settle_at(point, weights)
        nu = lagrangian.nu
        return point, *self._look(objective, point, weights, coordinates, progress, nu)

    def _minimise(
        self,
        value_and_gradient: Callable[[Floats], tuple[float, Floats]],
        point: Point,
        coordinates: Coordinates,
        progress: Progress[Objective],
        length: int,
    ) -> Floats:
        """Some iterations of L-BFGS in the coordinates; θ."""

        def in_coordinates(v: Floats) -> tuple[float, Floats]:
            value, gradient = value_and_gradient(coordinates.outward(v))
            return value, coordinates.gradient(gradient)

        result = scipy.optimize.minimize(
            in_coordinates,
            coordinates.inward(point.theta),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": min(length, self.max_iter - progress.n_iter),
                "maxcor": self.memory,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        progress.n_iter += max(int(result.nit), 1)
        return coordinates.outward(result.x)

    def _look(
        self,
        objective: Objective,
        point: Point,
        weights: Floats,
        coordinates: Coordinates,
        progress: Progress[Objective],
        nu: float,
        certainly: bool = False,
    ) -> tuple[float, float]:
        """Prove the gap if it looks small, and estimate it otherwise; both parts.

        The proof takes many products with the Hessian; the squared length of the
        gradient in the coordinates, about twice the slack, costs nothing.
        """
        gradient = objective.gradient(point, weights)
        length = np.linalg.norm(coordinates.gradient(gradient))
        estimate = 0.5 * float(length) ** 2
        risk, excess = risk_and_excess(objective.ranking, point.losses, weights)
        primal = risk + point.penalty
        near = excess + 10.0 * estimate <= progress.tol * primal
        proof, slack = Bound(primal, excess, np.inf), estimate
        if near or certainly or objective.mu == 0.0:
            step = newton_step(
                objective,
                point,
                weights,
                gradient,
                coordinates,
                self.cg_steps,
                slack=0.03 * progress.tol * primal,
            )
            proof = bound(objective, point, weights, step)
            estimate = 0.5 * abs(float(gradient @ step))
            slack = proof.slack if np.isfinite(proof.slack) else estimate
        progress.record(point.theta, weights, proof, estimate, nu)
        return slack, excess


def _hessian_fits(objective: Objective) -> bool:
    """Whether Newton's method could take over."""
    size = newton_size(objective.space)
    return size <= MOST_PARAMETERS and objective.space.n_rows * size**2 <= MOST_WORK
