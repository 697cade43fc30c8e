"""Coordinates in which a Hessian is nearly the identity, and Newton steps in them."""

import numpy as np
import pytest

from lrisk.solvers.certified import coordinates as module
from lrisk.solvers.certified.coordinates import Coordinates, newton_step

LOSSES = ["squared", "logistic", "multinomial"]


def matrix(function, size):
    return np.column_stack([function(axis) for axis in np.eye(size)])


def settled(objective, seed=1):
    rng = np.random.default_rng(seed)
    point = objective.at(0.3 * rng.normal(size=objective.size))
    weights = objective.ranking.weights(point.losses)
    coordinates = Coordinates(objective)
    coordinates.settle_at(point, weights)
    return coordinates, point, weights


@pytest.mark.parametrize("most", [1000, 0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_ways_in_and_out_and_of_gradients_belong_together(
    loss, most, problem, monkeypatch
):
    monkeypatch.setattr(module, "MOST_COLUMNS", most)
    objective = problem(loss, "esrm:1")
    coordinates, *_ = settled(objective)
    size = objective.size
    into, out = matrix(coordinates.inward, size), matrix(coordinates.outward, size)
    np.testing.assert_allclose(into @ out, np.eye(size), atol=1e-10)
    # F(outward(v)) has the derivative gradient(∂F/∂θ)
    np.testing.assert_allclose(matrix(coordinates.gradient, size), out.T, atol=1e-12)
    longest = np.linalg.norm(into.T, 2)  # from ∂/∂v to ∂/∂θ
    assert coordinates.stretch() == pytest.approx(longest, rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_hessian_of_one_score_becomes_the_identity(loss, intercept, problem):
    objective = problem(loss, "esrm:1", weighted=True, intercept=intercept, alpha=9.0)
    coordinates, point, weights = settled(objective)
    out = matrix(coordinates.outward, objective.size)
    white = out.T @ objective.hessian(point, weights) @ out
    np.testing.assert_allclose(white, np.eye(objective.size), atol=1e-7)


def test_before_any_point_curvatures_are_the_largest_by_mass(problem):
    objective = problem("logistic", "esrm:1", weighted=True)
    out = matrix(Coordinates(objective).outward, objective.size)
    hessian = objective.space.gram(0.25 * objective.ranking.mass)
    hessian[range(3), range(3)] += objective.mu
    np.testing.assert_allclose(out.T @ hessian @ out, np.eye(4), atol=1e-7)


def test_blocks_of_each_class_become_the_identity(problem):
    objective = problem("multinomial", "esrm:1", alpha=9.0)
    coordinates, point, weights = settled(objective)
    out = matrix(coordinates.outward, objective.size)
    hessian = objective.hessian(point, weights)
    for j in range(3):
        own = np.arange(j, objective.size, 3)
        block = hessian[np.ix_(own, own)]
        if objective.space.intercept:  # without the term that pins the gauge
            shares = np.exp(point.scores)
            shares = shares[:, j] / shares.sum(axis=1)
            block[-1, -1] = weights @ (shares * (1 - shares))
        white = out[np.ix_(own, own)].T @ block @ out[np.ix_(own, own)]
        np.testing.assert_allclose(white, np.eye(4), atol=1e-7)
        other = np.setdiff1d(np.arange(objective.size), own)
        assert not out[np.ix_(other, own)].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_of_many_columns_the_diagonal_becomes_one(loss, problem, monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    objective = problem(loss, "esrm:1", alpha=9.0, weighted=True)
    coordinates, *_ = settled(objective)
    out = matrix(coordinates.outward, objective.size)
    columns = np.column_stack([objective.space.X, np.ones(60)])
    curvature = objective.loss.smoothness * objective.ranking.mass
    diagonal = curvature @ columns**2 + objective.mu * np.array([1, 1, 1, 0])
    expected = np.repeat(1 / np.sqrt(diagonal), objective.space.n_scores)
    np.testing.assert_allclose(out, np.diag(expected), rtol=1e-10)


def test_a_column_of_zeros_does_no_harm(problem):
    objective = problem("squared", "mean", alpha=0.0, intercept=False)
    objective.space.X[:, 1] = 0.0
    v = np.ones(3)
    coordinates = Coordinates(objective)
    np.testing.assert_allclose(coordinates.inward(coordinates.outward(v)), v)


@pytest.mark.parametrize("loss", LOSSES)
def test_newton_steps_solve_the_system(loss, problem):
    objective = problem(loss, "esrm:1", alpha=3.0, intercept=loss != "multinomial")
    coordinates, point, weights = settled(objective)
    gradient = objective.gradient(point, weights)
    step = newton_step(objective, point, weights, gradient, coordinates, 100)
    exact = np.linalg.solve(objective.hessian(point, weights), -gradient)
    np.testing.assert_allclose(step, exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_newton_steps_end_where_what_is_left_costs_little(unit, problem):
    objective = problem("multinomial", "esrm:1", d=12, alpha=0.1, intercept=False)
    objective.space.X *= unit
    coordinates, point, weights = settled(objective)
    gradient = objective.gradient(point, weights)
    lengths = []
    for slack in (1e-3, 1e-1, 10.0):
        step = newton_step(
            objective, point, weights, gradient, coordinates, 100, slack=slack
        )
        left = gradient + objective.hessian(point, weights) @ step
        assert left @ left / (2 * objective.mu) <= slack
        lengths.append(np.linalg.norm(left))
    assert lengths[0] < lengths[-1]


def test_nothing_bends_and_nothing_moves(problem):
    objective = problem("squared", "mean", alpha=0.0)
    coordinates, point, weights = settled(objective)
    nothing = np.zeros_like(weights)
    step = newton_step(objective, point, nothing, np.ones(4), coordinates, 20)
    np.testing.assert_array_equal(step, 0.0)
