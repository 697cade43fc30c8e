"""Gaps between rows."""

import numpy as np

from lrisk.procedures.outliers.gaps import alone, apart_from


def test_copies_are_not_apart():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 4)) * [1, 10, 100, 1000]
    assert not apart_from(places, np.repeat(places, 8, axis=0)).any()
    assert apart_from(places + 1e5, np.repeat(places, 8, axis=0)).all()


def test_a_row_is_alone_and_a_group_is_not():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows[:12] = 8.0 + 0.3 * rng.normal(size=(12, 3))
    rows[12] = [0.0, -9.0, 9.0]
    near = np.arange(200) > 12
    np.testing.assert_array_equal(np.flatnonzero(alone(rows, near)), [12])
    assert not alone(rows, np.ones(200, dtype=bool)).any()
