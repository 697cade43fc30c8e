"""The objective and its derivatives."""

import numpy as np
import pytest

from lrisk.losses import LOSSES, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.spaces import LinearSpace
from lrisk.spectra import FAMILIES, parse_spectrum


def build(loss="squared", spectrum="superquantile:0.3", *, n=25, weighted=False):
    rng = np.random.default_rng(0)
    kind = LOSSES[loss]()
    X = rng.normal(size=(n, 3))
    y = rng.integers(0, 2, n) * 1.0 if kind.classifies else rng.normal(size=n)
    if kind.per_class:
        y = rng.integers(0, 3, n) * 1.0
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    space = LinearSpace(X, intercept=True, n_scores=3 if kind.per_class else 1)
    return Objective(Ranking(parse_spectrum(spectrum), n, weight), kind, space, y, 2.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_gradient_by_finite_differences(loss, name, weighted):
    objective = build(loss, name, weighted=weighted)
    rng = np.random.default_rng(1)
    theta, v = rng.normal(size=(2, objective.space.size))
    point = objective.at(theta)
    weights = objective.ranking.weights(point.losses)
    slope = objective.gradient(point, weights) @ v
    h = 1e-7
    up = objective.value(objective.at(theta + h * v))
    down = objective.value(objective.at(theta - h * v))
    assert (up - down) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_hessian_by_finite_differences(loss):
    objective = build(loss)
    rng = np.random.default_rng(1)
    theta, v = rng.normal(size=(2, objective.space.size))
    if objective.loss.per_class:  # the pinned gauge is not part of the function
        v[-3:] -= v[-3:].mean()
    weights = rng.dirichlet(np.ones(25))
    h = 1e-6
    up = objective.gradient(objective.at(theta + h * v), weights)
    down = objective.gradient(objective.at(theta - h * v), weights)
    product = objective.hessian(objective.at(theta), weights) @ v
    np.testing.assert_allclose((up - down) / (2 * h), product, rtol=1e-5, atol=1e-7)


def test_value_is_the_formula():
    objective = build(weighted=False)
    theta = np.array([1.0, -2.0, 0.5, 0.3])
    X, y = objective.space.X, objective.y
    losses = np.sort(0.5 * (y - X @ theta[:3] - theta[3]) ** 2)
    sigma = objective.ranking.spectrum.weights(25)
    expected = sigma @ losses + 2.0 / (2 * 25) * np.sum(theta[:3] ** 2)
    assert objective.value(objective.at(theta)) == pytest.approx(expected)


def test_along_is_at():
    objective = build("logistic")
    rng = np.random.default_rng(2)
    theta, step = rng.normal(size=(2, 4))
    point = objective.at(theta)
    moved = objective.along(point, step, objective.space.scores(step), 0.5)
    there = objective.at(theta + 0.5 * step)
    np.testing.assert_allclose(moved.losses, there.losses)
    assert moved.penalty == pytest.approx(there.penalty)


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_risk_is_that_of_the_best_mean_constant(loss):
    from scipy.optimize import minimize

    objective = build(loss, "mean", weighted=True)
    k = objective.space.n_scores

    def risk(b):
        scores = np.tile(b, (25, 1)) if k > 1 else np.full(25, b[0])
        return objective.ranking.risk(objective.loss.value(objective.y, scores))

    method = None if objective.loss.smooth else "Nelder-Mead"
    best = minimize(risk, np.zeros(k), tol=1e-12, method=method).fun
    assert objective.constant_risk == pytest.approx(best, rel=1e-6)


def test_one_pass_gives_what_several_give():
    for loss, spectrum in (("squared", "extremile:2"), ("multinomial", "esrm:1")):
        objective = build(loss, spectrum, weighted=True)
        theta = np.random.default_rng(1).normal(size=objective.size)
        found = objective.evaluate(theta, objective.space.scores(theta))
        point = objective.at(theta)
        assert found.value == pytest.approx(objective.value(point), rel=1e-13)
        assert found.point.penalty == point.penalty
        np.testing.assert_allclose(found.point.losses, point.losses, rtol=1e-12)
        weights = objective.ranking.weights(point.losses)
        np.testing.assert_allclose(found.weights, weights, atol=1e-15)
        gradient = objective.gradient(point, weights)
        np.testing.assert_allclose(found.gradient, gradient, atol=1e-13)
        assert found.exact and found.theta is theta and found.missing == 0.0


def test_rows_beyond_one_part_are_evaluated_too():
    objective = build(n=(1 << 14) + 3)
    theta = np.ones(4)
    found = objective.evaluate(theta, objective.space.scores(theta))
    np.testing.assert_allclose(found.point.losses, objective.at(theta).losses)
    np.testing.assert_allclose(
        found.slopes, objective.loss.derivative(objective.y, found.point.scores)
    )


@pytest.mark.parametrize("fall", [0.0, 1.0])
def test_a_walk_moves_the_scores_with_it(fall):
    objective = build("logistic", "extremile:2")
    theta, direction = np.random.default_rng(2).normal(size=(2, 4))
    now = objective.begin(theta)
    assert not now.exact
    walk = objective.walk(now, direction, fall)
    for t in (1.0, 0.5, 0.25, 0.125):
        there = walk.at(t)
        np.testing.assert_allclose(there.theta, theta + t * direction)
        scores = objective.space.scores(theta + t * direction)
        np.testing.assert_allclose(there.point.scores, scores, atol=1e-13)
        assert there.value == pytest.approx(objective.value_at(there.theta), rel=1e-4)
        assert there.exact is (fall == 0.0)
    back = walk.back()
    np.testing.assert_array_equal(back.theta, theta)
    assert back.exact
    assert back.value == pytest.approx(objective.value_at(theta), rel=1e-13)
    np.testing.assert_allclose(back.point.scores, objective.space.scores(theta))


def test_ranks_are_exact_once_the_fall_is_small():
    objective = build("squared", "extremile:2")
    now = objective.begin(np.ones(4))
    for fall, exact in ((1.1e-6, False), (1e-6, True)):
        walk = objective.walk(now, np.zeros(4), fall * now.value)
        assert walk.at(1.0).exact is exact
    assert objective.refined(now, 0.0).exact
    exact = objective.refined(now, 0.0)
    assert objective.refined(exact, 0.0) is exact


def test_the_curvature_of_some_rows():
    objective = build("logistic", "extremile:2", weighted=True)
    theta = np.random.default_rng(1).normal(size=4)
    now = objective.begin(theta)
    X = np.column_stack([objective.space.X, np.ones(25)])
    p = 1 / (1 + np.exp(-now.point.scores))
    for rows in (None, np.array([3, 4, 9])):
        taken = np.arange(25) if rows is None else rows
        scale = (now.weights * p * (1 - p))[taken]
        gram = objective.gram_at(now, rows)
        np.testing.assert_allclose(
            gram.matrix, X[taken].T @ (scale[:, None] * X[taken])
        )
        half = gram.longest(lambda block: 0.5 * block.T)
        assert half == pytest.approx(0.25 * np.max(np.sum(X[taken] ** 2, axis=1)))
    assert objective.share_seen(np.arange(5)) == 0.2


@pytest.mark.parametrize("copied", [True, False])
def test_some_of_the_rows_under_the_same_penalty(copied):
    objective = build(weighted=True)
    rows = np.array([1, 5, 7])
    sample = objective.sampled(rows) if copied else objective.restricted(rows)
    assert sample.mu == pytest.approx(objective.mu, rel=1e-14)
    assert sample.mu == pytest.approx(2.0 / objective.ranking.row_weight.sum())
    np.testing.assert_array_equal(sample.y, objective.y[rows])
    weight = objective.ranking.row_weight[rows]
    np.testing.assert_array_equal(sample.ranking.row_weight, weight)
    theta = np.ones(4)
    losses = objective.at(theta).losses[rows]
    np.testing.assert_allclose(sample.at(theta).losses, losses)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_constant_fit_is_the_best_constant(loss):
    objective = build(loss, "superquantile:0.7", weighted=True)
    theta = objective.constant_fit()
    k = objective.space.n_scores
    assert not theta[:-k].any()
    found = objective.value_at(theta)
    assert found <= objective.constant_risk * (1 + 1e-12)
    if k == 1:
        tried = np.linspace(-4, 4, 801)
        best = min(objective.value_at(np.r_[np.zeros(3), b]) for b in tried)
        assert found <= best * (1 + 1e-6)
    objective.space.intercept = False
    assert not objective.constant_fit().any()


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**-20, 2.0**300])
def test_the_constant_fit_turns_with_the_targets(unit):
    """The search multiplies a place by two risks: of targets of 10⁹⁰ too much."""
    small, large = build("squared", "esrm:3"), build("squared", "esrm:3")
    large.y = unit * large.y
    with np.errstate(over="raise"):
        constant = large.constant_fit()[-1]
    assert constant == pytest.approx(unit * small.constant_fit()[-1], rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_constant_loss_is_larger_than_the_largest(loss):
    objective = build(loss, "worst_case", weighted=True)
    expected = pytest.approx(objective.constant_risk, rel=1e-12)
    assert objective.largest_constant_loss == expected


def test_the_resolution_is_of_targets_in_their_own_place():
    near = build()
    far = Objective(near.ranking, near.loss, near.space, near.y, 2.0, 1e6)
    largest = np.abs(near.y).max()
    assert near.resolution == near.loss.resolution(np.array([largest]))
    assert far.resolution == near.loss.resolution(np.array([largest + 1e6]))
    for other in (far.with_loss(near.loss), far.with_space(near.space)):
        assert other.resolution == far.resolution and other.mu == far.mu
    assert far.with_ranking(near.ranking).shift == 1e6


def test_a_constant_of_all_multinomial_intercepts_costs_a_step_nothing():
    objective = build("multinomial")
    point = objective.at(np.random.default_rng(1).normal(size=objective.size))
    weights = objective.ranking.mass
    step = np.linalg.solve(
        objective.hessian(point, weights), -objective.gradient(point, weights)
    )
    assert step[-3:].sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("spectrum", ["extremile:2", "extremile:20", "esrm:1"])
def test_rough_ranks_say_what_may_be_missing(spectrum):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 2)), rng.normal(size=5000)
    ranking = Ranking(parse_spectrum(spectrum), 5000)
    objective = Objective(ranking, Squared(), LinearSpace(X, intercept=False), y, 1.0)
    for theta in rng.normal(size=(5, 2)):
        scores = objective.space.scores(theta)
        fine = objective.evaluate(theta, scores)
        rough = objective.evaluate(theta, scores, exact=False)
        assert fine.missing == fine.doubt == 0.0
        assert 0.0 < fine.value - rough.value <= rough.missing <= 1e-6 * fine.value
        assert rough.doubt == rough.missing
