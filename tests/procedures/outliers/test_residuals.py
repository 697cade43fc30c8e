"""Residuals of rows left out, and the pull of each."""

import numpy as np
import pytest

from lrisk.procedures.outliers.constants import CONSTANTS
from lrisk.procedures.outliers.linear_fit import fit_linear
from lrisk.procedures.outliers.residuals import Residuals, Rows, halves_left_out


def table(seed, n, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)


def test_residuals_are_those_of_fits_without_the_row():
    """u = e/√(1 + g) by definition: refit without each row."""
    rng, X, y = table(0, n=30)
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
        weight = Residuals(u, np.full(50, g)).factors(1.0, CONSTANTS.held_beyond)
        left_out = u * np.sqrt(1.0 + g)
        moved = weight * np.sqrt(g) * left_out / (1.0 + weight * g)
        assert np.all(
            moved <= CONSTANTS.held_beyond * np.sqrt(g / (1.0 + g)) * (1 + 1e-9)
        )
        assert np.all(weight[u < 1.0] == 1.0)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
def test_a_far_row_has_the_leverage_of_its_place(far):
    """Not that of rounding over a tiny penalty: 1/(1 − h) is 1 + g exactly."""
    _, X, y = table(2, n=60)
    X[0] *= far
    rows = Rows(X, y, np.ones(60), 1e-9)
    others = np.arange(60) > 0
    apart = rows.residuals(rows.line(others.astype(float)), others.astype(float))
    within = rows.residuals(rows.line(np.ones(60)), np.ones(60))
    assert within.leverage[0] == pytest.approx(apart.leverage[0], rel=1e-3)
    assert within.u[0] == pytest.approx(apart.u[0], rel=1e-3, abs=1e-3)


def test_a_direction_that_no_row_has_is_not_known():
    """A penalty is no knowledge: no row is contradicted there."""
    _, X, y = table(3, n=40)
    X[:, 2] = 0.0
    rows = Rows(np.vstack([X, [0.0, 0.0, 2.0]]), np.append(y, 1e6), np.ones(41), 0.01)
    first = np.arange(41) < 40
    found = rows.residuals(rows.line(first.astype(float)), first.astype(float))
    assert found.leverage[40] > 1e50 and abs(found.u[40]) < 1e-20
    assert np.all(found.leverage[:40] < 1.0)


def test_a_row_on_the_line_counts_whole_whatever_its_leverage():
    """The formula of rows beyond has a pole within: at u = 1, g = 1/2 and c = 3."""
    found = Residuals(np.array([0.0, 1.0, 3.0]), np.full(3, 0.5)).factors(1.0, 3.0)
    np.testing.assert_array_equal(found, 1.0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "kind", ["plain", "constant", "copies", "far", "few", "blocks", "wide"]
)
def test_residuals_of_halves_are_those_of_each_alone(kind, intercept):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        sizes = {"few": (12, 2), "blocks": (300, 30), "wide": (300, 200)}
        n, d = sizes.get(kind, (90, 3))
        Z, y = rng.normal(size=(n, d)), 1e3 * rng.normal(size=n)
        weights = rng.uniform(0.1, 3.0, n)
        halves = rng.random((40, n)) < 0.5
        halves[:, :6] = True  # of fewer than a line needs residuals are rounding
        halves[0, 1:] = False  # but not of a single one
        if kind == "constant":
            Z[:, 0] = 7.0
        elif kind == "copies":
            Z[:, 1] = Z[:, 0]
        elif kind == "far":
            Z[3] = 1e8
        origin = None if intercept else np.full(d, 0.3)
        rows = Rows(Z, y, weights, 1e-9, origin)
        found = halves_left_out(rows, halves)
        for half, residuals in zip(halves, found, strict=True):
            factors = half.astype(float)
            expected = rows.residuals(rows.line(factors), factors).left_out
            size = 1e-9 * np.max(np.abs(expected))
            np.testing.assert_allclose(residuals, expected, rtol=1e-9, atol=size)
