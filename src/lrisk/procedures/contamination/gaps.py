"""Gaps between rows: who lies apart from all others, and who is connected to them."""

import numpy as np

from ..._typing import Bools, Floats
from .kernel_ridge import squared_distances

#: Neighbours of a row that must be near; one may be a copy or another stray row.
NEIGHBOURS = 5
#: Rows that distances are measured to, at most.
MOST_ROWS = 1000
#: Steps in which rows are joined to those that are connected already.
STEPS = 10


def apart_from(rows: Floats, others: Floats) -> Bools:
    """Rows twice as far from the others as nearly all of these are from each other."""
    k = min(NEIGHBOURS, len(others) - 1)
    among = squared_distances(others, others)
    rounding = 1e-12 * float(among.max())  # rows may be copies of each other
    own = np.partition(among, k, axis=1)[:, k]
    theirs = np.partition(squared_distances(rows, others), k, axis=1)[:, k]
    return np.asarray(theirs > 4.0 * np.quantile(own, 0.95) + rounding)


def connected(rows: Floats, core: Bools) -> Bools:
    """The core, and rows that a chain of rows without a gap joins to it; shape (n,).

    The tail of a skewed column is connected to its middle; a group of rows far out, or
    a row far out in a direction of its own, is not.
    """
    joined = core.copy()
    for _ in range(STEPS):
        rest = np.flatnonzero(~joined)
        own = np.flatnonzero(joined)
        if len(rest) == 0 or len(own) < 2:
            break
        few = np.linspace(0, len(own) - 1, min(len(own), MOST_ROWS)).astype(int)
        near = ~apart_from(rows[rest], rows[own[few]])
        if not near.any():
            break
        joined[rest[near]] = True
    return joined
