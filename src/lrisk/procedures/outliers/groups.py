"""Groups of rows that lie apart from the others in X."""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ..._typing import Bools, Floats, Indices
from .._robust.scales import COMPRESSED_BEYOND, FARTHEST, Columns, compress
from .constants import CONSTANTS as C
from .kernel_ridge import squared_distances


def groups_apart(X: Floats) -> list[Bools]:
    """Components of three graphs of up to 2000 rows.

    The first links each row to its ten nearest: what it parts lies far apart. In many
    dimensions it parts nothing: a tight group far out is among the nearest of nearly
    all rows, but they are not among its. So the second links rows much nearer than
    neighbours usually are, and the third those *mutually* among their nearest; what
    these part may be a dent in the density, and only tight groups far out are
    suspected. Most of the other rows must hang together: where there are many groups,
    none is an exception. Rows equally near are near all or none.
    """
    if not 1 < len(X) <= C.linked_rows:
        return []
    Z = _in_scales(X)
    squares = squared_distances(Z, Z)
    np.fill_diagonal(squares, np.inf)
    reach, near = _neighbours(squares)
    closest = squares <= C.close * C.close * float(np.median(reach))
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
    if _radius(inside) >= C.tight * _radius(outside):
        return False
    deviation = outside.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    way = (inside.mean(axis=0) - outside.mean(axis=0)) / deviation
    length = float(np.linalg.norm(way))
    along = outside @ (way / max(length, 1e-300) / deviation)
    return length > C.group_away * float(np.std(along))


def _neighbours(squares: Floats) -> tuple[Floats, Bools]:
    """Squared distance of the tenth neighbour, and who is as near as that to whom."""
    k = min(C.links, len(squares) - 1)
    rounding = 1e-12 * float(np.max(squares, where=np.isfinite(squares), initial=0.0))
    reach = np.partition(squares, k - 1, axis=1)[:, k - 1] * (1.0 + 1e-9) + rounding
    return reach, squares <= reach[:, None]


def _is_one_cloud(squares: Floats) -> bool:
    """Whether most rows hang together: among many clouds a tight one is no surprise."""
    near = _neighbours(squares)[1]
    return bool(2 * np.max(_sizes(near | near.T)[0]) >= len(squares))


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
    reach = C.group_round * C.group_round * float(np.quantile(squares[component], 0.9))
    group = component | (squares <= reach)
    return group if group.sum() <= C.largest_minority * len(Z) else component


def _components(links: Bools, Z: Floats) -> list[Bools]:
    """The five largest components of at least five rows and at most 35 %.

    Of equal ones the farther out: the order of rows must not choose.
    """
    sizes, labels = _sizes(links)
    out = np.bincount(labels, weights=np.einsum("ij,ij->i", Z, Z)) / sizes
    order = np.lexsort((-out, -sizes))
    few = (sizes[order] >= C.fewest_of_group) & (
        sizes[order] <= C.largest_minority * len(labels)
    )
    return [labels == label for label in order[few][: C.most_groups]]


def _sizes(links: Bools) -> tuple[Indices, Indices]:
    """Rows in each component of a graph, and the component of each row."""
    graph = csr_matrix(links.astype(np.int8))
    labels = connected_components(graph, directed=False)[1]
    return np.bincount(labels), np.asarray(labels)
