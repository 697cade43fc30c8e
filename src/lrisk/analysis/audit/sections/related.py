"""Numbers that are off by a factor beside the other columns of their rows.

Ten times too large, a value may lie within the tail of a skewed column, where no gap
shows it, and still be far from what its row lets expect. Columns are compared by the
normal scores of their ranks, so that neither skew nor wrong values bend what is
expected: of a score by ridge regression on those of the others, and of the logarithm,
in which a factor is a shift, by its quantile at that score.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ...._typing import Bools, Floats
from .isolation import isolated_values
from .ordered import Ordered
from .repairs import POINTS

#: Ridge penalty, as a share of a score's variance: columns that say the same share what
#: they say, so that a wrong value in one does not decide about the others.
RIDGE = 0.1
#: Different values that tell a factor: fewer are usual by one of so many, by chance.
FEWEST_SCALED = 5


class OffTheirRows(NamedTuple):
    """Values of a column that are off by a factor beside the others of their rows.

    inside : which rows; shape (n,)
    """

    column: int
    above: bool
    inside: Bools
    factor: float


def off_their_rows(columns: list[Ordered], n: int, level: float) -> list[OffTheirRows]:
    """Values behind a gap, all by about one factor.

    A wrong value also makes others of its row look wrong, but moves their scores by
    less than its own. So those whose scores are off most are taken as what was
    expected, and the other columns are looked at again.
    """
    found: list[OffTheirRows] = []
    left = dict(enumerate(columns))
    scores = np.column_stack([_scores(own, n) for own in columns] or [np.zeros(n)])
    while len(columns) > 1:
        expected = _expected(scores)
        off = [_behind_a_gap(j, own, expected[:, j], level) for j, own in left.items()]
        moved = [_moved(one, scores, expected) if one else 0.0 for one in off]
        best = off[int(np.argmax(moved))] if moved else None
        if best is None:
            break
        found.append(best)
        del left[best.column]
        scores[best.inside, best.column] = expected[best.inside, best.column]
    return found


def _moved(one: OffTheirRows, scores: Floats, expected: Floats) -> float:
    """How far the scores of its values are off, as a rule."""
    at = one.inside, one.column
    return float(np.median(np.abs(scores[at] - expected[at])))


def _expected(scores: Floats) -> Floats:
    """Scores of every column by all others, of variance one."""
    n, p = scores.shape
    inverse = np.linalg.inv(scores.T @ scores / n + RIDGE * np.eye(p))
    told = scores @ (np.eye(p) - inverse / np.diag(inverse))
    # Not shrunk, unless the others say next to nothing.
    slopes = np.einsum("ij,ij->j", scores, told)
    slopes /= np.maximum(np.einsum("ij,ij->j", told, told), RIDGE)
    told *= np.clip(slopes, 0.0, 1.0 / RIDGE)  # in place: as large as the table
    return np.asarray(told)


def _off(own: Ordered, expected: Floats, others: Floats) -> Floats:
    """Logarithms less those of the quantiles of others; NaN where cells are missing."""
    at = (ndtr(expected[own.rows]) * len(others)).astype(np.int64)
    off = np.full(len(expected), np.nan)
    off[own.rows] = np.log(own.values / others[np.minimum(at, len(others) - 1)])
    return off


def _behind_a_gap(
    j: int, own: Ordered, expected: Floats, level: float
) -> OffTheirRows | None:
    """Values of one side, if a slipped point takes most of them to where others are.

    A value of several rows counts once. Units are not looked for inside a tail: they
    lie so near to each other that nearly any group of values is usual by one of them.
    """
    if not len(own.values) or own.values[0] <= 0.0:
        return None
    off = _off(own, expected, own.values)
    once = Ordered.of(off[own.rows[np.cumsum(own.counts) - own.counts]])
    for above in (True, False):
        found = isolated_values(once, above, logarithms=True)
        if found is None or found.chance > level or found.number < FEWEST_SCALED:
            continue
        edge = once.values[-found.number if above else found.number - 1]
        inside = off >= edge if above else off <= edge
        usual = own.values[~inside[own.rows]]
        middle = float(np.median(_off(own, expected, usual)[inside]))
        both = [f for size in POINTS for f in (size, 1.0 / size)]
        factor = min(both, key=lambda f: abs(np.log(f) - middle))
        if abs(middle - np.log(factor)) <= abs(found.nearest):
            return OffTheirRows(j, above, inside, factor)
    return None


def _scores(own: Ordered, n: int) -> Floats:
    """Normal scores of ranks; missing cells have that of the median."""
    last = np.cumsum(own.counts)
    ranks = np.repeat(last - own.counts / 2.0, own.counts)
    scores = np.zeros(n)
    scores[own.rows] = ndtri(ranks / max(len(ranks), 1))
    return scores
