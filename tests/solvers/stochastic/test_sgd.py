"""SGD and SRDA: algorithm 1 and appendix F.3 of paper 1, and how batches are drawn."""

import itertools

import numpy as np
import pytest
import transcriptions
from problems import PRINTED, Grid, begun, build, data, last_iterate, printed, run

from lrisk.ranking import Ranking
from lrisk.solvers import SGD, SRDA, Newton, Status
from lrisk.solvers.stochastic._loops.batches import draw_batches
from lrisk.spectra import Extremile, Mean, Superquantile


@pytest.mark.parametrize(("loss", "spectrum", "full"), PRINTED)
@pytest.mark.parametrize("name", ["average", "last", "srda"])
def test_three_epochs_as_printed(name, loss, spectrum, full):
    objective, problem = printed(loss, spectrum, full)
    rng = np.random.default_rng(5)
    if name == "srda":
        solver = SRDA(batch_size=8)
        expected = transcriptions.srda(problem, 0.02, 3, rng, 8)
    else:
        solver = SGD(batch_size=8, average=name == "average")
        both = transcriptions.sgd(problem, 0.02, 3, rng, 8)
        expected = both[0] if solver.average else both[1]
    found = last_iterate(solver, objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


class TestBatches:
    def test_every_ordered_pair_of_rows_has_the_same_chance(self):
        """One pair of uniforms from each of the 5·4 cells gives each pair once.

        Whatever order an earlier batch has left the rows in.
        """
        first, second = (np.arange(5) + 0.5) / 5, (np.arange(4) + 0.5) / 4
        for pool in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
            pairs = []
            for uniforms in itertools.product(first, second):
                batch = np.empty((1, 2), dtype=np.int64)
                draw_batches(np.array([uniforms]), np.array(pool), batch)
                pairs.append(tuple(batch[0]))
            assert sorted(pairs) == sorted(itertools.permutations(range(5), 2))

    def test_no_row_comes_twice_in_a_batch(self):
        work = begun(build(*data()))
        state = SGD(batch_size=8).begin(work, None)
        batches = state.batches(work.objective.ranking, np.random.default_rng(0))
        assert batches.shape == (7, 8)  # ⌊60/8⌋
        assert all(len(set(batch)) == 8 for batch in batches)

    def test_rows_of_unequal_weight_come_in_proportion(self):
        weight = np.arange(1.0, 13.0)
        work = begun(build(*data(n=12), weight=weight))
        state = SGD(batch_size=1).begin(work, None)

        class Fine(Grid):
            def random(self, shape):
                return super().random((shape[0] * 1000, 1))

        batches = state.batches(work.objective.ranking, Fine())
        shares = np.bincount(batches[:, 0], minlength=12) / len(batches)
        np.testing.assert_allclose(shares, weight / 78, atol=2e-4)

    def test_their_size(self):
        assert SGD().batch(1000) == 64 and SGD().batch(10) == 10
        assert SGD(batch_size=5).batch(1000) == 5
        with pytest.raises(ValueError, match="number of rows, 60"):
            run(SGD(batch_size=61), build(*data()))

    def test_all_rows_in_one_batch_are_the_full_subgradient(self):
        """σ̂ goes to the losses in ascending order; ties change nothing of the sum."""
        X, y = data(n=12)
        X[6:], y[6:] = X[:6], y[:6]
        objective = build(X, y, spectrum="extremile:3", intercept=True)
        work = begun(objective, np.random.default_rng(0).normal(size=5))
        start = work.theta()
        solver = SGD(batch_size=12, average=False)
        rng = np.random.default_rng(0)
        passes = solver.epoch(work, solver.begin(work, rng), 0.1, rng)
        point = objective.at(start)
        full = objective.gradient(point, objective.ranking.weights(point.losses))
        np.testing.assert_allclose(work.theta(), start - 0.1 * full, rtol=1e-11)
        assert passes == 1.0

    def test_the_spectrum_is_discretised_to_the_batch(self):
        work = begun(build(*data(), spectrum="extremile:2"))
        state = SGD(batch_size=4).begin(work, None)
        np.testing.assert_allclose(state.sigma, [1 / 16, 3 / 16, 5 / 16, 7 / 16])


class TestRates:
    def test_auto_counts_the_rows_as_they_are_drawn(self):
        weight = np.arange(1.0, 61.0)
        X, y = data()
        work = begun(build(X, y, weight=weight))
        mean = weight @ (X**2).sum(axis=1) / weight.sum()
        expected = 1.0 / (4.0 * mean + work.mu)
        for solver in (SGD(), SRDA()):
            assert solver.rate(work) == pytest.approx(expected, rel=1e-12)

    def test_proposition_3(self):
        """1/(μ(t + 1)) from t = 0, on and on over the epochs."""
        work = begun(build(*data("logistic"), "logistic", alpha=30.0))  # μ = ½
        solver = SGD(learning_rate="theory")
        assert solver.rate(work) == 2.0
        np.testing.assert_allclose(solver.rates(work, 0, 3, 2.0), [2, 1, 2 / 3])
        np.testing.assert_allclose(solver.rates(work, 3, 2, 2.0), [1 / 2, 2 / 5])
        np.testing.assert_array_equal(SGD().rates(work, 3, 2, 0.7), [0.7, 0.7])

    def test_proposition_3_is_repaired_for_squared_loss(self):
        """1/(μ(t + 1) + L), with L of the steepest row."""
        X, y = data()
        work = begun(build(X, y, alpha=30.0))
        steepest = (X**2).sum(axis=1).max()
        found = SGD(learning_rate="theory").rates(work, 0, 2, 2.0)
        np.testing.assert_allclose(found, 1 / (np.array([0.5, 1.0]) + steepest))
        solution = run(SGD(batch_size=8, learning_rate="theory"), build(X, y))
        best = Newton().solve(build(X, y)).objective
        assert solution.history[-1]["objective"] < 1.5 * best

    def test_an_epoch_goes_on_where_the_last_one_ended(self):
        work = begun(build(*data("logistic"), "logistic", alpha=30.0))
        firsts, rng = [], np.random.default_rng(0)

        class Watched(SGD):
            def rates(self, work, first, count, rate):
                firsts.append(first)
                return super().rates(work, first, count, rate)

        solver = Watched(batch_size=8, learning_rate="theory")
        state = solver.begin(work, rng)
        for _ in range(3):
            solver.epoch(work, state, 2.0, rng)
        assert firsts == [0, 7, 14]

    def test_theory_lets_its_huge_first_steps_pass(self):
        X, y = data("logistic", n=400)
        objective = build(X, y, "logistic", "mean")
        solution = run(SGD(learning_rate="theory", max_epochs=64), objective)
        assert solution.status is Status.EPOCHS_DONE
        best = Newton(tol=1e-10).solve(objective).objective
        assert solution.objective <= 1.2 * best

    def test_there_is_none_for_srda(self):
        with pytest.raises(ValueError, match="no theory for SRDA"):
            run(SRDA(learning_rate="theory"), build(*data()))


class TestAveraging:
    def test_the_mean_counts_the_start_and_not_the_last_iterate(self):
        """w̄ = (w⁰ + … + w^{T−1})/T (algorithm 1, line 8)."""
        objective = build(*data(n=6), spectrum="mean")
        start = np.full(4, 2.0)
        iterates = [start]
        for count in range(1, 4):
            work, rng = begun(objective, start), np.random.default_rng(1)
            solver = SGD(batch_size=2, average=False)
            state = solver.begin(work, rng)
            batches = state.batches(objective.ranking, rng)[:count]
            state.batches = lambda *_, drawn=batches: drawn
            solver.epoch(work, state, 0.05, rng)
            iterates.append(work.theta())
        work, rng = begun(objective, start), np.random.default_rng(1)
        solver = SGD(batch_size=2)
        solver.epoch(work, solver.begin(work, rng), 0.05, rng)
        np.testing.assert_allclose(work.theta(), np.mean(iterates[:3], axis=0))

    def test_steps_are_made_from_the_iterate_not_from_the_mean(self):
        objective = build(*data(), spectrum="extremile:2")
        ends = []
        for average in (True, False):
            work, rng = begun(objective), np.random.default_rng(1)
            solver = SGD(batch_size=8, average=average)
            state = solver.begin(work, rng)
            for _ in range(3):
                solver.epoch(work, state, 0.05, rng)
            ends.append(state.W.copy())
        np.testing.assert_array_equal(*ends)


class TestSRDA:
    def test_it_starts_from_zero_and_is_judged_from_there(self):
        objective = build(*data(), intercept=True)
        good = Newton(tol=1e-10).solve(objective).theta
        work = begun(objective, good)
        SRDA().begin(work, None)
        assert not work.W.any() and not work.b.any()
        solution = SRDA(batch_size=8, max_epochs=20).solve(
            objective, good, rng=np.random.default_rng(0)
        )
        assert not any(record["diverged"] for record in solution.history)

    def test_no_epoch_without_a_best_cuts_its_rate(self):
        solution = run(SRDA(batch_size=8, max_epochs=30), build(*data()))
        assert len({record["learning_rate"] for record in solution.history}) == 1


@pytest.mark.parametrize("spectrum", [Mean(), Superquantile(0.5), Extremile(2)])
def test_the_mean_over_all_batches_is_the_gradient_of_their_mean_risk(spectrum):
    """Biased for the risk of n rows, right for that of m (proof of proposition 3)."""
    X, y = data(n=5)
    objective = build(X, y, spectrum="mean", alpha=0.0)
    start, rate = np.random.default_rng(0).normal(size=4), 1.0
    sigma, steps, truth = spectrum.weights(2), [], []
    for pair in itertools.combinations(range(5), 2):
        work = begun(objective, start)
        solver = SGD(batch_size=2, average=False)
        state = solver.begin(work, None)
        state.sigma = sigma
        state.batches = lambda *_, rows=pair: np.array([rows])
        solver.epoch(work, state, rate, None)
        steps.append(start - work.theta())
        rows = list(pair)
        residual = X[rows] @ start - y[rows]
        weights = Ranking(spectrum, 2).weights(0.5 * residual**2)
        truth.append(X[rows].T @ (weights * residual))
    np.testing.assert_allclose(np.mean(steps, axis=0), np.mean(truth, axis=0))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SGD(batch_size=0), ValueError, "batch_size must be"),
        (lambda: SGD(batch_size=2.5), TypeError, "batch_size must be"),
        (lambda: SRDA(batch_size=0), ValueError, "batch_size must be"),
        (lambda: SGD(average="mean"), ValueError, "average must be"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
