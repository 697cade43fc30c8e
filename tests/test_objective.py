"""The objective and its derivatives."""

import numpy as np
import pytest

from lrisk.losses import LOSSES
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
