"""Stochastic subgradients on minibatches: SGD and dual averaging (paper 1)."""

from typing import Any, ClassVar

import numpy as np

from ..._params import check_choice, check_count, refused
from ..._typing import Floats, Indices
from ...ranking import Ranking
from ._loops.batches import draw_batches, sgd_steps, srda_steps
from .base import StochasticSolver, Work, require_penalty


class _Batches(StochasticSolver):
    """What SGD and SRDA share: minibatches, weighted by rank within the batch.

    A minibatch of m rows is weighted by σ̂_j = S(j/m) − S((j−1)/m) in the order of its
    own losses. That estimates the risk of m rows, not of n, so both methods are biased
    and stall unless the spectrum is the mean (proposition 3).
    """

    batch_size: int | None

    def validate(self) -> None:
        """A whole number of rows in a batch."""
        super().validate()
        if self.batch_size is not None:
            check_count(self, "batch_size", self.batch_size)

    def batch(self, n_rows: int) -> int:
        """m, the rows in a batch."""
        return min(64, n_rows) if self.batch_size is None else self.batch_size

    def begin(self, work: Work, rng: np.random.Generator) -> "_State":
        """Start from the current parameters."""
        size = self.batch(work.n)
        if size > work.n:
            rule = f"at most the number of rows, {work.n}"
            remedy = "use smaller batches or the certified solver"
            message = refused(self, "batch_size", rule, size, remedy)
            raise ValueError(message)
        return _State(work, size)

    def automatic_rate(self, work: Work) -> float:
        """1/(4L + μ), with L the mean smoothness of the rows as they are drawn."""
        mean = float(work.objective.ranking.mass @ work.row_smoothness)
        return 1.0 / max(4.0 * mean + work.mu, 1e-300)


class _State:
    """The iterate, sums over the iterations, and how batches are drawn."""

    def __init__(self, work: Work, m: int) -> None:
        self.W, self.b = work.W.copy(), work.b.copy()
        self.W_sum, self.b_sum = np.zeros_like(work.W), np.zeros_like(work.b)
        self.steps = 0
        self.sigma = work.objective.ranking.spectrum.weights(m)
        self.pool = np.arange(work.n)

    def batches(self, ranking: Ranking, rng: Any) -> Indices:
        """An epoch's minibatches: without replacement, or by weight with it."""
        m = len(self.sigma)
        count = max(1, ranking.n_rows // m)
        batches = np.empty((count, m), dtype=np.int64)
        uniforms = rng.random((count, m))
        if ranking.equal:
            draw_batches(uniforms, self.pool, batches)
            return batches
        sums = np.cumsum(ranking.mass)
        found = np.searchsorted(sums, uniforms * sums[-1], side="right")
        return np.asarray(found.clip(max=ranking.n_rows - 1), dtype=np.int64)


class SGD(_Batches):
    """Minibatch stochastic subgradient method (paper 1, algorithm 1).

        w ← (1 − ημ)w − η Σ_j σ̂_j ∇ℓ_(j)(w)

    Parameters
    ----------
    batch_size : int or None, default=None
        Rows m in a step; None means 64, or n where that is less. Rows of unequal weight
        are drawn in proportion to it, with replacement.
    average : bool, default=True
        Return the mean of the iterates, as the algorithm does, not the last one.
    max_epochs : int, default=64
        An epoch is ⌊n/m⌋ steps.
    learning_rate : "auto", "theory" or float, default="auto"
        The step η. ``"theory"`` is 1/(μ(t + 1)) of proposition 3 for Lipschitz losses;
        squared loss is not one, and takes 1/(μ(t + 1) + L).
    tol : float ≥ 0, default=0.0
        Relative duality gap at which to stop; 0 means to run all epochs.
    certify_every : int or None, default=None
        Epochs between two looks at the gap; None means 8 if there is a `tol` to reach,
        and otherwise only at the end.

    See Also
    --------
    SRDA : The same gradients, averaged.
    LSVRG : Without the error that batches leave.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import SGD
    >>> X, y = load_diabetes(return_X_y=True)
    >>> solver = SGD(max_epochs=10)
    >>> model = RiskRegressor("extremile:2", solver=solver, random_state=0).fit(X, y)
    >>> model.solver_
    'sgd'
    """

    name = "sgd"

    def __init__(
        self,
        batch_size: int | None = None,
        average: bool = True,
        max_epochs: int = 64,
        learning_rate: str | float = "auto",
        tol: float = 0.0,
        certify_every: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.average = average
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.tol = tol
        self.certify_every = certify_every
        self.validate()

    def validate(self) -> None:
        """A whole number of rows in a batch, a flag."""
        super().validate()
        check_choice(self, "average", self.average, (True, False))

    def theory_rate(self, work: Work) -> float:
        """The schedule's scale is μ; see `rates`."""
        require_penalty(self, "learning_rate", work.objective)
        return 1.0 / work.mu

    def rates(self, work: Work, first: int, count: int, rate: float) -> Floats:
        """η of the next steps."""
        if self.learning_rate != "theory":
            return np.full(count, rate)
        steps = np.arange(first + 1, first + count + 1)
        repair = 0.0
        if not np.isfinite(work.objective.loss.lipschitz):
            repair = float(work.row_smoothness.max())
        return np.asarray(1.0 / (work.mu * steps + repair))

    def epoch(self, work: Work, state: _State, rate: float, rng: Any) -> float:
        """⌊n/m⌋ steps from the last iterate."""
        batches = state.batches(work.objective.ranking, rng)
        work.W[:], work.b[:] = state.W, state.b
        sgd_steps(
            work.loss,
            work.rows,
            work.y,
            work.W,
            work.b,
            batches,
            state.sigma,
            self.rates(work, state.steps, len(batches), rate),
            work.mu,
            work.space.intercept,
            state.W_sum,
            state.b_sum,
        )
        state.W[:], state.b[:] = work.W, work.b
        state.steps += len(batches)
        if self.average:
            work.W[:] = state.W_sum / state.steps
            work.b[:] = state.b_sum / state.steps
        return float(batches.size / work.n)


class SRDA(_Batches):
    """Stochastic regularised dual averaging (paper 1, appendix F.3).

        w = −ḡ/(μ + 1/(ηt)),   ḡ the mean of the t minibatch subgradients so far

    Parameters
    ----------
    batch_size : int or None, default=None
        Rows m in a step; None means 64, or n where that is less. Rows of unequal weight
        are drawn in proportion to it, with replacement.
    max_epochs : int, default=64
        An epoch is ⌊n/m⌋ steps.
    learning_rate : "auto" or float, default="auto"
        The factor η of the formula.
    tol : float ≥ 0, default=0.0
        Relative duality gap at which to stop; 0 means to run all epochs.
    certify_every : int or None, default=None
        Epochs between two looks at the gap; None means 8 if there is a `tol` to reach,
        and otherwise only at the end.

    See Also
    --------
    SGD : Steps by the newest gradient alone.
    LSVRG : Without the error that batches leave.

    Notes
    -----
    Starts from zero whatever start it is given: w is a function of the gradients alone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lrisk import RiskRegressor
    >>> from lrisk.solvers import SRDA
    >>> X, y = load_diabetes(return_X_y=True)
    >>> solver = SRDA(max_epochs=10)
    >>> model = RiskRegressor("extremile:2", solver=solver, random_state=0).fit(X, y)
    >>> model.solver_
    'srda'
    """

    name = "srda"
    #: Cutting η rescales the whole of w here, so only an explosion does it.
    patience: ClassVar[int] = 2**31

    def __init__(
        self,
        batch_size: int | None = None,
        max_epochs: int = 64,
        learning_rate: str | float = "auto",
        tol: float = 0.0,
        certify_every: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.tol = tol
        self.certify_every = certify_every
        self.validate()

    def theory_rate(self, work: Work) -> float:
        """There is none."""
        rule, remedy = "'auto' or a number", "the paper gives no theory for SRDA"
        raise ValueError(refused(self, "learning_rate", rule, "theory", remedy))

    def begin(self, work: Work, rng: np.random.Generator) -> _State:
        """No gradients yet, and w = 0."""
        work.W[:], work.b[:] = 0.0, 0.0
        return super().begin(work, rng)

    def epoch(self, work: Work, state: _State, rate: float, rng: Any) -> float:
        """⌊n/m⌋ steps."""
        batches = state.batches(work.objective.ranking, rng)
        srda_steps(
            work.loss,
            work.rows,
            work.y,
            work.W,
            work.b,
            batches,
            state.sigma,
            rate,
            work.mu,
            work.space.intercept,
            state.W_sum,
            state.b_sum,
            state.steps,
        )
        state.steps += len(batches)
        return float(batches.size / work.n)
