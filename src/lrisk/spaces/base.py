"""What a space is: the functions f among which the best is sought.

A space lies over n rows. θ is flat; `scores` evaluates f_θ on the rows and `pullback`
turns derivatives by score into the gradient of θ *in the space's own inner product*,
so that a gradient step is ``theta - step * gradient`` in every space.
"""

from typing import TYPE_CHECKING, Any

from .._typing import Floats, Indices


class Space:
    """Base of all spaces.

    What is declared for the type checker only is a capability: a space has it where it
    makes sense, a solver names those it needs in `requires`, and `compatibility` checks
    them before a solve.
    """

    n_rows: int
    n_scores: int
    #: Entries of θ.
    size: int
    #: Whether the last n_scores entries of θ are intercepts, which bear no penalty.
    intercept: bool

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x_i), shape (n,) or (n, k)."""
        raise NotImplementedError

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i ∇f_θ(x_i) in the space's own inner product, flat like θ."""
        raise NotImplementedError

    def inner(self, a: Floats, b: Floats) -> float:
        """⟨a, b⟩; ‖θ‖² = inner(θ, θ) is what the penalty is made of."""
        raise NotImplementedError

    def penalised(self, theta: Floats) -> Floats:
        """The gradient of ½⟨θ, θ⟩ in the space's own inner product."""
        raise NotImplementedError

    def largest_curvature(self, mass: Floats) -> float:
        """Largest eigenvalue of Σ_i m_i ∇f(x_i)∇f(x_i)ᵀ, for step sizes."""
        raise NotImplementedError

    if TYPE_CHECKING:
        # -- linear spaces
        X: Any
        offset: Floats | None
        n_features: int
        n_columns: int
        most_rotated: int
        block_entries: int

        def split(self, theta: Floats) -> tuple[Floats, Floats]: ...  # noqa: D102
        def uncentred(self, theta: Floats) -> tuple[Floats, Floats]: ...  # noqa: D102
        def join(self, coef: Floats, intercept: Floats) -> Floats: ...  # noqa: D102
        def gram(self, c: Floats) -> Floats: ...  # noqa: D102
        def column_gram(self, c: Floats) -> Floats: ...  # noqa: D102
        def gradient_rows(self, rows: Indices, r: Floats) -> Floats: ...  # noqa: D102
        def rotated(self) -> tuple[Any, Floats] | None: ...  # noqa: D102
        def diagonal(self, c: Floats) -> Floats: ...  # noqa: D102
        def blocks(self) -> Any: ...  # noqa: D102
        def rows(self) -> Any: ...  # noqa: D102
        def take(self, rows: Indices) -> Any: ...  # noqa: D102
        def restricted(self, rows: Indices) -> Any: ...  # noqa: D102
        def at(self, X: Any) -> Any: ...  # noqa: D102

        # -- Nyström spaces
        def moments(self, c: Floats, y: Floats) -> tuple[Floats, Floats]: ...  # noqa: D102

        # -- kernel spaces
        def matrix(self) -> Floats: ...  # noqa: D102
        def new_matrix(self) -> Floats: ...  # noqa: D102
