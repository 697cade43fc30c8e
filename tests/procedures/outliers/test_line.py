"""The line of the majority: who moves it, and who is left out of it."""

import numpy as np
import pytest

from lrisk.datasets import add_leverage_cluster
from lrisk.procedures.outliers.line import majority_line


def table(seed, n=200, d=3, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    slopes = rng.normal(size=d)
    return rng, X, X @ slopes + noise * rng.normal(size=n), slopes


def line_of(X, y, weights=None, alpha=None):
    weights = np.ones(len(y)) if weights is None else weights
    everybody = np.ones(len(y), dtype=bool)
    rng = np.random.default_rng(0)
    return majority_line(X, y, weights, everybody, ~everybody, alpha, rng)


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("far", [10.0, 1e3, 1e12])
def test_a_single_row_in_another_unit_is_left_out(d, far):
    for seed in range(3):
        _, X, y, _ = table(seed, d=d)
        X[0] = far * np.abs(X[0]) + far
        factors = line_of(X, y).factors
        assert factors[0] < 0.05
        assert np.mean(factors[1:]) > 0.97


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("far", [10.0, 1e3, 1e6])
def test_a_far_row_on_the_line_stays(d, far):
    kept = 0
    for seed in range(5):
        rng, X, y, slopes = table(seed, d=d)
        X[0] *= far
        y[0] = X[0] @ slopes + 0.5 * rng.normal()
        kept += line_of(X, y).factors[0] > 0.2
    assert kept >= 4


@pytest.mark.parametrize(("n", "d", "share"), [(100, 2, 0.3), (300, 8, 0.3)])
def test_a_cluster_that_rules_least_squares_does_not_rule_the_line(n, d, share):
    for seed in range(3):
        _, X, y, _ = table(seed, n=n, d=d, noise=0.3)
        bad = add_leverage_cluster(X, y, fraction=share, random_state=seed)
        factors = line_of(bad.X, bad.y).factors
        assert np.all(factors[bad.mask] == 0.0)
        assert np.mean(factors[~bad.mask]) > 0.95


def test_clean_rows_have_all_their_weight():
    for seed in range(3):
        _, X, y, _ = table(seed)
        factors = line_of(X, y).factors
        assert np.mean(factors == 1.0) > 0.97
        assert factors.min() > 0.2


def test_the_unit_of_weights_does_not_matter():
    _, X, y, _ = table(0)
    y[:20] += 30.0
    plain = line_of(X, y, alpha=0.5)
    for unit in (1e-6, 1e6):
        other = line_of(X, y, np.full(200, unit), alpha=0.5 * unit)
        np.testing.assert_allclose(other.factors, plain.factors, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n", [60, 300])
def test_exact_data(n):
    """Without noise the scale is that of rounding, and wrong rows stand out."""
    for seed in range(3):
        _, X, y, _ = table(seed, n=n, noise=0.0)
        assert np.all(line_of(X, y).factors > 0.0)
        y[:5] *= 10.0
        factors = line_of(X, y).factors
        assert np.all(factors[:5] == 0.0)
        assert np.mean(factors[5:] > 0.0) > 0.95


def test_a_rare_category_is_no_outlier():
    """Half-samples may hold none of its rows: its level is unknown, not wrong."""
    for seed in range(3):
        _, X, y, _ = table(seed, n=300)
        rare = (np.arange(300) < 9).astype(float)
        factors = line_of(np.column_stack([X, rare]), y + 20.0 * rare).factors
        assert np.mean(factors[:9] > 0.2) > 0.8


@pytest.mark.parametrize(("n", "d"), [(60, 2), (200, 5)])
def test_right_rows_far_out_in_their_own_directions_stay(n, d):
    """They know the slopes better than all others together."""
    for seed in range(6):
        _, X, y, slopes = table(seed, n=n, d=d)
        far = np.arange(n // 20)
        noise = y - X @ slopes
        X[far] *= 10.0 ** (1 + seed % 3)
        line = line_of(X, X @ slopes + noise)
        assert np.mean(line.factors[far] > 0.0) >= 0.6
        assert line.ruling[far].any() or seed % 3 == 0  # ten deviations are near


@pytest.mark.parametrize(("n", "d"), [(60, 2), (200, 5)])
def test_wrong_rows_far_out_in_their_own_directions_do_not_rule(n, d):
    """Thirty per cent, each in another unit: they agree on a flat line."""
    for seed in range(6):
        _, X, y, slopes = table(seed, n=n, d=d)
        right = np.arange(n) >= 3 * n // 10
        X[~right] *= 100.0
        line = line_of(X, y)
        Z = X[right] - np.median(X[right], axis=0)
        fitted = y[right] - line.u[right] * line.scale
        true = X[right] @ slopes
        error = np.sqrt(np.mean((fitted - true - np.mean(fitted - true)) ** 2))
        assert error < 0.25 * np.std(Z @ slopes) + 0.5
        assert np.mean(line.factors[right] > 0.0) > 0.95


def test_rows_far_out_have_no_say_on_others():
    """Near rows keep the weights that they gave each other."""
    _, X, y, _ = table(1, n=120, d=2)
    rng = np.random.default_rng(1)
    far = 100.0 * rng.normal(size=(30, 2))
    before = line_of(X, y).factors
    after = line_of(np.vstack([X, far]), np.append(y, 50.0 * rng.normal(size=30)))
    np.testing.assert_allclose(after.factors[:120], before, atol=0.3)
    assert np.mean(after.factors[:120] == before) > 0.95


def test_rows_far_out_as_a_whole_do_not_begin_a_line_of_few_rows():
    """Fewer than four rows a parameter: 40 % of them in another unit."""
    rng = np.random.default_rng(0)
    X = (rng.random((300, 150)) < rng.beta(1.0, 2.0, size=150)).astype(float)
    X = X[:, X.std(axis=0) > 0.0]
    slopes = rng.normal(size=X.shape[1]) / 8.0
    y = X @ slopes + 0.3 * rng.normal(size=300)
    bad = np.arange(300) < 120
    center = X.mean(axis=0)
    X[bad], y[bad] = center + 100.0 * (X[bad] - center), 1e4 * y[bad]
    everybody = np.ones(300, dtype=bool)
    line = majority_line(X, y, np.ones(300), everybody, everybody, None, rng)
    assert not np.any(line.factors[bad])
    assert np.mean(line.factors[~bad] > 0.0) > 0.9
