"""SOREL: a stochastic primal-dual method for spectral risks without smoothing.

Ge, Jiang: SOREL: a stochastic algorithm for spectral risks minimization, 2024.
"""

from typing import Any, ClassVar

import numpy as np

from ..._typing import Floats
from ...permutahedron import proximal_weights
from .base import StochasticSolver, Work
from .lsvrg import Steps

#: c_d and c_x: the sizes of the dual and of the primal steps.
DUAL, PRIMAL = 0.1, 20.0


class SOREL(StochasticSolver):
    """Stochastic primal-dual steps, an epoch for each change of the weights.

    In epoch k = 0, 1, … the weights move first,

        λ ← Proj(λ + τ_k(ℓ + θ_k(ℓ − ℓ_prev))),   θ_k = k/(k+1),   τ_k = c_d(k+1)/(n·s)

    onto the permutahedron, with s the mean loss at the start; then w takes n
    variance-reduced steps for Σλ_iℓ_i + (μ/2)‖w‖² + (p_k/2)‖w − w_k‖², with
    p_k = (k+1)·x²/(c_x n) and x² the mean square of a feature. The two scales make the
    method indifferent to the units of y and X. Growing dual and shrinking primal steps
    are what lets it pass where LSVRG stalls, on the superquantile.

    Parameters
    ----------
    max_epochs : int, default=64
        Limit on epochs of n steps.
    learning_rate : "auto" or float, default="auto"
        Size of the inner steps.
    tol : float ≥ 0, default=0.0
        Relative duality gap at which to stop; 0 means to run all epochs.
    certify_every : int or None, default=None
        Epochs between two looks at the gap; None means 8 if there is a `tol` to reach,
        and otherwise only at the end.

    See Also
    --------
    LSVRG : Simpler steps; may stall on superquantiles.
    Prospect : Keeps a gradient for each row.
    Newton : To a proven optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import SOREL
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RiskRegressor("superquantile", solver=SOREL(), random_state=0).fit(X, y)
    >>> bool(model.dual_gap_ < 0.1)
    True
    """

    name = "sorel"
    #: A primal-dual method does not lower F in every epoch.
    patience: ClassVar[int] = 6

    def __init__(
        self,
        max_epochs: int = 64,
        learning_rate: str | float = "auto",
        tol: float = 0.0,
        certify_every: int | None = None,
    ) -> None:
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.tol = tol
        self.certify_every = certify_every
        self.validate()

    def theory_rate(self, work: Work) -> float:
        """1/(4 max nλL + μ) for the inner steps."""
        return 1.0 / (4.0 * work.largest_gain() + work.mu)

    def begin(self, work: Work, rng: np.random.Generator) -> "_State":
        """Uniform weights, and the scales of losses and features."""
        return _State(work)

    def epoch(self, work: Work, state: "_State", rate: float, rng: Any) -> float:
        """Move λ, then w."""
        ranking, k = work.objective.ranking, state.k
        losses = work.losses.copy()
        ahead = losses + k / (k + 1.0) * (losses - state.losses)
        nu = ranking.total * state.loss_scale / (DUAL * (k + 1.0))
        state.weights = proximal_weights(ranking, ahead, state.weights, nu).weights
        state.losses = losses
        state.k += 1
        pull = (k + 1.0) * state.feature_scale / (PRIMAL * work.n)
        indices = work.draw(work.n, rng)
        state.steps.take(work, indices, state.weights, rate, pull=pull)
        return 2.0


class _State:
    """λ, the losses of the epoch before, and the two scales."""

    def __init__(self, work: Work) -> None:
        mass = work.objective.ranking.mass
        self.weights: Floats = mass.copy()
        self.losses = work.losses.copy()
        self.loss_scale = float(mass @ work.losses) or 1.0
        columns = max(work.space.n_features, 1)
        squares = mass @ work.space.squared_norms() - work.space.intercept
        self.feature_scale = float(squares) / columns or 1.0
        self.steps = Steps(work)
        self.k = 0
