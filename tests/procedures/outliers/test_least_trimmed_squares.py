"""The half nearest to a line of its own: from where every line begins."""

import numpy as np
import pytest

from lrisk.procedures.outliers.least_trimmed_squares import (
    least_trimmed_half,
    nearest_half,
)
from lrisk.procedures.outliers.residuals import Rows


def test_the_nearest_half_is_of_weight():
    distance = np.array([3.0, -1.0, 2.0, 0.5])
    near = nearest_half(distance, np.ones(4))
    np.testing.assert_array_equal(near, [False, True, False, True])
    np.testing.assert_array_equal(
        nearest_half(distance, np.array([1.0, 9.0, 1.0, 1.0])), [0, 1, 0, 1]
    )
    both = nearest_half(np.array([distance, np.ones(4)]), np.ones(4))
    np.testing.assert_array_equal(both, [near, [True, True, False, False]])
    np.testing.assert_array_equal(nearest_half(np.ones(1), np.ones(1)), [True])


@pytest.mark.parametrize("kind", ["targets", "flat", "cluster"])
def test_forty_wrong_rows_of_a_hundred_are_not_in_it(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        y = X @ np.array([2.0, -1.0]) + 0.3 * rng.normal(size=100)
        if kind == "targets":
            y[:40] += 20.0 + rng.normal(size=40)
        elif kind == "flat":
            X[:40] *= 100.0
        else:
            X[:40] = 10.0 + rng.normal(size=(40, 2))
            y[:40] = -30.0
        half = least_trimmed_half(Rows(X, y, np.ones(100), 1e-9), rng)
        assert half.sum() == 50
        assert half[:40].sum() <= (0 if kind == "targets" else 2)


def test_where_most_rows_are_far_out_all_are_asked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[:36] *= 1e4
    y = X @ np.array([2.0, -1.0]) + rng.normal(size=60)
    half = least_trimmed_half(Rows(X, y, np.ones(60), 1e-9), rng)
    assert half.sum() == 30


@pytest.mark.parametrize("size", [20.0, 1e3])
def test_wrong_targets_at_one_end_of_thirty_columns_are_not_in_it(size):
    """No elemental start of 31 rows is free of 30 % wrong ones (0.7³¹)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 30))
        y = X @ rng.normal(size=30) + rng.normal(size=1000)
        along = X @ rng.normal(size=30)
        wrong = along >= np.quantile(along, 0.7)
        y[wrong] += size
        half = least_trimmed_half(Rows(X, y, np.ones(1000), 1e-9), rng)
        assert half[wrong].sum() <= 5
