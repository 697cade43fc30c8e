"""The augmented Lagrangian of a spectral risk: the outer loop of the certified solvers.

A spectral risk is not smooth where losses tie, and at an optimum many do. For a centre
c in the permutahedron and ν > 0,

    φ(θ) = max_λ  λ·ℓ(θ) − (ν/2) Σ(λ_i − c_i)²/w_i  +  (μ/2)‖θ‖²

is smooth in θ and touches F as c tends to the optimal weights. Minimising φ, moving c
to the maximiser λ and shrinking ν is the proximal point method on the dual: it
converges without ν going to zero, which rounding would not survive.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Floats
from ...capped import capped_projection
from ...objective import Objective, Point
from ...permutahedron import Projection, proximal_weights, proximity
from ...spaces.capabilities import linear


class Smoothed(NamedTuple):
    """φ at a point, with the maximising λ and the blocks in which rows were pooled."""

    value: float
    projection: Projection


class Lagrangian:
    """φ for one objective, with the centre and ν as state.

    Parameters
    ----------
    objective : Objective
    losses : array of shape (n,)
        Losses at the start; with P₀ they set the scale of ν.
    center : array of shape (n,) or None
        First centre, in the permutahedron; the masses by default.
    """

    #: Lowest ν in units of n·min(w) times the loss; below, rounding in λ costs more.
    floor = 1e-8

    def __init__(
        self,
        objective: Objective,
        losses: Floats,
        *,
        center: Floats | None = None,
    ) -> None:
        self.objective = objective
        ranking = objective.ranking
        self.center = ranking.mass if center is None else center
        # Near interpolation the first losses are tiny; P₀ is what they may become.
        scale = max(float(ranking.mass @ losses), objective.constant_risk) or 1.0
        unit = ranking.total * scale
        # A spectrum of few rows needs a larger ν, or it sees too few for a useful
        # Hessian; a good centre a smaller one.
        # Smooth spectra pool few rows, and bear a faster descent of ν.
        self._smooth = ranking.spectrum.smooth
        begin = (3e-3 if self._smooth else 1e-2) * ranking.concentration()
        begin = begin if center is None else 1e-5
        self.nu = begin * unit
        lightest = float(ranking.row_weight.min()) * ranking.n_rows
        self._unit = self.floor * min(lightest, ranking.total)
        self._lowest = self._unit * scale
        self._flat = ranking.spectrum.monotone == "flat"
        self.damping = Damping(objective)

    def at(self, point: Point) -> Smoothed:
        """Evaluate φ and its maximiser λ."""
        ranking = self.objective.ranking
        if self._flat:
            nothing = np.zeros(1, dtype=np.int64)
            projection = Projection(ranking.mass, nothing[:0], nothing)
            return Smoothed(
                float(ranking.mass @ point.losses) + point.penalty, projection
            )
        projected = capped_projection if ranking.selects else proximal_weights
        projection = projected(ranking, point.losses, self.center, self.nu)
        away = proximity(projection.weights, self.center, ranking.row_weight)
        value = float(projection.weights @ point.losses) + point.penalty
        value -= self.nu * away
        return Smoothed(value, projection)

    def tighten(self, weights: Floats, level: float, steps: int) -> None:
        """Move the centre to λ and shrink ν, faster where φ was easy to minimise.

        Parameters
        ----------
        weights : array of shape (n,)
        level : float
            The objective, to whose size the lowest ν is tied.
        steps : int
            What the last minimisation of φ took.
        """
        self.center = weights
        self._lowest = min(self._lowest, self._unit * level)
        easy = 0.03 if self._smooth else 0.1
        self.nu = max((easy if steps <= 2 else 0.3) * self.nu, self._lowest)

    def soften(self) -> None:
        """Raise ν, where φ proved too hard to minimise."""
        self.nu *= 10.0

    @property
    def tight(self) -> bool:
        """Whether ν is at its floor."""
        return self.nu <= self._lowest


class Damping:
    """Curvature added to the Hessian, as much as the steps need.

    Where every row that counts is on a flat piece of a loss there is nothing to divide
    an intercept's gradient by; and where a row of enormous features does not count, the
    Hessian does not know that a small step will make it count. The curvatures of all
    rows by mass (for losses with flat pieces the parabolas of iterated least squares),
    times a factor that falls with each whole step and rises with each shortened one,
    bound the step by what the residuals can bear and leave Newton's speed in the end.
    """

    least, first, most = 1e-10, 1e-4, 1.0

    def __init__(self, objective: Objective) -> None:
        self._flat = objective.loss.flat
        self.factor = self.most if self._flat else 0.0

    def add(
        self, hessian: Floats, objective: Objective, point: Point, weights: Floats
    ) -> bool:
        """Add to the Hessian in place; False if there is nothing to add."""
        loss, y, z = objective.loss, objective.y, point.scores
        if self._flat:
            parabola = loss.secant(y, z)
            hessian += linear(objective.space).gram(self.factor * weights * parabola)
        elif self.factor > 0.0:
            mass, curvature = objective.ranking.mass, loss.curvature(y, z)
            scale = mass if curvature.ndim == 1 else mass[:, None, None]
            hessian += linear(objective.space).gram(self.factor * scale * curvature)
        return self.factor > 0.0

    def rise(self) -> bool:
        """Add a hundredfold after a step of which no part would do; False at most."""
        if self.factor >= self.most:
            return False
        self.factor = min(max(100.0 * self.factor, self.first), self.most)
        return True

    def learn(self, length: float) -> None:
        """Take note of the share of a step that was taken."""
        change = 0.1 if length == 1.0 else 10.0 if length < 0.25 else 1.0
        factor = min(change * self.factor, self.most)
        if self._flat:
            self.factor = max(factor, self.least)
        elif length < 0.25:
            self.factor = max(factor, self.first)
        else:
            self.factor = factor if factor > self.least else 0.0
