"""Squared distances, their gradient, and the fused search for the nearest centre."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist

from lrisk.ranking import Ranking
from lrisk.solvers.clustering.centers import clustering
from lrisk.spaces import CenterSpace
from lrisk.spectra import parse_spectrum


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, rng.normal(size=(4, 5))


KINDS = {
    "dense": lambda X: X,
    "csr": sp.csr_array,
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_squared_distances(rows, kind):
    X, C = rows
    X = KINDS[kind](X)
    plain = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    expected = cdist(plain, C, "sqeuclidean")
    space = CenterSpace(X, len(C))
    np.testing.assert_allclose(space.scores(C.ravel()), expected, rtol=1e-12)
    labels, losses = space.nearest(C.ravel())
    np.testing.assert_array_equal(labels, expected.argmin(axis=1))
    np.testing.assert_allclose(losses, expected.min(axis=1), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_the_members(rows, kind):
    X = KINDS[kind](rows[0])
    plain = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    rng = np.random.default_rng(1)
    labels, weights = rng.integers(0, 3, len(plain)), rng.random(len(plain))
    sums, totals = CenterSpace(X, 4).sums(labels, weights)
    for j in range(4):
        mine = labels == j
        np.testing.assert_allclose(sums[j], weights[mine] @ plain[mine], atol=1e-12)
        assert totals[j] == pytest.approx(weights[mine].sum())


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("spectrum", ["mean", "subquantile:0.7", "extremile:3"])
def test_objective_has_the_gradient_of_its_value(rows, kind, spectrum):
    X, C = rows
    ranking = Ranking(parse_spectrum(spectrum), len(X))
    objective = clustering(CenterSpace(KINDS[kind](X), len(C)), ranking)

    def value(theta):
        return objective.value(objective.at(theta))

    def gradient(theta):
        point = objective.at(theta)
        return objective.gradient(point, ranking.weights(point.losses))

    assert check_grad(value, gradient, C.ravel()) < 1e-5


def test_small_distances_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    C = 1e8 + np.arange(3.0)[:, None] * np.ones(2)
    X = np.repeat(C, 20, axis=0) + 0.125 * rng.integers(-1, 2, (60, 2))
    labels, losses = CenterSpace(X, 3).nearest(C.ravel())
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 20))
    np.testing.assert_array_equal(losses, ((X - C[labels]) ** 2).sum(axis=1))


def test_distinct_rows_are_counted_up_to_the_limit():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    assert CenterSpace(X, 2).distinct_rows(10) == 3
    assert CenterSpace(sp.csr_array(X), 2).distinct_rows(2) == 2
