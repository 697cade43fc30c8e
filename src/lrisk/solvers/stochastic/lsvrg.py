"""LSVRG: variance-reduced steps on a spectral risk (paper 1, algorithms 2, 5 and 7)."""

from typing import Any

import numpy as np

from ..._params import check_choice, check_count, check_real, refused
from ..._typing import Floats, Indices
from ...permutahedron import SMOOTHINGS, smoothed_weights
from ..solution import Record
from ._loops.variance_reduced import epoch_steps
from .base import StochasticSolver, Work, require_lipschitz, require_penalty


class LSVRG(StochasticSolver):
    """Stochastic gradients of reduced variance, for risks of sorted losses.

    Every N steps the losses are sorted, which gives each row its weight λ_i = σ at its
    rank, and the full gradient ḡ = Σλ_i∇ℓ_i(w̄) is taken. In between, for a row i drawn
    uniformly (Algorithm 2),

        w ← (1 − ημ)w − η[nλ_i∇ℓ_i(w) − nλ_i∇ℓ_i(w̄) + ḡ]

    or, drawn with probability λ_i, the same with nλ_i replaced by 1 (Algorithm 7). With
    the mean spectrum this is q-SVRG.

    Parameters
    ----------
    sampling : {"uniform", "spectral"}, default="uniform"
        How rows are drawn.
    smoothing : {"l2", "entropy"} or None, default=None
        Weights from the smoothed risk (Algorithm 5) instead of the ranks.
    nu : float ≥ 0 or "theory", default=0.0
        How much; ``"theory"`` is 4nG²/μ of Theorem 4, for Lipschitz losses.
    epoch_length : int or None, default=None
        N; None means n, or 4(n + 8κ) with ``learning_rate="theory"``.
    checkpoint_probability : float in [0, 1) or "theory", default=0.0
        The chance q* in each step to take the full gradient anew, with the old λ;
        ``"theory"`` is the 1/n that the proof of Theorem 4 takes (appendix E.2).
    max_epochs : int, default=64
        Limit on epochs of N steps.
    learning_rate : "auto", "theory" or float, default="auto"
        The step η. ``"auto"`` starts from the rows' smoothness and halves when F
        explodes, resuming from the last good epoch; ``"theory"`` is 2/((n + 8κ)μ) of
        Theorem 4 with κ = nσ_nL/μ + 1.
    tol : float ≥ 0, default=0.0
        Relative duality gap at which to stop; 0 means to run all epochs.
    certify_every : int or None, default=None
        Epochs between two looks at the gap (their time is kept apart in the history);
        None means 8 if there is a `tol` to reach, and otherwise only at the end.

    See Also
    --------
    Prospect : Also takes the bias out, by remembering each row's gradient.
    SOREL : Does not stall on superquantiles.
    Newton : To a proven optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import LSVRG
    >>> X, y = load_diabetes(return_X_y=True)
    >>> solver = LSVRG(max_epochs=32)
    >>> model = RiskRegressor("extremile:2", solver=solver, random_state=0).fit(X, y)
    >>> bool(model.dual_gap_ < 0.01)
    True
    """

    name = "lsvrg"

    def __init__(
        self,
        sampling: str = "uniform",
        smoothing: str | None = None,
        nu: float | str = 0.0,
        epoch_length: int | None = None,
        checkpoint_probability: float | str = 0.0,
        max_epochs: int = 64,
        learning_rate: str | float = "auto",
        tol: float = 0.0,
        certify_every: int | None = None,
    ) -> None:
        self.sampling = sampling
        self.smoothing = smoothing
        self.nu = nu
        self.epoch_length = epoch_length
        self.checkpoint_probability = checkpoint_probability
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.tol = tol
        self.certify_every = certify_every
        self.validate()

    def validate(self) -> None:
        """Known names, ν ≥ 0, N ≥ 1, 0 ≤ q* < 1."""
        super().validate()
        check_choice(self, "sampling", self.sampling, ("uniform", "spectral"))
        check_choice(self, "smoothing", self.smoothing, (None, *SMOOTHINGS))
        if self.nu != "theory":
            check_real(self, "nu", self.nu, low=0, remedy="0 means no smoothing")
        if self.smoothing is None and self.nu != 0:
            rule, remedy = "0 without smoothing", "pass smoothing='l2' or 'entropy'"
            raise ValueError(refused(self, "nu", rule, self.nu, remedy))
        if self.nu == "theory" and self.smoothing != "l2":
            rule, remedy = "a number unless smoothing='l2'", "Theorem 4 is for that"
            raise ValueError(refused(self, "nu", rule, self.nu, remedy))
        if self.epoch_length is not None:
            check_count(self, "epoch_length", self.epoch_length)
        if self.checkpoint_probability == "theory":
            return
        remedy = "0 means a full gradient only when the losses are sorted"
        check_real(
            self,
            "checkpoint_probability",
            self.checkpoint_probability,
            low=0,
            high=1,
            high_open=True,
            remedy=remedy,
        )

    def begin(self, work: Work, rng: np.random.Generator) -> "_State":
        """Settle ν and N."""
        objective = work.objective
        nu = self.nu
        if nu == "theory":
            require_penalty(self, "nu", objective)
            slope = require_lipschitz(self, "nu", objective)
            nu = 4.0 * work.n * slope**2 / objective.mu
        length = self.epoch_length
        if length is None:
            theory = self.learning_rate == "theory"
            length = int(np.ceil(4 * (work.n + 8 * _kappa(work)))) if theory else work.n
        return _State(float(nu), length, work)

    def theory_rate(self, work: Work) -> float:
        """2/((n + 8κ)μ)."""
        require_penalty(self, "learning_rate", work.objective)
        return float(2.0 / ((work.n + 8.0 * _kappa(work)) * work.mu))

    def epoch(self, work: Work, state: "_State", rate: float, rng: Any) -> float:
        """Sort, take the full gradient, and make N steps."""
        ranking = work.objective.ranking
        state.note(work.order)
        if self.smoothing is None or state.nu == 0.0:
            weights = state.rank_weights(ranking)
        else:
            weights = smoothed_weights(ranking, work.losses, self.smoothing, state.nu)
        indices = self._draw(weights, state, work, rng)
        uniform = self.sampling == "uniform"
        ends = [len(indices)]
        chance = self.checkpoint_probability
        chance = 1.0 / work.n if isinstance(chance, str) else chance
        if chance > 0.0:
            anew = rng.random(len(indices)) < chance
            ends = [*np.flatnonzero(anew), len(indices)]
        begin, passes = 0, 1.0
        for number, end in enumerate(ends):
            if number > 0:
                work.evaluate()
                passes += 1.0
            drawn = indices[begin:end]
            state.steps.take(work, drawn, weights, rate, uniform=uniform)
            begin = int(end)
        return float(passes + len(indices) / work.n)

    def _draw(self, weights: Floats, state: "_State", work: Work, rng: Any) -> Indices:
        if self.sampling == "uniform":
            return work.draw(state.length, rng)
        uniforms = rng.random(state.length)
        ranking = work.objective.ranking
        if ranking.equal and (self.smoothing is None or state.nu == 0.0):
            places = np.ceil(work.n * ranking.spectrum.inverse(uniforms)) - 1
            ranks = places.clip(0, work.n - 1).astype(np.int64)
            return np.asarray(state.order[ranks])
        sums = np.cumsum(weights)
        found = np.searchsorted(sums, uniforms * sums[-1], side="right")
        return np.asarray(found.clip(max=work.n - 1), dtype=np.int64)

    def noted(self, state: "_State") -> Record:
        """Share of ranks held by another row than an epoch ago (figure 3)."""
        return {"disagreement": state.disagreement}


class _State:
    """Order of the rows at the last two sorts, and work space."""

    def __init__(self, nu: float, length: int, work: Work) -> None:
        self.nu, self.length = nu, length
        self.order: Indices = np.empty(0, dtype=np.int64)
        self.disagreement = np.nan
        self.steps = Steps(work)

    def note(self, order: Indices) -> None:
        """Compare the new order with the last, if there was one."""
        if len(self.order):
            self.disagreement = float(np.mean(order != self.order))
        self.order = order

    def rank_weights(self, ranking: Any) -> Floats:
        """λ_i = σ at the rank of i."""
        weights = np.empty(len(self.order))
        weights[self.order] = ranking.sigma(self.order)
        return weights


class Steps:
    """Variance-reduced steps about the last evaluation of some work."""

    def __init__(self, work: Work) -> None:
        self.drift = np.empty_like(work.W)
        self.products = np.empty((work.n, work.k))
        self.gains = np.empty(work.n)

    def take(
        self,
        work: Work,
        indices: Indices,
        weights: Floats,
        rate: float,
        *,
        uniform: bool = True,
        pull: float = 0.0,
    ) -> None:
        """Steps on the given rows; see `epoch_steps`."""
        epoch_steps(
            work.loss,
            work.rows,
            work.y,
            work.W,
            work.b,
            indices,
            weights,
            uniform,
            work.slopes,
            rate,
            work.mu,
            pull,
            work.space.intercept,
            self.drift,
            self.products,
            self.gains,
        )


def _kappa(work: Work) -> float:
    """κ = nσ_nL/μ + 1, the condition number of Theorem 4."""
    return work.largest_gain() / work.mu + 1.0
