"""Rows that pull a line their way, and those that only lie apart."""

import numpy as np
import pytest

from lrisk.datasets import add_leverage_cluster
from lrisk.procedures.outliers.groups import _rounded_off, groups_apart
from lrisk.procedures.outliers.leverage import find_leverage_rows


def table(seed, n, d, binary=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if binary:
        X = (rng.random((n, d)) < rng.uniform(0.05, 0.5, size=d)).astype(float)
    y = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    return rng, X, y


def pulling(X, y):
    nobody = np.zeros(len(y), dtype=bool)
    return find_leverage_rows(X, y, np.ones(len(y)), nobody, None)


@pytest.mark.parametrize(
    ("n", "d", "binary"),
    [(300, 2, False), (300, 40, False), (500, 120, True), (200, 250, False)],
)
def test_a_cluster_is_found_whole_in_few_and_many_dimensions(n, d, binary):
    for seed in range(3):
        _, X, y = table(seed, n, d, binary)
        assert not pulling(X, y).any()
        bad = add_leverage_cluster(X, y, fraction=0.2, random_state=seed)
        found = pulling(bad.X, bad.y)
        np.testing.assert_array_equal(found, bad.mask)


@pytest.mark.parametrize("d", [3, 40])
def test_a_cluster_on_the_line_stays(d):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, d))
        X[:60] = 8.0 / np.sqrt(d) + 0.3 * rng.normal(size=(60, d))
        y = X @ rng.normal(size=d) + 0.5 * rng.normal(size=300)
        assert not pulling(X, y).any()


def test_the_group_that_rules_the_line_goes_first():
    """A harmless group seems to misfit as long as the cluster is in the fit."""
    for seed in range(3):
        rng, X, y = table(seed, 400, 4)
        X[:60] += [0.0, 0.0, 6.0, 0.0]
        X[:60] *= 0.4
        y[:60] = X[:60] @ np.linalg.lstsq(X[60:], y[60:])[0]
        y[:60] += 0.5 * rng.normal(size=60)
        X[60:130] = [7.0, 0.0, 0.0, -4.0] + 0.3 * rng.normal(size=(70, 4))
        y[60:130] = 60.0 * np.sign(X[60:130] @ rng.normal(size=4)).mean() + 30.0
        found = pulling(X, y)
        assert found[60:130].all()
        assert not found[:60].any()
        assert not found[130:].any()


def test_a_wide_group_of_its_own_slope_stays():
    """A dent in the density is no cluster: clean data has many."""
    for seed in range(3):
        _, X, y = table(seed, 300, 5)
        X[:90, 0] += 4.0
        y[:90] += 3.0 * X[:90, 1]
        assert not pulling(X, y).any()


def test_copies_and_few_rows_are_no_cluster():
    rng, X, y = table(0, 60, 3)
    X[:30] = X[0]
    assert not pulling(X, y + rng.normal(size=60)).any()
    assert not pulling(np.zeros((50, 2)), y[:50]).any()
    assert not pulling(X[:12], y[:12]).any()


def test_only_tight_groups_are_suspected_within_a_cloud():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 20))
        centre = 8.0 / np.sqrt(20)
        wide, tight = X.copy(), X.copy()
        wide[:80] = 1.2 * X[:80] + centre
        tight[:80] = 0.3 * X[:80] + centre
        members = np.arange(400) < 80
        assert any(np.array_equal(g, members) for g in groups_apart(tight))
        assert not any(g[:80].mean() > 0.5 for g in groups_apart(wide))


def test_a_part_of_a_cluster_is_rounded_off_to_all_of_it():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(400, 6))
        Z[:100] = 4.0 + 0.3 * Z[:100]
        cluster = np.arange(400) < 100
        part = cluster & (rng.random(400) < 0.4)
        np.testing.assert_array_equal(_rounded_off(Z, part), cluster)
        most = np.arange(400) < 390
        np.testing.assert_array_equal(_rounded_off(Z, most), most)


def test_one_of_many_clouds_is_not_suspected():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        places = 5.0 * rng.normal(size=(20, 6))
        X = np.repeat(places, 15, axis=0) + rng.normal(size=(300, 6))
        X[:15] = places[0] + 0.2 * rng.normal(size=(15, 6))
        assert not groups_apart(X)


def test_a_wide_cluster_far_out_in_one_column():
    for seed in range(3):
        rng, X, y = table(seed, 300, 10)
        slope = np.linalg.lstsq(X, y)[0][0]
        X[:60, 0] += 20.0
        y[:60] -= 20.0 * slope + 10.0 * np.sign(slope) + rng.normal(size=60)
        np.testing.assert_array_equal(pulling(X, y), np.arange(300) < 60)


def test_a_tight_group_amid_the_others_stays():
    for seed in range(5):
        rng, X, y = table(seed, 300, 5)
        X[:30] = 0.5 * rng.normal(size=5) + 0.2 * rng.normal(size=(30, 5))
        y[:30] += 6.0
        assert not pulling(X, y).any()


def test_pieces_of_a_curve_are_no_groups():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        t = rng.random(150)
        X = np.column_stack([np.sin(6 * t), np.cos(6 * t), t])
        X += 0.02 * rng.normal(size=X.shape)
        assert not pulling(X, 2 * np.sin(9 * t) + 0.1 * rng.normal(size=150)).any()


def test_the_order_of_rows_does_not_choose_among_groups():
    for seed in range(5):
        rng, X, y = table(seed, 300, 3)
        places = 8.0 * rng.normal(size=(8, 3))
        X[:64] = np.repeat(places, 8, axis=0) + 0.1 * rng.normal(size=(64, 3))
        y[:64] = np.repeat(10.0 * rng.normal(size=8), 8)
        order = rng.permutation(300)
        found = pulling(X, y)
        np.testing.assert_array_equal(pulling(X[order], y[order]), found[order])


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_tail_of_a_curve_stays(d):
    lost = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.exp(1.5 * rng.normal(size=(100, 1)) + 0.3 * rng.normal(size=(100, d)))
        y = np.log1p(X).sum(axis=1) + 0.2 * rng.normal(size=100)
        lost += pulling(X, y).any()
    assert lost <= 1
