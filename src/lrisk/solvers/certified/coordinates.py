"""Coordinates in which the Hessian of a linear model is nearly the identity.

The blocks of the Hessian that belong to one score each, H_k = Σλ ℓ″_kk xxᵀ + μI, are
cheap; with H_k = L_kL_kᵀ and v_k = L_kᵀθ_k they become the identity. What couples the
scores is left to L-BFGS. Above a limit of columns only the diagonals of the blocks are
taken.
"""

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from ..._typing import Floats
from ...objective import Objective, Point
from ...spaces.capabilities import linear

#: Columns up to which the Gram matrix is formed and decomposed.
MOST_COLUMNS = 1000


class Coordinates:
    """A linear change of θ that whitens the Hessian.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective) -> None:
        space = linear(objective.space)
        self._objective = objective
        self._shape = (space.n_columns, space.n_scores)
        self._dense = space.n_columns <= MOST_COLUMNS and hasattr(space, "column_gram")
        self._penalty = np.full(space.n_columns, objective.mu)
        if space.intercept:
            self._penalty[-1] = 0.0
        curvature = objective.loss.smoothness * objective.ranking.mass
        block = self._block(curvature)
        self._settle([block] if self._dense else [block] * space.n_scores)

    def settle_at(self, point: Point, weights: Floats) -> None:
        """Take the curvatures at a point."""
        objective = self._objective
        if not self._dense:
            return
        miss = np.abs(objective.loss.derivative(objective.y, point.scores))
        if objective.loss.per_class:  # p or 1 − p of each class, so this is p(1 − p)
            curvature = weights[:, None] * (miss * (1.0 - miss))
            columns = range(objective.space.n_scores)
            self._settle([self._block(curvature[:, j]) for j in columns])
            return
        bent = objective.loss.curvature(objective.y, point.scores)
        self._settle([self._block(weights * bent)])

    def _block(self, curvature: Floats) -> Floats:
        """H_k, or its diagonal, kept away from singularity."""
        space = linear(self._objective.space)
        if not self._dense:
            diagonal = space.diagonal(curvature) + self._penalty
            return np.where(diagonal > 0.0, diagonal, 1.0)
        block = space.column_gram(np.ascontiguousarray(curvature))
        diagonal = np.diagonal(block) + self._penalty
        floor = 1e-10 * max(float(diagonal.max()), 1e-300)
        block[np.diag_indices_from(block)] = diagonal * (1.0 + 1e-9) + floor
        return block

    def _settle(self, blocks: list[Floats]) -> None:
        """Decompose the blocks of all scores, or the one that is each score's."""
        self._stretch: float | None = None
        if not self._dense:
            self._roots = np.sqrt(np.stack(blocks, axis=1))
            self._inverses = 1.0 / self._roots
            return
        roots = [np.linalg.cholesky(block) for block in blocks]
        eye = np.eye(self._shape[0])
        inverses = [scipy.linalg.solve_triangular(r, eye, lower=True) for r in roots]
        repeated = self._shape[1] // len(blocks)
        self._roots = np.stack(roots * repeated)
        self._inverses = np.stack(inverses * repeated)

    def stretch(self) -> float:
        """A bound on the length of ∂/∂θ for ∂/∂v of length one (found when asked)."""
        if self._stretch is None:
            lengths = [self._roots.max()]
            if self._dense:
                lengths = [np.linalg.norm(root, 2) for root in self._roots]
            self._stretch = float(max(lengths))
        return self._stretch

    def inward(self, theta: Floats) -> Floats:
        """v of θ."""
        return self._times(self._roots, theta, transposed=True)

    def outward(self, v: Floats) -> Floats:
        """θ of v."""
        return self._times(self._inverses, v, transposed=True)

    def gradient(self, gradient: Floats) -> Floats:
        """∂/∂v from ∂/∂θ."""
        return self._times(self._inverses, gradient, transposed=False)

    def _times(self, blocks: Floats, flat: Floats, *, transposed: bool) -> Floats:
        table = flat.reshape(self._shape)
        if not self._dense:
            return np.asarray(blocks * table).ravel()
        matrices = blocks.transpose(0, 2, 1) if transposed else blocks
        product = matrices @ np.ascontiguousarray(table.T)[:, :, None]
        return np.ascontiguousarray(product[:, :, 0].T).ravel()


def newton_step(
    objective: Objective,
    point: Point,
    weights: Floats,
    gradient: Floats,
    coordinates: Coordinates,
    iterations: int,
    slack: float = 0.0,
) -> Floats:
    """Approximate −(∂²Φ)⁻¹∂Φ by conjugate gradients, without forming a matrix.

    What is left of the gradient g + ∂²Φ·Δ costs a bound ‖·‖²/(2μ); it may cost `slack`.
    """
    space = objective.space
    bend = objective.loss.bend(objective.y, point.scores)

    def product(v: Floats) -> Floats:
        step = coordinates.outward(v)
        bent = bend(space.scores(step))
        bent *= weights if bent.ndim == 1 else weights[:, None]
        pulled = space.pullback(point.theta, bent)
        pulled += objective.mu * space.penalised(step)
        return coordinates.gradient(pulled)

    operator = scipy.sparse.linalg.LinearOperator(
        (space.size, space.size), matvec=product, dtype=np.float64
    )
    right = -coordinates.gradient(gradient)
    left = 0.0
    if slack > 0.0:
        left = float(np.sqrt(2.0 * objective.mu * slack)) / coordinates.stretch()
    # Where nothing bends there is no step to find, and any will do for a bound.
    with np.errstate(all="ignore"):
        step, _ = scipy.sparse.linalg.cg(
            operator, right, rtol=1e-10, atol=left, maxiter=iterations
        )
    if not np.all(np.isfinite(step)):
        step = np.zeros_like(right)
    return coordinates.outward(step)
