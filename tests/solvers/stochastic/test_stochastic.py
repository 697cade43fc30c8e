"""What users expect of every stochastic solver, whichever it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import build, data, run
from sklearn.linear_model import LogisticRegression, Ridge

from lrisk.losses import LOSSES
from lrisk.solvers import LSVRG, SGD, SOREL, SRDA, Newton, Prospect, Status

ALL = [LSVRG(), LSVRG("spectral"), SOREL(), Prospect(), SGD(batch_size=8), SRDA(8)]
UNBIASED = ALL[:4]
SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth]
# Loops know the storage of X and the number of scores, losses know neither; each pair
# of a loop and a loss is compiled anew.
STORED = [(solver, loss) for solver in ALL for loss in ("squared", "multinomial")]
every_solver = pytest.mark.parametrize("solver", ALL, ids=repr)
unbiased_solver = pytest.mark.parametrize("solver", UNBIASED, ids=repr)


class TestLaws:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("loss", SMOOTH)
    @unbiased_solver
    def test_mean_spectrum_converges_to_scikit_learn(self, solver, loss, intercept):
        X, y = data(loss)
        objective = build(X, y, loss, "mean", intercept=intercept)
        solution = run(solver, objective, max_epochs=400)
        coef, _ = objective.space.uncentred(solution.theta)
        if loss == "squared":
            other = Ridge(fit_intercept=intercept).fit(X, y)
            expected = other.coef_[:, None]
        elif loss in ("huber", "squared_hinge"):  # no peer with a free intercept
            best = Newton(tol=1e-13).solve(objective).theta
            expected = objective.space.uncentred(best)[0]
        else:
            other = LogisticRegression(
                C=1.0, fit_intercept=intercept, tol=1e-12, max_iter=1000
            ).fit(X, y)
            expected = other.coef_.T
        np.testing.assert_allclose(coef, expected, atol=2e-5)

    @pytest.mark.parametrize("kind", [SGD, SRDA])
    def test_mean_spectrum_brings_the_biased_ones_near(self, kind):
        X, y = data(n=400)
        objective = build(X, y, spectrum="mean")
        best = Newton(tol=1e-12).solve(objective).objective
        solution = run(kind(batch_size=16), objective, max_epochs=300)
        assert solution.objective <= best * 1.02

    @pytest.mark.parametrize("smoothing", ["l2", "entropy"])
    @pytest.mark.parametrize("kind", [LSVRG, Prospect])
    def test_no_smoothing_is_the_limit(self, kind, smoothing):
        objective = build(*data(), spectrum="extremile:2")
        plain = run(kind(max_epochs=5), objective)
        limit = run(kind(smoothing=smoothing, nu=1e-12, max_epochs=5), objective)
        np.testing.assert_allclose(limit.theta, plain.theta, rtol=1e-9)

    @every_solver
    def test_units_do_not_matter(self, solver):
        """y×10 and X×10 (with the penalty to match) change only the scale of w."""
        X, y = data()
        plain = run(solver, build(X, y), max_epochs=10)
        larger_y = run(solver, build(X, 10 * y), max_epochs=10)
        np.testing.assert_allclose(larger_y.theta, 10 * plain.theta, rtol=1e-7)
        larger_X = run(solver, build(10 * X, y, alpha=100.0), max_epochs=10)
        np.testing.assert_allclose(10 * larger_X.theta, plain.theta, rtol=1e-7)

    @pytest.mark.parametrize(("solver", "loss"), STORED, ids=repr)
    def test_dense_is_csr_is_float32(self, solver, loss):
        X, y = data(loss)
        X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32).astype(np.float64)
        X -= np.where(X == 0, 0.0, X.sum(axis=0) / np.count_nonzero(X, axis=0))
        X = X.astype(np.float32).astype(np.float64)  # (nearly) centred, still sparse
        dense = run(solver, build(X, y, loss), max_epochs=5)
        sparse = run(solver, build(sp.csr_array(X), y, loss), max_epochs=5)
        single = run(solver, build(X.astype(np.float32), y, loss), max_epochs=5)
        shifted = [
            run(solver, build(kind(X), y, loss, intercept=True), max_epochs=5).theta
            for kind in (np.asarray, sp.csr_array)
        ]
        np.testing.assert_allclose(*shifted, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(sparse.theta, dense.theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(single.theta, dense.theta, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("loss", SMOOTH)
    @unbiased_solver
    def test_approaches_the_certified_minimum(self, solver, loss):
        X, y = data(loss, n=120)
        X = X + 0.5
        for intercept, weighted in ((True, False), (False, True), (True, True)):
            weight = np.random.default_rng(1).uniform(0.5, 2.0, 120)
            objective = build(
                X, y, loss, "esrm:1", intercept=intercept,
                weight=weight if weighted else None,
            )  # fmt: skip
            best = Newton(tol=1e-11).solve(objective).objective
            solution = run(solver, objective, max_epochs=200)
            assert solution.objective - best <= 2e-4 * best
            assert solution.dual <= best * (1 + 1e-10)

    @every_solver
    def test_same_seed_same_bits(self, solver):
        objective = build(*data(), spectrum="superquantile:0.5", intercept=True)
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        first, second = (run(solver, objective, 3, max_epochs=4) for _ in range(2))
        assert np.array_equal(first.theta, second.theta)
        assert not np.array_equal(
            first.theta, run(solver, objective, 4, max_epochs=4).theta
        )
        assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002

    @unbiased_solver
    def test_weights_count_like_copies(self, solver):
        """The same minimiser; the iterates differ, as the draws do."""
        X, y = data(n=80)
        counts = np.random.default_rng(0).integers(1, 4, 80)
        copies = np.repeat(np.arange(80), counts)
        weighted = build(X, y, weight=counts * 1.0)
        copied = build(X[copies], y[copies])
        a = run(solver, weighted, max_epochs=150)
        b = run(solver, copied, max_epochs=150)
        assert a.objective == pytest.approx(b.objective, rel=1e-4)


class TestLearningRate:
    def test_divergence_is_caught_and_the_step_cut(self):
        X, y = data()
        objective = build(100 * X, y)

        class Bold(LSVRG):
            def automatic_rate(self, work):
                return 100 * super().automatic_rate(work)

        solution = run(Bold(max_epochs=60), objective)
        history = solution.history
        assert any(record["diverged"] for record in history)
        assert history[-1]["learning_rate"] < history[0]["learning_rate"]
        first = objective.value(objective.at(np.zeros(4)))
        assert solution.objective < first and np.isfinite(solution.objective)

    @pytest.mark.parametrize("solver", [LSVRG(), SOREL(), Prospect()], ids=repr)
    def test_theory_sees_the_sample_weights(self, solver):
        X, y = data()
        weight = np.ones(60)
        weight[:4] = 1000.0
        solution = run(solver, build(X, y, weight=weight), learning_rate="theory",
                       max_epochs=3)  # fmt: skip
        assert solution.status is not Status.DIVERGED

    @pytest.mark.parametrize("alpha", [1e6, 1e9])
    @every_solver
    def test_a_large_penalty_wastes_no_epochs(self, solver, alpha):
        objective = build(*data(), alpha=alpha)
        solution = run(solver, objective, max_epochs=20)
        assert not any(record["diverged"] for record in solution.history)
        first = objective.value(objective.at(np.zeros(4)))
        assert solution.objective < first

    @every_solver
    def test_too_large_a_number_keeps_the_last_good_iterate(self, solver):
        objective = build(*data())
        first = objective.value(objective.at(np.zeros(4)))
        solution = run(solver, objective, learning_rate=1e6)
        assert solution.status in (Status.DIVERGED, Status.EPOCHS_DONE)
        assert np.all(np.isfinite(solution.theta))
        assert solution.objective <= first

    @pytest.mark.parametrize(
        "spectrum", ["mean", "superquantile:0.5", "extremile:2", "esrm:1"]
    )
    @pytest.mark.parametrize("name", ["yacht", "energy_cooling", "concrete"])
    def test_auto_needs_no_tuning(self, name, spectrum, load):
        X, y = load(name, standardise=True)
        objective = build(X, y, spectrum=spectrum)
        best = Newton(tol=1e-12).solve(objective).dual
        first = objective.value(objective.at(np.zeros(X.shape[1])))
        for seed in range(5):
            solution = run(LSVRG(), objective, seed)
            assert solution.objective - best <= 3e-3 * (first - best)


class TestHistory:
    @pytest.mark.parametrize(
        ("solver", "passes"),
        [(LSVRG(), 2.0), (SOREL(), 2.0), (Prospect(), 1.0), (SGD(8), 56 / 60)],
        ids=repr,
    )
    def test_passes_count_gradients(self, solver, passes):
        solution = run(solver, build(*data()), max_epochs=3)
        assert solution.history[-1]["passes"] == pytest.approx(1.0 + 3 * passes)

    def test_early_stop_on_the_gap(self):
        objective = build(*data(), spectrum="esrm:1")
        solution = run(LSVRG(tol=1e-6, certify_every=2, max_epochs=500), objective)
        assert solution.status is Status.CONVERGED
        assert solution.gap <= 1e-6 and solution.n_iter < 200
        best = Newton(tol=1e-12).solve(objective).objective
        assert solution.objective <= best * (1 + 1e-6)
        assert solution.history[-1]["certificate_seconds"] > 0


def test_biased_methods_stall_above_the_others(load):
    """Proposition 3's bias is visible, and LSVRG does not have it."""
    X, y = load("concrete", standardise=True)
    objective = build(X, y, spectrum="extremile:2")
    best = Newton(tol=1e-12).solve(objective).dual
    ours = run(LSVRG(), objective).objective - best
    for solver in (SGD(), SRDA()):
        assert run(solver, objective).objective - best > 100 * ours
