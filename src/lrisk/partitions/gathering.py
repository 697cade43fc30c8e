"""A few rows of all parts, brought together."""

import numpy as np

from .._typing import Indices
from .answers import Taken


def spaced(n_rows: int, count: int) -> Indices:
    """Some rows, evenly spaced and ascending."""
    return np.unique(np.linspace(0, n_rows - 1, min(count, n_rows)).astype(np.intp))


def together(taken: list[Taken]) -> Taken:
    """Rows of all parts as one."""
    some = [rows for rows in taken if len(rows.ids)] or taken[:1]
    weight = None
    if some[0].weight is not None:
        weight = np.concatenate([rows.weight for rows in some])
    ids, X, y, losses = (
        np.concatenate([rows[k] for rows in some]) for k in (0, 1, 2, 4)
    )
    return Taken(ids, X, y, weight, losses)
