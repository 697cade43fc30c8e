"""Rows far from the others in X that pull a line their way.

A flexible reference follows such rows and cannot judge them; a linear model is ruled by
them. They are left out of a linear fit only if most of them misfit a robust line
through the rest, and the fit to the rest clearly gains.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ..._typing import Bools, Floats, Indices
from .feature_errors import suspected_columns
from .final_fit import fit_linear
from .kernel_ridge import squared_distances
from .reference import capped_error
from .robust_scale import (
    COMPRESSED_BEYOND,
    FARTHEST,
    Columns,
    beyond_the_others,
    compress,
    distance_as_a_whole,
    half_scale,
)

#: Neighbours that link rows, and rows up to which links are looked for.
LINKS, LINKED_ROWS = 10, 2000
#: Share of the usual distance to the tenth neighbour within which rows are close, and
#: of the others' radius that a tight group has at most.
CLOSE, TIGHT = 0.6, 0.5
#: Deviations of the others by which it must lie away from them.
FAR_OUT = 5.0
#: Share of the other rows that must hang together.
MOST = 0.5
#: Radii of a group within which all rows are of it.
ROUND = 2.0
#: Columns from which on a single row may be gross, and by how much its logarithmic
#: distance is beyond the next: 4.5 times as far in every column.
GROSS_COLUMNS, GROSS_GAP = 3, 1.5
#: Least rows of a group, largest share of rows left out, most groups tested of a kind.
FEWEST, LARGEST_SHARE, MOST_OF_A_KIND = 5, 0.35, 5
#: Scales by which far rows must misfit, and the least gain in squared error.
MISFIT, GAIN = 6.0, 0.05


class Suspects(NamedTuple):
    """Rows that may pull, and how many of them must misfit at least.

    Rows far out as a whole need not be a group: a single one may rule the line.
    """

    rows: Bools
    fewest: int

    def may_pull(self, pulling: Bools) -> bool:
        """Whether enough of them are left, and not too many."""
        count = np.sum(self.rows & ~pulling)
        return bool(self.fewest <= count <= LARGEST_SHARE * len(pulling))


def suspected_rows(X: Floats, group: Bools) -> list[Suspects]:
    """What may pull a line.

    Rows far out as a whole, a group found before, groups apart in X, and rows with a
    value behind a gap.
    """
    far = [rows for _, rows in suspected_columns(X)]
    groups = [group, *_groups_apart(X), *far[:MOST_OF_A_KIND]]
    return [Suspects(_gross_rows(X), 1), *(Suspects(g, FEWEST) for g in groups)]


def _gross_rows(X: Floats) -> Bools:
    """Rows of three columns and more far out as a whole, behind a gap.

    As by another unit in all columns. Without the gap, or by one or two columns, they
    may be the end of a tail, which a line fits badly where the relation is curved.
    """
    everybody = np.ones(len(X), dtype=bool)
    far = beyond_the_others(X, np.ones(len(X)), everybody)
    if X.shape[1] < GROSS_COLUMNS or not far.any():
        return np.zeros(len(X), dtype=bool)
    distance = distance_as_a_whole(X, everybody)
    ordered = np.sort(distance[distance >= np.max(distance[~far])])
    gaps = np.flatnonzero(np.diff(ordered) >= GROSS_GAP)
    return distance > ordered[gaps[0]] if len(gaps) else np.zeros(len(X), dtype=bool)


def _groups_apart(X: Floats) -> list[Bools]:
    """Components of three graphs of up to 2000 rows.

    The first links each row to its ten nearest: what it parts lies far apart. In many
    dimensions it parts nothing: a tight group far out is among the nearest of nearly
    all rows, but they are not among its. So the second links rows much nearer than
    neighbours usually are, and the third those *mutually* among their nearest; what
    these part may be a dent in the density, and only tight groups far out are
    suspected. Most of the other rows must hang together: where there are many groups,
    none is an exception. Rows equally near are near all or none.
    """
    if not 1 < len(X) <= LINKED_ROWS:
        return []
    Z = _in_scales(X)
    squares = squared_distances(Z, Z)
    np.fill_diagonal(squares, np.inf)
    reach, near = _neighbours(squares)
    closest = squares <= CLOSE * CLOSE * float(np.median(reach))
    suspects = _components(near | near.T, Z)
    for component in (*_components(closest, Z), *_components(near & near.T, Z)):
        group = _rounded_off(Z, component)
        if _is_tight_and_far(Z[group], Z[~group]):
            suspects.append(group)
    groups: list[Bools] = []
    for group in suspects:
        known = any(np.array_equal(group, other) for other in groups)
        if not known and _is_one_cloud(squares[np.ix_(~group, ~group)]):
            groups.append(group)
    return groups


def _is_tight_and_far(inside: Floats, outside: Floats) -> bool:
    """Whether rows have half of the others' radius, and lie five deviations away.

    Deviations of the others in the direction of the group, their columns standardised.
    """
    if _radius(inside) >= TIGHT * _radius(outside):
        return False
    deviation = outside.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    way = (inside.mean(axis=0) - outside.mean(axis=0)) / deviation
    length = float(np.linalg.norm(way))
    along = outside @ (way / max(length, 1e-300) / deviation)
    return length > FAR_OUT * float(np.std(along))


def _neighbours(squares: Floats) -> tuple[Floats, Bools]:
    """Squared distance of the tenth neighbour, and who is as near as that to whom."""
    k = min(LINKS, len(squares) - 1)
    rounding = 1e-12 * float(np.max(squares, where=np.isfinite(squares), initial=0.0))
    reach = np.partition(squares, k - 1, axis=1)[:, k - 1] * (1.0 + 1e-9) + rounding
    return reach, squares <= reach[:, None]


def _is_one_cloud(squares: Floats) -> bool:
    """Whether most rows hang together: among many clouds a tight one is no surprise."""
    near = _neighbours(squares)[1]
    return bool(np.max(_sizes(near | near.T)[0]) >= MOST * len(squares))


def _radius(Z: Floats) -> float:
    """Root mean square distance from the mean."""
    return float(np.sqrt(np.mean(np.sum((Z - Z.mean(axis=0)) ** 2, axis=1))))


def _in_scales(X: Floats) -> Floats:
    """Columns in scales, by the logarithm beyond three: clipped tails would cluster.

    Where most rows have one value, quartiles may lie within the spread of a few others:
    there the scale is at least that of the middle nine tenths.
    """
    columns = Columns.of(X)
    with np.errstate(over="ignore"):
        Z = np.clip(columns.standardised(X), -FARTHEST, FARTHEST)
    low, high = np.quantile(Z, [0.05, 0.95], axis=0)
    one_value = np.mean(columns.center == X, axis=0) >= 0.5
    scale = np.where(one_value, np.std(np.clip(Z, low, high), axis=0), 1.0)
    return compress(Z / np.maximum(scale, 1.0), COMPRESSED_BEYOND)


def _rounded_off(Z: Floats, component: Bools) -> Bools:
    """With the rows in the ball that holds nearly all of it, unless these are many.

    A few rows of a group that are left in rule a line, too.
    """
    squares = np.sum((Z - np.median(Z[component], axis=0)) ** 2, axis=1)
    reach = ROUND * ROUND * float(np.quantile(squares[component], 0.9))
    group = component | (squares <= reach)
    return group if group.sum() <= LARGEST_SHARE * len(Z) else component


def _components(links: Bools, Z: Floats) -> list[Bools]:
    """The five largest components of at least five rows and at most 35 %.

    Of equal ones the farther out: the order of rows must not choose.
    """
    sizes, labels = _sizes(links)
    out = np.bincount(labels, weights=np.einsum("ij,ij->i", Z, Z)) / sizes
    order = np.lexsort((-out, -sizes))
    few = (sizes[order] >= FEWEST) & (sizes[order] <= LARGEST_SHARE * len(labels))
    return [labels == label for label in order[few][:MOST_OF_A_KIND]]


def _sizes(links: Bools) -> tuple[Indices, Indices]:
    """Rows in each component of a graph, and the component of each row."""
    graph = csr_matrix(links.astype(np.int8))
    labels = connected_components(graph, directed=False)[1]
    return np.bincount(labels), np.asarray(labels)


def pulling_rows(
    X: Floats, y: Floats, weights: Floats, group: Bools, alpha: float | None
) -> Bools:
    """Suspected rows that misfit a robust line through the rest.

    Named only if dropping them pays, and up to 35 % of all rows. What pays most goes
    first, and the others are tried again: as long as one rules the line, it is others
    that seem to misfit.
    """
    pulling = np.zeros(len(y), dtype=bool)
    suspected = [s for s in suspected_rows(X, group) if s.may_pull(pulling)]
    while suspected:
        left = ~pulling
        with np.errstate(over="ignore", invalid="ignore"):  # of rows soon left out
            trials = [
                _tried(X[left], y[left], weights[left], s.rows[left], s.fewest, alpha)
                for s in suspected
            ]
        best = min(trials, key=lambda trial: trial.error)
        found = pulling.copy()
        found[left] = best.pulling
        if best.error > 1.0 - GAIN or found.sum() > LARGEST_SHARE * len(y):
            break
        pulling = found
        suspected = [
            s
            for s, trial in zip(suspected, trials, strict=True)
            if trial.error < 1.0 and s.may_pull(pulling)
        ]
    return pulling


class Tried(NamedTuple):
    """A fit without some suspects.

    pulling : suspects that misfit the line through the rest
    error : squared error of the rest without them, as a share of that with them; one if
        too few misfit
    """

    pulling: Bools
    error: float


def _tried(
    X: Floats,
    y: Floats,
    weights: Floats,
    suspects: Bools,
    fewest: int,
    alpha: float | None,
) -> Tried:
    """Suspects that misfit the robust line through the rest, and whether that pays."""
    rest = ~suspects
    line = fit_linear(X[rest], y[rest], weights[rest], alpha)
    reach = 3.0 * half_scale(line.left_out)
    near = rest.copy()
    near[rest] = np.abs(line.left_out - np.median(line.left_out)) <= reach
    fitted = rest
    if near.sum() > max(X.shape[1] + 1, 0.5 * rest.sum()):
        line, fitted = fit_linear(X[near], y[near], weights[near], alpha), near
    away = np.abs(y - line.predict(X))
    away[fitted] = np.abs(line.left_out)  # as of rows it has not seen
    scale = half_scale(away[rest])
    pulling = suspects & (away > MISFIT * scale)
    few = pulling.sum() < max(fewest, 0.5 * suspects.sum())
    if few or np.mean(pulling[suspects]) <= 5.0 * np.mean(away[rest] > MISFIT * scale):
        return Tried(pulling, 1.0)
    whole = fit_linear(X, y, weights, alpha)
    kept = ~pulling
    without = fit_linear(X[kept], y[kept], weights[kept], alpha)
    cap = MISFIT * scale
    before = capped_error(whole.left_out[rest], cap)
    after = capped_error(without.left_out[rest[kept]], cap)
    if not np.isfinite(before):  # with values too far out to be squared
        return Tried(pulling, 0.0 if np.isfinite(after) else 1.0)
    return Tried(pulling, after / max(before, 1e-300))
