"""Distinct rows in an order of their own, so that copies and order do not matter."""

from typing import NamedTuple

import numpy as np

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
        order = _order(X, y)
        changed = np.any(X[order[1:]] != X[order[:-1]], axis=1)
        changed |= y[order[1:]] != y[order[:-1]]
        starts = np.concatenate([[True], changed])
        count = np.cumsum(starts) - 1
        number = np.empty(len(y), dtype=np.intp)
        number[order] = count
        sums = np.bincount(count, weights=weights[order]).astype(np.float64)
        return cls(order[starts], number, sums)


def _order(X: Floats, y: Floats) -> Indices:
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
