"""Refits: the minimum for given rows, from wherever they begin."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from lrisk.losses import Huber, Logistic, Multinomial, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers.trimming.kept import LowestRows
from lrisk.solvers.trimming.refits import (
    MomentRefit,
    NewtonRefit,
    RangeRefit,
    certain,
    refit_for,
)
from lrisk.spaces import Kernel, KernelSpace, LinearSpace
from lrisk.spectra import RankedRange, Subquantile


def data(seed, n_classes, n=60):
    """Three features, half of the labels by chance; n_classes=0 for numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, max(n_classes, 2)))
    if n_classes == 0:
        return X, scores[:, 0] + rng.standard_t(1.5, n)
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return X, np.where(rng.random(n) < 0.5, rng.integers(0, n_classes, n), y)


def objective_of(seed, alpha=0.5):
    X, labels = data(seed, 2)
    space, y = LinearSpace(X, intercept=True), labels.astype(float)
    return Objective(Ranking(Subquantile(0.8), len(y)), Logistic(), space, y, alpha)


def numbers(spectrum, alpha=2.0, space=LinearSpace, n=60):
    X, y = data(5, 0, n)
    space = space(X, intercept=False)
    return Objective(Ranking(spectrum, len(y)), Squared(), space, y, alpha)


@pytest.mark.numerics
@pytest.mark.parametrize("alpha", [0.5, 1e-6])
def test_a_refit_ends_at_the_minimum(alpha):
    for seed in range(3):
        objective = objective_of(seed, alpha)
        mass = objective.ranking.mass
        zero = objective.at(np.zeros(objective.space.size))
        point = NewtonRefit(objective)(mass, zero)
        gradient = objective.gradient(point, mass)
        terms = np.abs(mass * (objective.y - 0.5)).sum()
        np.testing.assert_allclose(gradient / terms, 0.0, atol=1e-13)


def refitted(kind):
    """An objective, kept rows at some point, and what a refit makes of them."""
    X, y = data(5, 0)
    space = LinearSpace(X, intercept=True)
    if kind == "kernel":
        space = KernelSpace(Kernel("rbf", gamma=0.3), X)
    loss = Huber(0.5) if kind == "huber" else Squared()
    objective = Objective(Ranking(Subquantile(0.8), len(y)), loss, space, y, 2.0)
    theta = 2.0 * np.random.default_rng(1).normal(size=space.size)
    point = objective.at(theta)
    weights = LowestRows(objective.ranking).weights(point.losses)
    return objective, point, weights, refit_for(objective)(weights, point)


@pytest.mark.parametrize("kind", ["kernel", "linear", "huber"])
def test_a_refit_is_a_point_of_the_objective(kind):
    objective, _, _, found = refitted(kind)
    plain = objective.at(found.theta)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.losses, plain.losses, rtol=1e-7, atol=1e-9)
    assert found.penalty == pytest.approx(plain.penalty, rel=1e-8)


@pytest.mark.parametrize("kind", ["kernel", "linear", "huber"])
def test_no_point_near_a_refit_is_lower(kind):
    objective, before, weights, found = refitted(kind)
    least = float(weights @ found.losses) + found.penalty
    assert least < float(weights @ before.losses) + before.penalty
    rng = np.random.default_rng(2)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            away = size * rng.normal(size=objective.space.size)
            other = objective.at(found.theta + away)
            assert float(weights @ other.losses) + other.penalty >= least * (1 - 1e-12)
    for share in (0.9, 1.1):  # a wrong penalty shows along θ itself
        other = objective.at(share * found.theta)
        assert float(weights @ other.losses) + other.penalty >= least * (1 - 1e-12)


class Moments(LinearSpace):
    """Sums over rows, as spaces have them that read their rows in blocks."""

    def moments(self, c, y):
        return self.X.T @ (c[:, None] * self.X), self.X.T @ (c * y)


def test_a_refit_by_moments_is_a_weighted_ridge():
    objective = numbers(Subquantile(0.8), space=Moments)
    weights = np.random.default_rng(0).uniform(size=60) / 30
    refit = refit_for(objective)
    assert isinstance(refit, MomentRefit)
    found = refit(weights, objective.at(np.zeros(3)))
    ridge = Ridge(alpha=objective.mu, fit_intercept=False, solver="cholesky")
    ridge.fit(objective.space.X, objective.y, sample_weight=weights)
    np.testing.assert_allclose(found.theta, ridge.coef_, rtol=1e-9)


def test_a_refit_of_a_range_is_the_superquantile_of_the_lowest():
    """Of 60 rows the 48 lowest are kept, and the 36 highest of these count."""
    objective = numbers(RankedRange(0.2, 0.8))
    point = objective.at(np.array([1.0, -1.0, 0.5]))
    kept = np.argsort(point.losses)[:48]
    refit = refit_for(objective)
    assert isinstance(refit, RangeRefit)
    found = refit(objective.ranking.mass, point)

    def value(theta):
        losses = np.sort(objective.at(theta).losses[kept])
        return losses[-36:].mean() + 0.5 * objective.mu * float(theta @ theta)

    least = value(found.theta)
    rng = np.random.default_rng(3)
    others = [share * found.theta for share in (0.99, 0.999, 1.001, 1.01)]
    others += [found.theta + s * rng.normal(size=3) for s in [1e-3, 0.01, 0.1] * 20]
    assert min(map(value, others)) >= least * (1 - 1e-9)


@pytest.mark.numerics
@pytest.mark.parametrize("away", [3e-5, 1.0, 30.0])
def test_a_refit_has_all_digits_from_near_and_far(away):
    objective = objective_of(1)
    mass = objective.ranking.mass
    refit = NewtonRefit(objective)
    least = refit(mass, objective.at(np.zeros(4)))
    direction = np.array([1.0, -1.0, 1.0, 1.0])
    found = refit(mass, objective.at(least.theta + away * direction))
    gradient = objective.gradient(found, mass)
    terms = np.abs(mass * (objective.y - 0.5)).sum()
    np.testing.assert_allclose(gradient / terms, 0.0, atol=1e-13)


def test_what_all_classes_gain_alike_is_left_out():
    X, y = data(1, 3)
    space = LinearSpace(X, intercept=True, n_scores=3)
    ranking = Ranking(Subquantile(0.8), len(y))
    objective = Objective(ranking, Multinomial(), space, y.astype(float), 0.5)
    zero = objective.at(np.zeros(space.size))
    found = NewtonRefit(objective)(ranking.mass, zero)
    np.testing.assert_allclose(found.theta.reshape(-1, 3).sum(axis=1), 0.0, atol=1e-12)
    gradient = objective.gradient(found, ranking.mass)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    assert certain(objective) == pytest.approx(1e-16 * np.log(3.0))
