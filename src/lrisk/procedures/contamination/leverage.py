"""Rows far from the others in X that pull a line their way.

A flexible reference follows such rows and cannot judge them; a linear model is ruled by
them. They are left out of a linear fit only if most of them misfit a robust line
through the rest, and the fit to the rest clearly gains.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ..._typing import Bools, Floats
from .feature_errors import suspected_columns
from .final_fit import fit_linear
from .kernel_ridge import squared_distances
from .reference import capped_error
from .robust_scale import Columns, half_scale

#: Neighbours that link rows, and rows up to which links are looked for.
LINKS, LINKED_ROWS = 10, 2000
#: Least rows of a group, largest share of rows left out, most groups tested.
FEWEST, LARGEST_SHARE, MOST_GROUPS = 5, 0.35, 10
#: Scales by which far rows must misfit, and the least gain in squared error.
MISFIT, GAIN = 6.0, 0.05


def suspected_groups(X: Floats, group: Bools) -> list[Bools]:
    """A group found before, rows with a value behind a gap, small components in X."""
    far = [rows for _, rows in suspected_columns(X)]
    return [group, *far, *_small_components(X)]


def _small_components(X: Floats) -> list[Bools]:
    """Components of the graph of ten nearest neighbours, but for the largest."""
    n = len(X)
    k = min(LINKS, n - 1)
    if n > LINKED_ROWS or k < 1:
        return []
    Z = np.clip(Columns.of(X).standardised(X), -20.0, 20.0)
    squares = squared_distances(Z, Z)
    np.fill_diagonal(squares, np.inf)
    near = np.argpartition(squares, k - 1, axis=1)[:, :k]
    links = csr_matrix(
        (np.ones(n * k), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n)
    )
    _, labels = connected_components(links, directed=False)
    sizes = np.bincount(labels)
    return [labels == c for c in range(len(sizes)) if c != np.argmax(sizes)]


def pulling_rows(
    X: Floats, y: Floats, weights: Floats, group: Bools, alpha: float | None
) -> Bools:
    """Rows of suspected groups that misfit a robust line through the rest.

    Named only if dropping them pays, and if there are three rows for each parameter of
    the line. Groups are tested one by one.
    """
    pulling = np.zeros(len(y), dtype=bool)
    tested = 0
    for suspects in suspected_groups(X, group):
        suspects = suspects & ~pulling
        rest = ~suspects & ~pulling
        count = suspects.sum()
        few = count < FEWEST or count > LARGEST_SHARE * len(y)
        if few or X.shape[1] > rest.sum() / 3 or tested == MOST_GROUPS:
            continue
        tested += 1
        found = _pulling(X, y, weights, suspects, rest, alpha)
        if (pulling | found).sum() <= LARGEST_SHARE * len(y):
            pulling |= found
    return pulling


def _pulling(
    X: Floats,
    y: Floats,
    weights: Floats,
    suspects: Bools,
    rest: Bools,
    alpha: float | None,
) -> Bools:
    """Suspects that misfit the line through the rest, if leaving them out pays."""
    nobody = np.zeros(len(y), dtype=bool)
    line = fit_linear(X[rest], y[rest], weights[rest], alpha)
    reach = 3.0 * half_scale(line.left_out)
    near = rest.copy()
    near[rest] = np.abs(line.left_out - np.median(line.left_out)) <= reach
    if near.sum() > max(X.shape[1] + 1, 0.5 * rest.sum()):
        line = fit_linear(X[near], y[near], weights[near], alpha)
    away = np.abs(y - line.predict(X))
    scale = half_scale(away[rest])
    pulling = suspects & (away > MISFIT * scale)
    if pulling.sum() < max(FEWEST, 0.5 * suspects.sum()):
        return nobody
    if np.mean(pulling[suspects]) <= 5.0 * np.mean(away[rest] > MISFIT * scale):
        return nobody
    whole = fit_linear(X, y, weights, alpha)
    kept = ~pulling
    without = fit_linear(X[kept], y[kept], weights[kept], alpha)
    cap = MISFIT * scale
    before = capped_error(whole.left_out[rest], cap)
    after = capped_error(without.left_out[rest[kept]], cap)
    return pulling if after < (1.0 - GAIN) * before else nobody
