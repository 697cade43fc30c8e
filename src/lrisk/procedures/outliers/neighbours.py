"""Medians over the nearest of many rows, in one compiled pass."""

from typing import Any

import numpy as np

from ..._jit import jit
from ..._sorting import select
from ..._typing import Floats, Indices

#: Distances are equal within this share of themselves, and of a far one.
SAME, ROUNDING = 1e-9, 1e-12
#: Every so many distances are looked at for a far one at first.
STRIDE = 8
#: Where a bracket is parted: not in halves, at which equal distances of whole numbers
#: may lie, told apart by rounding only.
PARTED = 0.4871


def medians_of_nearest(
    squares: Floats, members: Indices, values: Floats, k: int
) -> Floats:
    """Median value over the k nearest members, for each row of distances; shape (r,).

    squares (r, m), members (p,) columns of it, values (p,). Members as far as the k-th
    belong to the nearest as well: among equal distances neither the order of the rows
    nor rounding may choose.
    """
    out = np.empty(len(squares))
    _medians(squares, members, values, k, out)
    return out


@jit(fastmath=False)
def _medians(squares: Any, members: Any, values: Any, k: int, out: Any) -> None:
    row, work = np.empty(len(members)), np.empty(len(members))
    for i in range(len(squares)):
        for j in range(len(members)):
            row[j] = squares[i, members[j]]
        reach = _reach(row, k)
        held = 0
        for j in range(len(row)):  # no branch, which could not be foretold
            work[held] = values[j]
            held += row[j] <= reach
        out[i] = _median(work[:held]) if held else np.nan  # no distance is a number


@jit(fastmath=False, inner=True)
def _median(values: Any) -> Any:
    """Median of one or more numbers, which are reordered."""
    half = values.shape[0] // 2
    upper = select(values, half)
    if values.shape[0] % 2:
        return upper
    lower = values[0]
    for j in range(1, half):  # those before are not larger
        lower = max(lower, values[j])
    return (lower + upper) * 0.5


@jit(fastmath=False, inner=True)
def _reach(row: Any, k: int) -> Any:
    """A distance within which k lie, or where that parts equal ones, all of these.

    By bisection: to count is far cheaper than to select.
    """
    stride = STRIDE
    while True:
        far = _farthest(row, stride)
        if _count(row, far) >= k:
            break
        if stride == 1:
            return np.inf
        stride = 1
    low, high = 0.0, far
    while high - low > SAME * high + ROUNDING * far:
        middle = low + PARTED * (high - low)
        if not low < middle < high:  # between the smallest numbers there are none
            break
        count = _count(row, middle)
        if count < k:
            low = middle
        else:
            high = middle
            if count == k:
                break
    return high


@jit(fastmath=False, inner=True)
def _farthest(row: Any, stride: int) -> Any:
    """The largest finite distance among some, and a little more."""
    far = 0.0
    for j in range(0, len(row), stride):
        if far < row[j] < np.inf:
            far = row[j]
    return far * (1.0 + SAME)


@jit(fastmath=False, inner=True)
def _count(row: Any, limit: float) -> int:
    count = 0
    for j in range(len(row)):
        count += row[j] <= limit
    return count
