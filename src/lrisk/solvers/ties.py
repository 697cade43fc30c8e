"""Fits of rows in parts at which very many losses tie.

Where no use of the features lowers the largest losses the best fit is constant, and all
rows of one target have one loss. F has a kink there that no metric fits. The smoothed
risk of `partitions.pooling` has none: minimised with a ν that is a part of the
tolerance it gives a λ, and a point, that prove such a fit. A sample in memory follows
its minimisers from a large ν to that one; over all rows only the last few steps are
taken.
"""

import numpy as np

from .._typing import Floats, Indices
from ..certificate import Bound
from ..objective import Held, Objective
from ..partitions.answers import Held as HeldPart
from ..partitions.at import At
from ..partitions.engine import call, summed
from ..partitions.holding import HeldWeights
from ..partitions.objective import PartitionedObjective, one_part
from ..permutahedron import proximal_weights
from ._linalg import Factor
from .certified.progress import Progress
from .certified.whitening import Descent, Memory
from .dual_points import slack_at, slack_held
from .solution import Status

#: ν over F/χ² at which a sample is asked whether its losses tie, and the share of the
#: risk that is of pooled losses where they do.
ASKED, MANY = 1e-2, 0.25
#: Share of the rows from which a block of tied losses counts.
COUNTED = 0.01
#: The first ν of a path over F/χ², and the steps from one to the next.
FIRST, SHRINKING = 0.1, 0.1
#: Share of the tolerance that smoothing takes.
SHARE = 0.5
#: The smallest gap that a ν is a part of: of smaller ones only rounding would be seen.
FINEST = 1e-6
#: Steps with one ν, over a sample and over all rows.
SAMPLE_STEPS, STEPS = 15, 20
#: What is left to fall, in units of ν·χ², at which ν is made smaller.
SETTLED = 1e-3


def nearly_tied(sample: Objective | PartitionedObjective, theta: Floats) -> bool:
    """Whether very many losses of a fit differ by little.

    That they do is seen from how much of them a smoothing by a small ν would pool.
    """
    divergence = sample.ranking.spectrum.chi2_divergence()
    if divergence == 0.0:
        return False
    if isinstance(sample, PartitionedObjective):
        now = sample.begin(theta)
        if not now.ranks.value > 0.0:
            return False
        sample.nu = ASKED * now.ranks.value / divergence
        smoothed = sample.evaluate(theta, 0, 0.0, now)
        sample.nu = 0.0
        blocks, mass, shares = _blocks(smoothed)
        starts = blocks[:-1]
        many = np.add.reduceat(mass, starts) > COUNTED * mass.sum()
        return bool(np.add.reduceat(shares, starts)[many].sum() > MANY * shares.sum())
    losses = sample.at(theta).losses
    risk = sample.ranking.risk(losses)
    if not risk > 0.0:
        return False
    nu = ASKED * risk / divergence * sample.ranking.total
    pooled = proximal_weights(sample.ranking, losses, sample.ranking.mass, nu)
    sizes = np.diff(pooled.starts)
    among = np.repeat(sizes > COUNTED * len(losses), sizes)
    shares = pooled.weights * losses
    return bool(shares[pooled.rows[among]].sum() > MANY * shares.sum())


def _blocks(now: At) -> tuple[Indices, Floats, Floats]:
    """Where blocks of bins begin, and mass and share of the risk of each bin."""
    assert now.pooled is not None
    ranks, table = now.ranks, now.table
    used = table.mass > 0.0
    inner = ranks.density * (table.above + table.mass * ranks.grid.floors)
    return now.pooled.starts, table.mass[used], inner[used]


class Path:
    """Minimisers of the smoothed risk of a sample, from a large ν to a small one.

    Parameters
    ----------
    sample : Objective or PartitionedObjective
    theta : array of shape (size,)
        To begin from.
    tol : float
        Relative gap that the last ν is a part of.

    Attributes
    ----------
    theta : array of shape (size,)
        The last minimiser.
    tied : bool
        Whether very many losses tie there.
    """

    def __init__(
        self, sample: Objective | PartitionedObjective, theta: Floats, tol: float
    ) -> None:
        objective = one_part(sample) if isinstance(sample, Objective) else sample
        # Nothing is to be proven of a sample.
        progress = Progress(objective, 0.0, None)
        divergence = objective.ranking.spectrum.chi2_divergence()
        unit = objective.value_at(theta) / divergence
        self.nu, least = FIRST * unit, SHARE * max(tol, FINEST) * unit
        before: tuple[float, Floats] | None = None
        while True:
            objective.nu = self.nu
            descent = Descent(objective, theta, Factor(np.eye(objective.size)), 20)
            descent.memory.metric = Factor(objective.curvature(descent.now))
            enough = SETTLED * self.nu * divergence
            _settle(descent, progress, SAMPLE_STEPS, enough)
            self.theta = theta = descent.now.theta
            if self.nu <= least:
                break
            nu = max(SHRINKING * self.nu, least)
            if before is not None:
                # Of a constant fit the minimisers go along a straight line.
                share = (self.nu - nu) / (before[0] - self.nu)
                theta = theta + share * (theta - before[1])
            before, self.nu = (self.nu, self.theta), nu
        self.now: At = descent.now
        self.metric = Factor(objective.curvature(descent.now))
        objective.nu = 0.0
        self.tied = self._share() > MANY

    def _share(self) -> float:
        """Share of the risk that is of pooled losses."""
        starts, _, shares = _blocks(self.now)
        among = np.repeat(np.diff(starts) > 1, np.diff(starts))
        return float(shares[among].sum() / shares.sum())


def along_ties(
    objective: PartitionedObjective,
    path: Path,
    progress: Progress[PartitionedObjective],
) -> Status:
    """Take the last steps of a path over all rows."""
    objective.nu = path.nu
    now = objective.evaluate(path.theta, 0, 0.0, path.now)
    descent = Descent(objective, path.theta, path.metric, 20, now)
    done = _settle(descent, progress, STEPS, 0.0)
    objective.nu = 0.0
    value = objective.targets.constant_value
    if value is not None and not done:
        _prove_constant(objective, descent.now, value, progress)
        done = progress.done
    if not done:
        return Status.STALLED
    if value is not None and value <= progress.primal:
        progress.primal, progress.theta = value, objective.constant_fit()
    return Status.CONVERGED


def _prove_constant(
    objective: PartitionedObjective,
    now: At,
    value: float,
    progress: Progress[PartitionedObjective],
) -> None:
    """Look at the constant fit with the λ of a point near by: a read.

    All losses of a class tie there, so that nothing is lost by how λ is shared.
    """
    theta = objective.constant_fit()
    objective.stand_at(now)
    call(objective.engine, "hold", now.ranks.grid, now.ranks.density)
    objective.holds = weights = HeldWeights()
    rule = (objective.raw(theta), now.ranks.grid, objective.offset, objective.every)
    told: list[HeldPart] = call(objective.engine, "at_held", *rule)
    objective.moved_to(theta)
    excess = max(value - sum(part.value for part in told), 0.0)
    gradient = objective.centred(summed((part.gradient for part in told), np.add))
    gram = objective.gram_of([part.gram for part in told], objective.every)
    held = Held(theta, value, excess, gradient, gram, weights)
    slack = slack_held(progress, held)
    proof = Bound(value, excess, slack)
    progress.n_iter += 1
    progress.record(theta, weights, proof, slack, 0.0)


def _settle(
    descent: Descent[At],
    progress: Progress[PartitionedObjective],
    most: int,
    enough: float,
) -> bool:
    """Descend until the gap closes, or so little is left to fall."""
    objective = progress.objective
    best, since = np.inf, 0
    for _ in range(most):
        progress.n_iter += 1
        now, decrement, slack = descent.now, descent.decrement, np.inf
        if decrement <= 0.5 * progress.tol * now.value:
            slack = slack_at(progress, now)
        descent.tell(progress, slack, decrement)
        if progress.done:
            return True
        since = 0 if decrement < 0.5 * best else since + 1
        # With so small a slack nothing but the smoothing is left of the gap.
        if decrement <= enough or since >= 5 or slack <= 0.1 * progress.tol * now.value:
            break
        if since and enough > 0.0:
            descent.memory = Memory(Factor(objective.curvature(now)), 20)
        best = min(best, decrement)
        if not descent.step():
            break
    return False
