"""What a space is: the functions f among which the best is sought.

A space lies over n rows. θ is flat; `scores` evaluates f_θ on the rows and `pullback`
turns derivatives by score into the gradient of θ *in the space's own inner product*,
so that a gradient step is ``theta - step * gradient`` in every space.

What a space can do beyond that is a Protocol of its own in `capabilities`: a solver
names what it needs in `requires`, which `compatibility` checks before a solve.
"""

from typing import Protocol

from .._typing import Floats


class Space(Protocol):
    """What every space can do, and all that an objective asks of one.

    See Also
    --------
    LinearSpace : Linear functions of the features.
    KernelSpace : Functions of a kernel.
    CenterSpace : Centres of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.spaces import LinearSpace, Space
    >>> space: Space = LinearSpace(np.eye(3), intercept=True)
    >>> space.n_rows, space.size
    (3, 4)
    """

    n_rows: int
    n_scores: int
    #: Entries of θ.
    size: int
    #: Whether the last n_scores entries of θ are intercepts, which bear no penalty.
    intercept: bool

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x_i), shape (n,) or (n, k)."""
        ...

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i ∇f_θ(x_i) in the space's own inner product, flat like θ."""
        ...

    def inner(self, a: Floats, b: Floats) -> float:
        """⟨a, b⟩; ‖θ‖² = inner(θ, θ) is what the penalty is made of."""
        ...

    def penalised(self, theta: Floats) -> Floats:
        """The gradient of ½⟨θ, θ⟩ in the space's own inner product."""
        ...
