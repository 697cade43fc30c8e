"""The final models against scikit-learn's, and left-out residuals against refits."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler

from lrisk.procedures.outliers.final_fit import (
    LINEAR_ALPHAS,
    fit_kernel,
    fit_linear,
)
from lrisk.spaces import Kernel


@pytest.fixture(params=[(40, 5), (15, 30)], ids=["tall", "wide"])
def problem(request):
    n, d = request.param
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 100, size=d) + 5
    return X, X[:, 0] / 10 + rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)


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
    kernel = Kernel("rbf", gamma=0.1)
    a = fit_kernel(X, y, counts.astype(float), kernel, alpha=0.5, search_gamma=False)
    b = fit_kernel(
        X[rows], y[rows], np.ones(len(rows)), kernel, alpha=0.5, search_gamma=False
    )
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-6, atol=1e-8)


def test_kernel_is_kernel_ridge_on_standardised_columns(problem):
    X, y, _ = problem
    Z = StandardScaler().fit_transform(X)
    kernel = Kernel("rbf", gamma=0.1)
    fit = fit_kernel(X, y, np.ones(len(y)), kernel, alpha=0.5, search_gamma=False)
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.1).fit(Z, y - y.mean())
    np.testing.assert_allclose(fit.predict(X), theirs.predict(Z) + y.mean(), atol=1e-8)


def test_kernel_search_takes_the_lowest_left_out_error(problem):
    X, y, _ = problem
    ones = np.ones(len(y))
    best = fit_kernel(X, y, ones, Kernel("rbf"))
    error = np.mean(best.left_out**2)
    for gamma in (best.kernel.gamma * 0.01, best.kernel.gamma * 100):
        other = fit_kernel(X, y, ones, Kernel("rbf", gamma=gamma), search_gamma=False)
        assert error <= np.mean(other.left_out**2) * 1.05


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
