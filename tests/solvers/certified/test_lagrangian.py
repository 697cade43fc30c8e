"""The augmented Lagrangian, its schedule, and the damping of Newton's steps."""

import numpy as np
import pytest

from lrisk.solvers.certified.lagrangian import Damping, Lagrangian

RISING = ["superquantile:0.6", "extremile:3"]


def begun(objective, seed=1, center=None):
    theta = 0.3 * np.random.default_rng(seed).normal(size=objective.size)
    point = objective.at(theta)
    return Lagrangian(objective, point.losses, center=center), point


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", RISING)
def test_its_gradient_is_that_of_phi_at_the_maximiser(spectrum, weighted, problem):
    objective = problem("squared", spectrum, weighted=weighted)
    lagrangian, point = begun(objective)
    weights = lagrangian.at(point).projection.weights
    gradient = objective.gradient(point, weights)
    h = 1e-6
    for j, axis in enumerate(np.eye(objective.size)):
        up, down = (
            lagrangian.at(objective.at(point.theta + s * h * axis)).value
            for s in (1, -1)
        )
        assert (up - down) / (2 * h) == pytest.approx(gradient[j], abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", RISING)
def test_it_lies_below_the_objective_by_no_more_than_the_term(
    spectrum, weighted, problem
):
    objective = problem("squared", spectrum, weighted=weighted)
    lagrangian, point = begun(objective)
    ranking, nu = objective.ranking, lagrangian.nu
    best = ranking.weights(point.losses)
    most = np.sum((best - ranking.mass) ** 2 / ranking.row_weight)
    value, plain = lagrangian.at(point).value, objective.value(point)
    assert plain - 0.5 * nu * most - 1e-12 <= value <= plain
    assert value >= ranking.mass @ point.losses + point.penalty  # λ = c is feasible


def test_at_the_maximiser_as_centre_it_touches_the_objective(problem):
    objective = problem("squared", "extremile:3")
    _, point = begun(objective)
    best = objective.ranking.weights(point.losses)
    lagrangian, _ = begun(objective, center=best)
    found = lagrangian.at(point)
    assert found.value == pytest.approx(objective.value(point), rel=1e-12)
    np.testing.assert_allclose(found.projection.weights, best, atol=1e-12)


def test_of_the_mean_it_is_the_objective(problem):
    objective = problem("squared", "mean", weighted=True)
    lagrangian, point = begun(objective)
    found = lagrangian.at(point)
    assert found.value == pytest.approx(objective.value(point), rel=1e-14)
    np.testing.assert_array_equal(found.projection.weights, objective.ranking.mass)
    assert len(found.projection.rows) == 0  # nothing pooled


@pytest.mark.parametrize(
    ("spectrum", "share", "easy"),
    [("superquantile:0.6", 1e-2, 0.1), ("extremile:3", 3e-3, 0.03)],
)
def test_nu_begins_by_the_spectrum_and_falls_faster_where_it_was_easy(
    spectrum, share, easy, problem
):
    objective = problem("squared", spectrum, weighted=True)
    lagrangian, point = begun(objective)
    ranking = objective.ranking
    scale = max(ranking.mass @ point.losses, objective.constant_risk)
    unit = ranking.total * scale
    begin = share * ranking.concentration() * unit
    assert lagrangian.nu == pytest.approx(begin)
    np.testing.assert_array_equal(lagrangian.center, ranking.mass)
    warm, _ = begun(objective, center=ranking.mass)
    assert warm.nu == pytest.approx(1e-5 * unit)
    for steps, factor in ((2, easy), (3, 0.3)):
        before, weights = lagrangian.nu, np.full(60, 1 / 60)
        lagrangian.tighten(weights, scale, steps)
        assert lagrangian.nu == pytest.approx(factor * before)
        assert lagrangian.center is weights and not lagrangian.tight
    before = lagrangian.nu
    lagrangian.soften()
    assert lagrangian.nu == pytest.approx(10 * before)


def test_nu_ends_at_a_floor_that_follows_the_objective(problem):
    objective = problem("squared", "extremile:3", weighted=True)
    lagrangian, point = begun(objective)
    ranking = objective.ranking
    lightest = ranking.row_weight.min() * ranking.n_rows
    scale = max(ranking.mass @ point.losses, objective.constant_risk)
    for level, expected in ((2 * scale, scale), (0.5 * scale, 0.5 * scale)):
        for _ in range(30):
            lagrangian.tighten(ranking.mass, level, 1)
        assert lagrangian.tight
        assert lagrangian.nu == pytest.approx(1e-8 * lightest * expected)
    lagrangian.soften()
    assert not lagrangian.tight


def test_a_start_of_tiny_losses_is_judged_by_what_they_may_become(problem):
    objective = problem("squared", "extremile:3")
    tiny = Lagrangian(objective, np.full(60, 1e-20))
    unit = objective.ranking.total * objective.constant_risk
    share = 3e-3 * objective.ranking.concentration()
    assert tiny.nu == pytest.approx(share * unit)


class TestDamping:
    def test_smooth_losses_are_not_damped_at_first(self, problem):
        objective = problem("logistic", "esrm:1")
        _, point = begun(objective)
        matrix = np.zeros((4, 4))
        assert not Damping(objective).add(matrix, objective, point, None)
        assert not matrix.any()

    @pytest.mark.parametrize("loss", ["logistic", "multinomial"])
    def test_curvatures_by_mass_are_added(self, loss, problem):
        objective = problem(loss, "esrm:1", weighted=True)
        _, point = begun(objective)
        damping, size = Damping(objective), objective.size
        assert damping.rise() and damping.factor == damping.first == 1e-4
        curvature = objective.loss.curvature(objective.y, point.scores)
        mass = objective.ranking.mass.reshape(-1, *[1] * (curvature.ndim - 1))
        matrix = np.eye(size)
        assert damping.add(matrix, objective, point, np.zeros(60))
        expected = np.eye(size) + 1e-4 * objective.space.gram(mass * curvature)
        np.testing.assert_allclose(matrix, expected, rtol=1e-12)

    def test_flat_pieces_get_parabolas_by_weight(self, problem):
        objective = problem("absolute", "esrm:1")
        _, point = begun(objective)
        weights = objective.ranking.weights(point.losses)
        damping, matrix = Damping(objective), np.eye(4)
        assert damping.factor == 1.0
        damping.factor = 0.5
        assert damping.add(matrix, objective, point, weights)
        parabola = 1.0 / np.abs(point.scores - objective.y)
        expected = np.eye(4) + objective.space.gram(0.5 * weights * parabola)
        np.testing.assert_allclose(matrix, expected, rtol=1e-10)

    def test_it_rises_a_hundredfold_up_to_one(self, problem):
        damping, seen = Damping(problem("squared")), []
        while damping.rise():
            seen.append(damping.factor)
        assert seen == pytest.approx([1e-4, 1e-2, 1.0])
        assert damping.factor == 1.0

    def test_it_falls_with_whole_steps_and_rises_with_short_ones(self, problem):
        damping = Damping(problem("squared"))
        damping.learn(0.25)
        assert damping.factor == 0.0  # a quarter of a step is not short
        damping.learn(0.125)
        assert damping.factor == 1e-4
        damping.learn(0.125)
        assert damping.factor == pytest.approx(1e-3)
        damping.learn(0.5)
        assert damping.factor == pytest.approx(1e-3)
        damping.learn(1.0)
        assert damping.factor == pytest.approx(1e-4)
        for _ in range(7):
            damping.learn(1.0)
        assert damping.factor == 0.0
        damping.factor = 0.5
        damping.learn(0.125)
        assert damping.factor == 1.0

    def test_on_flat_pieces_a_little_always_stays(self, problem):
        damping = Damping(problem("absolute"))
        for _ in range(20):
            damping.learn(1.0)
        assert damping.factor == 1e-10
