"""Fits of a few random rows, taken two steps towards the half that they fit best."""

import numpy as np
import pytest

from lrisk.solvers.elemental import elemental_fits, largest


def ridge_fit(rows, y, ridge):
    return np.linalg.solve(rows.T @ rows + np.diag(ridge), rows.T @ y)


def concentrated(rows, y, ridge, kept, first, steps):
    """The same by numpy: the lowest penalised sum on the way, and its coefficients."""
    theta, ends = ridge_fit(rows[first], y[first], ridge), []
    for _ in range(steps + 1):
        squares = (rows @ theta - y) ** 2
        nearest = np.argsort(squares, kind="stable")[:kept]
        ends.append((squares[nearest].sum() + ridge @ theta**2, theta))
        theta = ridge_fit(rows[nearest], y[nearest], ridge)
    return min(ends, key=lambda end: end[0])


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("n, m", [(2, 1), (7, 3), (60, 4), (300, 9)])
def test_every_start_is_that_of_numpy(n, m, steps):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, y = rng.normal(size=(n, m)), rng.normal(size=n)
        y[: n // 3] += 20.0
        ridge, kept = rng.uniform(0.1, 1.0, m), (n + m + 1) // 2
        order = largest(rng.random((20, n)), min(3 * m, n))
        fits, sums = elemental_fits(rows, y, ridge, kept, order, steps)
        for found, total, places in zip(fits, sums, order, strict=True):
            least, theta = concentrated(rows, y, ridge, kept, places[:m], steps)
            assert total == pytest.approx(least, rel=1e-9)
            np.testing.assert_allclose(found, theta, rtol=1e-7, atol=1e-9)


def test_copies_of_one_row_take_part_as_often_as_they_are_kept():
    rows, y = np.ones((9, 1)), np.full(9, 2.0)
    order = np.arange(9)[None, :3]
    fits, sums = elemental_fits(rows, y, np.array([1e-9]), 5, order, 2)
    assert fits[0, 0] == pytest.approx(2.0, abs=1e-8) and sums[0] < 1e-8


def test_a_start_of_collinear_rows_takes_more_of_them():
    rows = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    y = rows @ [3.0, -1.0]
    order = np.array([[0, 1, 2, 3], [0, 1, 2, 2]])
    fits, sums = elemental_fits(rows, y, np.full(2, 1e-15), 3, order, 0)
    np.testing.assert_allclose(fits[0], [3.0, -1.0], atol=1e-6)
    assert np.isinf(sums[1])


@pytest.mark.parametrize("value", [1e200, 1.7e308])
def test_a_row_whose_square_is_no_number_takes_no_part(value):
    rng = np.random.default_rng(0)
    rows, y = np.c_[rng.normal(size=30), np.ones(30)], rng.normal(size=30)
    order = largest(rng.random((8, 30)), 6)
    rows[3, 0] = y[4] = value
    fits, sums = elemental_fits(rows, y, np.full(2, 1e-9), 16, order, 2)
    without = ~np.any(np.isin(order[:, :2], [3, 4]), axis=1)
    assert np.all(np.isfinite(sums[without]))
    left = np.delete(np.arange(30), [3, 4])
    names = np.full(30, -1)
    names[left] = np.arange(28)
    others = names[order[without][:, :2]]
    same, expected = elemental_fits(
        rows[left], y[left], np.full(2, 1e-9), 16, others, 2
    )
    np.testing.assert_allclose(sums[without], expected)
    np.testing.assert_allclose(fits[without], same)


@pytest.mark.parametrize("width", [1, 3, 6])
def test_the_largest_keys_come_in_order(width):
    keys = np.random.default_rng(0).random((50, 6))
    expected = np.argsort(-keys, axis=1)[:, :width]
    np.testing.assert_array_equal(largest(keys, width), expected)
