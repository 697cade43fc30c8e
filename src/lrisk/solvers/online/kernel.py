"""Online gradient descent in a surrogate space: exact in O(t), or on a budget."""

from dataclasses import dataclass, field

import numpy as np

from ..._params import check_count, check_real
from ..._typing import Floats
from ...corrections.surrogates import Surrogate
from ._loops import kernel as loop
from ._loops.linear import COUNT, WEIGHT, step_size
from .linear import OnlineSolver, Rate, plain

#: Rounds between two exact computations of the norms, at least.
REFRESH = 1000


@dataclass
class KernelState:
    """Everything an online kernel learner remembers.

    With a budget B the arrays have B columns for ever; without one they double when
    they are full.
    """

    Z: Floats
    coefficients: Floats
    #: Averages with a budget; mass when each coefficient entered without one.
    second: Floats
    norm: Floats
    sums: Floats
    losses: Floats
    size: int = 0
    scale: Floats = field(default_factory=lambda: np.empty(0))
    mass: Floats = field(default_factory=lambda: np.empty(0))
    scales: Floats = field(default_factory=lambda: np.empty(0))
    inverse: Floats = field(default_factory=lambda: np.empty((0, 0)))
    gram: Floats = field(default_factory=lambda: np.empty((0, 0)))
    next_refresh: int = REFRESH

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return int(self.sums[COUNT])


class OnlineKernel(OnlineSolver):
    """Online kernel regression from two copies of each row (paper 3, algorithm 2).

    Parameters
    ----------
    learning_rate : "auto", "theory" or float, default="auto"
        The online step, as in `OnlineSolver`.
    radius : "auto" or float, default="auto"
        Radius of the ball the iterates are kept in.
    average : bool, default=True
        Predict with the average of the iterates.
    horizon : int or None, default=None
        Number of rounds, if known in advance (for ``"theory"``).
    feature_bound, target_bound : float or None, default=None
        Bounds of the theory, as in `OnlineSolver`.
    budget : int or None, default=None
        Largest number of support vectors; None keeps every row.
    tol : float, default=0.001
        Squared distance from the span of the support, relative to R², above which a row
        enters it.

    See Also
    --------
    OnlineLinear : For linear relations, with d numbers in memory.
    lrisk.NoiseCorrectedKernelRegressor : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Gaussian, Surrogate
    >>> from lrisk.noise import Exact
    >>> from lrisk.solvers import OnlineKernel
    >>> surrogate, rows = Surrogate(Gaussian(1.0), Exact(), 1), np.zeros((3, 1))
    >>> solver = OnlineKernel(learning_rate=0.25, average=False)
    >>> state = solver.step(solver.init(1), surrogate, rows, rows, np.ones(3))
    >>> solver.finish(state)[1]
    array([0.5  , 0.25 , 0.125])
    """

    def __init__(
        self,
        learning_rate: Rate = "auto",
        radius: float | str = "auto",
        *,
        average: bool = True,
        horizon: int | None = None,
        feature_bound: float | None = None,
        target_bound: float | None = None,
        budget: int | None = None,
        tol: float = 1e-3,
    ) -> None:
        self.budget = budget
        self.tol = tol
        super().__init__(
            learning_rate,
            radius,
            average=average,
            horizon=horizon,
            feature_bound=feature_bound,
            target_bound=target_bound,
        )

    _stated = ("target_bound",)  # every row's surrogate feature has the norm R

    def validate(self) -> None:
        """A budget of at least 1, `tol` in (0, 1]."""
        super().validate()
        if self.budget is not None:
            check_count(self, "budget", self.budget)
        check_real(
            self, "tol", self.tol, low=0, high=1, low_open=True,
            remedy="1e-3 is the default",
        )  # fmt: skip

    def init(self, n_features: int) -> KernelState:
        """Begin with the function zero."""
        k = len(self._steps()[0])
        room = self.budget or 256
        state = KernelState(
            np.zeros((room, n_features)), np.zeros((k, room)), np.zeros((k, room)),
            np.zeros(k), np.zeros(7), np.zeros(k),
        )  # fmt: skip
        if self.budget is None:
            state.scale, state.mass = np.ones(k), np.zeros(k)
            state.scales = np.zeros(room)
        else:
            state.inverse, state.gram = np.zeros((room, room)), np.zeros((room, room))
        return state

    def step(
        self, state: KernelState, surrogate: Surrogate, P: Floats, Q: Floats, y: Floats
    ) -> KernelState:
        """One round for each row, from its copies in `surrogate`'s coordinates.

        Parameters
        ----------
        P : array of shape (n, d)
            The copies that may become support vectors.
        Q : array of shape (n, d) or (n, m, d)
            One other copy or m of them, whose surrogate features are averaged.
        y : array of shape (n,)
        """
        room = None if len(state.inverse) == 0 else len(state.inverse)
        self._check_state(len(state.coefficients), room == self.budget)
        Q = Q[:, None] if Q.ndim == 2 else Q
        steps, mode = self._steps()
        options = (
            surrogate.terms, surrogate.squared_radius, steps, mode, self._ball(),
            float(self.horizon or 0), self._bounds(), self._power(), bool(self.average),
        )  # fmt: skip
        P, Q, y = plain(P), plain(Q), plain(y)
        if self.budget is not None:
            state.size = int(
                loop.budgeted_rounds(
                    P, Q, y, *options, float(self.tol), state.Z, state.inverse,
                    state.gram, state.coefficients, state.second, state.norm,
                    state.sums, state.losses, state.size,
                )
            )  # fmt: skip
            return state
        _make_room(state, state.size + len(y))
        start = 0
        while start < len(y):
            stop = min(len(y), start + max(state.next_refresh - state.size, 1))
            part = slice(start, stop)
            loop.exact_rounds(
                P[part], Q[part], y[part], *options, state.Z, state.coefficients,
                state.second, state.scale, state.norm, state.mass, state.sums,
                state.losses, state.scales,
            )  # fmt: skip
            state.size += stop - start
            start = stop
            if state.size >= state.next_refresh:
                loop.refresh(
                    surrogate.terms, state.Z, state.size, state.coefficients,
                    state.second, state.scale, state.norm, state.mass, state.scales,
                )  # fmt: skip
                # Growing gaps keep the cost of all refreshes at O(t) a round.
                state.next_refresh = max(state.size + REFRESH, 5 * state.size // 4)
        return state

    def best(self, state: KernelState) -> int:
        """The candidate of the smallest corrected loss so far."""
        losses = np.where(np.isfinite(state.losses), state.losses, np.inf)
        return int(np.argmin(losses))

    def finish(self, state: KernelState) -> tuple[Floats, Floats]:
        """Support (in the surrogate's coordinates) and coefficients to predict with."""
        best, size = self.best(state), state.size
        own, second = state.coefficients[best, :size], state.second[best, :size]
        if self.budget is not None:
            coefficients = second if self.average else own
        elif self.average:
            total = max(state.sums[WEIGHT], 1e-300)
            coefficients = own * (state.mass[best] - second) / total
        else:
            coefficients = own * state.scale[best]
        return state.Z[:size].copy(), np.array(coefficients)

    def report(self, state: KernelState, surrogate: Surrogate) -> dict[str, float]:
        """Radius, step, loss and regret bound after the rounds so far."""
        R2, sums = surrogate.squared_radius, state.sums
        steps, mode = self._steps()
        best, t = self.best(state), sums[COUNT]
        ball = float(loop.choose_ball(self._ball(), sums, R2))
        root = float(loop.gradient_size(ball, self._bounds(), R2, sums))
        horizon = float(self.horizon or 0)
        step = float(step_size(steps[best], mode, ball, root, horizon, sums))
        return {
            "radius": ball,
            "step": step,
            "loss": float(state.losses[best] / (0.5 * t * (t + 1.0))),
            "bound": self._regret(ball, root, t, step),
        }


def _make_room(state: KernelState, needed: int) -> None:
    """Double the arrays until `needed` support vectors fit."""
    room = len(state.Z)
    if needed <= room:
        return
    while room < needed:
        room *= 2
    more = room - len(state.Z)
    state.Z = np.pad(state.Z, ((0, more), (0, 0)))
    state.coefficients = np.pad(state.coefficients, ((0, 0), (0, more)))
    state.second = np.pad(state.second, ((0, 0), (0, more)))
    state.scales = np.pad(state.scales, (0, more))
