"""Gaps between rows: who lies apart from all others."""

import numpy as np

from ..._typing import Bools, Floats, Indices
from .constants import CONSTANTS as C
from .kernel_ridge import squared_distances


def apart_from(rows: Floats, others: Floats) -> Bools:
    """Rows twice as far from the others as nearly all of these are from each other.

    All of them, if there are no others.
    """
    if len(others) == 0:
        return np.ones(len(rows), dtype=bool)
    k = min(C.fewest_of_group, len(others) - 1)
    theirs = np.partition(squared_distances(rows, others), k, axis=1)[:, k]
    return np.asarray(theirs > _reach(others))


def _reach(rows: Floats) -> float:
    """Squared: twice as far as nearly all rows are from their fifth neighbour."""
    k = min(C.fewest_of_group, len(rows) - 1)
    among = squared_distances(rows, rows)
    rounding = 1e-12 * float(among.max())  # rows may be copies of each other
    own = np.partition(among, k, axis=1)[:, k]
    return 4.0 * float(np.quantile(own, 0.95)) + rounding


def _at_most(rows: Indices) -> Indices:
    """Some of these rows, evenly spread."""
    few = np.linspace(0, len(rows) - 1, min(len(rows), C.reference_rows)).astype(int)
    return np.asarray(rows[few])


def alone(rows: Floats, near: Bools) -> Bools:
    """Rows without others round them, by the distances among near ones; shape (n,)."""
    out = np.zeros(len(rows), dtype=bool)
    far, own = np.flatnonzero(~near), _at_most(np.flatnonzero(near))
    if len(far) == 0 or len(own) < 2:
        return out
    others = np.concatenate([own, _at_most(far)])
    k = min(C.fewest_of_group, len(others) - 1)
    theirs = np.partition(squared_distances(rows[far], rows[others]), k, axis=1)[:, k]
    out[far] = theirs > _reach(rows[own])
    return out
