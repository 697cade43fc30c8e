"""The known values of a column in order: sorted once, for all that is asked of it."""

from typing import NamedTuple

import numpy as np

from ...._typing import Floats, Indices


class Ordered(NamedTuple):
    """Numbers in rising order.

    rows : where they stand in the column
    values : themselves
    different, counts : each different one, and how many rows have it
    """

    rows: Indices
    values: Floats
    different: Floats
    counts: Indices

    @classmethod
    def of(cls, column: Floats) -> "Ordered":
        """Of a column; missing values are left out."""
        known = np.flatnonzero(~np.isnan(column))
        order = known[np.argsort(column[known], kind="stable")]
        return cls.of_sorted(order, column[order].astype(np.float64))

    @classmethod
    def of_sorted(cls, order: Indices, values: Floats) -> "Ordered":
        """Of rows in rising order of these values."""
        first = np.flatnonzero(np.r_[True, values[1:] != values[:-1]][: len(values)])
        if len(first) == len(values):  # nothing as large as the column is held twice
            return cls(order, values, values, np.broadcast_to(np.intp(1), len(values)))
        counts = np.diff(np.r_[first, len(values)])
        return cls(order, values, values[first], counts)
