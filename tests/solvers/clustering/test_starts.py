"""First centres: drawn by the objective, given, refused, and the best of several."""

import numpy as np
import pytest

from lrisk.ranking import Ranking
from lrisk.solvers import Solution, Status
from lrisk.solvers.clustering import starts
from lrisk.solvers.clustering.centers import Alternating, clustering
from lrisk.solvers.clustering.starts import (
    check_enough_rows,
    first_centers,
    lowest,
    seeds,
)
from lrisk.spaces import CenterSpace
from lrisk.spectra import parse_spectrum


def problem(X, k, spectrum, weight=None):
    ranking = Ranking(parse_spectrum(spectrum), len(X), weight)
    return clustering(CenterSpace(X, k), ranking)


def check(X, k, spectrum, weight=None):
    objective = problem(np.asarray(X, dtype=float).reshape(-1, 1), k, spectrum, weight)
    check_enough_rows(Alternating(), objective.space, objective.ranking)


class Told:
    """Stands for a generator: draws what it is told and notes the chances."""

    def __init__(self, *draws):
        self.draws, self.chances, self.counts = list(draws), [], []

    def choice(self, n, count, p):
        self.chances.append(p)
        self.counts.append(count)
        return np.resize(self.draws.pop(0), count)


class TestSeeds:
    X = np.array([[0.0], [1.0], [3.0], [100.0]])

    def drawn(self, k, spectrum, *draws, weight=None):
        rng, objective = Told(*draws), problem(self.X, k, spectrum, weight)
        found = seeds(None, objective.space, objective.ranking, rng)
        return found, rng

    def test_chances_are_shares_of_the_objective(self):
        """λ_i D_i over their sum, after the first row, which is drawn by mass."""
        weight = np.array([1.0, 2.0, 1.0, 1.0])
        found, rng = self.drawn(2, "mean", [0], [2], weight=weight)
        np.testing.assert_allclose(rng.chances[0], weight / 5)
        np.testing.assert_allclose(rng.chances[1], np.array([0, 2, 9, 1e4]) / 10_011)
        np.testing.assert_array_equal(found, [0.0, 3.0])
        _, rng = self.drawn(2, "subquantile:0.75", [0], [2])
        np.testing.assert_allclose(rng.chances[1], [0, 0.1, 0.9, 0])

    def test_of_several_candidates_the_best_is_taken(self):
        """Two, and one more for each power of e in k; judged by the risk they leave."""
        found, rng = self.drawn(2, "mean", [0], [2, 3])
        assert rng.counts == [2, 2] and found[1] == 100.0
        found, _ = self.drawn(2, "subquantile:0.75", [0], [2, 3])
        assert found[1] == 3.0
        _, rng = self.drawn(3, "mean", [0], [3], [2])
        assert rng.counts == [3, 3, 3]  # 2 + ⌊log 3⌋

    def test_distances_are_to_the_nearest_of_all_seeds(self):
        _, rng = self.drawn(3, "mean", [3], [0], [2])
        np.testing.assert_allclose(rng.chances[2], [0, 0.1, 0.9, 0])

    def test_where_all_that_counts_is_at_a_seed_any_other_row_may_come(self):
        X = np.array([[0.0], [0.0], [0.0], [5.0]])
        rng, objective = Told([0], [3]), problem(X, 2, "subquantile:0.75")
        found = seeds(None, objective.space, objective.ranking, rng)
        np.testing.assert_allclose(rng.chances[1], [0, 0, 0, 1])
        np.testing.assert_array_equal(found, [0.0, 5.0])

    def test_too_few_distinct_rows(self):
        objective = problem(np.array([[0.0], [0.0], [5.0]]), 3, "mean")
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match="distinct rows, 2"):
            seeds(Alternating(), objective.space, objective.ranking, rng)

    def test_many_rows_are_sampled_by_weight(self, monkeypatch):
        monkeypatch.setattr(starts, "MOST_ROWS", 50)
        monkeypatch.setattr(starts, "ROWS_PER_CENTRE", 25)
        X = np.r_[np.zeros(900), np.ones(50), 2 * np.ones(50)].reshape(-1, 1)
        weight = np.r_[np.full(900, 1e-12), np.ones(100)]
        for k, size in ((2, 50), (3, 75)):
            asked = []

            class Watched(np.random.Generator):
                def choice(self, n, count, p, asked=asked):
                    asked.append((n, count))
                    return super().choice(n, count, p=p)

            rng = Watched(np.random.PCG64(0))
            objective = problem(X, min(k, 2), "mean", weight)
            space = CenterSpace(X, k)
            if k == 3:  # only two values have weight
                with pytest.raises(ValueError, match="distinct rows, 2"):
                    seeds(Alternating(), space, objective.ranking, rng)
            else:
                found = seeds(None, space, objective.ranking, rng)
                assert sorted(found) == [1.0, 2.0]
            assert asked[:2] == [(1000, size), (size, 2 + (k > 2))]


class TestGiven:
    def test_centres_become_theta(self):
        space = CenterSpace(np.zeros((5, 2)), 2)
        given = [[1, 2], [3, 4]]
        np.testing.assert_array_equal(first_centers(None, given, space), [1, 2, 3, 4])
        array = np.array(given, dtype=float)
        first_centers(None, array, space)[:] = 0.0
        assert array[0, 0] == 1.0

    @pytest.mark.parametrize(
        ("init", "message"),
        [
            ([[1.0, 2.0]], r"shape \(2, 2\)"),
            ([1.0, 2.0, 3.0, 4.0], r"shape \(2, 2\)"),
            ([[1.0, np.nan], [0.0, 0.0]], "finite"),
            ([[1.0, 0.0], [-np.inf, 0.0]], "-inf"),
        ],
    )
    def test_what_cannot_be_centres_is_refused(self, init, message):
        space = CenterSpace(np.zeros((5, 2)), 2)
        with pytest.raises(ValueError, match=message):
            first_centers(Alternating(), init, space)


class TestEnoughRows:
    def test_more_clusters_than_rows(self):
        check([0, 1, 2], 3, "mean")
        with pytest.raises(ValueError, match="n_samples=3"):
            check([0, 1, 2], 4, "mean")

    def test_more_clusters_than_rows_that_are_kept(self):
        check(range(10), 5, "subquantile:0.5")
        with pytest.raises(ValueError, match=r"at least 6 .* \(5 are\)"):
            check(range(10), 6, "subquantile:0.5")
        # 0.3 · 10 is a little less than 3 in floating point
        check(range(10), 3, "subquantile:0.3")

    def test_only_the_lightest_choice_is_sure_to_be_kept(self):
        """Half of the weight holds the three light rows, though but one heavy one."""
        weight = np.array([1.0, 1.0, 1.0, 3.0])
        check(range(4), 3, "subquantile:0.5", weight)
        with pytest.raises(ValueError, match=r"\(3 are\)"):
            check(range(4), 4, "subquantile:0.5", weight)

    def test_more_clusters_than_distinct_rows(self):
        check([0, 0, 1, 1], 2, "mean")
        with pytest.raises(ValueError, match="distinct rows, 2"):
            check([0, 0, 1, 1], 3, "mean")


class TestLowest:
    def solved(self, *values):
        """What comes out where the solver finds these objectives, one after another."""
        left, seen = list(values), []

        class Fixed(Alternating):
            def _solve(self, objective, start, *, weights, rng, monitor):
                seen.append((float(start[0]), rng, monitor))
                return Solution(start, left.pop(0), np.inf, -np.inf, None, 1,
                                Status.UNCERTIFIED)  # fmt: skip

        rng, monitor = np.random.default_rng(0), print
        objective = problem(np.zeros((4, 1)), 1, "mean")
        numbers = [np.array([float(i)]) for i in range(len(values))]
        found = lowest(objective, Fixed(), iter(numbers), rng=rng, monitor=monitor)
        assert seen == [(float(i), rng, monitor) for i in range(len(values))]
        return found.theta[0]

    def test_the_lowest_wins_and_the_first_of_equals(self):
        assert self.solved(3.0, 1.0, 2.0) == 1.0
        assert self.solved(1.0, 2.0) == 0.0
        assert self.solved(1.0, 1.0 - 1e-12, 1.0) == 0.0
        assert self.solved(1.0, 1.0 - 1e-9) == 1.0
        assert self.solved(0.0, 0.0) == 0.0


@pytest.mark.parametrize("spectrum", ["subquantile:0.85", "ranked_range:0.05:0.85"])
def test_seeds_are_not_outliers(spectrum):
    rng = np.random.default_rng(0)
    middles = 10 * rng.normal(size=(6, 2))
    X = np.vstack(
        [
            middles[rng.integers(0, 6, 360)] + rng.normal(size=(360, 2)),
            300 + 100 * rng.normal(size=(40, 2)),  # a tenth, far away
        ]
    )
    objective = problem(X, 6, spectrum)
    for seed in range(30):
        drawn = seeds(
            None, objective.space, objective.ranking, np.random.default_rng(seed)
        )
        assert np.abs(drawn).max() < 60


def test_seeds_under_the_mean_do_go_to_outliers():
    """The trimming is what keeps them away, not the test's data."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(360, 2)), 300 + 100 * rng.normal(size=(40, 2))])
    objective = problem(X, 6, "mean")
    drawn = seeds(None, objective.space, objective.ranking, np.random.default_rng(0))
    assert np.abs(drawn).max() > 60


def test_seeds_come_from_every_separated_cloud():
    rng = np.random.default_rng(0)
    cloud = np.arange(5000) % 5
    X = 50.0 * cloud[:, None] + rng.normal(size=(5000, 1))
    objective = problem(np.repeat(X, 6, axis=0), 5, "subquantile:0.95")
    drawn = seeds(None, objective.space, objective.ranking, rng)  # from a sample
    assert sorted(np.round(drawn / 50)) == [0, 1, 2, 3, 4]
