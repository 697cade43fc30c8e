"""A few rows of all parts as one."""

import numpy as np
import pytest

from lrisk.partitions.answers import Taken
from lrisk.partitions.gathering import spaced, together


@pytest.mark.parametrize(("n", "count"), [(1, 5), (7, 7), (10, 3), (10**6, 6400)])
def test_spaced_rows_reach_both_ends_once_each(n, count):
    rows = spaced(n, count)
    assert len(rows) == min(n, count) and np.all(np.diff(rows) > 0)
    assert rows[0] == 0 and (count == 1 or rows[-1] == n - 1)


def taken(n, weighted=True):
    own = np.arange(float(n))
    return Taken(own.astype(np.intp), own[:, None], own, own if weighted else None, own)


@pytest.mark.parametrize("weighted", [True, False])
def test_parts_without_rows_are_passed_over(weighted):
    rows = together([taken(n, weighted) for n in (0, 2, 0, 3)])
    assert rows.y.tolist() == [0.0, 1.0, 0.0, 1.0, 2.0] and rows.X.shape == (5, 1)
    assert (rows.weight is None) is not weighted


def test_no_rows_at_all():
    assert len(together([taken(0), taken(0)]).ids) == 0
