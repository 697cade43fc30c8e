"""The fit without features: proven where it is the best, left alone where not."""

import dataclasses

import numpy as np
import pytest
import scipy.optimize

from lrisk.losses import Logistic
from lrisk.objective import Objective
from lrisk.procedures.constant_fit import (
    _best_log_odds,
    nearly_constant,
    without_features,
)
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.spaces import LinearSpace
from lrisk.spectra import Extremile, Mean, Superquantile, WorstCase


def objective(spectrum, told=0.0, intercept=True):
    """Classes of which the first feature tells so much."""
    rng = np.random.default_rng(0)
    y = (np.arange(80) % 2).astype(float)
    X = rng.normal(size=(80, 2))
    X[:, 0] += told * (2.0 * y - 1.0)
    space = LinearSpace(X, intercept=intercept)
    return Objective(Ranking(spectrum, 80), Logistic(), space, y, 1.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_under_the_worst_case_of_mixed_classes_a_constant_is_best(intercept):
    problem = objective(WorstCase(), intercept=intercept)
    loose = Newton(tol=1e-2).solve(problem)
    found, constant = without_features(problem, loose)
    assert constant
    assert found.theta == pytest.approx(0.0, abs=1e-6)
    assert found.objective == pytest.approx(np.log(2.0), rel=1e-9)
    assert found.gap <= 1e-6
    assert found.dual <= np.log(2.0) * (1.0 + 1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_weights_are_those_of_the_proof(intercept):
    """min Φ(·, λ) is the lower bound itself; here by scipy, from θ = 0."""
    problem = objective(WorstCase(), intercept=intercept)
    loose = Newton(tol=1e-2).solve(problem)
    found, _ = without_features(problem, loose)
    assert found.dual > loose.dual

    def phi(theta):
        point = problem.at(theta)
        gradient = problem.gradient(point, found.weights)
        return found.weights @ point.losses + point.penalty, gradient

    start = np.zeros(problem.size)
    lowest = scipy.optimize.minimize(phi, start, jac=True, tol=1e-14).fun
    assert found.dual <= lowest * (1.0 + 1e-12)
    assert lowest == pytest.approx(np.log(2.0), rel=1e-7)


@pytest.mark.parametrize("alpha", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_a_heavy_penalty_is_not_a_strong_spectrum(tol, alpha):
    """Its best coefficients are tiny, and tell the classes all the same."""
    problem = objective(Superquantile(0.2), told=2.0)
    heavy = Objective(
        problem.ranking, problem.loss, problem.space, problem.y, alpha=alpha
    )
    solved = Newton(tol=tol).solve(heavy)
    found, constant = without_features(heavy, solved)
    assert not constant
    assert found.gap <= tol
    right = (heavy.space.scores(found.theta) > 0.0) == (heavy.y == 1.0)
    assert right.mean() > 0.9


def test_a_fit_that_uses_the_features_is_left_alone():
    problem = objective(Superquantile(0.5), told=2.0)
    solved = Newton().solve(problem)
    found, constant = without_features(problem, solved)
    assert found is solved
    assert not constant


def test_the_mean_and_loose_proofs_are_left_alone():
    plain = objective(Mean())
    solved = Newton().solve(plain)
    assert without_features(plain, solved) == (solved, False)
    strong = objective(WorstCase())
    loose = dataclasses.replace(Newton().solve(strong), gap=0.5)
    assert without_features(strong, loose)[1] is False


def test_scores_that_differ_by_no_more_are_nearly_constant():
    space = LinearSpace(np.arange(2000.0)[:, None], intercept=True)
    assert nearly_constant(space, np.array([0.0, 3.0]), 0.0)
    assert nearly_constant(space, np.array([0.1 / 1999.0, 3.0]), 0.1 + 1e-9)
    assert not nearly_constant(space, np.array([0.1 / 1999.0, 3.0]), 0.09)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.98])
@pytest.mark.parametrize(
    "spectrum", [Mean(), Superquantile(0.1), Superquantile(0.9), Extremile(2.0)]
)
def test_the_best_log_odds_are_those_of_a_solver(share, spectrum):
    rng = np.random.default_rng(1)
    y = (np.arange(200) < 200 * share).astype(float)
    rng.shuffle(y)
    space = LinearSpace(np.empty((200, 0)), intercept=True)
    for weight in (None, rng.integers(1, 5, 200).astype(float)):
        ranking = Ranking(spectrum, 200, weight)
        bare = Objective(ranking, Logistic(), space, y, 1.0)
        odds = _best_log_odds(bare)
        solved = Newton(tol=1e-11).solve(bare)
        value = bare.value(bare.at(np.array([odds])))
        assert value <= solved.objective * (1.0 + 1e-13)
        assert value >= solved.dual * (1.0 - 1e-12)
        assert odds == pytest.approx(solved.theta[0], abs=1e-4)
