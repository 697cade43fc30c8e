"""What parts of the rows are asked, and what they answer.

`Part` answers with arrays in memory or in files, the part of `lrisk.torch` with tensors
on their device. θ is *raw*: d coefficients and a constant. Answers are numbers, in
arrays of NumPy's, that are added up over parts.
"""

from typing import NamedTuple, Protocol

from .._typing import Floats, Indices
from .grid import Grid, Table


class Description(NamedTuple):
    """n, Σw, Σwy, min y and max y of a part; nothing of X is read."""

    rows: int
    total: float
    weighted: float
    low: float
    high: float


class Taken(NamedTuple):
    """Some rows by their places in the part: features, targets, weights, losses."""

    ids: Indices
    X: Floats
    y: Floats
    weight: Floats | None
    losses: Floats


class Band(NamedTuple):
    """Rows near a threshold, and what changed when λ was held anew.

    moved : Σ(λ′ − λ)ℓ′·(x, 1) over the rows whose λ changed; shape (d + 1,)
    mass : Σλ′
    """

    inside: Taken
    moved: Floats
    mass: float


class Gram(NamedTuple):
    """Σλℓ″xxᵀ over some rows, x = (x − m, 1), and their Σλ."""

    matrix: Floats
    mass: float


class Spread(NamedTuple):
    """Σ(λℓ″ + κwℓ′²)xxᵀ over some rows, x = (x − m, 1), and of each bin what is tied.

    pulls, mass : Σwℓ′·(x, 1) of each bin, shape (bins, d + 1), and Σw, shape (bins,)
    """

    matrix: Floats
    pulls: Floats
    mass: Floats


class Held(NamedTuple):
    """What a pass at the held λ finds: the table, λ·ℓ, Σλℓ′·(x, 1), a Gram matrix."""

    table: Table
    value: float
    gradient: Floats
    gram: Gram


class Dual(NamedTuple):
    """What dual points a of rows add up to, at some λ.

    pulled : Σλa·(x, 1), shape (d + 1,)
    fitted : Σλ FY(z, a)
    size : Σλ|a|
    bend, free : Σλℓ″ and Σλ over the rows whose a is inside the dual domain
    """

    pulled: Floats
    fitted: float
    size: float
    bend: float
    free: float

    def joined(self, other: "Dual") -> "Dual":
        """Of both sets of rows."""
        return Dual(
            self.pulled + other.pulled,
            self.fitted + other.fitted,
            self.size + other.size,
            self.bend + other.bend,
            self.free + other.free,
        )


class Answering(Protocol):
    """A part of the rows: what engines ask of it, by name.

    Every call may be made twice; `Part` says what each does.
    """

    def describe(self) -> Description:
        """Facts of the targets as they were given."""

    def prepare(self, shift: float) -> None:
        """Take a shift from the targets as they were given."""

    def at(self, theta: Floats, grid: Grid) -> Table:
        """Losses and slopes at θ, and their table."""

    def pull(self, grid: Grid, density: Floats) -> Floats:
        """Σλℓ′·(x, 1), λ by rank."""

    def at_binned(self, theta: Floats, grid: Grid) -> tuple[Table, Floats]:
        """As `at`, and Σwℓ′·(x, 1) of each bin."""

    def at_held(self, theta: Floats, grid: Grid, offset: Floats, every: int) -> Held:
        """As `at`, and value, gradient and a Gram matrix at the held λ."""

    def dual(
        self,
        step: Floats,
        shift: float,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Dual:
        """Dual points a = clip(ℓ′ + ℓ″·(Δ, (x, 1)) − c) and what they add up to."""

    def gram_some(
        self,
        offset: Floats,
        every: int,
        grid: Grid | None = None,
        density: Floats | None = None,
    ) -> Gram:
        """Σλℓ″xxᵀ of one of `every` rows; λ as held where no grid is given."""

    def spread(
        self, offset: Floats, every: int, grid: Grid, density: Floats, kappa: Floats
    ) -> Spread:
        """What the curvature of F is made from, of one of `every` rows."""

    def longest(self, offset: Floats, every: int, whiten: Floats) -> float:
        """Largest ‖T(x − m, 1)‖² of the rows of `gram_some`."""

    def take(self, ids: Indices) -> Taken:
        """Rows by their places, ascending."""

    def table(self, grid: Grid) -> Table:
        """The present losses in the bins of another grid."""

    def hold(self, grid: Grid, density: Floats) -> None:
        """Keep the λ that ranks give now."""

    def assign(self, ids: Indices, weights: Floats) -> None:
        """Set the held λ of some rows."""

    def band(self, low: float, high: float, unit: float) -> Band:
        """Rows with low ≤ ℓ ≤ high; λ is held anew: unit·w above, zero elsewhere."""
