"""A spectrum, a loss and a solver of one's own need what CONTRIBUTING.md says.

Each is made as a reader would make it and entered into its registry; an estimator then
takes it by name, certificate and all.
"""

import numpy as np
import pytest

import lrisk
from lrisk.losses import NUMBER_LOSSES, Squared
from lrisk.solvers import SOLVERS, Solution, Solver, Status
from lrisk.spectra import FAMILIES, Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=80)


class Halfway(Spectrum):
    """S(u) = (u + u²)/2: half of the mean, half of the extremile of two draws."""

    name = "halfway"

    @property
    def monotone(self):
        return "up"

    def cumulative(self, u):
        u = np.asarray(u, dtype=float)
        return 0.5 * (u + u**2)

    def increments(self, P, mass):
        return 0.5 * mass * (1.0 + 2.0 * P - mass)


class Doubled(Squared):
    """The squared loss under another name."""

    name = "doubled"


class OneStep(Solver):
    """One step of gradient descent, by hand."""

    name = "one_step"

    def __init__(self, tol=1e-6, max_iter=1):
        self.tol = tol
        self.max_iter = max_iter
        self.validate()

    def _solve(self, objective, start, *, weights, rng, monitor):
        point = objective.at(np.zeros(objective.space.size))
        taken = objective.ranking.weights(point.losses)
        theta = -0.1 * objective.gradient(point, taken)
        value = objective.value(objective.at(theta))
        status = Status.STEPS_TAKEN
        return Solution(theta, value, np.inf, -np.inf, taken, 1, status)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(FAMILIES, "halfway", Halfway)
    monkeypatch.setitem(NUMBER_LOSSES, "doubled", Doubled)
    monkeypatch.setitem(SOLVERS, "one_step", OneStep)


def test_a_spectrum_of_ones_own_is_solved_to_a_certified_optimum():
    model = lrisk.RiskRegressor("halfway", tol=1e-9).fit(X, Y)
    assert model.dual_gap_ <= 1e-9
    # its risk is the mean of two that the package has
    losses = 0.5 * (Y - model.predict(X)) ** 2
    risks = [lrisk.risk(losses, name) for name in ("mean", "extremile:2")]
    assert lrisk.risk(losses, "halfway") == pytest.approx(np.mean(risks), rel=1e-12)


def test_a_loss_of_ones_own_is_taken_by_name():
    own = lrisk.RiskRegressor("superquantile:0.5", loss="doubled").fit(X, Y)
    known = lrisk.RiskRegressor("superquantile:0.5").fit(X, Y)
    assert own.coef_ == pytest.approx(known.coef_, rel=1e-12)


def test_a_solver_of_ones_own_is_taken_by_name_and_checked():
    model = lrisk.RiskRegressor("extremile:2", solver="one_step").fit(X, Y)
    assert model.solver_ == "one_step"
    assert model.objective_ < lrisk.risk(0.5 * (Y - np.median(Y)) ** 2, "extremile:2")
    with pytest.raises(ValueError, match=r"increasing .* solver='one_step'"):
        lrisk.RiskRegressor("subquantile:0.5", solver="one_step").fit(X, Y)
