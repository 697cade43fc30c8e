"""What all stochastic solvers stand on: the work, the rates, the loop about epochs."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import begun, build, data, run

from lrisk.permutahedron import majorisation_excess
from lrisk.solvers import LSVRG, SGD, Newton, Status
from lrisk.solvers.stochastic import StochasticSolver, Work, base


def parabola():
    """F(w) = w²/2 over one row, so that a test can say what F is."""
    return build(np.ones((1, 1)), np.zeros(1), spectrum="mean", alpha=0.0)


class Scripted(StochasticSolver):
    """Each epoch goes where the script says, by the value of F it is to have."""

    name = "scripted"

    def __init__(self, values=(), learning_rate="auto", tol=0.0, certify_every=None):
        self.values = values
        self.learning_rate = learning_rate
        self.max_epochs = len(values)
        self.tol = tol
        self.certify_every = certify_every
        self.starts, self.rates, self.begins = [], [], 0

    def automatic_rate(self, work):
        return 1.0

    def theory_rate(self, work):
        return 0.25

    def begin(self, work, rng):
        self.begins += 1

    def epoch(self, work, state, rate, rng):
        self.starts.append(0.5 * float(work.W[0, 0]) ** 2)
        self.rates.append(rate)
        work.W[:] = np.sqrt(2.0 * self.values[len(self.rates) - 1])
        return 0.5


def scripted(*values, first=1.0, **options):
    """A run whose F is `first`, then the given values."""
    solver = Scripted(values, **options)
    start = np.array([np.sqrt(2.0 * first)])
    return solver, solver.solve(parabola(), start)


class TestWork:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(("loss", "intercept"), [("squared", True),
                                                     ("multinomial", True),
                                                     ("logistic", False)])  # fmt: skip
    def test_agrees_with_the_objective(self, loss, intercept, weighted):
        X, y = data(loss)
        weight = np.random.default_rng(1).uniform(0.5, 2.0, 60) if weighted else None
        objective = build(X + 2.0, y, loss, intercept=intercept, weight=weight)
        theta = np.random.default_rng(0).normal(size=objective.space.size)
        work, point = Work(objective, theta), objective.at(theta)
        assert work.evaluate() == pytest.approx(objective.value(point), rel=1e-12)
        np.testing.assert_allclose(work.losses, point.losses, rtol=1e-11)
        assert np.all(np.diff(work.losses[work.order]) >= 0)
        np.testing.assert_array_equal(work.theta(), theta)
        weights = np.random.default_rng(2).dirichlet(np.ones(60))
        weights[::7] = 0.0
        work.gradient(weights)
        penalty = objective.mu * objective.space.penalised(theta)
        expected = objective.gradient(point, weights) - penalty
        table = np.vstack([work.G.T, work.h]) if intercept else work.G.T
        np.testing.assert_allclose(table.ravel(), expected, rtol=1e-10, atol=1e-13)

    def test_sparse_rows_are_not_centred_and_theta_still_is(self):
        X, y = data()
        objective = build(sp.csr_array(X + 5.0), y, intercept=True)
        theta = np.random.default_rng(0).normal(size=5)
        work = Work(objective, theta)
        assert work.evaluate() == pytest.approx(objective.value(objective.at(theta)))
        np.testing.assert_allclose(work.theta(), theta, rtol=1e-12)
        np.testing.assert_allclose(work.b, theta[4] - objective.space.offset @ work.W.T)

    def test_overflow_is_infinite_not_nan(self):
        work = Work(build(*data()), np.array([1e200, -1e200, 1e200, 0.0]))
        assert work.evaluate() == np.inf

    def test_draws_are_one_stream_whatever_their_number(self):
        work = Work(build(*data()), None)
        rng = np.random.default_rng(0)
        drawn = np.concatenate([work.draw(7, rng) for _ in range(32)])
        expected = np.random.default_rng(0).integers(0, 60, 7 * 32)
        np.testing.assert_array_equal(drawn, expected)
        many = work.draw(40_000, rng)
        assert len(many) == 40_000
        np.testing.assert_array_equal(np.unique(many), np.arange(60))

    def test_smoothness_of_the_rows(self):
        """L_i = ¼‖x_i‖² (+ ¼ for the intercept), means and maxima by hand."""
        X, y = data("logistic")
        weight = np.arange(1.0, 61.0)
        work = Work(build(X, y, "logistic", "superquantile:0.5", weight=weight), None)
        rows = 0.25 * (X**2).sum(axis=1)
        np.testing.assert_allclose(work.row_smoothness, rows, rtol=1e-12)
        mass = weight / weight.sum()
        assert work.mean_smoothness() == pytest.approx(60 * (mass**2 * rows).sum())
        # under a superquantile no row can have more than twice its mass
        assert work.largest_gain() == pytest.approx(60 * (2 * mass * rows).max())

    def test_one_row(self):
        solution = run(LSVRG(max_epochs=40), build(np.ones((1, 1)), np.ones(1)))
        assert solution.theta[0] == pytest.approx(0.5, rel=1e-6)  # ½(w − 1)² + ½w²


class TestRate:
    def test_of_each_kind(self):
        work = begun(build(*data(), spectrum="superquantile:0.5"))
        assert Scripted(learning_rate=0.3).rate(work) == 0.3
        assert Scripted(learning_rate="theory").rate(work) == 0.25
        assert Scripted(learning_rate="auto").rate(work) == 1.0
        # the worst rows weigh twice their mass, and two of these are the margin
        steepest = 2.0 * 2.0 * work.row_smoothness.mean()
        expected = 1.0 / (steepest + 1.0 / 60.0)
        assert LSVRG().rate(work) == pytest.approx(expected, rel=1e-12)

    def test_concentration_counts_up_to_twenty(self):
        work = begun(build(*data(), spectrum="worst_case"))
        expected = 1.0 / (40.0 * work.row_smoothness.mean() + work.mu)
        assert LSVRG().rate(work) == pytest.approx(expected, rel=1e-12)

    def test_rows_of_zeros_have_one(self):
        objective = build(np.zeros((3, 1)), np.arange(3.0), alpha=0.0)
        solution = run(LSVRG(max_epochs=2), objective)
        assert solution.theta[0] == 0.0 and solution.gap == 0.0

    def test_theory_asks_for_a_penalty_and_for_slopes_that_end(self):
        with pytest.raises(ValueError, match="alpha=0"):
            base.require_penalty(LSVRG(), "nu", parabola())
        base.require_penalty(LSVRG(), "nu", build(*data()))
        with pytest.raises(ValueError, match="not Lipschitz"):
            base.require_lipschitz(LSVRG(), "nu", parabola())
        X, y = data("logistic")
        longest = np.sqrt((X**2).sum(axis=1).max())
        found = base.require_lipschitz(LSVRG(), "nu", build(X, y, "logistic"))
        assert found == pytest.approx(longest, rel=1e-12)

    @pytest.mark.parametrize("solver", [LSVRG(), SGD()], ids=repr)
    def test_theory_needs_a_penalty(self, solver):
        with pytest.raises(ValueError, match="alpha=0"):
            run(solver, build(*data(), alpha=0.0), learning_rate="theory")


class TestExplosion:
    """F counts as exploded above 3 times the best and the last, and 10 times the first.

    A thousandth of the first is nothing: from there threefold growth is noise.
    """

    @pytest.mark.parametrize(
        ("values", "exploded"),
        [
            ([2.9], False),
            ([3.1], True),
            ([np.inf], True),
            ([np.nan], True),
            ([2.0, 5.9], False),  # three times the last
            ([2.0, 6.1], True),
            ([0.1, 0.29, 0.86], False),
            ([0.1, 0.31], True),
            ([2.5, 7.0, 9.9], False),
            ([2.5, 7.0, 10.1], True),  # ten times the first
            ([1e-9, 2.9e-3], False),  # a thousandth of the first, three times
            ([1e-9, 3.1e-3], True),
        ],
    )
    def test_where_it_begins(self, values, exploded):
        _, solution = scripted(*values)
        found = [record["diverged"] for record in solution.history]
        assert found == [False] * (len(values) - 1) + [exploded]

    def test_theory_may_grow_as_it_likes_while_it_is_finite(self):
        _, solution = scripted(1e3, 1e9, learning_rate="theory")
        assert solution.status is Status.EPOCHS_DONE
        _, solution = scripted(1e3, np.inf, 1.0, learning_rate="theory")
        assert solution.status is Status.DIVERGED and solution.n_iter == 2

    def test_auto_goes_back_to_the_last_good_epoch_at_half_the_rate(self):
        solver, solution = scripted(0.5, 0.7, 9.0, 0.6)
        assert solver.rates == [1.0, 1.0, 1.0, 0.5]
        # 0.7 is the last good one, 0.5 the best
        np.testing.assert_allclose(solver.starts, [1.0, 0.5, 0.7, 0.7], rtol=1e-12)
        assert solver.begins == 2
        assert solution.objective == pytest.approx(0.5)

    def test_a_number_ends_there_with_the_best_point(self):
        solver, solution = scripted(0.5, 0.7, 9.0, 0.1, learning_rate=0.1)
        assert solution.status is Status.DIVERGED
        assert solution.n_iter == 3 and len(solver.rates) == 3
        assert solution.objective == pytest.approx(0.5)
        np.testing.assert_allclose(solution.theta, 1.0)  # ½·1² = 0.5

    def test_patience(self):
        """Two epochs without a new best halve the rate of "auto", and only of it."""
        values = (0.9, 0.95, 0.92, 0.91, 0.93, 0.8, 0.85)
        solver, _ = scripted(*values)
        assert solver.rates == [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
        solver, _ = scripted(*values, learning_rate=0.3)
        assert solver.rates == [0.3] * 7


class TestHistory:
    def test_best_point_and_records(self):
        solver, solution = scripted(0.5, 0.2, 0.4)
        assert solution.objective == pytest.approx(0.2)
        np.testing.assert_allclose(solution.theta**2, 0.4)
        assert solution.status is Status.EPOCHS_DONE and solution.n_iter == 3
        records = solution.history
        assert [r["iteration"] for r in records] == [1, 2, 3]
        assert [r["passes"] for r in records] == [1.5, 2.0, 2.5]  # 1 at the start
        np.testing.assert_allclose([r["objective"] for r in records], [0.5, 0.2, 0.4])
        assert [r["learning_rate"] for r in records] == solver.rates
        seconds = [r["seconds"] for r in records]
        assert 0 < seconds[0] < seconds[1] < seconds[2]

    def test_a_start_that_no_epoch_beats_is_kept(self):
        _, solution = scripted(1.5, 1.2)
        assert solution.objective == pytest.approx(1.0)
        np.testing.assert_allclose(solution.theta**2, 2.0)

    def test_monitor_sees_each_record_and_may_interrupt(self):
        seen = []

        def stop(record):
            seen.append(record)
            if record["iteration"] == 2:
                raise KeyboardInterrupt

        solver = Scripted((0.5, 0.7, 0.1))
        solution = solver.solve(parabola(), np.ones(1) * np.sqrt(2.0), monitor=stop)
        assert solution.status is Status.INTERRUPTED and solution.n_iter == 2
        assert seen == solution.history
        assert solution.objective == pytest.approx(0.5)

    def test_interrupted_in_the_first_epoch(self):
        class Stopped(LSVRG):
            def epoch(self, work, state, rate, rng):
                raise KeyboardInterrupt

        solution = run(Stopped(), build(*data()))
        assert solution.status is Status.INTERRUPTED
        assert solution.n_iter == 1 and solution.history == []
        assert np.all(solution.theta == 0.0)


class TestCertificate:
    """Of F(w) = ½(w − 1)² + ½w² over one row: the minimum is ¼ at ½."""

    def solve(self, *steps, **options):
        class Walk(Scripted):
            def epoch(self, work, state, rate, rng):
                self.rates.append(rate)
                work.W[:] = self.values[len(self.rates) - 1]
                return 0.5

        objective = build(np.ones((1, 1)), np.ones(1), spectrum="mean")
        return Walk(steps, **options).solve(objective)

    def test_dual_and_gap_of_the_best_point(self):
        solution = self.solve(0.5, 0.6)
        assert solution.dual == pytest.approx(0.25, rel=1e-12)
        assert solution.gap <= 1e-12
        solution = self.solve(0.8)  # of F = ½(.04 + .64) = .34
        assert solution.dual == pytest.approx(0.25, rel=1e-12)
        assert solution.gap == pytest.approx(0.09 / 0.34, rel=1e-10)

    @pytest.mark.parametrize(
        ("options", "looks"),
        [
            ({}, []),
            ({"certify_every": 3}, [3, 6, 9]),
            ({"tol": 1e-9}, [8]),
            ({"tol": 1e-9, "certify_every": 5}, [5]),
        ],
    )
    def test_when_it_is_looked_for(self, options, looks):
        solution = self.solve(*[0.8] * 9, **options)
        clocks = [0.0, *(r["certificate_seconds"] for r in solution.history)]
        assert list(1 + np.flatnonzero(np.diff(clocks) > 0)) == looks
        gaps = [record["gap"] for record in solution.history]
        first = looks[0] if looks else 10
        assert np.all(np.isinf(gaps[: first - 1]))
        np.testing.assert_allclose(gaps[first - 1 :], 0.09 / 0.34)

    def test_statuses(self):
        solution = self.solve(0.8, 0.5, 0.8, 0.8, tol=1e-6, certify_every=2)
        assert solution.status is Status.CONVERGED and solution.n_iter == 2
        # found only by the certificate at the end
        solution = self.solve(0.8, 0.8, 0.5, tol=1e-6, certify_every=2)
        assert solution.status is Status.CONVERGED and solution.n_iter == 3
        solution = self.solve(0.8, 0.8, 0.8, tol=1e-6, certify_every=2)
        assert solution.status is Status.MAX_ITER
        solution = self.solve(0.5, 0.5, certify_every=1)  # no tolerance, no early end
        assert solution.status is Status.EPOCHS_DONE and solution.n_iter == 2

    def test_without_proof(self):
        rng = np.random.default_rng(0)
        solution = LSVRG(max_epochs=3).run(build(*data()), rng=rng, proof=False)
        assert np.isinf(solution.gap) and np.isinf(solution.dual)
        again = run(LSVRG(max_epochs=3), build(*data()))
        assert np.array_equal(solution.theta, again.theta) and again.gap < 1.0

    def test_tied_losses_at_a_kink_share_their_weight(self):
        """No order of the losses proves the optimum there; smoothing on ties does."""
        objective = build(*data(), spectrum="superquantile:0.5", alpha=10.0)
        best = Newton(tol=1e-12).solve(objective)

        class Stay(Scripted):
            def epoch(self, work, state, rate, rng):
                return 0.5

        solution = Stay((1, 1, 1, 1), certify_every=1).solve(objective, best.theta)
        assert 0 <= solution.gap <= 1e-4
        assert solution.dual <= best.objective * (1 + 1e-12)
        assert majorisation_excess(objective.ranking, solution.weights) <= 1e-12
        gaps = [record["gap"] for record in solution.history]
        assert np.all(np.diff(gaps) <= 0)
        point = objective.at(best.theta)
        ranked = objective.ranking.weights(point.losses)
        step = base._newton_step(objective, point, ranked)
        plain = base.bound(objective, point, ranked, step).dual
        assert best.objective - plain > 5.0 * solution.gap * best.objective

    def test_with_more_parameters_than_a_dense_hessian_may_have(self, monkeypatch):
        objective = build(*data(), spectrum="esrm:1", intercept=True)
        dense = run(LSVRG(max_epochs=6), objective)
        monkeypatch.setattr(base, "DENSE_CERTIFICATE", 3)
        iterated = run(LSVRG(max_epochs=6), objective)
        assert dense.gap < 0.1
        assert iterated.gap == pytest.approx(dense.gap, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be"),
        ({"learning_rate": -1.0}, ValueError, "learning_rate must be"),
        ({"learning_rate": np.nan}, ValueError, "learning_rate must be"),
        ({"learning_rate": "fast"}, ValueError, "'auto', 'theory'"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be"),
        ({"max_epochs": 2.5}, TypeError, "max_epochs must be"),
        ({"certify_every": 0}, ValueError, "certify_every must be"),
        ({"tol": -1e-9}, ValueError, "tol must be"),
    ],
)
def test_refusals(options, error, message):
    with pytest.raises(error, match=message):
        LSVRG(**options)
