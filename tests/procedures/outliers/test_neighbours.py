"""Medians over nearest rows, against the plain formula."""

import numpy as np
import pytest

from lrisk.procedures.outliers.kernel_ridge import squared_distances
from lrisk.procedures.outliers.neighbours import medians_of_nearest


def plainly(squares, members, values, k):
    """Medians over all members as far as the k-th, by sorting."""
    out = []
    for row in squares[:, members]:
        reach = np.sort(row)[k - 1] + 1e-8
        out.append(np.median(values[row <= reach]))
    return np.array(out)


@pytest.mark.parametrize("m", [5, 41, 130, 700])
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["continuous", "whole numbers", "copies"])
def test_medians_by_sorting(m, share, kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        known, rows = rng.normal(size=(m, 3)), rng.normal(size=(20, 3))
        if kind == "whole numbers":
            known, rows = np.round(known), np.round(rows)
        elif kind == "copies":
            known = known[rng.integers(max(1, m // 10), size=m)]
            rows = known[rng.integers(m, size=20)]
        members = np.sort(rng.choice(m, max(2, 2 * m // 3), replace=False))
        k = max(1, int(share * (len(members) - 1)))
        values = rng.random(len(members))
        squares = squared_distances(rows, known)
        found = medians_of_nearest(squares, members, values, k)
        np.testing.assert_array_equal(found, plainly(squares, members, values, k))


def test_neither_order_nor_batch_matters():
    rng = np.random.default_rng(0)
    known, rows = rng.integers(3, size=(300, 4)) * 1.0, rng.integers(3, size=(50, 4))
    values, order = rng.random(300), rng.permutation(300)
    everybody = np.arange(300)

    def medians(rows, known, values):
        squares = squared_distances(rows.astype(float), known)
        return medians_of_nearest(squares, everybody, values, 20)

    together = medians(rows, known, values)
    np.testing.assert_array_equal(together, medians(rows, known[order], values[order]))
    alone = [medians(row[None], known, values)[0] for row in rows]
    np.testing.assert_array_equal(together, alone)


def test_infinite_distances_are_never_near():
    squares = np.array([[np.inf, 1.0, 2.0, 3.0], [np.inf, np.inf, np.inf, 1.0]])
    values = np.array([100.0, 1.0, 2.0, 3.0])
    found = medians_of_nearest(squares, np.arange(4), values, 3)
    assert found[0] == 2.0
    assert found[1] == np.median(values)  # too few: all of them


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-310, 1e-300, 1e300, 1.7e308])
def test_the_smallest_and_largest_numbers(size):
    values = np.arange(10.0)
    equal = np.full((1, 10), size)
    assert medians_of_nearest(equal, np.arange(10), values, 3) == 4.5
    apart = np.full((1, 10), size)
    apart[0, :4] = 0.0
    expected = 1.5 if size > 0.0 else 4.5
    assert medians_of_nearest(apart, np.arange(10), values, 4) == expected


def test_no_number_has_no_neighbours():
    nothing = np.full((1, 5), np.nan)
    assert np.isnan(medians_of_nearest(nothing, np.arange(5), np.arange(5.0), 2))
