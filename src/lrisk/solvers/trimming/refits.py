"""The convex half of a C-step: the minimiser of Φ(θ, λ) = Σλ_iℓ_i(θ) + μΩ(θ).

The rows and their weights λ are given; which method is exact, and fast, depends on
space, loss and spectrum, and `refit_for` chooses.
"""

from typing import Protocol

import numpy as np

from ..._params import refused
from ..._typing import Floats
from ...losses import Squared
from ...objective import Objective, Point
from ...ranking import Ranking
from ...spaces.capabilities import linear, moments, ridge_fits
from ...spectra import Mean, Spectrum
from .._linalg import solve_positive
from ..certified.coordinates import Coordinates, newton_step
from ..certified.newton import HALVINGS, MOST_PARAMETERS, Newton
from ..line_search import armijo, backtrack
from .kept import FRACTION, LowestRows
from .trimmed_ridge import TrimmedFit, TrimmedRidge

#: Promised fall of Φ, as a share of it, below which a Newton step is taken whole: an
#: eighth digit of Φ says nothing of the sixteenth digit of θ.
CLOSE = 1e-8
#: Promised fall of Φ after which, Newton's error being squared, θ has all its digits.
LAST = 1e-16


class Refit(Protocol):
    """Gives the minimiser of Φ(·, λ), or a lower point, from λ and the point before."""

    #: Whether to rounding, not only to a tolerance.
    exact: bool

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""


def certain(objective: Objective) -> float:
    """A risk of classes below which every row is told with certainty; 0 for numbers.

    1e-16 of that of scores of zero. Kept rows of one class, or classes apart without a
    penalty, have no minimum, and the fit would wander on for ever.
    """
    if not objective.loss.classifies:
        return 0.0
    k = objective.space.n_scores
    zero = np.zeros((1, k)) if objective.loss.per_class else np.zeros(1)
    return 1e-16 * float(objective.loss.value(objective.y[:1], zero)[0])


def refit_for(objective: Objective) -> Refit:
    """The exact refit for a space, a loss and a spectrum."""
    spectrum = objective.ranking.spectrum
    if spectrum.shape == "range":
        return RangeRefit(objective)
    if objective.loss.flat:
        return MeanRefit(objective)
    sums = hasattr(objective.space, "moments") or hasattr(objective.space, "ridge")
    if sums and isinstance(objective.loss, Squared):
        return MomentRefit(objective)
    if hasattr(objective.space, "gram"):
        return NewtonRefit(objective)
    return RidgeRefit(objective)


class SpaceRidge:
    """Ridge fits by a space that solves for them itself: fits only, no exchanges.

    Parameters
    ----------
    objective : Objective
    mu : float or None
        Penalty μ to use in place of the objective's own.
    """

    def __init__(self, objective: Objective, mu: float | None = None) -> None:
        self.objective = objective
        self.mu = objective.mu if mu is None else mu

    def fit(self, weights: Floats) -> TrimmedFit:
        """Minimise Σλ_i ½r_i² + (μ/2)‖f‖²; at the minimum that is (μ/2)yᵀc."""
        space, y = self.objective.space, self.objective.y
        on_the_way = self.mu != self.objective.mu
        theta = ridge_fits(space).ridge(weights, y, self.mu, rough=on_the_way)
        value = 0.5 * self.mu * float(y @ theta)
        return TrimmedFit(theta, y - space.scores(theta), value)


class RidgeRefit:
    """Squared loss in a kernel space under a subquantile, by one inverse for all."""

    exact = True

    def __init__(self, objective: Objective, mu: float | None = None) -> None:
        self.objective = objective
        spectrum = objective.ranking.spectrum
        if objective.mu == 0.0:
            rule = "positive for trimmed kernel regression"
            remedy = "a tiny one, such as 1e-6, comes near interpolation"
            raise ValueError(refused("lrisk", "alpha", rule, 0.0, remedy))
        if not spectrum.keeps and spectrum.monotone != "flat":
            rule = "a subquantile in a kernel space as it is"
            remedy = "factor the kernel first"
            raise ValueError(refused("lrisk", "spectrum", rule, spectrum, remedy))
        if hasattr(objective.space, "ridge"):
            self.ridge: TrimmedRidge | SpaceRidge = SpaceRidge(objective, mu)
        else:
            self.ridge = TrimmedRidge(objective, spectrum.support[1], mu)

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""
        return self.point(weights, self.ridge.fit(weights))

    def point(self, weights: Floats, fit: TrimmedFit) -> Point:
        """A fit as a point of the objective (at its own penalty)."""
        losses = 0.5 * fit.residuals**2
        # ‖f‖² = c·f, and f = y − residuals.
        scores = self.objective.y - fit.residuals
        penalty = 0.5 * self.ridge.mu * float(fit.coefficients @ scores)
        return Point(fit.coefficients, scores, losses, max(penalty, 0.0))


class MomentRefit:
    """Squared loss over rows that are summed up in blocks, or that solve themselves."""

    exact = True

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ): (Σλφφᵀ + μ)θ = Σλyφ."""
        space, y, mu = self.objective.space, self.objective.y, self.objective.mu
        if hasattr(space, "ridge"):
            return self.objective.at(ridge_fits(space).ridge(weights, y, mu))
        gram, right = moments(space).moments(weights, y)
        gram[np.diag_indices_from(gram)] += mu
        return self.objective.at(solve_positive(gram, right))


class NewtonRefit:
    """Any loss in a linear space: Newton's method on Φ(·, λ), one step if squared."""

    exact = True
    #: Limit on Newton steps in one refit; five to ten are usual, and where the kept
    #: classes can be told apart and nothing is penalised there is no end.
    steps = 50
    _certain = 0.0

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._dense = objective.space.size <= MOST_PARAMETERS
        self._scale = None if self._dense else Coordinates(objective)
        self._certain = certain(objective)

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ) from a point.

        Near the minimum Φ cannot tell whether a step is good, but the fall it promises
        can: steps are taken whole as long as that shrinks. Where there is no minimum
        they end there: a class that has lost all its rows sends its intercept away by
        one in each step, however little that promises.
        """
        objective = self.objective
        value = float(weights @ point.losses) + point.penalty
        before = np.inf
        for _ in range(2 if isinstance(objective.loss, Squared) else self.steps):
            gradient = objective.gradient(point, weights)
            step = self._step(point, weights, gradient)
            if objective.loss.per_class:
                # What all classes gain alike changes nothing: there it is all rounding.
                table = step.reshape(-1, objective.space.n_scores)
                step = (table - table.mean(axis=1, keepdims=True)).ravel()
            promised = -float(gradient @ step)
            if not 0.0 < promised < before or value <= self._certain:
                return point
            if promised > CLOSE * abs(value):
                moved = self._search(point, weights, step, value, -promised)
                if moved is None:
                    return point
                point, value = moved
                continue
            dz = objective.space.scores(step)
            if objective.loss.classifies and float(np.max(np.abs(dz))) > 0.5:
                return point
            point = objective.along(point, step, dz, 1.0)
            del dz  # as long as the rows, and the Hessian needs room
            if promised <= LAST * abs(value):
                return point
            before = promised
        return point

    def _step(self, point: Point, weights: Floats, gradient: Floats) -> Floats:
        objective = self.objective
        if self._scale is None:
            return solve_positive(objective.hessian(point, weights), -gradient)
        return newton_step(objective, point, weights, gradient, self._scale, 200)

    def _search(
        self, point: Point, weights: Floats, step: Floats, value: float, slope: float
    ) -> tuple[Point, float] | None:
        """Halve the step until Φ falls."""
        dz = self.objective.space.scores(step)

        def evaluate(t: float) -> tuple[float, tuple[Point, float]]:
            candidate = self.objective.along(point, step, dz, t)
            new = float(weights @ candidate.losses) + candidate.penalty
            return new, (candidate, new)

        trial = backtrack(evaluate, armijo(value, slope), HALVINGS)
        return trial.found if trial.enough else None


class RangeRefit:
    """Ranked range: the certified Superquantile(a/b) fit of the lowest b of the mass.

    The weights it is given tell only where it stands; which rows are kept follows from
    the losses of the point.
    """

    exact = False

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        lowest, self.tail = objective.ranking.spectrum.in_two_steps()
        self.kept = LowestRows(objective.ranking.with_spectrum(lowest))

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise over the rows that the point keeps."""
        return _certified(
            self.objective, self.tail, self.kept.weights(point.losses), point
        )


class MeanRefit:
    """Losses with flat pieces: the certified fit of the mean loss under λ."""

    exact = False

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, weights: Floats, point: Point) -> Point:
        """Minimise Φ(·, λ)."""
        return _certified(self.objective, Mean(), weights, point)


def _certified(
    objective: Objective, spectrum: Spectrum, shares: Floats, point: Point
) -> Point:
    """The fit under an increasing spectrum of rows with these shares."""
    rows = np.flatnonzero(shares > FRACTION * shares.max())
    # The total is that of all rows, so that the penalty stays what it is.
    weight = shares[rows] * objective.ranking.total
    convex = Objective(
        Ranking(spectrum, len(rows), weight),
        objective.loss,
        linear(objective.space).restricted(rows),
        objective.y[rows],
        objective.alpha,
        objective.shift,
    )
    solved = Newton(tol=1e-10).solve(convex, point.theta)
    return objective.at(solved.theta)
