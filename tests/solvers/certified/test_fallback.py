"""What follows a collapse, a stall, a limit and a metric that is not finite."""

import numpy as np
import pytest

from lrisk.certificate import Bound
from lrisk.solvers import LBFGS, Band, Newton, Status
from lrisk.solvers.certified import fallback, whitening
from lrisk.solvers.certified.fallback import (
    after_stall,
    changed_to_newton,
    minimise_or_newton,
)
from lrisk.solvers.certified.progress import Progress


def reach(progress, below, *, theta=None, excess=0.0):
    """Record the value at a point with a lower bound, relative to the value."""
    objective = progress.objective
    theta = np.zeros(objective.size) if theta is None else theta
    value = objective.value_at(theta)
    progress.n_iter += 3
    proof = Bound(value, excess, value * (1.0 - below))
    progress.record(theta, objective.ranking.mass, proof, 0.5 * value, 0.0)


def minimise(objective, descend, **options):
    options = {"tol": 1e-6, "max_iter": 100, "monitor": None} | options
    return minimise_or_newton(objective, descend, **options)


def note(solution):
    notes = [record["note"] for record in solution.history if "note" in record]
    assert len(notes) <= 1
    return notes[0] if notes else ""


@pytest.fixture
def asked(monkeypatch):
    """What Newton's method is asked for."""
    calls, solve = [], Newton.solve

    def keep(self, objective, start=None, *, weights=None, **options):
        calls.append((self.tol, self.max_iter, start, weights))
        return solve(self, objective, start, weights=weights, **options)

    monkeypatch.setattr(Newton, "solve", keep)
    return calls


@pytest.mark.parametrize(
    ("status", "below", "goes_on"),
    [
        (Status.CONVERGED, 1.0 - 1e-7, False),
        (Status.CONVERGED, 1.0 - 1e-5, True),
        (Status.STALLED, 0.9, True),
        (Status.MAX_ITER, 0.9, False),
        (Status.MAX_ITER, -np.inf, True),
    ],
)
def test_newton_goes_on_where_nothing_was_proven(
    status, below, goes_on, problem, asked
):
    def descend(progress):
        reach(progress, below, theta=progress.objective.constant_fit())
        return status

    found = minimise(problem(), descend)
    assert len(asked) == goes_on
    if goes_on:
        assert found.solver == "newton" and found.status is Status.CONVERGED
        assert "passes over all rows stalled" in note(found)
    else:
        assert found.solver == "" and found.status is status and not note(found)
        assert found.n_iter == 3


def test_a_limit_is_a_limit_on_newton_too(problem, asked):
    found = minimise(problem(), lambda progress: Status.STALLED, max_iter=1, tol=1e-12)
    assert found.status is Status.MAX_ITER
    assert asked[0][:2] == (1e-12, 1)


@pytest.mark.parametrize(
    ("solver", "spectrum"), [(Band, "superquantile:0.5"), (LBFGS, "extremile:2")]
)
def test_a_metric_that_is_not_finite_is_a_stall(solver, spectrum, problem, monkeypatch):
    def overflowed(sample, at):
        return np.full((4, 4), np.inf)

    monkeypatch.setattr(whitening, "spectral_hessian", overflowed)
    found = solver().solve(problem("squared", spectrum, n=10_000))
    assert found.solver == "newton" and found.status is Status.CONVERGED


def test_a_value_by_rough_ranks_is_settled_before_it_is_believed(problem):
    objective = problem()

    def descend(progress):
        reach(progress, 1.0)
        progress.primal *= 0.9
        progress.dual = progress.primal
        progress.approximate_ranks = True
        return Status.CONVERGED

    found = minimise(objective, descend)
    value = objective.value_at(found.theta)
    assert found.objective == pytest.approx(value, rel=1e-12)


def test_a_collapse_spares_the_descent(problem, monkeypatch):
    sentinel = object()
    monkeypatch.setattr(fallback, "certified_collapse", lambda *_: sentinel)
    assert minimise(problem(), None) is sentinel


@pytest.mark.parametrize(("below", "kept"), [(0.995, True), (0.9, False)])
def test_newton_starts_where_the_stall_was(below, kept, problem, asked):
    objective, seen = problem(), []
    progress = Progress(objective, 1e-6, None)
    theta = np.full(4, 0.1)
    reach(progress, below, theta=theta)
    found = after_stall(progress, 50, seen.append)
    tol, limit, start, weights = asked[0]
    assert (tol, limit) == (1e-6, 50) and start is theta
    assert weights is (objective.ranking.mass if kept else None)
    assert f"stalled at a gap of {1 - below:.1e}" in note(found)
    iterations = [record["iteration"] for record in found.history]
    assert iterations == [3, *range(4, 4 + len(seen))]
    assert found.n_iter == iterations[-1]
    assert [record["iteration"] for record in seen] == iterations[1:]
    seconds = [record["seconds"] for record in found.history]
    assert seconds == sorted(seconds)


def test_without_a_bound_the_note_tells_the_stationarity(problem, asked):
    progress = Progress(problem(), 1e-6, None)
    reach(progress, -np.inf)
    progress.stationarity = 0.25
    assert "at a stationarity of 2.5e-01" in note(after_stall(progress, 50, None))
    assert asked[0][3] is None


def test_without_any_point_newton_begins_where_it_likes(problem, asked):
    found = after_stall(Progress(problem(), 1e-6, None), 50, None)
    assert found.status is Status.CONVERGED and asked[0][2] is None


def test_a_better_point_than_that_of_newton_is_kept(problem, monkeypatch):
    objective = problem()
    best = Newton(tol=1e-12).solve(objective)
    progress = Progress(objective, 1e-9, None)
    reach(progress, -np.inf, theta=best.theta)
    worse = Newton(tol=1e-2, max_iter=1).solve(objective, np.ones(4))
    monkeypatch.setattr(fallback, "changed_to_newton", lambda *_, **__: worse)
    found = after_stall(progress, 50, None)
    assert worse.objective > best.objective
    assert found.objective == pytest.approx(best.objective, rel=1e-12)
    np.testing.assert_array_equal(found.theta, best.theta)


def test_a_change_says_why(problem, asked):
    start, seen = np.full(4, 0.1), []
    weights = problem().ranking.mass
    found = changed_to_newton(
        problem(),
        "it rains",
        start,
        weights,
        tol=1e-7,
        max_iter=50,
        monitor=seen.append,
    )
    assert asked == [(1e-7, 50, start, weights)]
    assert note(found) == "changed to newton, since it rains"
    assert found.solver == "newton" and found.gap <= 1e-7
    assert len(seen) == len(found.history)
