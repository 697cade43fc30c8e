"""Algorithm 1 of the subquantile paper: gradient descent on the rows of lowest loss.

Each step takes the weights λ of the rows by rank of their loss (for the subquantile
1/h on the h = np lowest and zero elsewhere), and moves against the gradient of
Φ(·, λ) in the space's own inner product,

    f ← Proj_{‖f‖ ≤ R} [ f − η (Σ_i λ_i ℓ′_i k(x_i, ·) + μ f) ],      η = 1/β,
    β = c·S′(0)·‖m^½Km^½‖ + μ,   c = sup ℓ″

with the masses m, which is c‖K‖/h + μ for equal ones under the subquantile. c is 1
for ½(f − y)², ¼ logistic, ½ softmax (the paper's (f − y)² has c = 2 and a gradient
twice as large, so the same steps). In coefficients the gradient is λ∘ℓ′ + μw: no
further product with K. Tied losses share the weight of their ranks.
"""

import time
from collections.abc import Callable

import numpy as np

from ..._params import check_choice, check_count, check_real, refused
from ..._typing import Bools, Floats
from ...losses import Squared
from ...objective import Objective
from ...spaces.capabilities import bounded
from ..solution import Monitor, Record, Solution, Solver, Status
from .fast_forward import FastForward
from .kept import LowestRows
from .steps import Moving, far_rows, kept_step, searched_step

Schedule = str | float | Callable[[int], float]


class SubquantileGradient(Solver):
    """Projected gradient descent on the rows of lowest loss (paper 2, algorithm 1).

    Parameters
    ----------
    tol : float, default=0.0
        Stop early once ‖g‖²/(2μ), which bounds what is left to gain on the current
        rows, is at most tol times the objective. 0 takes every step, as the paper does.
    max_iter : int, default=30000
        Steps. Without a penalty their number is what regularises: T steps act like a
        ridge of about ‖K‖/T.
    learning_rate : str, float or callable, default="auto"
        ``"auto"`` is 1/β in every step and ``"inverse_sqrt"`` 1/(β√k); ``"kept"`` is
        1/β of the rows that are kept, ``"line_search"`` the step that a search on their
        loss finds; a number is the step itself and a function gives it for each k ≥ 1.
    radius : float or None, default=None
        R, the largest ‖f‖; None means no limit.
    start : {"zero", "glorot", "weights"}, default="zero"
        ``"glorot"`` is the paper's: one coefficient for each of the n rows, uniform on
        ±√(6/n), so that f = Σ w_i k(x_i, ·). ``"weights"`` draws the d weights of a
        linear function from ±√(6/(d + 1)) instead, as Glorot's rule has it for a layer
        of one output. A new draw in every fit, from the `random_state` where there is
        one. Intercepts begin at zero.
    kernel_filter : float or None, default=None
        Leave out rows whose k(x, x) is more than so many (robust) deviations from the
        median (section 3.2), the farthest ones, and no more than the spectrum trims.
    fast_forward : bool, default=True
        Skip over steps that keep the same rows (squared loss in a kernel space with a
        constant step and no radius): the same iterates up to rounding, in less time.

    See Also
    --------
    Concentration : Exact refits to the rows that are kept.

    Notes
    -----
    `history` holds, about a hundred times over the run, the objective, ‖f‖ and the
    kept rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import SubquantileGradient
    >>> X = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> y = 2.0 * X[:, 0]
    >>> y[:4] = 9.0
    >>> solver = SubquantileGradient(max_iter=2000)
    >>> model = RiskRegressor("subquantile:0.8", alpha=1e-6, solver=solver)
    >>> model.fit(X, y).coef_.round(3)
    array([2.])
    """

    name = "subquantile"
    spectra = frozenset({"flat", "down"})
    requires = frozenset({"scores", "pullback", "inner", "largest_curvature"})
    needs_matrix = True
    #: Records in `history`.
    records = 100

    def __init__(
        self,
        tol: float = 0.0,
        max_iter: int = 30_000,
        *,
        learning_rate: Schedule = "auto",
        radius: float | None = None,
        start: str = "zero",
        kernel_filter: float | None = None,
        fast_forward: bool = True,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.radius = radius
        self.start = start
        self.kernel_filter = kernel_filter
        self.fast_forward = fast_forward
        self.validate()

    def validate(self) -> None:
        """Positive steps and radius; a known start."""
        check_real(self, "tol", self.tol, low=0, remedy="0 takes every step")
        check_count(self, "max_iter", self.max_iter)
        check_choice(self, "start", self.start, ("zero", "glorot", "weights"))
        check_choice(self, "fast_forward", self.fast_forward, (True, False))
        if self.radius is not None:
            remedy = "None means no limit"
            check_real(self, "radius", self.radius, low=0, low_open=True, remedy=remedy)
        if self.kernel_filter is not None:
            remedy = "10 leaves out what is very far"
            check_real(
                self, "kernel_filter", self.kernel_filter, low=0, low_open=True,
                remedy=remedy,
            )  # fmt: skip
        rate = self.learning_rate
        if isinstance(rate, str):
            names = ("auto", "inverse_sqrt", "kept", "line_search")
            check_choice(self, "learning_rate", rate, names)
        elif not callable(rate):
            remedy = "'auto' is 1/β"
            check_real(self, "learning_rate", rate, low=0, low_open=True, remedy=remedy)

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Take `max_iter` steps from `start`, or from what the parameter says.

        Steps that end above where they began have diverged; then the best recorded
        point is the solution.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._descend(objective, start, rng, monitor)

    def _descend(
        self,
        objective: Objective,
        start: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        began = time.perf_counter()
        theta = self._first(objective, rng) if start is None else start.copy()
        lowest = LowestRows(objective.ranking)
        rate = self._rates(objective, lowest)
        moving = self._moving(objective, rate)
        far = self._far(objective, lowest)
        forward = self._forward(objective, lowest, rate)
        every = max(1, self.max_iter // self.records)
        history: list[Record] = []
        watch = _Watch(self.radius)
        step, status = 0, Status.STEPS_TAKEN
        space, loss, y = objective.space, objective.loss, objective.y
        while True:
            scores = space.scores(theta)
            losses = loss.value(y, scores)
            taken = lowest.weights(losses if far is None else _last(losses, far))
            gradient = self._gradient(objective, theta, scores, taken)
            if step % every == 0 or step >= self.max_iter:
                record = self._record(objective, step, theta, scores, losses, taken)
                record["seconds"] = time.perf_counter() - began
                history.append(record)
                watch.see(record, theta, taken)
                if monitor is not None:
                    monitor(record)
                if self._converged(objective, gradient, record["objective"]):
                    status = Status.STATIONARY
                    break
                if not np.isfinite(record["objective"]) or step >= self.max_iter:
                    break
            if forward is not None:
                goal = min(step - step % every + every, self.max_iter)
                jumped = forward.advance(theta, losses, taken, goal - step)
                if jumped:
                    step += jumped
                    continue
            if moving is None:
                theta -= rate(step + 1) * gradient
            else:
                theta -= moving(theta, gradient, losses, taken) * gradient
            step += 1
            if self.radius is not None:
                self._project(objective, theta)
        value = record["objective"]
        if watch.diverged(value):
            status = Status.DIVERGED
            value, theta, taken = watch.best
        return Solution(
            theta=theta,
            objective=value,
            gap=np.inf,
            dual=-np.inf,
            weights=taken,
            n_iter=max(step, 1),
            status=status,
            history=history,
        )

    # -- parts -------------------------------------------------------------------------

    def _first(self, objective: Objective, rng: np.random.Generator | None) -> Floats:
        space = objective.space
        theta = np.zeros(space.size)
        if self.start == "zero":
            return theta
        generator = np.random.default_rng() if rng is None else rng
        free = space.n_scores if space.intercept else 0
        if self.start == "weights":
            if hasattr(space, "matrix"):
                rule = "'zero' or 'glorot' for a kernel, which has no other weights"
                remedy = "use a linear estimator"
                raise ValueError(refused(self, "start", rule, self.start, remedy))
            count = theta.size - free
            limit = np.sqrt(6.0 / (count / space.n_scores + 1.0))
            theta[:count] = generator.uniform(-limit, limit, count)
            return theta
        limit = np.sqrt(6.0 / space.n_rows)
        shape = (space.n_rows, space.n_scores)[: 1 + objective.loss.per_class]
        theta = space.pullback(theta, generator.uniform(-limit, limit, shape))
        theta[theta.size - free :] = 0.0
        return theta

    def _moving(
        self, objective: Objective, rate: Callable[[int], float]
    ) -> Moving | None:
        """Steps that depend on the rows that are kept."""
        if self.learning_rate == "kept":
            return kept_step(objective)
        if self.learning_rate == "line_search":
            return searched_step(objective, rate(1))
        return None

    def _far(self, objective: Objective, lowest: LowestRows) -> Bools | None:
        """Rows that the filter leaves out."""
        if self.kernel_filter is None:
            return None
        n = objective.space.n_rows
        trimmed = int(np.sum(lowest.weights(np.arange(n, dtype=np.float64)) == 0.0))
        return far_rows(objective.space, float(self.kernel_filter), trimmed)

    def _rates(
        self, objective: Objective, lowest: LowestRows
    ) -> Callable[[int], float]:
        """η^(k)."""
        rate = self.learning_rate
        if callable(rate):
            return lambda k: float(rate(k))
        if not isinstance(rate, str):
            constant = float(rate)
            return lambda k: constant
        curvature = bounded(objective.space).largest_curvature(objective.ranking.mass)
        curvature *= objective.loss.smoothness * lowest.density
        inverse = 1.0 / max(curvature + objective.mu, 1e-300)
        if rate == "inverse_sqrt":
            return lambda k: inverse / float(np.sqrt(k))
        return lambda k: inverse

    def _forward(
        self,
        objective: Objective,
        lowest: LowestRows,
        rate: Callable[[int], float],
    ) -> FastForward | None:
        """The fast-forward, where it applies."""
        rate_is_fixed = isinstance(self.learning_rate, float | int)
        applies = (
            self.fast_forward
            and (rate_is_fixed or self.learning_rate == "auto")
            and self.kernel_filter is None
            and self.radius is None
            and isinstance(objective.loss, Squared)
            and hasattr(objective.space, "matrix")
            and lowest.trimmed
        )
        return FastForward(objective, rate(1)) if applies else None

    def _gradient(
        self, objective: Objective, theta: Floats, scores: Floats, weights: Floats
    ) -> Floats:
        slopes = objective.loss.derivative(objective.y, scores)
        slopes *= weights if slopes.ndim == 1 else weights[:, None]
        gradient = objective.space.pullback(theta, slopes)
        if objective.mu:
            gradient += objective.mu * objective.space.penalised(theta)
        return gradient

    def _record(
        self,
        objective: Objective,
        step: int,
        theta: Floats,
        scores: Floats,
        losses: Floats,
        weights: Floats,
    ) -> Record:
        square = max(objective.space.inner(theta, theta), 0.0)
        value = float(weights @ losses) + 0.5 * objective.mu * square
        return {
            "iteration": step,
            "objective": value,
            "gap": np.inf,
            "norm": float(np.sqrt(square)),
            "kept": weights > 0,
        }

    def _converged(self, objective: Objective, gradient: Floats, value: float) -> bool:
        if self.tol == 0.0 or objective.mu == 0.0:
            return False
        space = objective.space
        if space.intercept:
            square = float(gradient @ gradient)
        else:
            square = space.inner(gradient, gradient)
        return square <= 2.0 * objective.mu * self.tol * abs(value)

    def _project(self, objective: Objective, theta: Floats) -> None:
        """Scale f back to the sphere of radius R; intercepts are left alone."""
        assert self.radius is not None
        norm = float(np.sqrt(max(objective.space.inner(theta, theta), 0.0)))
        if not np.isfinite(norm):
            rule, remedy = "small enough to converge", "use 'auto'"
            value = self.learning_rate
            raise ValueError(refused(self, "learning_rate", rule, value, remedy))
        if norm > self.radius:
            free = objective.space.n_scores if objective.space.intercept else 0
            theta[: theta.size - free] *= self.radius / norm


def _last(losses: Floats, far: Bools) -> Floats:
    """The losses, those of far rows above all others."""
    return np.where(far, 2.0 * np.max(np.abs(losses)) + 1.0, losses)


class _Watch:
    """The best recorded point, and whether the steps lead away from the first one.

    A start outside the ball of radius R is not compared with: the projection may raise
    the objective.
    """

    def __init__(self, radius: float | None) -> None:
        self.limit = np.inf if radius is None else radius * (1.0 + 1e-9)
        self.first = np.inf
        self.best = (np.inf, np.empty(0), np.empty(0))

    def see(self, record: Record, theta: Floats, weights: Floats) -> None:
        """Take note of a recorded point."""
        value = record["objective"]
        if not record["norm"] <= self.limit or not np.isfinite(value):
            return
        if not np.isfinite(self.first):
            self.first = value
        if value < self.best[0]:
            self.best = (value, theta.copy(), weights)

    def diverged(self, value: float) -> bool:
        """Whether a last value is above the first one, by more than rounding."""
        room = 1e-9 * abs(self.first)
        return bool(np.isfinite(self.best[0]) and not value <= self.first + room)
