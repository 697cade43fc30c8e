"""The objective never rises, small problems are solved, no centre stays empty."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from lrisk.ranking import Ranking
from lrisk.solvers import Status
from lrisk.solvers.clustering import centers
from lrisk.solvers.clustering.centers import Alternating, CenterSGD, assign, clustering
from lrisk.spaces import CenterSpace
from lrisk.spectra import FAMILIES, CustomSpectrum, parse_spectrum

SPECTRA = [*FAMILIES, "subquantile:0.53", "risk_seeking_extremile:5"]


def problem(X, k, spectrum, weight=None):
    ranking = Ranking(parse_spectrum(spectrum), len(X), weight)
    return clustering(CenterSpace(X, k), ranking)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_objective_never_rises(spectrum, weighted):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(2.5, size=(150, 3))
        weight = rng.exponential(size=150) if weighted else None
        objective = problem(X, 5, spectrum, weight)
        start = X[rng.choice(150, 5, replace=False)].ravel()
        first = objective.value(objective.at(start))
        solution = Alternating(tol=0.0).solve(objective, start)
        values = [first, *(record["objective"] for record in solution.history)]
        assert np.all(np.diff(values) < 0)
        assert len(values) > 2
        if objective.ranking.spectrum.monotone in ("flat", "down"):
            assert solution.status is Status.UNCERTIFIED  # it ends by itself
        last = objective.value(objective.at(solution.theta))
        assert last == pytest.approx(solution.objective, rel=1e-12)


@pytest.mark.parametrize("spectrum", ["mean", "subquantile:0.8", "subquantile:0.75"])
def test_every_full_step_minimises_over_all_choices_of_rows(spectrum):
    """From each of many starts: the best is the minimum over all subsets and splits."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 1)) * np.array([[1]] * 6 + [[6]] * 2)
    p = 1.0 if spectrum == "mean" else float(spectrum.split(":")[1])
    sigma = np.clip(8 * p - np.arange(8), 0, 1) / (8 * p)
    lowest = np.inf
    for labels in itertools.product([0, 1, -1], repeat=8):
        labels = np.array(labels)
        kept = np.flatnonzero(labels >= 0)
        if len(kept) != np.count_nonzero(sigma):
            continue
        for last in kept if p == 0.8 else kept[:1]:  # the row of fractional weight
            weight = np.full(8, sigma[0])
            weight[last] = sigma[len(kept) - 1]
            cost = 0.0
            for j in (0, 1):
                mine = labels == j
                if mine.any():
                    middle = np.average(X[mine], axis=0, weights=weight[mine])
                    cost += weight[mine] @ ((X[mine] - middle) ** 2).sum(axis=1)
            lowest = min(lowest, cost)
    objective = problem(X, 2, spectrum)
    found = min(
        Alternating(tol=0.0).solve(objective, X[list(pair)].ravel()).objective
        for pair in itertools.combinations(range(8), 2)
    )
    assert found == pytest.approx(lowest, rel=1e-10)


@pytest.mark.parametrize(
    ("spectrum", "short"),
    [("extremile:2", 1e-10), ("esrm:1", 1e-10), ("superquantile:0.5", 1e-4)],
)
def test_rising_spectra_come_near_the_convex_minimum(spectrum, short):
    X = np.random.default_rng(0).standard_t(4, size=(100, 2))
    ranking = Ranking(parse_spectrum(spectrum), 100)
    best = minimize(
        lambda c: ranking.risk(((X - c) ** 2).sum(axis=1)),
        X.mean(axis=0),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000},
    ).fun
    found = Alternating(tol=0.0).solve(problem(X, 1, spectrum), X[0])
    assert found.objective <= best * (1 + short)


@pytest.mark.numerics
@pytest.mark.parametrize("spectrum", ["mean", "subquantile:0.7", "superquantile:0.3"])
def test_weights_count_like_copies_in_every_step(spectrum):
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
    start = X[:3].ravel()
    light = Alternating(tol=0.0).solve(problem(X, 3, spectrum, 1.0 * counts), start)
    copies = problem(np.repeat(X, counts, axis=0), 3, spectrum)
    heavy = Alternating(tol=0.0).solve(copies, start)
    np.testing.assert_allclose(light.theta, heavy.theta, rtol=1e-10, atol=1e-12)
    assert light.objective == pytest.approx(heavy.objective, rel=1e-12)


@pytest.mark.parametrize("spectrum", ["mean", "subquantile:0.9", "superquantile:0.5"])
@pytest.mark.parametrize("solver", [Alternating(), CenterSGD(batch_size=16)])
def test_centres_without_rows_find_some(spectrum, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [20, 0], [0, 20]], 30, axis=0)
    X = np.vstack([X, [[1e3, 1e3]]])
    start = np.array([0.0, 0.0, 500.0, -900.0, 501.0, -900.0])
    objective = problem(X, 3, spectrum)
    solution = solver.solve(objective, start, rng=np.random.default_rng(0))
    end = assign(objective, solution.theta)
    assert np.all(np.bincount(end.labels, minlength=3) > 0)
    if spectrum == "subquantile:0.9":  # and not the outlier
        assert np.abs(solution.theta).max() < 30


def test_empty_centres_with_nothing_to_take_stay():
    X = np.repeat([[0.0], [1.0], [5.0]], [20, 20, 1], axis=0)
    start = np.array([0.0, 1.0, 70.0])
    solution = Alternating().solve(problem(X, 3, "subquantile:0.9"), start)
    assert solution.objective == 0.0
    np.testing.assert_array_equal(solution.theta, start)


def test_trimming_by_a_custom_spectrum_is_the_subquantile():
    X = np.random.default_rng(0).normal(size=(40, 2))
    custom = CustomSpectrum(weights=[0.25, 0.25, 0.25, 0.25, 0.0])
    one = Alternating().solve(problem(X, 2, custom), X[:2].ravel())
    two = Alternating().solve(problem(X, 2, "subquantile:0.8"), X[:2].ravel())
    np.testing.assert_allclose(one.theta, two.theta, rtol=1e-10)


def test_sgd_reaches_what_alternating_reaches():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.repeat([[-6, 0], [6, 0]], 200, axis=0)
    objective = problem(X, 2, "subquantile:0.9")
    start = np.array([-1.0, 0.0, 1.0, 0.0])
    exact = Alternating(tol=0.0).solve(objective, start)
    near = CenterSGD(max_epochs=200).solve(objective, start, rng=rng)
    assert near.status is Status.EPOCHS_DONE and near.n_iter == 200
    # biased by the trimming of 64 rows at a time, so not to the last digit
    assert near.objective == pytest.approx(exact.objective, rel=2e-3)
    np.testing.assert_allclose(near.theta, exact.theta, atol=0.1)


def test_sgd_draws_rows_by_weight():
    X = np.r_[np.full(50, -1.0), np.full(50, 1.0)].reshape(-1, 1)
    weight = np.r_[np.full(50, 3.0), np.full(50, 1.0)]
    objective = problem(X, 1, "mean", weight)
    solver = CenterSGD(max_epochs=400, learning_rate=0.05)
    solution = solver.solve(objective, rng=np.random.default_rng(0))
    assert solution.theta[0] == pytest.approx(-0.5, abs=0.03)


def test_sgd_tells_of_divergence():
    X = np.random.default_rng(0).normal(size=(64, 1))
    solver = CenterSGD(batch_size=8, learning_rate=1e6, max_epochs=100)
    solution = solver.solve(problem(X, 1, "mean"), rng=np.random.default_rng(0))
    assert solution.status is Status.DIVERGED
    assert np.all(np.isfinite(solution.theta))


def test_limits_are_kept_and_monitored():
    X = np.random.default_rng(0).normal(size=(300, 2))
    records = []
    solution = Alternating(tol=0.0, max_iter=3).solve(
        problem(X, 8, "mean"), X[:8].ravel(), monitor=records.append
    )
    assert solution.status is Status.MAX_ITER and solution.n_iter == 3
    assert [record["iteration"] for record in records] == [1, 2, 3]


class TestOneStep:
    """Two centres on a line; what each step does can be said in numbers."""

    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [15.0]])

    def step(self, objective, start):
        now = assign(objective, np.array(start))
        return Alternating()._step(objective, now)

    def test_rows_are_assigned_weighted_by_rank_and_summed(self):
        now = assign(problem(self.X, 2, "subquantile:0.5"), np.array([1.0, 12.0]))
        np.testing.assert_array_equal(now.labels, [0, 0, 0, 1, 1, 1])
        np.testing.assert_array_equal(now.losses, [1, 0, 1, 4, 1, 9])
        assert now.weights.sum() == pytest.approx(1.0)
        assert now.value == pytest.approx((0 + 1 + 1) / 3)

    def test_centres_move_to_the_weighted_means_of_their_rows(self):
        weight = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 2.0])
        better = self.step(problem(self.X, 2, "mean", weight), [0.0, 12.0])
        np.testing.assert_allclose(better.theta, [8 / 6, 51 / 4])
        # without the largest loss, of the last row (and of weight two)
        objective = problem(self.X, 2, "subquantile:0.8", weight)
        better = self.step(objective, [1.0, 11.0])
        np.testing.assert_allclose(better.theta, [8 / 6, 10.5])

    def test_rising_spectra_are_halved_until_f_falls(self):
        """The full step goes to the mean of the worst row alone."""
        objective = problem(self.X[:2], 1, "worst_case")
        now = assign(objective, np.array([0.4]))  # the worst is 1, and a full step
        better = Alternating()._step(objective, now)  # makes 0 as bad as it can be
        assert better.value < now.value
        np.testing.assert_allclose(better.theta, 0.4 + 0.6 / 4)

    def test_no_better_point_is_none(self):
        means = np.array([1.0, 12.0])
        assert self.step(problem(self.X, 2, "mean"), means) is None

    def test_an_empty_centre_takes_the_farthest_row_that_counts(self):
        better = self.step(problem(self.X, 2, "mean"), [5.0, 99.0])
        np.testing.assert_allclose(better.theta, [24 / 5, 15.0])
        better = self.step(problem(self.X, 2, "subquantile:0.8"), [5.0, 99.0])
        assert better.theta[1] == 11.0  # the last row does not count

    def test_one_that_holds_only_rows_without_weight_counts_as_empty(self):
        objective = problem(self.X, 2, "subquantile:0.5")
        now = assign(objective, np.array([2.0, 25.0]))
        assert now.labels[5] == 1 and now.weights[5] == 0.0
        solver = Alternating()  # 0 is the farthest of the three kept rows
        assert solver._means(objective, now, exact=True)[1] == 0.0
        assert solver._means(objective, now, exact=False)[1] == 25.0

    def test_it_stops_when_f_falls_by_less_than_the_tolerance(self):
        X = np.random.default_rng(0).normal(size=(300, 2))
        objective, start = problem(X, 8, "mean"), X[:8].ravel()
        exact = Alternating(tol=0.0).solve(objective, start)
        values = np.array([record["objective"] for record in exact.history])
        falls = -np.diff(values) / values[1:]
        for tol in (1e-2, 1e-3):
            rough = Alternating(tol=tol).solve(objective, start)
            assert rough.n_iter == 2 + np.argmax(falls <= tol)
            assert rough.status is Status.UNCERTIFIED

    def test_no_certificate_is_claimed(self):
        solution = Alternating().solve(problem(self.X, 2, "mean"), self.X[:2].ravel())
        assert solution.gap == np.inf and solution.dual == -np.inf

    def test_one_row(self):
        solution = Alternating().solve(problem(self.X[5:], 1, "mean"))
        np.testing.assert_allclose(solution.theta, [15.0])
        assert solution.objective == 0.0


class TestStochasticSteps:
    def test_one_batch_of_all_rows(self):
        """C ← C − η Σσ̂_j∇ℓ_(j), 2(c − x) for the nearest centre and 0 for others."""
        X = np.random.default_rng(0).normal(size=(30, 2))
        objective, start = problem(X, 3, "subquantile:0.7"), X[:3].ravel()
        solver = CenterSGD(30, learning_rate=0.1, average=False, max_epochs=1)
        found = solver.solve(objective, start, rng=np.random.default_rng(0)).theta
        now = assign(objective, start)
        expected = start.reshape(3, 2).copy()
        for row, label, weight in zip(X, now.labels, now.weights):
            expected[label] -= 0.1 * weight * 2 * (start.reshape(3, 2)[label] - row)
        np.testing.assert_allclose(found, expected.ravel(), rtol=1e-12)

    def test_the_automatic_rate_is_an_eighth(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        objective, start = problem(X, 3, "mean"), X[:3].ravel()
        ends = [
            CenterSGD(10, rate, max_epochs=2)
            .solve(objective, start, rng=np.random.default_rng(0))
            .theta
            for rate in ("auto", 0.125)
        ]
        np.testing.assert_allclose(*ends, rtol=1e-12)

    def test_batches(self):
        """Every row at most once in an epoch; by weight with replacement."""
        ranking, rng = problem(np.zeros((25, 1)), 1, "mean").ranking, np.random
        batches = centers._batches(ranking, 8, rng.default_rng(0))
        assert batches.shape == (3, 8)
        assert len(np.unique(batches)) == 24
        assert centers._batches(ranking, 64, rng.default_rng(0)).shape == (1, 25)
        weight = np.r_[np.ones(24), 1e9]
        heavy = problem(np.zeros((25, 1)), 1, "mean", weight).ranking
        assert np.all(centers._batches(heavy, 8, rng.default_rng(0)) == 24)

    def test_an_empty_centre_is_revived_but_not_after_the_last_epoch(self):
        X = np.r_[np.zeros(15), np.ones(15), 9.0 * np.ones(2)].reshape(-1, 1)
        objective, start = problem(X, 2, "mean"), np.array([0.5, 1e3])
        for epochs, alone in ((1, True), (2, False)):
            solver = CenterSGD(32, max_epochs=epochs, average=False)
            found = solver.solve(objective, start, rng=np.random.default_rng(0))
            assert (found.theta[1] == 1e3) == alone
        assert found.theta[1] == 9.0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batch_size": 0}, "batch_size must be"),
            ({"max_epochs": 0}, "max_epochs must be"),
            ({"average": "mean"}, "average must be"),
            ({"learning_rate": 0.0}, "learning_rate must be"),
        ],
    )
    def test_refusals(self, options, message):
        with pytest.raises(ValueError, match=message):
            CenterSGD(**options)
