"""What is left to fall over parts of the rows, by dual points: for losses that kink.

`slack_by_gram` needs a bound on how fast the curvature of a loss falls. Huber's loss
and the squared hinge have none: it falls at once. But with λ held, for any dual points
a of the losses for which Σλa = 0,

    Φ(θ, λ) − min Φ(·, λ)  ≤  Σλ_i FY(z_i, a_i)  +  ‖μw + Xᵀ(λ∘a)‖²/(2μ)

(see `lrisk.certificate`). Parts make a = clip(ℓ′ + ℓ″XΔ − c) from a step Δ and a shift
c, and tell in one read what these add up to, so that Δ, and c where nothing bends, are
improved until the last term and Σλa vanish. What they are decides how tight the bound
is, never whether it holds.
"""

from typing import Any

import numpy as np

from .._typing import Floats
from ..certificate import slack_by_gram
from ..objective import Held
from ..partitions.answers import Gram
from ..partitions.at import At
from ..partitions.engine import call
from ..partitions.objective import PartitionedObjective
from ._linalg import solve_positive
from .certified.progress import Progress

#: Share of the gap that is to be proven below which a bound need not be.
ENOUGH = 0.1
#: Reads for one bound, at most: near a minimum each takes what is missing down by a
#: hundred and more. The last of them only bring Σλa to zero, for some bound at all.
MOST_READS, BALANCING = 8, 3
#: What rounding leaves of a sum that is zero, in units of the sum of the sizes.
ROUNDING = 32 * float(np.finfo(np.float64).eps)
#: Share of the mass that must bend for an intercept to be settled by a step.
BENDING = 1e-3


def slack_at(progress: Progress[PartitionedObjective], now: At) -> float:
    """Bound on Φ(θ, λ) − min Φ(·, λ) with the λ of a point, as its loss allows."""
    objective = progress.objective
    if objective.loss.self_concordance is not None:
        gram = objective.gram_at(now, np.empty(0, dtype=np.intp))
        return slack_by_gram(objective, gram, now.gradient)
    rule, enough = objective.rule_at(now), ENOUGH * progress.tol * now.value
    return dual_slack(objective, now.theta, now.gradient, rule, enough)


def slack_held(progress: Progress[PartitionedObjective], held: Held) -> float:
    """The same with the λ that the parts hold."""
    objective = progress.objective
    if objective.loss.self_concordance is not None:
        return slack_by_gram(objective, held.gram, held.gradient)
    enough = ENOUGH * progress.tol * held.primal
    return dual_slack(objective, held.theta, held.gradient, (), enough)


def dual_slack(
    objective: PartitionedObjective,
    theta: Floats,
    gradient: Floats,
    rule: tuple[Any, ...],
    enough: float,
) -> float:
    """Bound on Φ(θ, λ) − min Φ(·, λ), in a few reads.

    Parameters
    ----------
    objective : PartitionedObjective
        Whose parts stand at θ.
    theta, gradient : arrays of shape (size,)
        The point, and ∂Φ/∂θ there.
    rule : tuple
        Of `PartitionedObjective.rule_at`, or empty for λ as the parts hold it.
    enough : float
        A bound that need not be improved.

    Returns
    -------
    float
        Infinite without a penalty, or where no balanced dual points were found.
    """
    mu, space = objective.mu, objective.space
    if mu == 0.0:
        return np.inf
    told: list[Gram] = call(objective.engine, "gram_some", objective.offset, 1, *rule)
    matrix = objective.gram_of(told, 1).matrix
    diagonal = np.arange(objective.size - space.intercept)
    matrix[diagonal, diagonal] += mu
    step, shift = solve_positive(matrix, -gradient), 0.0
    best, mass = np.inf, sum(gram.mass for gram in told)
    for k in range(MOST_READS):
        found = objective.dual(step, shift, rule)
        residual = found.pulled + mu * space.penalised(theta)
        balance = float(residual[-1]) if space.intercept else 0.0
        if abs(balance) <= ROUNDING * found.size:
            coefficients = space.penalised(residual)
            slack = found.fitted + float(coefficients @ coefficients) / (2.0 * mu)
            # What rounding leaves of Σλa = 0, times the intercept it multiplies.
            slack += abs(balance * float(theta[-1])) if space.intercept else 0.0
            improved, best = slack < 0.5 * best, min(best, slack)
            if best <= enough or not improved:
                break
        if found.bend >= BENDING * mass and k < MOST_READS - BALANCING:
            step = step - solve_positive(matrix, residual)
        elif found.free > 0.0:
            shift += balance / found.free
        else:
            break
    return best
