"""What some spaces can do beyond `Space`: one Protocol for what is asked together.

`linear`, `row_access`, `moments` and `kernel_matrix` say to the type checker what a
solver's `requires` says at run time. They check nothing: an objective has been checked
before a solver sees it, and what is missing all the same is an AttributeError.
"""

from collections.abc import Iterator
from typing import Any, Protocol, cast

from .._typing import Floats, Indices
from .base import Space


class Bounded(Space, Protocol):
    """A space that bounds the curvature of a risk, for step sizes."""

    def largest_curvature(self, mass: Floats) -> float:
        """Largest eigenvalue of Σ_i m_i ∇f(x_i)∇f(x_i)ᵀ."""
        ...


class LinearFunctions(Bounded, Protocol):
    """Functions x·w + b of features; θ holds the coefficients, then the intercepts."""

    X: Any
    offset: Floats | None
    n_features: int
    #: Features, and one for an intercept.
    n_columns: int
    #: Entries of X up to which `rotated` makes a dense copy.
    most_rotated: int

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (d, k) and intercepts (k,)."""
        ...

    def uncentred(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts of the function without offset."""
        ...

    def join(self, coef: Floats, intercept: Floats) -> Floats:
        """The inverse of `uncentred`."""
        ...

    def gram(self, c: Floats) -> Floats:
        """Σ_i ∇f(x_i) C_i ∇f(x_i)ᵀ, shape (size, size)."""
        ...

    def pullback_and_gram(
        self, theta: Floats, r: Floats, c: Floats
    ) -> tuple[Floats, Floats]:
        """Σ_i r_i ∇f(x_i), flat like θ, and `gram` at once."""
        ...

    def column_gram(self, c: Floats) -> Floats:
        """Σ_i c_i x_i x_iᵀ, whatever the number of scores."""
        ...

    def diagonal(self, c: Floats) -> Floats:
        """Σ_i c_i x_ij² for each column."""
        ...

    def gradient_rows(self, rows: Indices, r: Floats) -> Floats:
        """r_i ∇f(x_i) for the given rows, shape (m, size)."""
        ...

    def rotated(self) -> "tuple[LinearFunctions, Floats] | None":
        """The same functions in fewer coordinates, and their basis, where that pays."""
        ...

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Slices of rows as dense float64, never all at once."""
        ...

    def at(self, X: Any) -> "LinearFunctions":
        """The same functions over other rows."""
        ...

    def take(self, rows: Indices) -> "LinearFunctions":
        """The same functions over some of the rows, dense and of their own."""
        ...

    def restricted(self, rows: Indices) -> "LinearFunctions":
        """The same functions over some of the rows."""
        ...


class RowAccess(LinearFunctions, Protocol):
    """Linear functions whose rows compiled loops can read."""

    @property
    def sparse(self) -> bool:
        """Whether X is in CSR form."""
        ...

    def rows(self) -> Any:
        """Row access for compiled loops (see `rows`)."""
        ...

    def squared_norms(self) -> Floats:
        """‖x_i‖² for each row, the 1 of an intercept included."""
        ...

    def uncentred_space(self) -> "RowAccess":
        """The same functions without an offset."""
        ...


class Moments(Space, Protocol):
    """A space that sums what a weighted least squares fit needs in one pass."""

    def moments(self, c: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Σ c_i φ_i φ_iᵀ and Σ c_i y_i φ_i; one score only."""
        ...


class RidgeFits(Space, Protocol):
    """A space that minimises Σc_i½(y_i − f(x_i))² + (μ/2)‖f‖² itself."""

    def ridge(self, c: Floats, y: Floats, mu: float, *, rough: bool = False) -> Floats:
        """θ of the minimiser, or near enough to see whose losses are lowest."""
        ...


class KernelMatrix(Bounded, Protocol):
    """The space of a kernel, which knows its matrix over the rows."""

    def matrix(self) -> Floats:
        """K, shape (n, n); kept, so do not write into it."""
        ...

    def new_matrix(self) -> Floats:
        """K as an array of the caller's own."""
        ...


def bounded(space: Space) -> Bounded:
    """A space, for those who need `largest_curvature`."""
    return cast(Bounded, space)


def linear(space: Space) -> LinearFunctions:
    """A space, for those who need `gram` and its like."""
    return cast(LinearFunctions, space)


def row_access(space: Space) -> RowAccess:
    """A space, for those who need `rows`."""
    return cast(RowAccess, space)


def moments(space: Space) -> Moments:
    """A space, for those who need `moments`."""
    return cast(Moments, space)


def ridge_fits(space: Space) -> RidgeFits:
    """A space, for those who need `ridge`."""
    return cast(RidgeFits, space)


def kernel_matrix(space: Space) -> KernelMatrix:
    """A space, for those who need `matrix`."""
    return cast(KernelMatrix, space)
