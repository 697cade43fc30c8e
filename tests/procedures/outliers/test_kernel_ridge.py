"""Left-out residuals against refits without the row."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge

from lrisk.procedures.outliers.kernel_ridge import (
    EigenRidge,
    Pairs,
    squared_distances,
    together,
    weighted_ridge,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 4))
    y = np.sin(Z[:, 0]) + 0.1 * rng.normal(size=30)
    return Z, y, Pairs.of(Z, Z).kernel(0.3), rng.uniform(0.2, 2.0, size=30)


def test_kernel_is_bump_plane_and_level(problem):
    Z, _, K, _ = problem
    expected = np.exp(-0.3 * cdist(Z, Z, "sqeuclidean")) + Z @ Z.T / 4 + 1
    np.testing.assert_allclose(K, expected, atol=1e-12)


def test_distances_far_from_the_origin():
    Z = np.random.default_rng(0).normal(size=(20, 3)) + 1e6
    near = squared_distances(Z, Z[:5])
    expected = cdist(Z, Z[:5], "sqeuclidean")
    np.testing.assert_allclose(near, expected, rtol=1e-6, atol=1e-8)


def test_left_out_residuals_are_those_of_refits(problem):
    _, y, K, weights = problem
    fit = weighted_ridge(K, y, weights, 0.05)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        other = KernelRidge(alpha=0.05, kernel="precomputed")
        other.fit(K[np.ix_(rest, rest)], y[rest], sample_weight=weights[rest])
        expected = y[i] - other.predict(K[i : i + 1, rest])[0]
        assert fit.residuals[i] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("weighted", [True, False])
def test_rows_of_a_place_are_left_out_together(problem, weighted):
    """As by refits without all of them; of one place each, as without the row."""
    _, y, K, weights = problem
    weights = weights if weighted else np.ones(30)
    places = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 5, 5, 5])[
        np.random.default_rng(1).permutation(30)
    ]
    shared = together(places)
    assert sorted(map(len, shared)) == [2, 3, 4, 5, 5, 5, 5]
    found = [weighted_ridge(K, y, weights, 0.05, shared)]
    if not weighted:
        found.append(EigenRidge.of(K.copy()).left_out(y, 0.05, shared))
    for place in range(8):
        own = places == place
        other = KernelRidge(alpha=0.05, kernel="precomputed")
        other.fit(K[np.ix_(~own, ~own)], y[~own], sample_weight=weights[~own])
        expected = y[own] - other.predict(K[np.ix_(own, ~own)])
        for fit in found:
            np.testing.assert_allclose(fit.residuals[own], expected, atol=1e-8)
    assert together(np.arange(30)) == () == together(None)


def test_rows_without_weight_are_only_predicted(problem):
    _, y, K, weights = problem
    weights = weights * (np.arange(30) % 3 > 0)
    used = weights > 0
    fit = weighted_ridge(K, y, weights, 0.05)
    other = KernelRidge(alpha=0.05, kernel="precomputed")
    other.fit(K[np.ix_(used, used)], y[used], sample_weight=weights[used])
    predicted = other.predict(K[np.ix_(~used, used)])
    np.testing.assert_allclose(fit.residuals[~used], y[~used] - predicted, atol=1e-9)
    assert not fit.coefficients[~used].any()


def test_spectrum_gives_the_unweighted_fit(problem):
    _, y, K, _ = problem
    expected = weighted_ridge(K, y, np.ones(30), 0.3)
    found = EigenRidge.of(K.copy()).left_out(y, 0.3)
    np.testing.assert_allclose(found.residuals, expected.residuals, atol=1e-9)
    np.testing.assert_allclose(found.coefficients, expected.coefficients, atol=1e-9)


def test_collinear_rows_are_solved():
    K = np.ones((6, 6))
    fit = weighted_ridge(K, np.arange(6.0), np.ones(6), 1e-18)
    assert np.all(np.isfinite(fit.residuals))
