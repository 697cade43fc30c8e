"""Gaps between rows."""

import numpy as np

from lrisk.procedures._robust.scales import COMPRESSED_BEYOND, compress
from lrisk.procedures.outliers.gaps import alone, apart_from, connected


def test_copies_are_not_apart():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 4)) * [1, 10, 100, 1000]
    assert not apart_from(places, np.repeat(places, 8, axis=0)).any()
    assert apart_from(places + 1e5, np.repeat(places, 8, axis=0)).all()


def test_the_tail_of_a_skewed_column_is_connected_a_group_is_not():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(400, 2))
        rows[:, 0] = np.exp(rows[:, 0])
        rows[:20] = 30.0 + rng.normal(size=(20, 2))
        held = compress(rows, COMPRESSED_BEYOND)  # as lines are asked
        joined = connected(held, np.abs(rows[:, 0]) < 2.0)
        assert not joined[:20].any()
        assert np.mean(joined[20:]) > 0.9 > np.mean(rows[20:, 0] < 2.0)


def test_a_core_of_one_row_stays_as_it_is():
    core = np.array([True, False, False])
    np.testing.assert_array_equal(connected(np.zeros((3, 1)), core), core)


def test_a_row_is_alone_and_a_group_is_not():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows[:12] = 8.0 + 0.3 * rng.normal(size=(12, 3))
    rows[12] = [0.0, -9.0, 9.0]
    near = np.arange(200) > 12
    np.testing.assert_array_equal(np.flatnonzero(alone(rows, near)), [12])
    assert not alone(rows, np.ones(200, dtype=bool)).any()
