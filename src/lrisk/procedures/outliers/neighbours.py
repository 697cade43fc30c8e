"""Medians over the nearest of many rows."""

import numpy as np

from ..._typing import Floats, Indices

#: Distances are equal within this share of themselves, and of a far one.
SAME, ROUNDING = 1e-9, 1e-12


def medians_of_nearest(
    squares: Floats, members: Indices, values: Floats, k: int
) -> Floats:
    """Median value over the k nearest members, for each row of distances; shape (r,).

    squares (r, m), members (p,) columns of it, values (p,), 1 ≤ k ≤ p. Members as far
    as the k-th belong to the nearest as well: among equal distances neither the order
    of the rows nor rounding may choose.
    """
    squares = squares[:, members]
    near = squares <= _reach(squares, k)[:, None]
    counts, out = np.sum(near, axis=1), np.full(len(squares), np.nan)
    for count in np.unique(counts[counts > 0]):  # the same in most rows
        rows = np.flatnonzero(counts == count)
        nearest = np.nonzero(near[rows])[1].reshape(-1, count)
        out[rows] = np.median(values[nearest], axis=1)
    return out


def _reach(squares: Floats, k: int) -> Floats:
    """A distance within which the nearest k of each row lie."""
    last = np.partition(squares, k - 1, axis=1)[:, k - 1]
    finite = np.isfinite(squares)
    far = np.max(squares, axis=1, where=finite, initial=0.0)
    with np.errstate(over="ignore"):
        reach = last * (1.0 + SAME) + ROUNDING * far
    return np.where(np.isfinite(last), reach, np.inf)  # too few finite ones: all
