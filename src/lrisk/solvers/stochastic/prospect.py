"""Prospect: variance reduction with tables, for spectral risks smoothed or not.

Mehta, Roulet, Pillutla, Harchaoui: Distributionally robust optimization with bias and
variance reduction, 2024.
"""

from typing import Any

import numpy as np

from ..._params import check_choice, check_count, check_real
from ..._typing import Floats, Indices
from ...permutahedron import SMOOTHINGS, smoothed_weights
from ._loops.prospect import prospect_steps
from .base import StochasticSolver, Work


class Prospect(StochasticSolver):
    """Stochastic gradients without bias: every row keeps its last loss and gradient.

    Kept are the last loss l_i, gradient g_i and weight ρ_i. For a row i drawn
    uniformly, with q the weights at the table of losses,

        w ← w − η[n q_i∇ℓ_i(w) − n ρ_i g_i + ḡ + μw],   ḡ = Σρ_i g_i

    and then l_i, g_i, ρ_i and q are brought up to date. Both the bias (of q) and the
    variance vanish as the tables settle. The gradients exclude μw; of g_i only the
    slope is stored.

    Parameters
    ----------
    smoothing : {"l2", "entropy"} or None, default=None
    nu : float ≥ 0, default=0.0
        Smoothing; any value will do, 0 included.
    refresh : int or None, default=None
        Steps between two computations of q where that takes O(n): with smoothing, or
        with unequal sample weights. None means 1 up to 500 rows and n/500 above.
        Without both, q is kept exact in every step by moving one row in the order.
    max_epochs : int, default=64
        An epoch is n steps.
    learning_rate : "auto" or float, default="auto"
        The step η; ``"auto"`` starts from the rows' smoothness.
    tol : float ≥ 0, default=0.0
        Relative duality gap at which to stop; 0 means to run all epochs.
    certify_every : int or None, default=None
        Epochs between two looks at the gap; None means 8 if there is a `tol` to reach,
        and otherwise only at the end.

    See Also
    --------
    LSVRG : Keeps one full gradient instead of one for each row.
    SOREL : Also for superquantiles.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import Prospect
    >>> X, y = load_diabetes(return_X_y=True)
    >>> solver = Prospect(max_epochs=32)
    >>> model = RiskRegressor("extremile:2", solver=solver, random_state=0).fit(X, y)
    >>> bool(model.dual_gap_ < 0.01)
    True
    """

    name = "prospect"

    def __init__(
        self,
        smoothing: str | None = None,
        nu: float = 0.0,
        refresh: int | None = None,
        max_epochs: int = 64,
        learning_rate: str | float = "auto",
        tol: float = 0.0,
        certify_every: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.nu = nu
        self.refresh = refresh
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.tol = tol
        self.certify_every = certify_every
        self.validate()

    def validate(self) -> None:
        """Known smoothing, ν ≥ 0, whole refresh."""
        super().validate()
        check_choice(self, "smoothing", self.smoothing, (None, *SMOOTHINGS))
        check_real(self, "nu", self.nu, low=0, remedy="0 means no smoothing")
        if self.refresh is not None:
            check_count(self, "refresh", self.refresh)

    def theory_rate(self, work: Work) -> float:
        """1/(max nλL + μ), the scale of the paper's analysis."""
        return 1.0 / (work.largest_gain() + work.mu)

    def begin(self, work: Work, rng: np.random.Generator) -> "_Tables":
        """Fill the tables at the current parameters."""
        return _Tables(self, work)

    def epoch(self, work: Work, tables: "_Tables", rate: float, rng: Any) -> float:
        """Make n steps."""
        indices = work.draw(work.n, rng)
        if tables.tracked:
            tables.steps(work, indices, rate)
            return 1.0
        every = self.refresh or max(1, work.n // 500)
        for begin in range(0, work.n, every):
            tables.steps(work, indices[begin : begin + every], rate)
            tables.weigh(self, work)
        return 1.0


class _Tables:
    """l, g, ρ, q and ḡ of every row."""

    def __init__(self, solver: Prospect, work: Work) -> None:
        ranking = work.objective.ranking
        smoothed = solver.smoothing is not None and solver.nu > 0
        self.tracked = ranking.equal and not smoothed
        self.losses = work.losses.copy()
        self.slopes = work.slopes.copy()
        self.order: Indices = work.order.copy()
        self.places = np.empty_like(self.order)
        self.places[self.order] = np.arange(work.n)
        self.sigma = np.array(ranking.sigma(self.order))
        self.weights: Floats = np.empty(work.n)
        self.weights[self.order] = self.sigma
        if smoothed:
            self.weigh(solver, work)
        self.table_weights = self.weights.copy()
        work.gradient(self.weights)
        self.G, self.h = work.G.copy(), work.h.copy()

    def weigh(self, solver: Prospect, work: Work) -> None:
        """Compute q anew from the table of losses."""
        ranking = work.objective.ranking
        if solver.smoothing is not None and solver.nu > 0:
            self.weights[:] = smoothed_weights(
                ranking, self.losses, solver.smoothing, solver.nu
            )
        else:
            self.weights[:] = ranking.weights(self.losses)

    def steps(self, work: Work, indices: Indices, rate: float) -> None:
        """Steps on the given rows."""
        prospect_steps(
            work.loss,
            work.rows,
            work.y,
            work.W,
            work.b,
            indices,
            rate,
            work.mu,
            work.space.intercept,
            self.sigma,
            self.tracked,
            self.losses,
            self.order,
            self.places,
            self.weights,
            self.table_weights,
            self.slopes,
            self.G,
            self.h,
        )
