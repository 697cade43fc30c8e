"""Which rows are lowest, and what each counts, against the weights by rank."""

import numpy as np
import pytest

from lrisk.grouped_ranking import GroupedRanking
from lrisk.ranking import Ranking
from lrisk.solvers.trimming.kept import LowestRows, inliers
from lrisk.spectra import Mean, RankedRange, RiskSeekingExtremile, Subquantile

N = 23
SPECTRA = [Subquantile(0.7), Subquantile(1.0), Mean(), RiskSeekingExtremile(3.0)]


@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_by_rank(spectrum, weighted):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        weight = rng.uniform(0.5, 2.0, N) if weighted else None
        ranking = Ranking(spectrum, N, weight)
        losses = rng.exponential(size=N)
        weights = LowestRows(ranking).weights(losses)
        np.testing.assert_allclose(weights, ranking.weights(losses), atol=1e-12)
        assert weights @ losses == pytest.approx(ranking.risk(losses), rel=1e-12)


def test_the_row_on_the_boundary_counts_in_part():
    weights = LowestRows(Ranking(Subquantile(0.65), 10)).weights(np.arange(10.0))
    np.testing.assert_allclose(weights[:7], [*[1 / 6.5] * 6, 0.5 / 6.5], rtol=1e-9)
    assert np.all(weights[7:] == 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_share_and_near_ties_too(weighted):
    weight = np.full(10, 2.0)
    weight[0] += 1e-9 if weighted else 0.0
    lowest = LowestRows(Ranking(Subquantile(0.5), 10, weight))
    losses = np.r_[np.zeros(3), np.ones(4), np.full(3, 2.0)]
    for noise in (0.0, 1e-14):
        given = losses * (1.0 + noise * np.arange(10))
        weights = lowest.weights(given)
        # Two of the four in the middle are kept: each counts for a half.
        np.testing.assert_allclose(
            weights, [*[0.2] * 3, *[0.1] * 4, 0, 0, 0], rtol=1e-8
        )
    apart = lowest.weights(losses * (1.0 + 1e-6 * np.arange(10)))
    np.testing.assert_allclose(apart, [*[0.2] * 5, *[0] * 5], rtol=1e-8)


def test_density_is_the_largest_weight_by_mass():
    assert LowestRows(Ranking(Subquantile(0.8), N)).density == pytest.approx(1 / 0.8)
    extremile = LowestRows(Ranking(RiskSeekingExtremile(3.0), N))
    assert extremile.density == pytest.approx(3.0, rel=1e-6)


def test_groups_keep_their_shares():
    groups = np.r_[np.zeros(10), np.ones(10)]
    losses = np.r_[np.arange(10.0), 100.0 + np.arange(10.0)]
    ranking = GroupedRanking(Subquantile(0.5), 20, None, groups)
    weights = LowestRows(ranking).weights(losses)
    expected = np.r_[np.full(5, 0.1), np.zeros(5)]
    np.testing.assert_allclose(weights, np.r_[expected, expected], atol=1e-12)


def test_best_rows_of_a_ranked_range_are_no_outliers():
    losses = np.arange(10.0)
    ranking = Ranking(RankedRange(0.2, 0.7), 10)
    weights = ranking.weights(losses)
    assert np.all(weights[:2] == 0) and np.all(weights[7:] == 0)
    one = inliers(ranking, losses, weights, np.zeros(10))
    np.testing.assert_array_equal(one, losses < 7)
    trimmed = Ranking(Subquantile(0.7), 10)
    weights = trimmed.weights(losses)
    np.testing.assert_array_equal(
        inliers(trimmed, losses, weights, np.zeros(10)), weights > 0
    )


def test_each_group_has_its_cut():
    losses = np.r_[np.arange(5.0), 10.0 + np.arange(5.0)]
    weights = np.r_[0, 0, 1, 1, 0, 0, 1, 1, 0, 0.0]
    ranking = Ranking(RankedRange(0.2, 0.7), 10)
    groups = np.r_[np.zeros(5), np.ones(5)]
    found = inliers(ranking, losses, weights, groups)
    np.testing.assert_array_equal(found, [1, 1, 1, 1, 0, 1, 1, 1, 0, 0])
