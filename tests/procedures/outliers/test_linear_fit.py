"""Linear fits against scikit-learn's, and left-out residuals against refits."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler

from lrisk.procedures.outliers import kernel_ridge
from lrisk.procedures.outliers.linear_fit import (
    LINEAR_ALPHAS,
    fit_linear,
    standard_errors,
)


def test_linear_is_ridge_on_standardised_columns(problem):
    X, y, _ = problem
    Z = StandardScaler().fit_transform(X)
    fit = fit_linear(X, y, np.ones(len(y)), 2.5)
    expected = Ridge(2.5).fit(Z, y).predict(Z)
    np.testing.assert_allclose(fit.predict(X), expected, atol=1e-8)


def test_penalty_is_that_of_leave_one_out(problem):
    X, y, _ = problem
    Z = StandardScaler().fit_transform(X)
    fit = fit_linear(X, y, np.ones(len(y)))
    theirs = RidgeCV(LINEAR_ALPHAS, store_cv_results=True).fit(Z, y)
    assert fit.alpha == pytest.approx(theirs.alpha_)
    best = theirs.cv_results_.mean(axis=0).min()
    assert np.mean(fit.left_out**2) == pytest.approx(best, rel=1e-6)


def test_linear_residuals_are_those_of_refits(problem):
    X, y, weights = problem
    fit = fit_linear(X, y, weights, 2.5)
    centre = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weights))
    Z = (X - centre) / scale
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        other = Ridge(2.5, solver="svd").fit(Z[rest], y[rest], weights[rest])
        expected = y[i] - other.predict(Z[i : i + 1])[0]
        # The intercept's share of the hat matrix is exact for equal weights only.
        assert fit.left_out[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_weights_are_copies(problem):
    X, y, _ = problem
    counts = np.arange(len(y)) % 3 + 1
    weighted = fit_linear(X, y, counts.astype(float), 1.0)
    rows = np.repeat(np.arange(len(y)), counts)
    copied = fit_linear(X[rows], y[rows], np.ones(len(rows)), 1.0)
    np.testing.assert_allclose(weighted.coef, copied.coef, rtol=1e-7, atol=1e-10)


def test_one_row_held_back_does_not_choose_the_penalty():
    """Nearly as many columns as rows: the penalty is that of all but this row."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(200, 150)) > 0.8).astype(float)
    y = X @ rng.normal(size=150) + 3.0 * rng.normal(size=200)
    factors = np.ones(200)
    factors[7] = 0.5
    everybody = fit_linear(X, y, np.ones(200))
    held = fit_linear(X, y, np.ones(200), factors=factors)
    assert 0.4 < held.alpha / everybody.alpha < 2.5


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(500, 4)), rng.uniform(0.5, 2.0, size=500)
    y, factors = X @ np.ones(4) + rng.normal(size=500), rng.choice([0.0, 0.5, 1.0], 500)
    whole = fit_linear(X, y, weights, factors=factors)
    errors = standard_errors(fit_linear(X, y, weights), X, weights, np.ones(500))
    monkeypatch.setattr(kernel_ridge, "BLOCK_ENTRIES", 150)
    parts = fit_linear(X, y, weights, factors=factors)
    for name in ("coef", "intercept", "alpha", "left_out"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name))
    np.testing.assert_allclose(parts.leverage(X), whole.leverage(X))
    again = standard_errors(fit_linear(X, y, weights), X, weights, np.ones(500))
    np.testing.assert_allclose(again, errors)


def test_rows_without_a_factor_take_no_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    factors = (np.arange(60) >= 20).astype(float)
    X[:20], y[:20] = 1e200, 1e200
    fit = fit_linear(X, y, np.ones(60), factors=factors)
    alone = fit_linear(X[20:], y[20:], np.ones(40))
    np.testing.assert_allclose(fit.coef, alone.coef, rtol=1e-9)
    np.testing.assert_allclose(fit.left_out, alone.left_out, rtol=1e-9)


@pytest.mark.parametrize("copy", [1e-5, 1e-8, 1e-11, 0.0])
def test_a_column_that_is_nearly_a_copy_is_known_everywhere(copy):
    """No row of the table has a direction that the others do not know."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X = np.column_stack([X, X[:, 0] + copy * rng.normal(size=2000)])
    y = X[:, 1] + rng.normal(size=2000)
    fit = fit_linear(X, y, np.ones(2000))
    assert fit.leverage(X).max() < 0.1
    plain = fit_linear(X[:, :3], y, np.ones(2000), fit.alpha)
    np.testing.assert_allclose(fit.predict(X), plain.predict(X[:, :3]), atol=0.01)


def test_a_value_far_out_leaves_the_other_columns_alone():
    """Beside the square of 1e8 the squares of the others are lost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[0, 0] = 1e8
    y = X @ [0.0, 1.0, -1.0] + 0.1 * rng.normal(size=300)
    fit = fit_linear(X, y, np.ones(300))
    np.testing.assert_allclose(fit.coef, [0.0, 1.0, -1.0], atol=0.05)
