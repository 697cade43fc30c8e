"""Distinct rows in an order of their own, so that copies and order do not matter."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..._typing import Floats, Indices


class Distinct(NamedTuple):
    """The distinct (x, y) of a table, sorted; rows of the table refer to them.

    first : a row of the table for each distinct row
    number : for each row of the table the distinct row it equals
    weights : weight of all copies together
    """

    first: Indices
    number: Indices
    weights: Floats

    @classmethod
    def of(cls, X: Floats, y: Floats, weights: Floats) -> "Distinct":
        """Sort by y, then by the columns."""
        order = canonical_order(X, y)
        changed = np.any(X[order[1:]] != X[order[:-1]], axis=1)
        changed |= y[order[1:]] != y[order[:-1]]
        starts = np.concatenate([[True], changed])
        count = np.cumsum(starts) - 1
        number = np.empty(len(y), dtype=np.intp)
        number[order] = count
        sums = np.bincount(count, weights=weights[order]).astype(np.float64)
        return cls(order[starts], number, sums)


def equal_rows(Z: Floats) -> Indices:
    """The same number for rows that are equal, shape (n,)."""
    return Distinct.of(Z, np.zeros(len(Z)), np.ones(len(Z))).number


def joined_places(Z: Floats, groups: Indices) -> Indices:
    """The same number for rows that are equal or of one group, shape (n,)."""
    n, equal = len(Z), equal_rows(Z)
    ends = np.concatenate([equal, groups + equal.max() + 1]) + n
    size = int(ends.max()) + 1
    links = (np.ones(2 * n), (np.tile(np.arange(n), 2), ends))
    return np.asarray(connected_components(csr_array(links, (size, size)))[1][:n])


def canonical_order(X: Floats, y: Floats) -> Indices:
    """Rows by y, then by the columns; columns are looked at only where y is tied."""
    order = np.argsort(y, kind="stable")
    same = y[order[1:]] == y[order[:-1]]
    if same.any():
        tied = np.zeros(len(y), dtype=bool)
        tied[1:] = same
        tied[:-1] |= same
        run = np.cumsum(np.concatenate([[True], ~same]))[tied]
        rows = order[tied]
        order[tied] = rows[np.lexsort((*X[rows].T[::-1], run))]
    return np.asarray(order)
