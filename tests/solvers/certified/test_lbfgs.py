"""L-BFGS: its three ways to a minimum, and how each of them ends."""

import numpy as np
import pytest

from lrisk.solvers import LBFGS, Newton, Status
from lrisk.solvers.certified import lbfgs as module
from lrisk.solvers.certified.coordinates import Coordinates
from lrisk.solvers.certified.lbfgs import _hessian_fits
from lrisk.solvers.certified.progress import Progress


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize("spectrum", ["mean", "superquantile:0.5", "extremile:2"])
def test_on_the_lagrangian_it_proves_a_minimum(spectrum, loss, problem):
    objective = problem(loss, spectrum, weighted=True)
    found = LBFGS(tol=1e-6).solve(objective)
    assert found.status is Status.CONVERGED and 0 <= found.gap <= 1e-6
    # a mean of squares is a sphere in its coordinates
    sphere = (loss, spectrum) == ("squared", "mean")
    assert found.solver == "" and found.n_iter <= (6 if sphere else 300)
    assert found.objective == pytest.approx(objective.value_at(found.theta), rel=1e-12)
    best = Newton(tol=1e-9).solve(objective)
    assert found.dual <= best.objective * (1 + 1e-12)
    assert best.objective <= found.objective * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_of_many_rows_few_passes_prove_a_minimum(loss, problem):
    objective = problem(loss, "esrm:1", n=10_000)
    found = LBFGS(tol=1e-9).solve(objective)
    assert found.status is Status.CONVERGED and found.solver == ""
    assert found.n_iter <= 15
    again = LBFGS(tol=1e-9).solve(objective, found.theta)
    assert again.n_iter <= 2


def test_many_rows_it_cannot_sample_are_descended_on_as_they_are(problem):
    objective = problem("multinomial", "esrm:1", n=5000, d=2)
    found = LBFGS(tol=1e-5).solve(objective)
    assert found.status is Status.CONVERGED and found.n_iter <= 60
    assert all(record["nu"] == 0.0 for record in found.history)


def test_losses_with_flat_pieces_go_to_newton_where_it_fits(problem, monkeypatch):
    objective = problem("huber", "superquantile:0.5")
    found = LBFGS().solve(objective)
    assert found.solver == "newton"
    assert "changed to newton, since the loss has flat" in found.history[0]["note"]
    monkeypatch.setattr(module, "MOST_PARAMETERS", 3)
    objective = problem("absolute", "extremile:2")
    own = LBFGS(tol=1e-3).solve(objective)
    assert own.solver == "" and own.status is Status.CONVERGED
    assert own.history[0]["width"] > own.history[-1]["width"]
    best = Newton(tol=1e-6).solve(objective)
    assert own.dual <= best.objective <= own.objective * (1 + 1e-6)


def test_looks_estimate_first_and_prove_what_looks_small(problem):
    objective = problem("logistic", "superquantile:0.5")
    solver, coordinates = LBFGS(tol=1e-6), Coordinates(objective)
    best = Newton(tol=1e-12).solve(objective)
    for away, proven in ((0.1, False), (1e-4, True)):
        point = objective.at(best.theta + away)
        coordinates.settle_at(point, best.weights)
        progress = Progress(objective, 1e-6, None)
        arguments = (objective, point, best.weights, coordinates, progress, 0.5)
        slack, excess = solver._look(*arguments)
        assert progress.certified is proven
        value = best.weights @ point.losses + point.penalty
        fall = value - best.dual  # of Φ(·, λ), whose minimum is that of F
        allowed = 0.03 * 1e-6 * objective.value(point)
        assert 0.8 * fall <= slack <= 1.2 * fall + allowed
        assert slack >= 0.999 * fall or not proven
        assert excess == pytest.approx(objective.value(point) - value, abs=1e-12)
        solver._look(*arguments, True)
        assert progress.certified
        assert progress.dual <= best.objective
        assert progress.history[-1]["nu"] == 0.5


def test_a_limit_ends_with_a_proof(problem):
    objective = problem("logistic", "superquantile:0.5", n=300)
    found = LBFGS(tol=1e-13, max_iter=5).solve(objective)
    assert found.status is Status.MAX_ITER and found.n_iter <= 6
    assert np.isfinite(found.gap)


def test_a_stall_goes_on_with_newton_where_it_fits(problem, monkeypatch):
    objective = problem("squared", "superquantile:0.5")
    monkeypatch.setattr(LBFGS, "_minimise_lagrangian", lambda self, *_: Status.STALLED)
    found = LBFGS(tol=1e-8).solve(objective)
    assert found.solver == "newton" and found.status is Status.CONVERGED
    monkeypatch.setattr(module, "MOST_PARAMETERS", 3)
    assert LBFGS(tol=1e-8).solve(objective).status is Status.STALLED


def test_a_hessian_fits_by_its_parameters_and_its_work(problem, monkeypatch):
    objective = problem(n=60, d=3)
    assert _hessian_fits(objective)
    monkeypatch.setattr(module, "MOST_PARAMETERS", 4)
    monkeypatch.setattr(module, "MOST_WORK", 60 * 16)
    assert _hessian_fits(objective)
    monkeypatch.setattr(module, "MOST_WORK", 60 * 16 - 1)
    assert not _hessian_fits(objective)
    monkeypatch.setattr(module, "MOST_WORK", 5e9)
    monkeypatch.setattr(module, "MOST_PARAMETERS", 3)
    assert not _hessian_fits(objective)
