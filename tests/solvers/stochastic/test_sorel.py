"""SOREL: its epochs as printed, and the two scales that make it free of units."""

import numpy as np
import pytest
import transcriptions
from problems import PRINTED, begun, build, data, last_iterate, printed, run

from lrisk.permutahedron import majorisation_excess, project, proximal_weights
from lrisk.solvers import LSVRG, SOREL, Newton


@pytest.mark.parametrize(("loss", "spectrum", "full"), PRINTED)
def test_three_epochs_as_printed(loss, spectrum, full):
    objective, problem = printed(loss, spectrum, full)
    expected = transcriptions.sorel(
        problem, 0.02, 3, np.random.default_rng(5),
        lambda point: project(objective.ranking, point),
    )  # fmt: skip
    found = last_iterate(SOREL(), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


class TestScales:
    def state(self, objective, start=None):
        return SOREL().begin(begun(objective, start), None)

    @pytest.mark.parametrize("intercept", [False, True])
    def test_of_losses_and_features(self, intercept):
        """The mean loss at the start, and the mean square of a (centred) feature."""
        X, y = data()
        weight = np.arange(1.0, 61.0)
        mass = weight / weight.sum()
        objective = build(X + 3.0, y, intercept=intercept, weight=weight)
        state = self.state(objective)
        assert state.loss_scale == pytest.approx(mass @ (0.5 * y**2), rel=1e-12)
        seen = X + 3.0 - (mass @ X + 3.0 if intercept else 0.0)
        squares = (mass @ seen**2).mean()
        assert state.feature_scale == pytest.approx(squares, rel=1e-10)
        np.testing.assert_array_equal(state.weights, objective.ranking.mass)

    def test_nothing_to_scale_by(self):
        """Losses of zero, features of zero: one, and no division by zero."""
        X, _ = data(n=12)
        assert self.state(build(X, np.zeros(12))).loss_scale == 1.0
        assert self.state(build(np.zeros((12, 2)), np.ones(12))).feature_scale == 1.0
        solution = run(SOREL(max_epochs=3), build(X, np.zeros(12)))
        np.testing.assert_array_equal(solution.theta, np.zeros(4))


def test_the_first_weights_are_the_dual_step_from_uniform_ones():
    """λ = argmax λ·ℓ − (ν/2)‖λ − p‖²: ν = n·s/c_d, twice ℓ less half of ℓ_prev next."""
    objective = build(*data(), spectrum="superquantile:0.5")
    ranking, solver = objective.ranking, SOREL()
    work, rng = begun(objective), np.random.default_rng(0)
    state = solver.begin(work, rng)
    first = work.losses.copy()
    nu = 60 * first.mean() / 0.1
    expected = proximal_weights(ranking, first, ranking.mass, nu).weights
    assert solver.epoch(work, state, 0.01, rng) == 2.0
    np.testing.assert_allclose(state.weights, expected, rtol=1e-12)
    work.evaluate()
    ahead = 1.5 * work.losses - 0.5 * first
    expected = proximal_weights(ranking, ahead, expected, nu / 2).weights
    solver.epoch(work, state, 0.01, rng)
    np.testing.assert_allclose(state.weights, expected, rtol=1e-12)
    assert majorisation_excess(ranking, state.weights) <= 1e-12


def test_it_passes_where_lsvrg_stalls():
    """On a superquantile, where weights by rank jump from epoch to epoch."""
    objective = build(*data(n=200), spectrum="superquantile:0.7")
    best = Newton(tol=1e-12).solve(objective).objective
    for seed in range(3):
        short = {
            kind: run(kind(max_epochs=150), objective, seed).objective - best
            for kind in (SOREL, LSVRG)
        }
        assert short[SOREL] <= 1e-4 * best


def test_theory_rate():
    work = begun(build(*data(), spectrum="superquantile:0.5"))
    expected = 1.0 / (8.0 * work.row_smoothness.max() + 1.0 / 60.0)
    assert SOREL(learning_rate="theory").rate(work) == pytest.approx(expected)


def test_one_row():
    solution = run(SOREL(max_epochs=60), build(np.ones((1, 1)), np.ones(1)))
    assert solution.theta[0] == pytest.approx(0.5, rel=1e-3)
