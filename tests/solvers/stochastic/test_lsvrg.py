"""LSVRG: algorithms 2, 5 and 7 of paper 1, their draws and the presets of theorem 4."""

import itertools

import numpy as np
import pytest
import transcriptions
from problems import PRINTED, Grid, begun, build, data, last_iterate, printed, run
from scipy.optimize import minimize

from lrisk.permutahedron import smoothed_weights
from lrisk.solvers import LSVRG, Newton
from lrisk.spectra import Extremile

KINDS = {
    "uniform": {},
    "spectral": {"sampling": "spectral"},
    "anew": {"checkpoint_probability": 0.1},
}


@pytest.mark.parametrize(("loss", "spectrum", "full"), PRINTED)
@pytest.mark.parametrize("kind", KINDS)
def test_three_epochs_as_printed(kind, loss, spectrum, full):
    """Algorithm 2, with q* as well, and algorithm 7."""
    objective, problem = printed(loss, spectrum, full)
    rng = np.random.default_rng(5)
    expected = transcriptions.lsvrg(
        problem, 0.02, 3, rng,
        spectral=kind == "spectral", chance=0.1 if kind == "anew" else 0.0,
    )  # fmt: skip
    found = last_iterate(LSVRG(**KINDS[kind]), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("smoothing", "nu"), [("l2", 3.0), ("entropy", 0.3)])
def test_three_smoothed_epochs_as_printed(smoothing, nu):
    """Algorithm 5."""
    objective, problem = printed("squared", "superquantile:0.4", False)

    def weigh(losses):
        return smoothed_weights(objective.ranking, losses, smoothing, nu)

    rng = np.random.default_rng(5)
    expected = transcriptions.lsvrg(problem, 0.02, 3, rng, weigh=weigh)
    found = last_iterate(LSVRG(smoothing=smoothing, nu=nu), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 1e-6, 0.5])
@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.4"])
def test_a_factor_that_would_underflow(spectrum, decay):
    """(1 − ημ)^60 is no number to divide by; w is, whatever it is made of."""
    alpha = 60 * (1.0 - decay) / 0.02
    objective, problem = printed("squared", spectrum, False, alpha)
    rng = np.random.default_rng(5)
    expected = transcriptions.lsvrg(problem, 0.02, 3, rng)
    found = last_iterate(LSVRG(), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("spectrum", ["extremile:3", "superquantile:0.5"])
@pytest.mark.parametrize("uniform", [True, False])
def test_a_step_off_the_checkpoint_is_right_on_average(uniform, spectrum, intercept):
    """Σ_j p_j w(j) = w − η(Σλ∇ℓ(w) + μw), summed over all draws j of the second step.

    The step before it, on any row, has led away from the checkpoint. λ is σ at the rank
    of each row there: with another pairing the sum is off.
    """
    X, y = data(n=12)
    objective = build(X, y, spectrum=spectrum, intercept=intercept)
    start = np.random.default_rng(0).normal(size=objective.space.size)
    weights = objective.ranking.weights(objective.at(start).losses)
    chances = np.full(12, 1 / 12) if uniform else weights
    solver, rate, first = LSVRG(), 0.05, int(np.argmax(weights))

    def after(rows):
        work = begun(objective, start)
        state = solver.begin(work, None)
        state.note(work.order)
        ranked = state.rank_weights(objective.ranking)
        state.steps.take(work, np.array(rows), ranked, rate, uniform=uniform)
        return work.theta()

    away = after([first])
    assert np.abs(away - start).max() > 1e-2
    mean = sum(p * after([first, j]) for j, p in enumerate(chances))
    full = objective.gradient(objective.at(away), weights)
    np.testing.assert_allclose(mean, away - rate * full, rtol=1e-10, atol=1e-13)


class TestDraws:
    """With uniforms that lie evenly each row is drawn as often as λ says."""

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("smoothing", [None, "l2"])
    @pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.4"])
    def test_spectral(self, spectrum, smoothing, weighted):
        X, y = data(n=12)
        weight = np.arange(1.0, 13.0) if weighted else None
        work = begun(build(X, y, spectrum=spectrum, weight=weight))
        ranking, nu = work.objective.ranking, 3.0 if smoothing else 0.0
        solver = LSVRG("spectral", smoothing=smoothing, nu=nu, epoch_length=24_000)
        state = solver.begin(work, None)
        state.note(work.order)
        weights = smoothed_weights(ranking, work.losses, smoothing, nu)
        drawn = solver._draw(weights, state, work, Grid())
        shares = np.bincount(drawn, minlength=12) / 24_000
        np.testing.assert_allclose(shares, weights, atol=2e-4)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_uniform_of_zero_draws_no_row_without_weight(self, weighted):
        X, y = data(n=12)
        y[0] = 0.0  # the smallest loss there is
        weight = np.arange(1.0, 13.0) if weighted else None
        work = begun(build(X, y, spectrum="superquantile:0.4", weight=weight))
        solver = LSVRG("spectral", epoch_length=1)
        state = solver.begin(work, None)
        state.note(work.order)
        weights = work.objective.ranking.weights(work.losses)
        assert weights[0] == 0.0

        class Zero:
            def random(self, count):
                return np.zeros(count)

        assert weights[solver._draw(weights, state, work, Zero())[0]] > 0.0

    def test_uniform_draws_come_from_the_work(self):
        work = begun(build(*data(n=12)))
        solver = LSVRG(epoch_length=5)
        drawn = solver._draw(None, solver.begin(work, None), work,
                             np.random.default_rng(3))  # fmt: skip
        expected = np.random.default_rng(3).integers(0, 12, 160)[:5]
        np.testing.assert_array_equal(drawn, expected)


class TestEpoch:
    def test_lengths_and_passes(self):
        work, rng = begun(build(*data())), np.random.default_rng(0)
        for length, passes in ((None, 2.0), (90, 2.5), (1, 1.0 + 1 / 60)):
            solver = LSVRG(epoch_length=length)
            state = solver.begin(work, rng)
            assert solver.epoch(work, state, 1e-3, rng) == pytest.approx(passes)

    def test_each_full_gradient_more_is_a_pass_more(self):
        work, rng = begun(build(*data())), np.random.default_rng(0)
        solver = LSVRG(checkpoint_probability=0.05, epoch_length=200)
        passes = solver.epoch(work, solver.begin(work, rng), 1e-3, rng)
        again = np.random.default_rng(0)
        again.integers(0, 60, 32 * 200)
        anew = np.count_nonzero(again.random(200) < 0.05)
        assert anew > 0
        assert passes == pytest.approx(1 + 200 / 60 + anew)

    def test_checkpoints_in_between_lead_to_the_minimum(self):
        objective = build(*data(), spectrum="esrm:1")
        best = Newton(tol=1e-12).solve(objective).objective
        solver = LSVRG(checkpoint_probability=0.05, epoch_length=200, max_epochs=60)
        solution = run(solver, objective)
        assert solution.objective == pytest.approx(best, rel=1e-6)

    def test_disagreement_is_the_share_of_ranks_with_another_row(self):
        objective = build(*data(), spectrum="extremile:2")
        orders = []

        class Watched(LSVRG):
            def epoch(self, work, state, rate, rng):
                orders.append(work.order.copy())
                return super().epoch(work, state, rate, rng)

        records = run(Watched(max_epochs=30), objective).history
        found = [record["disagreement"] for record in records]
        assert np.isnan(found[0])
        expected = [np.mean(one != two) for one, two in itertools.pairwise(orders)]
        np.testing.assert_array_equal(found[1:], expected)
        assert found[1] > 0.3 and found[-1] < 0.2


class TestTheorem4:
    """κ = nσ_nL/μ + 1, η = 2/((n + 8κ)μ), N = 4(n + 8κ), ν = 4nG²/μ."""

    def problem(self):
        X, y = data("logistic", n=40)
        norms = np.sum(X**2, axis=1)
        kappa = 40 * Extremile(2).weights(40)[-1] * 0.25 * norms.max() / 10 + 1
        return build(X, y, "logistic", alpha=400.0), norms, kappa

    def test_presets(self):
        objective, norms, kappa = self.problem()
        solver = LSVRG(smoothing="l2", nu="theory", learning_rate="theory")
        work = begun(objective)
        assert solver.rate(work) == pytest.approx(2 / ((40 + 8 * kappa) * 10))
        state = solver.begin(work, None)
        assert state.length == np.ceil(4 * (40 + 8 * kappa))
        assert state.nu == pytest.approx(4 * 40 * norms.max() / 10)
        # a number of either leaves the other alone
        assert LSVRG().begin(work, None).length == 40
        theory = LSVRG(learning_rate="theory", epoch_length=7)
        assert theory.begin(work, None).length == 7

    def test_it_halves_the_distance_in_every_epoch(self):
        """Theorem 4, to the minimum of the smoothed objective, in the mean."""
        objective, _, _ = self.problem()
        solver = LSVRG(smoothing="l2", nu="theory", learning_rate="theory")
        work, rng = begun(objective), np.random.default_rng(0)
        rate, state, thetas = solver.rate(work), solver.begin(work, rng), []
        for _ in range(12):
            thetas.append(work.theta().copy())
            solver.epoch(work, state, rate, rng)
            work.evaluate()
        end = work.theta()
        distances = [np.linalg.norm(theta - end) for theta in thetas[:6]]
        assert distances[0] > 1e-3
        assert np.all(np.array(distances[1:]) <= 0.5 * np.array(distances[:-1]))

    @pytest.mark.parametrize("chance", [0.0, "theory"])
    def test_the_mean_over_seeds_halves_to_the_minimum(self, chance):
        """Appendix E.2 with its q* = 1/n, to a minimum found by other means."""
        objective, _, _ = self.problem()
        solver = LSVRG(
            smoothing="l2", nu="theory", learning_rate="theory",
            checkpoint_probability=chance,
        )  # fmt: skip
        work = begun(objective)
        rate, nu = solver.rate(work), solver.begin(work, None).nu

        def smoothed(theta):
            losses = objective.loss.value(objective.y, objective.space.scores(theta))
            own = smoothed_weights(objective.ranking, losses, "l2", nu)
            slopes = objective.loss.derivative(
                objective.y, objective.space.scores(theta)
            )
            value = own @ losses - 0.5 * nu * np.sum((own - 1 / 40) ** 2)
            gradient = objective.space.pullback(theta, own * slopes)
            penalty = objective.mu * objective.space.penalised(theta)
            value += 0.5 * objective.mu * objective.space.inner(theta, theta)
            return value, gradient + penalty

        least = minimize(
            smoothed, np.zeros(objective.space.size), jac=True, method="BFGS",
            options={"gtol": 1e-12},
        ).x  # fmt: skip
        distances = np.zeros((8, 5))
        for seed in range(8):
            work, rng = begun(objective), np.random.default_rng(seed)
            state = solver.begin(work, rng)
            for k in range(5):
                distances[seed, k] = np.linalg.norm(work.theta() - least)
                solver.epoch(work, state, rate, rng)
                work.evaluate()
        mean = distances.mean(axis=0)
        assert mean[0] > 1e-3
        assert np.all(mean[1:] <= 0.5 * mean[:-1] + 1e-9)

    def test_it_is_for_lipschitz_losses(self):
        solver = LSVRG(smoothing="l2", nu="theory", learning_rate="theory")
        with pytest.raises(ValueError, match="not Lipschitz"):
            run(solver, build(*data()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": -1.0}, "nu must be"),
        ({"nu": np.nan}, "nu must be"),
        ({"nu": "theory"}, "smoothing='l2'"),
        ({"nu": "theory", "smoothing": "entropy"}, "smoothing='l2'"),
        ({"nu": 1.0}, "0 without smoothing"),
        ({"epoch_length": 0}, "epoch_length must be"),
        ({"sampling": "ordered"}, "sampling must be one of"),
        ({"smoothing": "l1"}, "smoothing must be one of"),
        ({"checkpoint_probability": 1.0}, r"\[0, 1\)"),
        ({"checkpoint_probability": -0.1}, r"\[0, 1\)"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        LSVRG(**options)
