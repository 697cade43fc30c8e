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
        order = np.lexsort((*X.T[::-1], y))
        changed = np.any(X[order[1:]] != X[order[:-1]], axis=1)
        changed |= y[order[1:]] != y[order[:-1]]
        starts = np.concatenate([[True], changed])
        count = np.cumsum(starts) - 1
        number = np.empty(len(y), dtype=np.intp)
        number[order] = count
        sums = np.bincount(count, weights=weights[order]).astype(np.float64)
        return cls(order[starts], number, sums)
