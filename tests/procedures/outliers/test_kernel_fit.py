"""Kernel fits against scikit-learn's, and their search against left-out errors."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler

from lrisk.procedures.outliers.kernel_fit import fit_kernel
from lrisk.spaces import Kernel


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


def test_weights_are_copies(problem):
    X, y, _ = problem
    counts = np.arange(len(y)) % 3 + 1
    rows = np.repeat(np.arange(len(y)), counts)
    kernel = Kernel("rbf", gamma=0.1)
    a = fit_kernel(X, y, counts.astype(float), kernel, alpha=0.5, search_gamma=False)
    b = fit_kernel(
        X[rows], y[rows], np.ones(len(rows)), kernel, alpha=0.5, search_gamma=False
    )
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-6, atol=1e-8)
