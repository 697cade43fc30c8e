"""Engines answer in the order of the parts, and sums do not depend on timing."""

import itertools

import numpy as np
import pytest

from lrisk.losses import Squared
from lrisk.partitions.engine import Local, call, summed
from lrisk.partitions.grid import Grid, joined
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows


def parts_of(X, y, cuts):
    ends = [0, *cuts, len(y)]
    return [
        Part(ArrayRows(X[a:b]), y[a:b], None, Squared())
        for a, b in itertools.pairwise(ends)
    ]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_parts_together_are_the_whole(n_threads):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 4)), rng.normal(size=1000)
    theta, grid = rng.normal(size=5), Grid.below(20.0, 7, 1e-3)
    whole = parts_of(X, y, [])[0].at(theta, grid)
    for cuts in ([], [1], [0, 0, 400, 999, 1000], range(1, 1000, 13)):
        engine = Local(parts_of(X, y, cuts), n_threads)
        assert engine.n_parts == len(cuts) + 1
        table = joined(call(engine, "at", theta, grid))
        np.testing.assert_array_equal(table.mass, whole.mass)
        np.testing.assert_allclose(table.above, whole.above, atol=1e-12)
        assert (table.lowest, table.highest) == (whole.lowest, whole.highest)


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(5000, 4)), rng.normal(size=5000)
    theta, grid = rng.normal(size=5), Grid.below(20.0, 7, 1e-3)
    cuts = range(500, 5000, 500)
    pulls = []
    for n_threads in (1, 2, 4):
        engine = Local(parts_of(X, y, cuts), n_threads)
        told = call(engine, "at_binned", theta, grid)
        pulls.append(summed((pull for _, pull in told), np.add))
    np.testing.assert_array_equal(pulls[0], pulls[1])
    np.testing.assert_array_equal(pulls[0], pulls[2])


def test_each_part_gets_its_own_arguments():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    engine = Local(parts_of(X, y, [4]))
    taken = engine.call_each("take", [(np.array([1, 3]),), (np.array([0]),)])
    assert [t.y.tolist() for t in taken] == [[1.0, 3.0], [4.0]]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13])
def test_sums_in_pairs_keep_their_order(count):
    assert summed([(i,) for i in range(count)], lambda a, b: a + b) == (*range(count),)
