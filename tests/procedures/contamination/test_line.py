"""The line of the majority: who moves it, and who is left out of it."""

import numpy as np
import pytest

from lrisk.datasets import add_leverage_cluster
from lrisk.procedures.contamination.final_fit import fit_linear
from lrisk.procedures.contamination.line import (
    HELD_BEYOND,
    Residuals,
    majority_line,
    nearest_half,
)


def table(seed, n=200, d=3, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    slopes = rng.normal(size=d)
    return rng, X, X @ slopes + noise * rng.normal(size=n), slopes


def line_of(X, y, weights=None, alpha=None):
    weights = np.ones(len(y)) if weights is None else weights
    everybody = np.ones(len(y), dtype=bool)
    rng = np.random.default_rng(0)
    return majority_line(X, y, weights, everybody, alpha, rng)


def test_residuals_are_those_of_fits_without_the_row():
    """u = e/√(1 + g) by definition: refit without each row."""
    rng, X, y, _ = table(0, n=30)
    weights = rng.uniform(0.2, 1.0, size=30)
    alpha, scale = 0.7, np.ones(3)
    found = Residuals.of(fit_linear(X, y, weights, alpha, scale=scale), X, y, weights)
    for i in (0, 7, 29):
        rest = np.arange(30) != i
        fit = fit_linear(X[rest], y[rest], weights[rest], alpha, scale=scale)
        # The intercept is not penalised, so its own weight in the centre matters.
        g = fit.leverage(X[i : i + 1])[0]
        e = y[i] - fit.predict(X[i : i + 1])[0]
        assert found.leverage[i] == pytest.approx(g, rel=1e-9)
        assert found.u[i] == pytest.approx(e / np.sqrt(1.0 + g), rel=1e-9)


def test_leverage_is_the_variance_of_the_fit():
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(40, 2)), rng.normal(size=(3, 2))
    fits = [
        fit_linear(X, rng.normal(size=40), np.ones(40), 1e-6, scale=np.ones(2))
        for _ in range(4000)
    ]
    variance = np.var([fit.predict(new) for fit in fits], axis=0)
    np.testing.assert_allclose(fits[0].leverage(new), variance, rtol=0.1)


def test_no_row_moves_the_fit_by_more_than_a_few_of_its_errors():
    """Schweppe's form: the pull w·e·√g of any row is bounded, whatever u and g."""
    u = np.geomspace(0.1, 9.9, 50)
    for g in (1e-3, 0.05, 1.0, 100.0, 1e8):
        weight = Residuals(u, np.full(50, g)).factors(1.0, 0.2)
        left_out = u * np.sqrt(1.0 + g)
        moved = weight * np.sqrt(g) * left_out / (1.0 + weight * g)
        assert np.all(moved <= HELD_BEYOND * np.sqrt(g / (1.0 + g)) * (1 + 1e-9))
        assert np.all(weight[u < 1.0] == 1.0)


def test_the_nearest_half_is_of_weight():
    distance = np.array([3.0, -1.0, 2.0, 0.5])
    near = nearest_half(distance, np.ones(4))
    np.testing.assert_array_equal(near, [False, True, False, True])
    np.testing.assert_array_equal(
        nearest_half(distance, np.array([1.0, 9.0, 1.0, 1.0])), [0, 1, 0, 1]
    )


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
