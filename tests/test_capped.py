"""Projections under superquantiles, against those that sort."""

import numpy as np
import pytest

from lrisk.capped import capped_projection, capped_weights
from lrisk.permutahedron import majorisation_excess, proximal_weights
from lrisk.ranking import Ranking
from lrisk.spectra import Superquantile

weighings = pytest.mark.parametrize("weighted", [False, True])


def rows(q, weighted, n):
    rng = np.random.default_rng(n)
    weight = rng.uniform(0.5, 3.0, n) if weighted else None
    return Ranking(Superquantile(q), n, weight), rng


@weighings
@pytest.mark.parametrize("n", [1, 2, 30, 1000])
@pytest.mark.parametrize("q", [0.01, 0.55, 0.95])
def test_they_are_those_of_the_permutahedron(q, n, weighted):
    ranking, rng = rows(q, weighted, n)
    for losses in (rng.exponential(size=n), np.ones(n), np.repeat(1e3, n)):
        for center in (ranking.mass, ranking.weights(rng.normal(size=n))):
            for nu in (1e-4, 0.3, 1e3):
                expected = proximal_weights(ranking, losses, center, nu)
                found = capped_projection(ranking, losses, center, nu)
                np.testing.assert_allclose(found.weights, expected.weights, atol=1e-12)
                assert np.all(found.weights <= ranking.mass / (1 - q) * (1 + 1e-15))
                alone = capped_weights(ranking, losses, center, nu)
                np.testing.assert_allclose(alone, found.weights, atol=1e-13)


@weighings
def test_pooled_rows_are_those_that_are_not_clipped(weighted):
    ranking, rng = rows(0.8, weighted, 300)
    losses, center = rng.exponential(size=300), ranking.mass
    for nu in (3.0, 30.0, 300.0):
        found = capped_projection(ranking, losses, center, nu)
        expected = proximal_weights(ranking, losses, center, nu)
        np.testing.assert_array_equal(found.rows, np.sort(expected.rows))
        np.testing.assert_array_equal(found.starts, [0, len(found.rows)])
        most = ranking.mass / 0.2 * (1 - 1e-12)
        free = (found.weights > 0) & (found.weights < most)
        np.testing.assert_array_equal(found.rows, np.flatnonzero(free))


def test_a_row_alone_between_the_ends_is_not_pooled():
    ranking = Ranking(Superquantile(0.5), 3)
    losses = np.array([0.0, 1.0, 2.0])
    found = capped_projection(ranking, losses, ranking.mass, 1e-3)
    np.testing.assert_allclose(found.weights, [0.0, 1 / 3, 2 / 3], atol=1e-15)
    assert len(found.rows) == 0 and list(found.starts) == [0]


@pytest.mark.numerics
@weighings
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_a_small_nu_costs_no_digits(weighted, offset):
    """λ keeps its digits where ν is so small that those of τ would not do."""
    n, q = 500, 0.7
    ranking, rng = rows(q, weighted, n)
    scale = max(offset, 1.0)
    losses = offset + scale * np.round(rng.exponential(size=n), 1)  # ties: all pooled
    nu = 1e-8 * scale * n
    center = proximal_weights(ranking, losses, ranking.mass, 10.0 * scale * n).weights
    weights = capped_weights(ranking, losses, center, nu)
    assert majorisation_excess(ranking, weights) <= 1e-14
    expected = proximal_weights(ranking, losses, center, nu).weights
    np.testing.assert_allclose(weights, expected, atol=1e-13)


def test_a_search_never_goes_in_circles():
    """Newton's steps may lead from either end of the bracket to the other one."""
    rng = np.random.default_rng(0)
    for n in (20, 200, 2000):
        ranking = Ranking(Superquantile(0.5), n)
        for nu in n * np.logspace(-6, 0, 13):
            losses = np.abs(rng.standard_t(1.5, size=n))
            center = ranking.weights(losses + 0.1 * rng.normal(size=n))
            weights = capped_weights(ranking, losses, center, nu)
            expected = proximal_weights(ranking, losses, center, nu).weights
            np.testing.assert_allclose(weights, expected, atol=1e-11 / n)
