"""The steps of a fit hand on what they find; only the last changes the estimator."""

import numpy as np
import pytest

import lrisk

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X @ [1.0, 2.0, 0.0] + RNG.normal(size=60)
CLASSES = np.where(NUMBERS > 0, "yes", "no")
#: Some rows without weight.
WEIGHT = np.arange(60) % 3.0

MODELS = {
    "linear": (lrisk.RiskRegressor("superquantile:0.6"), NUMBERS),
    "classes": (lrisk.RiskClassifier("extremile:2"), CLASSES),
    "kernel": (lrisk.KernelRiskRegressor("subquantile:0.8"), NUMBERS),
    "kernel classes": (lrisk.KernelRiskClassifier("superquantile:0.5"), CLASSES),
    "centres": (
        lrisk.KernelRiskRegressor("subquantile:0.8", n_components=9, random_state=0),
        NUMBERS,
    ),
}


def state(model):
    """Everything an estimator remembers, by identity."""
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize("name", MODELS)
def test_preparing_and_settling_change_nothing(name):
    model, y = MODELS[name]
    before = state(model)
    problem = model._prepare(X, y, WEIGHT)
    solver = model._solver(problem)
    start, last = model._start(problem)
    solution = model._solve(solver, problem, start, last, None)
    fit = model._settle(problem, solution)
    assert state(model) == before
    assert problem.objective.space.n_rows == np.count_nonzero(WEIGHT)
    assert fit.solution.objective <= problem.objective.constant_risk


@pytest.mark.parametrize("name", MODELS)
def test_a_problem_is_the_same_however_often_it_is_prepared(name):
    model, y = MODELS[name]
    first, second = (model._prepare(X, y, WEIGHT).objective for _ in range(2))
    theta = RNG.normal(size=first.space.size)
    assert first.value(first.at(theta)) == second.value(second.at(theta))


def test_a_certificate_changes_nothing_of_the_model():
    model = lrisk.KernelRiskRegressor("extremile:2", n_components=9, random_state=0)
    model.fit(X, NUMBERS)
    before = state(model)
    lrisk.certify(model, X, NUMBERS, sample_weight=WEIGHT)
    assert state(model) == before


def test_a_certificate_is_that_of_the_fit_whatever_is_set_afterwards():
    model = lrisk.KernelRiskRegressor("extremile:2").fit(X, NUMBERS)
    expected = lrisk.certify(model, X, NUMBERS)
    model.set_params(n_components=5)
    assert lrisk.certify(model, X, NUMBERS) == expected
