"""THE objective, of which everything in lrisk is an instance.

    F(θ) = Σ_i σ_i ℓ_(i)(θ) + (μ/2)‖θ‖²,      ℓ_i(θ) = loss(y_i, f_θ(x_i)),   μ = α/W

For an increasing spectrum F(θ) = max_λ Φ(θ, λ) over the permutahedron, with

    Φ(θ, λ) = Σ λ_i ℓ_i(θ) + (μ/2)‖θ‖²

convex in θ and linear in λ; its derivatives are here, too.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from ._typing import Floats, Indices
from .losses import Loss
from .ranking import Ranking
from .spaces import Space
from .spaces.capabilities import linear
from .spectra import Superquantile


class Point(NamedTuple):
    """θ with what was computed there: scores (n,) or (n, k), losses (n,), (μ/2)‖θ‖²."""

    theta: Floats
    scores: Floats
    losses: Floats
    penalty: float


#: Share of F that ranks by leading digits may take from it: 2.4e-7 was seen, of squares
#: of normal losses under extremile:1000, and some 1e-8 under usual spectra.
ROUGHNESS = 2.5e-7
#: Relative fall of F above which losses are ranked so.
ROUGH = 4 * ROUGHNESS


class Evaluation(NamedTuple):
    """F at a point: the weights λ by rank, the value and the subgradient at λ.

    exact : whether ranks are; otherwise the value is a little too small
    """

    point: Point
    slopes: Floats
    weights: Floats
    value: float
    gradient: Floats
    exact: bool = True

    @property
    def theta(self) -> Floats:
        """Where F is evaluated."""
        return self.point.theta

    @property
    def missing(self) -> float:
        """What the value may fall short by: nothing of exact ranks."""
        return 0.0 if self.exact else ROUGHNESS * self.value

    @property
    def doubt(self) -> float:
        """How far that may shift the value from one point to the next."""
        return self.missing


#: From rows, shape (m, size), to columns in which a Gram matrix is the identity.
Whitening = Callable[[Floats], Floats]


class PartialGram(NamedTuple):
    """Σ_S λℓ″xxᵀ over some rows S, wherever they lie; shape (size, size).

    longest : largest squared length of the rows in S after a whitening
    """

    matrix: Floats
    longest: Callable[[Whitening], float]


class Split(NamedTuple):
    """Rows whose losses are near the threshold of a superquantile, and all others.

    rows : the objective over the band, under the superquantile of its share of λ
    risk : of these rows, where the others are looked at
    share : of λ, that the others leave for the band
    gradient : ∂/∂θ of Σλℓ over the others, λ full above the band and zero below it, and
        of the penalty
    matrix : the curvature of the same, estimated
    """

    rows: "Objective"
    risk: float
    share: float
    gradient: Floats
    matrix: Floats


class Held(NamedTuple):
    """A point at which λ is what was held, whatever the losses became.

    theta, primal : where, and F there, or a little more
    excess : Σσ_iℓ_(i) − λ·ℓ, or a little more
    gradient : ∂Φ/∂θ at λ
    gram : the curvature of Φ(·, λ), by some of the rows
    weights : λ, or what parts of the rows make it from
    """

    theta: Floats
    primal: float
    excess: float
    gradient: Floats
    gram: PartialGram
    weights: Any


class Walk:
    """F along a direction from a point, whose scores are moved in place.

    Parameters
    ----------
    objective : Objective
    now : Evaluation
        Nothing of it but θ and the scores is kept.
    direction : array of shape (size,)
    exact : bool
        Whether losses are ranked by all their digits.
    """

    def __init__(
        self, objective: "Objective", now: Evaluation, direction: Floats, exact: bool
    ) -> None:
        self._objective, self._direction, self._exact = objective, direction, exact
        self._theta, self._scores = now.point.theta, now.point.scores
        self._reached = 0.0

    def at(self, t: float) -> Evaluation:
        """F at that share of the direction."""
        moved = self._objective.space.scores(self._direction)
        if t < 1.0:
            moved *= t - self._reached
        self._scores += moved
        del moved
        self._reached = t
        theta = self._theta + t * self._direction
        return self._objective.evaluate(theta, self._scores, exact=self._exact)

    def back(self) -> Evaluation:
        """F where the walk began, by exact ranks."""
        scores = self._objective.space.scores(self._theta)
        return self._objective.evaluate(self._theta, scores)


class Objective:
    """Spectral risk of a model's losses with a quadratic penalty.

    Parameters
    ----------
    ranking : Ranking
        The spectrum over the rows' weights.
    loss : Loss
    space : Space
    y : array of shape (n,)
        Targets, as the loss wants them.
    alpha : float ≥ 0
        Penalty; with the mean spectrum it is the alpha of scikit-learn's ``Ridge``.
    shift : float, default=0
        What was subtracted from the targets to bring them near zero; intercepts are
        to be raised by it.
    """

    def __init__(
        self,
        ranking: Ranking,
        loss: Loss,
        space: Space,
        y: Floats,
        alpha: float,
        shift: float = 0.0,
    ) -> None:
        self.ranking = ranking
        self.loss = loss
        self.space = space
        self.y = y
        self.alpha = alpha
        self.shift = shift
        self.mu = alpha / ranking.total

    def at(self, theta: Floats) -> Point:
        """Evaluate the losses at θ."""
        return self._point(theta, self.space.scores(theta))

    def evaluate_losses(self, theta: Floats, scores: Floats) -> Point:
        """As `at`, where the scores are known."""
        return self._point(theta, scores)

    def along(self, point: Point, step: Floats, dz: Floats, t: float) -> Point:
        """Evaluate at θ + t·step, where step changes the scores by dz."""
        scores = t * dz
        scores += point.scores
        return self._point(point.theta + t * step, scores)

    def _point(self, theta: Floats, scores: Floats) -> Point:
        losses = self.loss.value(self.y, scores)
        penalty = 0.5 * self.mu * self.space.inner(theta, theta)
        return Point(theta, scores, losses, penalty)

    def evaluate(
        self, theta: Floats, scores: Floats, *, exact: bool = True
    ) -> Evaluation:
        """F and a subgradient at θ, whose scores are known, in one pass each way.

        ``exact=False`` ranks the losses by their leading digits only.
        """
        losses, slopes = np.empty(len(self.y)), np.empty_like(scores)
        for part in _parts(len(self.y)):
            losses[part], slopes[part] = self.loss.value_and_derivative(
                self.y[part], scores[part]
            )
        penalty = 0.5 * self.mu * self.space.inner(theta, theta)
        point = Point(theta, scores, losses, penalty)
        risk, weights = self.ranking.risk_and_weights(losses, exact=exact)
        gradient = self.pullback(point, weights, slopes)
        return Evaluation(point, slopes, weights, risk + penalty, gradient, exact)

    # -- what a descent over very many rows asks ---------------------------------------

    @property
    def n_rows(self) -> int:
        """Rows of the space."""
        return self.space.n_rows

    @property
    def size(self) -> int:
        """Parameters of the space."""
        return self.space.size

    def begin(self, theta: Floats) -> Evaluation:
        """F at θ, ranked roughly."""
        return self.evaluate(theta, self.space.scores(theta), exact=False)

    def refined(self, now: Evaluation, fall: float) -> Evaluation:
        """The same, ranked as finely as a further fall of F demands."""
        return now if now.exact else self.evaluate(now.theta, now.point.scores)

    def walk(self, now: Evaluation, direction: Floats, fall: float) -> Walk:
        """F along a direction on which it is expected to fall by so much."""
        return Walk(self, now, direction, fall <= ROUGH * now.value)

    def gram_at(self, now: Evaluation, rows: Indices | None = None) -> PartialGram:
        """The curvature of Φ(·, λ) at a point, by some of the rows or by all."""
        if rows is None:
            return self.partial_gram(now.point.scores, now.weights)
        sample = self.sampled(rows)
        return sample.partial_gram(now.point.scores[rows], now.weights[rows])

    def share_seen(self, rows: Indices) -> float:
        """The share of all rows that `gram_at` looks at."""
        return len(rows) / self.n_rows

    def partial_gram(self, scores: Floats, weights: Floats) -> PartialGram:
        """Σλℓ″xxᵀ over the rows of this objective, λ as they have it in a whole."""
        curvature = self.loss.curvature(self.y, scores) * weights

        def longest(whiten: Whitening) -> float:
            most = 0.0
            for _, block in linear(self.space).blocks():
                white = whiten(block)
                most = max(most, float(np.max(np.einsum("ij,ij->j", white, white))))
            return most

        return PartialGram(linear(self.space).gram(curvature), longest)

    @property
    def even_weights(self) -> Floats:
        """λ of the mean: what there is before anything was found."""
        return self.ranking.mass

    def value_at(self, theta: Floats) -> float:
        """F(θ)."""
        return self.value(self.at(theta))

    def value(self, point: Point) -> float:
        """F(θ)."""
        return self.ranking.risk(point.losses) + point.penalty

    def gradient(self, point: Point, weights: Floats) -> Floats:
        """∂Φ/∂θ at λ; a subgradient of F where λ are the weights by rank."""
        slopes = self.loss.derivative(self.y, point.scores)
        return self.pullback(point, weights, slopes)

    def pullback(self, point: Point, weights: Floats, a: Floats) -> Floats:
        """Σ λ_i a_i ∇f(x_i) + μθ."""
        scaled = weights * a if a.ndim == 1 else weights[:, None] * a
        gradient = self.space.pullback(point.theta, scaled)
        gradient += self._penalty_slope(point.theta)
        return gradient

    def _penalty_slope(self, theta: Floats) -> Floats:
        """The gradient of (μ/2)‖θ‖²."""
        return np.asarray(self.mu * self.space.penalised(theta))

    def hessian(self, point: Point, weights: Floats) -> Floats:
        """∂²Φ/∂θ² at λ, shape (size, size), with the multinomial gauge pinned.

        Adding a constant to all intercepts of a multinomial model changes nothing; a
        term in that direction makes the matrix regular and leaves Newton's step as it
        is.
        """
        curvature = self.loss.curvature(self.y, point.scores)
        curvature *= weights if curvature.ndim == 1 else weights[:, None, None]
        return self._with_penalty(linear(self.space).gram(curvature))

    def gradient_and_hessian(
        self, point: Point, weights: Floats
    ) -> tuple[Floats, Floats]:
        """`gradient` and `hessian`, for what they share."""
        slopes, bends = self.loss.slope_and_curvature(self.y, point.scores)
        if slopes.ndim == 1:
            slopes, bends = weights * slopes, weights * bends
        else:
            slopes, bends = weights[:, None] * slopes, weights[:, None, None] * bends
        space = linear(self.space)
        gradient, matrix = space.pullback_and_gram(point.theta, slopes, bends)
        gradient += self._penalty_slope(point.theta)
        return gradient, self._with_penalty(matrix)

    def _with_penalty(self, matrix: Floats) -> Floats:
        """Σλℓ″ with μI added in place, and the gauge of a multinomial model."""
        free = self.space.n_scores if self.space.intercept else 0
        diagonal = np.arange(self.space.size - free)
        matrix[diagonal, diagonal] += self.mu
        if self.loss.per_class and free:
            corner = matrix[-free:, -free:]
            corner += max(float(np.trace(corner)), 1e-300) / free**2
        return matrix

    @functools.cached_property
    def constant_risk(self) -> float:
        """Risk of the model without features, by which a tiny objective is judged.

        With an intercept its scores are those of the best constant for the mean
        spectrum, otherwise zero.
        """
        return self.ranking.risk(self._constant_losses())

    @functools.cached_property
    def largest_constant_loss(self) -> float:
        """An upper bound on `constant_risk` that needs no sorting."""
        parts = _parts(len(self.y))
        return max(float(self._constant_losses(part).max()) for part in parts)

    def _constant_losses(self, part: slice = slice(None)) -> Floats:
        y, k = self.y[part], self.space.n_scores
        scores = np.zeros((len(y), k)) if self.loss.per_class else np.zeros(len(y))
        if self.space.intercept:
            scores += self._mean_scores
        return self.loss.value(y, scores)

    @functools.cached_property
    def resolution(self) -> float:
        """An F that is nothing but rounding in targets of their own size."""
        largest = max(float(self.y.max()), -float(self.y.min())) + abs(self.shift)
        return self.loss.resolution(np.array([largest]))

    @functools.cached_property
    def _mean_scores(self) -> Floats:
        return self.mean_scores()

    def mean_scores(self) -> Floats:
        """Score, or scores, of the constant that minimises the mean loss."""
        return self.loss.constant_scores(self.y, self.ranking.mass, self.space.n_scores)

    def constant_fit(self) -> Floats:
        """θ without features, with the best intercept: no fit need be worse.

        Intercepts of several scores are those of the mean loss.
        """
        theta, k = np.zeros(self.space.size), self.space.n_scores
        if not self.space.intercept:
            return theta
        best = np.atleast_1d(self._mean_scores)
        if k == 1:
            ends = [0.0, float(best[0])]
            if not self.loss.classifies:
                ends += [float(self.y.min()), float(self.y.max())]
            low, high = min(ends), max(ends)

            def risk(score: float) -> float:
                losses = self.loss.value(self.y, np.full(len(self.y), score))
                return self.ranking.risk(losses)

            # In units of their own, since the search multiplies places by values.
            unit = risk(0.0) or 1.0
            found = scipy.optimize.minimize_scalar(
                lambda share: risk(low + share * (high - low)) / unit,
                bounds=(0.0, 1.0),
                method="bounded",
            )
            inner = low + float(found.x) * (high - low)
            best = np.array([min([*ends[:2], inner], key=risk)])
        theta[-k:] = best
        return theta

    def sampled(self, rows: Indices) -> "Objective":
        """The same objective over copies of some of the rows, with the same μ."""
        return self._over(rows, linear(self.space).take(rows))

    def restricted(self, rows: Indices) -> "Objective":
        """The same objective over some of the rows as they are, with the same μ."""
        return self._over(rows, linear(self.space).restricted(rows))

    def _over(self, rows: Indices, space: Space) -> "Objective":
        ranking = self.ranking.taken(rows)
        alpha = self.mu * ranking.total
        return Objective(ranking, self.loss, space, self.y[rows], alpha, self.shift)

    def with_space(self, space: Space) -> "Objective":
        """The same objective over another space for the same rows."""
        return Objective(self.ranking, self.loss, space, self.y, self.alpha, self.shift)

    def with_loss(self, loss: Loss) -> "Objective":
        """The same objective under another loss of the same targets."""
        return Objective(self.ranking, loss, self.space, self.y, self.alpha, self.shift)

    def with_tail(self, part: float) -> "Objective":
        """The same rows under the superquantile of the upper part of their mass."""
        q = min(max(1.0 - part, 0.0), 1.0 - 1e-12)
        return self.with_ranking(self.ranking.with_spectrum(Superquantile(q)))

    def with_ranking(self, ranking: Ranking) -> "Objective":
        """The same objective under another spectrum for the same rows."""
        return Objective(ranking, self.loss, self.space, self.y, self.alpha, self.shift)


def _parts(n_rows: int) -> list[slice]:
    """Rows in parts whose arrays stay in the cache."""
    return [slice(i, i + (1 << 14)) for i in range(0, n_rows, 1 << 14)]
