"""What a solver is, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, final

import numpy as np

from .._params import Parameters, check_count, check_real
from .._typing import Floats
from ..compatibility import check_solvable
from ..objective import Objective

Record = dict[str, Any]
Monitor = Callable[[Record], None]


class Status(Enum):
    """How a solve ended; the value is what the user reads.

    See Also
    --------
    Solution : Holds it.

    Examples
    --------
    >>> from lrisk.solvers import Status
    >>> Status.EPOCHS_DONE.value
    'all epochs were run'
    """

    CONVERGED = "the duality gap reached the tolerance"
    MAX_ITER = "the iteration limit was reached before the tolerance"
    STALLED = "the gap stopped shrinking above the tolerance, at the limit of rounding"
    EPOCHS_DONE = "all epochs were run"
    DIVERGED = "the learning rate is too large for these data; the steps diverged"
    INTERRUPTED = "the fit was interrupted; what it had reached is kept"
    STATIONARY = "no step lowers the objective further; it is not convex, so no proof"
    STEPS_TAKEN = "all steps were taken"
    UNCERTIFIED = "the solver stopped where no certificate of optimality exists"


@dataclass(frozen=True)
class Solution:
    """The best point found and the proof that came with it.

    Parameters
    ----------
    theta : array of shape (size,)
        The parameters of the model, the intercept last.
    objective : float
        F(θ), penalty included.
    gap : float
        Relative duality gap (see `lrisk.certificate`); infinite without a certificate.
    dual : float
        The proven lower bound on F; −∞ without a certificate.
    weights : array of shape (n,)
        The λ of the certificate.
    n_iter : int
        Iterations made.
    status : Status
        How the solve ended.
    history : list of dict
        One record for each iteration; its ``"note"`` says why the solver was changed.
    solver : str
        Name of the solver that found it, if not the one that was asked.
    slopes : array of shape (n,) or None
        The dual point a of the certificate, for losses with flat pieces.

    See Also
    --------
    Solver : Its `solve` returns this.
    lrisk.certify : The same proof for a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import Squared
    >>> from lrisk.objective import Objective
    >>> from lrisk.ranking import Ranking
    >>> from lrisk.solvers import Newton
    >>> from lrisk.spaces import LinearSpace
    >>> from lrisk.spectra import Superquantile
    >>> x = np.arange(6.0)
    >>> space = LinearSpace(x[:, None], intercept=True)
    >>> ranking = Ranking(Superquantile(0.5), 6)
    >>> found = Newton().solve(Objective(ranking, Squared(), space, x**2, 0.1))
    >>> found.theta.shape, bool(found.dual <= found.objective)
    ((2,), True)
    """

    theta: Floats
    objective: float
    gap: float
    dual: float
    weights: Floats
    n_iter: int
    status: Status
    history: list[Record] = field(default_factory=list)
    solver: str = ""
    slopes: Floats | None = None

    def noted(self, note: str) -> "Solution":
        """The same with a note in the first record of its history."""
        first, *rest = self.history
        return replace(self, history=[{**first, "note": note}, *rest])


class Solver(Parameters):
    """Base of all solvers: what minimises an `Objective`.

    `solve` is a template that no subclass replaces: it refuses what the solver cannot
    minimise, then calls `_solve`, which a subclass fills in.

    Attributes
    ----------
    tol : float ≥ 0
        Relative duality gap at which to stop.
    max_iter : int
        Limit on what the solver counts (its docstring says what).

    See Also
    --------
    Newton, LBFGS, Band : To a proven optimum.
    LSVRG, SOREL, Prospect, SGD, SRDA : By rows drawn at random.
    Concentration, SubquantileGradient : For spectra that leave rows out.

    Examples
    --------
    >>> from lrisk.solvers import Newton, Solver
    >>> isinstance(Newton(tol=1e-9, max_iter=50), Solver)
    True
    """

    name: ClassVar[str]
    #: Spectra it can minimise under, by their `shape`.
    spectra: ClassVar[frozenset[str]] = frozenset({"flat", "up"})
    #: Capabilities of the space it needs.
    requires: ClassVar[frozenset[str]] = frozenset({"scores", "pullback"})

    #: Whether it can minimise losses that are not smooth.
    kinks: ClassVar[bool] = False

    #: What the iteration limit is called.
    limit: ClassVar[str] = "max_iter"

    #: Whether it works with a kernel's matrix and with nothing else.
    needs_matrix: ClassVar[bool] = False

    @classmethod
    def prefers_matrix(cls, objective: Objective) -> bool:
        """Whether a kernel's matrix suits it better than a factor of that matrix."""
        return cls.needs_matrix

    tol: float
    max_iter: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "solve" in vars(cls):
            raise TypeError(
                f"{cls.__name__} replaces solve, which checks the objective first; "
                "define _solve instead."
            )

    def validate(self) -> None:
        """0 ≤ tol, 1 ≤ max_iter."""
        check_real(self, "tol", self.tol, low=0, remedy="1e-6 is the usual choice")
        check_count(self, "max_iter", self.max_iter)

    @final
    def check(self, objective: Objective, owner: str | None = None) -> None:
        """Refuse parameters out of range, and what the solver cannot minimise.

        Parameters
        ----------
        objective : Objective
        owner : str or None, default=None
            Whose name the message begins with; None means the solver's.
        """
        self.validate()
        owner = type(self).__name__ if owner is None else owner
        check_solvable(owner, self, objective)

    @final
    def solve(
        self,
        objective: Objective,
        start: Floats | None = None,
        *,
        weights: Floats | None = None,
        rng: np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise.

        Parameters
        ----------
        objective : Objective
        start : array of shape (size,) or None, default=None
            θ to begin from.
        weights : array of shape (n,) or None, default=None
            λ of a solution near by, in the permutahedron.
        rng : Generator or None, default=None
            For solvers that draw rows at random.
        monitor : callable or None, default=None
            Told of each iteration.

        Raises
        ------
        ValueError
            If the solver cannot minimise this objective.
        """
        self.check(objective)
        return self._solve(objective, start, weights=weights, rng=rng, monitor=monitor)

    def _solve(
        self,
        objective: Objective,
        start: Floats | None,
        *,
        weights: Floats | None,
        rng: np.random.Generator | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Minimise an objective that has been checked."""
        raise NotImplementedError
