"""F at a point, as the parts of the rows have told it."""

from typing import NamedTuple

from .._typing import Floats
from .grid import MANTISSA, Ranks, Table
from .pooling import Pooled


class At(NamedTuple):
    """F at θ, by ranks as fine as some bins.

    value, missing : F lies between value and value + missing
    gradient : ∂Φ/∂θ at λ
    ranks, table : what λ is made from, at the losses of θ, and theirs
    doubt : the part of `missing` that is due to bins
    pooled : the blocks of a smoothed risk
    """

    theta: Floats
    value: float
    missing: float
    gradient: Floats
    ranks: Ranks
    table: Table
    doubt: float
    pooled: Pooled | None = None

    @property
    def digits(self) -> int:
        """Binary digits of a loss that tell bins apart."""
        return MANTISSA - self.ranks.grid.shift

    @property
    def exact(self) -> bool:
        """F is never more than value + missing."""
        return True

    @property
    def weights(self) -> "RankWeights":
        """How the parts make λ."""
        return RankWeights(self.theta, self.ranks)


class RankWeights(NamedTuple):
    """λ by rank at the losses of θ: what parts need to make it anew."""

    theta: Floats
    ranks: Ranks
