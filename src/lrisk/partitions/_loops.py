"""Compiled passes over the losses of a part: into bins, and from bins to weights.

`weight` has a number for each row, or is empty where all of them are one.
"""

from typing import Any

from .._jit import jit


@jit(inner=True)
def place_of(bits: Any, grid: Any, last: Any) -> Any:
    """The bin of a loss with these bits: `Grid.places` for one row."""
    plain = min(max((bits - grid.least) >> grid.shift, 0), last)
    if len(grid.first) == 0:
        return plain
    first, most = grid.first[plain], grid.first[plain + 1] - 1
    return min(max(first + ((bits - grid.low[plain]) >> grid.fine[plain]), first), most)


@jit(fastmath=False)
def count(
    bits: Any, losses: Any, weight: Any, grid: Any, floors: Any, mass: Any, above: Any
) -> None:
    """Add rows to a table: Σw, and Σw(ℓ − floor), for each bin."""
    last = (len(grid.low) or grid.bins) - 1
    equal = len(weight) == 0
    for i in range(len(losses)):
        k = place_of(bits[i], grid, last)
        w = 1.0 if equal else weight[i]
        mass[k] += w
        above[k] += w * (losses[i] - floors[k])


@jit(fastmath=False)
def weigh(bits: Any, weight: Any, grid: Any, density: Any, out: Any) -> None:
    """λ = w·density[bin of ℓ]."""
    last = (len(grid.low) or grid.bins) - 1
    equal = len(weight) == 0
    for i in range(len(bits)):
        w = 1.0 if equal else weight[i]
        out[i] = density[place_of(bits[i], grid, last)] * w


@jit
def pull_by_bin(
    X: Any, bits: Any, slopes: Any, weight: Any, grid: Any, pulls: Any
) -> None:
    """Add Σ wℓ′·(x, 1) of each bin: a gradient for any density, in one read of X."""
    last = (len(grid.low) or grid.bins) - 1
    equal, d = len(weight) == 0, X.shape[1]
    for i in range(len(bits)):
        scale = slopes[i] if equal else weight[i] * slopes[i]
        into, row = pulls[place_of(bits[i], grid, last)], X[i]
        for j in range(d):
            into[j] += scale * row[j]
        into[d] += scale
