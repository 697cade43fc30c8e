"""The duality gap: a proof of how far a fit is from the best possible one.

For any λ in the permutahedron and any dual point a_i of the losses,

    F(θ) − min F  ≤  [Σσ_iℓ_(i) − λ·ℓ]  +  Σλ_i FY(z_i, a_i)  +  ‖μw + Xᵀ(λ∘a)‖²/(2μ)

where FY(z, a) = ℓ(z) + ℓ*(a) − a·z. All three terms are non-negative, so nothing
cancels; the right-hand side holds for *any* λ and a, so it is a proof however they
were found. An unpenalised intercept demands Σλa = 0. A good a comes from a Newton step
Δ for Φ(·, λ): a = ℓ′ + ℓ″∘XΔ makes the last term vanish and leaves an error of fourth
order in Δ.
"""

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from ._typing import Floats
from .losses import Loss, Squared
from .objective import Objective, PartialGram, Point
from .permutahedron import risk_and_excess
from .spaces import Space


class Curved(Protocol):
    """Of an objective, what a Gram matrix does not tell."""

    @property
    def loss(self) -> Loss:
        """Of a row."""

    @property
    def space(self) -> Space:
        """The functions f; its rows may lie elsewhere."""

    @property
    def mu(self) -> float:
        """The penalty over the total weight."""

    @property
    def size(self) -> int:
        """Entries of θ."""


class Measured(Protocol):
    """Of an objective, what tells a small gap from rounding."""

    @property
    def resolution(self) -> float:
        """An F that is nothing but rounding."""

    @property
    def largest_constant_loss(self) -> float:
        """An upper bound on `constant_risk`."""

    @property
    def constant_risk(self) -> float:
        """Risk of the fit without features."""


class Certificate(NamedTuple):
    """A proven enclosure of the minimum: dual ≤ min F ≤ primal.

    Attributes
    ----------
    primal : float
        F(θ), penalty included.
    dual : float
        The lower bound.
    gap : float
        primal − dual.
    relative_gap : float
        gap/max(primal, 1e-12·P₀) with P₀ the risk of the fit without features; the
        ``dual_gap_`` of estimators.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float

    def __str__(self) -> str:
        return (
            f"objective {self.primal:.10g}, proven minimum ≥ {self.dual:.10g} "
            f"(relative gap {self.relative_gap:.1e})"
        )


class Bound(NamedTuple):
    """One evaluation of the gap: F(θ), its two parts and, if kept, the dual point a."""

    primal: float
    excess: float
    slack: float
    slopes: Floats | None = None

    @property
    def dual(self) -> float:
        """The lower bound; losses and penalty are never negative, so zero is one."""
        below = self.primal - self.excess - self.slack
        return max(below, 0.0) if np.isfinite(below) else -np.inf


def bound(objective: Objective, point: Point, weights: Floats, step: Floats) -> Bound:
    """Bound F(θ) − min F through λ and an approximate Newton step for Φ(·, λ).

    Parameters
    ----------
    objective : Objective
    point : Point
        Where F is evaluated.
    weights : array of shape (n,)
        λ, in the permutahedron.
    step : array of shape (size,)
        Δ ≈ −(∂²Φ)⁻¹∂Φ. Its quality decides how tight the bound is, not whether it
        holds.
    """
    risk, excess = risk_and_excess(objective.ranking, point.losses, weights)
    return Bound(
        risk + point.penalty, excess, *proven_slack(objective, point, weights, step)
    )


def dual_bound(
    objective: Objective, point: Point, weights: Floats, a: Floats
) -> tuple[Bound, float]:
    """Bound F(θ) − min F through λ and a dual point near a, however it was found.

    Returns
    -------
    bound : Bound
    fitted : float
        Σλ_i FY(z_i, a_i) alone, which estimates the slack where there is no penalty and
        so no bound.
    """
    risk, excess = risk_and_excess(objective.ranking, point.losses, weights)
    slack, inside = np.inf, objective.loss.to_dual_domain(objective.y, a)
    if objective.mu > 0.0:
        inside = _feasible(objective, weights, a)
        slack = _feasible_slack(objective, point, weights, inside)
    fitted = objective.loss.fenchel_young(objective.y, point.scores, inside)
    return Bound(risk + point.penalty, excess, slack, inside), float(weights @ fitted)


def local_slack(
    sample: Objective, scores: Floats, weights: Floats, gradient: Floats
) -> float:
    """Bound on Φ(θ, λ) − min Φ(·, λ) from the gradient and some of the rows alone.

    Each row's loss lies above its tangent by a Bregman divergence B_i ≥ 0, so

        Φ(θ + Δ) − Φ(θ) ≥ g·Δ + Σ_{i∈S} λ_i B_i(x_i·Δ) + (μ/2)‖Δ‖²

    for any set S of rows. Where |ℓ‴| ≤ M·ℓ″ (0 for squared, 1 for logistic loss),
    B_i(δ) ≥ ½c(Mδ)·ℓ″δ² with c(s) = 2(e^{−s} + s − 1)/s². With A = Σ_S λℓ″xxᵀ + μI and
    |x_i·Δ| ≤ ‖x_i‖_{A⁻¹}‖Δ‖_A the right-hand side is at least g·Δ + ½c‖Δ‖²_A within a
    radius R; if it is not negative at R, convexity does the rest, and the slack is
    ‖g‖²_{A⁻¹}/(2c). An intercept needs nothing more than its column.

    Parameters
    ----------
    sample : Objective
        Over the rows of S only, with the same μ.
    scores, weights : arrays of shape (m,)
        Scores and λ of the rows of S, λ as in the whole (of sum less than one).
    gradient : array of shape (size,)
        ∂Φ/∂θ over *all* rows.

    Returns
    -------
    float
        Infinite where the bound does not close.
    """
    if sample.loss.self_concordance is None:
        return np.inf
    return slack_by_gram(sample, sample.partial_gram(scores, weights), gradient)


def slack_by_gram(objective: Curved, gram: PartialGram, gradient: Floats) -> float:
    """The bound of `local_slack` from what the rows of S add up to."""
    fall, matrix = objective.loss.self_concordance, gram.matrix.copy()
    if fall is None:
        return np.inf
    diagonal = np.arange(objective.size - objective.space.intercept)
    matrix[diagonal, diagonal] += objective.mu
    units = np.sqrt(np.diagonal(matrix))
    if not np.all(units > 0.0):
        return np.inf
    try:
        root = scipy.linalg.cholesky(matrix / np.outer(units, units), lower=True)
    except scipy.linalg.LinAlgError:
        return np.inf

    def whiten(rows: Floats) -> Floats:
        solved = scipy.linalg.solve_triangular(root, (rows / units).T, lower=True)
        return np.asarray(solved)

    length = float(np.linalg.norm(whiten(gradient)))
    if fall == 0.0 or length == 0.0:
        return 0.5 * length**2
    longest = gram.longest(whiten)
    factor = 1.0
    for _ in range(8):  # R = 2‖g‖/c with c at R
        s = fall * np.sqrt(longest) * 2.0 * length / factor
        enough = 2.0 * (np.expm1(-s) + s) / s**2 if s > 1e-4 else 1.0 - s / 3.0
        if enough >= factor:
            return 0.5 * length**2 / factor
        factor = 0.99 * enough
    return np.inf


def proven_slack(
    objective: Objective,
    point: Point,
    weights: Floats,
    step: Floats,
    gradient: Floats | None = None,
) -> tuple[float, Floats | None]:
    """Bound on Φ(θ, λ) − min Φ(·, λ), and the dual point behind it.

    A gradient that is known is not summed again, perhaps in another order: near the
    minimum, where all of it is rounding, no step would solve both.
    """
    loss, y, z = objective.loss, objective.y, point.scores
    slopes = loss.derivative(y, z)
    if objective.mu == 0.0:
        if not isinstance(loss, Squared):
            return np.inf, None
        if gradient is None:
            gradient = objective.gradient(point, weights)
        return _unpenalised_slack(objective, point, weights, step, gradient), None
    dz = objective.space.scores(step)
    linear = slopes + loss.curvature_times(y, z, dz)
    inside = _feasible(objective, weights, linear)
    best = _feasible_slack(objective, point, weights, inside)
    if np.max(np.abs(inside - linear), initial=0.0) > 1e-9:
        # Where linearising leaves the domain, the slopes at the new point do not.
        moved = _feasible(objective, weights, loss.derivative(y, z + dz))
        other = _feasible_slack(objective, point, weights, moved)
        if other < best:
            best, inside = other, moved
    return best, inside


def _feasible(objective: Objective, weights: Floats, a: Floats) -> Floats:
    """A dual point near a, balanced where there is an intercept."""
    loss, y = objective.loss, objective.y
    inside = loss.to_dual_domain(y, a)
    if objective.space.intercept:
        inside = loss.to_balanced_dual(y, inside, weights)
    return inside


def _feasible_slack(
    objective: Objective, point: Point, weights: Floats, a: Floats
) -> float:
    """The last two terms for a dual point."""
    loss, y, space = objective.loss, objective.y, objective.space
    fitted = float(weights @ loss.fenchel_young(y, point.scores, a))
    residual = objective.pullback(point, weights, a)
    coefficients = space.penalised(residual)
    fitted += float(coefficients @ coefficients) / (2.0 * objective.mu)
    # What rounding leaves of Σλa = 0, times the intercept it multiplies.
    fitted += float(np.abs((residual - coefficients) @ point.theta))
    return fitted


def _unpenalised_slack(
    objective: Objective,
    point: Point,
    weights: Floats,
    step: Floats,
    gradient: Floats,
) -> float:
    """½gᵀA⁻¹g for squared loss without penalty, if the step really solves AΔ = −g."""
    dz = objective.space.scores(step)
    residual = gradient + objective.space.pullback(point.theta, weights * dz)
    slack = -0.5 * float(gradient @ step)
    size = np.abs(gradient) + np.abs(residual - gradient)
    solved = bool(np.all(np.abs(residual) <= 1e-6 * np.maximum(size, 1e-300)))
    return slack if solved and slack >= 0.0 else np.inf


def relative_gap(objective: Measured, primal: float, gap: float) -> float:
    """Relative gap, gap/max(primal, 1e-12·P₀); 0 where only rounding is left.

    F itself is no better known than its residuals, so a gap below what rounding makes
    of them says nothing more.
    """
    if min(primal, gap) <= objective.resolution:
        return 0.0
    if not np.isfinite(gap):
        return np.inf
    scale = max(primal, np.finfo(np.float64).tiny)
    if scale < 1e-12 * objective.largest_constant_loss:
        scale = max(scale, 1e-12 * objective.constant_risk)
    return gap / scale
