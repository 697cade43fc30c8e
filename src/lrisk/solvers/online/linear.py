"""Online gradient descent on corrected losses: plain, picklable state and its rounds.

The linear learner is the paper's algorithm 1; given random features instead of rows it
is the parallel-world form of algorithm 2 in O(D) a round.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..._params import Parameters, check_choice, check_real, refused
from ..._typing import Floats
from ...corrections import bounds as theory
from ...corrections.covariances import (
    CorrectedRows,
    Deviations,
    RowDiagonal,
    RowFull,
    SharedDiagonal,
    SharedFull,
)
from ._loops import linear as loop
from ._loops.linear import NOISE as NOISE

#: Steps tried side by side by "auto", in units of 1/E‖x̃‖².
CANDIDATES = (0.4, 0.2, 0.1, 0.05, 0.025)

Rate = float | Literal["auto", "theory"]


class OnlineSolver(Parameters):
    """What the online learners share: the step, the ball, the average.

    Parameters
    ----------
    learning_rate : "auto", "theory" or float, default="auto"
        ``"auto"`` runs several constant steps side by side and follows the one whose
        average has the smallest corrected loss on the rows to come; ``"theory"`` takes
        the step of the regret bound.
    radius : "auto" or float, default="auto"
        Of the ball the iterates are kept in.
    average : bool, default=True
        Predict with the average of the iterates.
    horizon : int or None, default=None
        Number of rounds, if known in advance (for ``"theory"``).
    feature_bound, target_bound : float or None, default=None
        B_x̃ and B_ỹ of the theory, which the regret bound needs; None means running root
        mean squares.

    See Also
    --------
    OnlineLinear : Rows of numbers.
    OnlineKernel : Rows by a kernel.

    Examples
    --------
    >>> from lrisk.solvers import OnlineLinear, OnlineSolver
    >>> isinstance(OnlineLinear(learning_rate=0.1), OnlineSolver)
    True
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
    ) -> None:
        self.learning_rate = learning_rate
        self.radius = radius
        self.average = average
        self.horizon = horizon
        self.feature_bound = feature_bound
        self.target_bound = target_bound
        self.validate()

    def validate(self) -> None:
        """Positive numbers, or the names above."""
        for name in ("learning_rate", "radius"):
            value = getattr(self, name)
            names = ("auto", "theory") if name == "learning_rate" else ("auto",)
            if isinstance(value, str):
                check_choice(self, name, value, names)
            else:
                remedy = f"{names[0]!r} chooses it"
                check_real(self, name, value, low=0, low_open=True, remedy=remedy)
        for name in ("horizon", "feature_bound", "target_bound"):
            value = getattr(self, name)
            if value is not None:
                remedy = "leave it out if it is unknown"
                check_real(self, name, value, low=0, low_open=True, remedy=remedy)

    def _check_state(self, candidates: int, fits: bool) -> None:
        """Refuse a state of other sizes: the compiled rounds do not check them."""
        steps = len(self._steps()[0])
        if candidates != steps:
            rule = f"of the kind the state began with, {candidates} step sizes"
            remedy = "begin anew with init to change to or from 'auto'"
            value = self.learning_rate
            raise ValueError(refused(self, "learning_rate", rule, value, remedy))
        if not fits:
            rule, remedy = "one that began with these options", "begin anew with init"
            raise ValueError(refused(self, "state", rule, "another", remedy))

    #: Bounds that the regret bound needs; running means are no bounds.
    _stated: ClassVar[tuple[str, ...]] = ("feature_bound", "target_bound")

    # -- numbers for the loops ---------------------------------------------------------

    def _steps(self) -> tuple[Floats, int]:
        if self.learning_rate == "auto":
            return np.array(CANDIDATES), loop.RELATIVE
        if self.learning_rate == "theory":
            return np.ones(1), loop.THEORY
        return np.array([float(self.learning_rate)]), loop.ABSOLUTE

    def _ball(self) -> float:
        return -1.0 if isinstance(self.radius, str) else float(self.radius)

    def _bounds(self) -> Floats:
        feature = -1.0 if self.feature_bound is None else float(self.feature_bound)
        target = -1.0 if self.target_bound is None else float(self.target_bound)
        return np.array([feature, target])

    def _power(self) -> float:
        """Weight t^power of round t: the theory's average is the plain one.

        The square root forgets the start sooner and costs an eighth in variance.
        """
        return 0.0 if self.learning_rate == "theory" else 0.5

    def _regret(self, ball: float, root: float, rounds: float, step: float) -> float:
        """Bound on the expected regret; infinite where none is proven."""
        if self.learning_rate == "auto" or rounds == 0:
            return np.inf
        if isinstance(self.radius, str):  # a ball that follows the rows proves nothing
            return np.inf
        if any(getattr(self, name) is None for name in self._stated):
            return np.inf  # nor does a running mean of what the rows have been
        if self.learning_rate == "theory" and self.horizon is None:
            return theory.regret_bound(ball, root**2, int(rounds), fixed=False)
        if self.learning_rate == "theory":
            step = ball / (root * np.sqrt(float(self.horizon or rounds)))
        return float(ball**2 / (2.0 * step) + 0.5 * step * root**2 * rounds)


@dataclass
class LinearState:
    """Everything an online linear learner remembers; constant in the rounds."""

    W: Floats
    A: Floats
    sums: Floats
    losses: Floats

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return int(self.sums[loop.COUNT])


class OnlineLinear(OnlineSolver):
    """Corrected online gradient descent over rows of numbers (paper 3, algorithm 1).

    w ← Π_B(w − η(2(w·x̄ − y)x̄ − 2Cw + 2c)), with C the covariance of the noise of x̄.

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

    See Also
    --------
    OnlineKernel : For relations that are not linear.
    lrisk.NoiseCorrectedRegressor : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> from lrisk.solvers import OnlineLinear
    >>> from lrisk.solvers.online import squared_norms
    >>> copies = np.ones((1, 4, 1))
    >>> rows = corrected_rows(copies, KnownCovariance(0.5))
    >>> solver = OnlineLinear(learning_rate=0.1, radius=10.0, average=False)
    >>> state = solver.step(
    ...     solver.init(1), rows, np.ones(4), squared_norms(copies, rows)
    ... )
    >>> solver.finish(state).round(4)  # 2(w − 1) − w in each round
    array([0.6878])
    """

    def init(self, n_features: int) -> LinearState:
        """Begin at zero."""
        k = len(self._steps()[0])
        shape = (k, n_features)
        return LinearState(np.zeros(shape), np.zeros(shape), np.zeros(7), np.zeros(k))

    def grow(self, state: LinearState, n_features: int, last: int = 0) -> LinearState:
        """The same state with more features, of weight zero, before the `last` ones."""
        place = state.W.shape[1] - last
        new = np.zeros((len(state.W), n_features - state.W.shape[1]))
        W, A = (
            np.hstack([M[:, :place], new, M[:, place:]]) for M in (state.W, state.A)
        )
        return LinearState(W, A, state.sums, state.losses)

    def step(
        self,
        state: LinearState,
        rows: CorrectedRows,
        y: Floats,
        squared: Floats,
        path: Floats | None = None,
    ) -> LinearState:
        """One round for each row, changing the state in place.

        Parameters
        ----------
        rows : CorrectedRows
        y : array of shape (n,)
        squared : array of shape (n,)
            ‖x̃‖² of a single copy of each row (mean over copies where the noise is
            unknown), of the mean otherwise.
        path : array of shape (n, d) or None, default=None
            Receives the first candidate's iterate before each round.
        """
        self._check_state(len(state.W), state.W.shape[1] == rows.mean.shape[1])
        steps, mode = self._steps()
        nowhere = np.empty((0, rows.mean.shape[1]))
        trace, largest = _sizes(rows)
        pairs = isinstance(rows.covariance, Deviations)
        loop.linear_rounds(
            plain(rows.mean), plain(y), plain(squared), plain(trace), plain(largest),
            rows.covariance, plain(rows.cross), pairs, steps, mode, self._ball(),
            float(self.horizon or 0), self._bounds(), self._power(),
            bool(self.average), state.W, state.A, state.sums, state.losses,
            nowhere if path is None else path,
        )  # fmt: skip
        return state

    def best(self, state: LinearState) -> int:
        """The candidate of the smallest corrected loss so far."""
        losses = np.where(np.isfinite(state.losses), state.losses, np.inf)
        return int(np.argmin(losses))

    def finish(self, state: LinearState) -> Floats:
        """The weights to predict with; shape (n_features,)."""
        chosen = state.A if self.average else state.W
        weights = chosen[self.best(state)]
        if not np.all(np.isfinite(weights)):
            rule = "small enough for the rounds to stay finite"
            remedy = "use learning_rate='auto', or standardize=True"
            if self.learning_rate == "auto":
                rule = "able to follow the rows, some of which are far too large"
                remedy = "remove outlying rows, or use standardize=True"
            raise ValueError(
                refused(self, "learning_rate", rule, self.learning_rate, remedy)
            )
        return np.array(weights)

    def report(self, state: LinearState, pairs: bool) -> dict[str, float]:
        """Radius, step, loss and regret bound after the rounds so far."""
        sums = state.sums
        steps, mode = self._steps()
        best = self.best(state)
        ball = float(loop.choose_radius(self._ball(), sums, state.W.shape[1]))
        root = float(loop.gradient_size(ball, self._bounds(), pairs, sums))
        horizon, t = float(self.horizon or 0), sums[loop.COUNT]
        step = float(loop.step_size(steps[best], mode, ball, root, horizon, sums))
        return {
            "radius": ball,
            "step": step,
            "loss": float(state.losses[best] / (0.5 * t * (t + 1.0))),
            "bound": self._regret(ball, root, t, step),
        }


def squared_norms(copies: Floats, rows: CorrectedRows) -> Floats:
    """‖x̃‖² as the theory counts it: of a copy for pairs, else of the mean."""
    if isinstance(rows.covariance, Deviations):
        return np.asarray((copies**2).sum(axis=2).mean(axis=0))
    return np.asarray((rows.mean**2).sum(axis=1))


def _sizes(rows: CorrectedRows) -> tuple[Floats, Floats]:
    """Trace and largest eigenvalue (or a bound on it) of every C."""
    match rows.covariance:
        case SharedDiagonal(values, factor):
            return values.sum() * factor, values.max(initial=0.0) * factor
        case SharedFull(matrix, factor):
            largest = np.linalg.eigvalsh(matrix)[-1]
            return np.trace(matrix) * factor, largest * factor
        case RowDiagonal(values):
            return values.sum(axis=1), values.max(axis=1)
        case RowFull(matrices):
            trace = np.trace(matrices, axis1=1, axis2=2)
            largest = np.linalg.eigvalsh(matrices)[:, -1]
            return np.asarray(trace), np.asarray(largest, dtype=np.float64)
        case Deviations(deviations):
            trace = (deviations**2).sum(axis=(1, 2))
            return trace, trace
    raise TypeError(f"not a covariance: {rows.covariance!r}")


def plain(array: Any) -> Floats:
    """C-contiguous, writeable float64: the one layout the loops are compiled for."""
    array = np.ascontiguousarray(array, dtype=np.float64)
    return np.array(array) if not array.flags.writeable else np.asarray(array)
