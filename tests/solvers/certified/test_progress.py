"""What a search keeps, when it stops, and how two searches are joined."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lrisk.certificate import Bound
from lrisk.solvers import Status
from lrisk.solvers.certified.progress import ROUNDING, Progress, resumed


def search(tol=1e-6, *, flat=False, mu=1.0, constant=np.inf, monitor=None):
    """A search over an objective of which only what `Progress` asks is known."""
    objective = SimpleNamespace(
        loss=SimpleNamespace(flat=flat),
        mu=mu,
        size=2,
        even_weights=np.full(3, 1 / 3),
        resolution=1e-30,
        largest_constant_loss=1.0,
        constant_risk=1.0,
        value_at=lambda theta: constant if theta[0] == 7.0 else float(np.sum(theta)),
        constant_fit=lambda: np.array([7.0, 0.0]),
    )
    return Progress(objective, tol, monitor)


def tell(progress, primal, below, *, excess=0.0, decrement=0.1, name=1.0, weights=True):
    """Record a value and a lower bound; θ, λ and slopes carry a number as a name."""
    proof = Bound(primal, excess, primal - below - excess, np.full(3, name))
    weights = np.full(3, name) if weights else None
    progress.record(np.full(2, name), weights, proof, decrement, 0.5)


def test_the_best_point_and_the_best_bound_may_be_of_different_iterations():
    progress = search(flat=True)
    tell(progress, 10.0, 8.0, name=1.0)
    tell(progress, 12.0, 9.0, name=2.0)
    tell(progress, 11.0, 8.5, name=3.0)
    assert (progress.primal, progress.theta[0]) == (10.0, 1.0)
    assert (progress.dual, progress.weights[0]) == (9.0, 2.0)
    assert progress.slopes[0] == 2.0
    assert progress.gap == pytest.approx(0.1)


def test_slopes_are_kept_for_losses_with_flat_pieces_only():
    progress = search()
    tell(progress, 10.0, 8.0)
    assert progress.slopes is None


def test_weights_left_out_prove_nothing():
    progress = search()
    tell(progress, 10.0, 9.9, weights=False)
    assert progress.dual == -np.inf and not progress.certified
    assert progress.gap == progress.distance == np.inf
    np.testing.assert_array_equal(progress.weights, np.full(3, 1 / 3))


def test_weights_are_kept_before_there_is_a_bound():
    progress = search()
    tell(progress, 10.0, -np.inf, name=4.0)
    assert progress.weights[0] == 4.0 and not progress.certified


def test_distance_goes_on_where_bounds_are_below_zero():
    progress = search()
    tell(progress, 10.0, -30.0)
    assert (progress.gap, progress.distance) == (1.0, 4.0)
    tell(progress, 10.0, -5.0)
    assert (progress.gap, progress.distance) == (1.0, 1.5)


def test_each_iteration_leaves_a_record():
    seen = []
    progress = search(monitor=seen.append)
    progress.n_iter = 3
    tell(progress, 10.0, 9.0, excess=0.25, decrement=0.5)
    tell(progress, 10.0, 9.0, excess=0.5, decrement=0.5)
    assert seen == progress.history
    first = {key: seen[0][key] for key in seen[0] if key != "seconds"}
    assert first == {
        "iteration": 3,
        "objective": 10.0,
        "gap": pytest.approx(0.1),
        "stationarity": 0.75,
        "nu": 0.5,
    }
    assert 0.0 <= seen[0]["seconds"] <= seen[1]["seconds"] <= progress.seconds
    assert progress.stationarity == 0.75  # the smallest so far


def test_a_tolerance_below_rounding_means_as_far_as_it_goes():
    assert search(0.0).tol == ROUNDING
    assert search(1e-6).tol == 1e-6


def test_it_is_done_when_the_gap_is_small():
    progress = search(0.1)
    assert not progress.done
    tell(progress, 10.0, 8.9)
    assert not progress.done
    tell(progress, 10.0, 9.0)
    assert progress.done


def test_without_penalty_and_bound_a_small_stationarity_will_do():
    for mu, stationarity, done in ((0.0, 0.9, True), (0.0, 1.1, False), (1, 0.9, 0)):
        progress = search(0.1, mu=mu)
        tell(progress, 10.0, -np.inf, decrement=stationarity)
        assert progress.done == done


def test_a_value_of_nothing_but_rounding_is_done():
    progress = search()
    tell(progress, 1e-31, -np.inf)
    assert progress.done


def test_values_by_rough_ranks_are_taken_again():
    progress = search()
    tell(progress, 1.5, 0.5, name=1.0)
    progress.settle()
    assert progress.primal == 1.5
    progress.approximate_ranks = True
    progress.settle()
    assert progress.primal == 2.0  # θ = (1, 1)
    assert not progress.approximate_ranks


def test_a_search_that_gives_up_is_no_worse_than_the_constant():
    for status, better in ((Status.STALLED, 1), (Status.MAX_ITER, 1), (None, 0)):
        progress = search(constant=9.0)
        tell(progress, 10.0, 8.0)
        found = progress.solution(status)
        assert found.objective == (9.0 if better else 10.0)
        assert found.theta[0] == (7.0 if better else 1.0)
        assert found.status is (status or Status.UNCERTIFIED)
    progress = search(constant=11.0)
    tell(progress, 10.0, 8.0)
    assert progress.solution(Status.STALLED).theta[0] == 1.0
    progress = search(constant=8.0)
    tell(progress, 10.0, 8.0)
    assert progress.solution(Status.STALLED).status is Status.CONVERGED


def test_a_solution_says_all_that_was_found():
    progress = search(0.1, flat=True)
    tell(progress, 10.0, 9.5, name=2.0)
    found = progress.solution()
    assert found.status is Status.CONVERGED and found.n_iter == 1
    assert (found.objective, found.dual, found.gap) == (10.0, 9.5, pytest.approx(0.05))
    assert found.weights[0] == found.slopes[0] == found.theta[0] == 2.0
    assert found.history is progress.history


@pytest.mark.parametrize("first_is_better", [True, False])
def test_two_searches_are_joined_by_the_best_of_each(first_is_better):
    first, second = search(0.1, flat=True), search(0.1, flat=True)
    first.n_iter, second.n_iter = 3, 4
    better, worse = (first, second) if first_is_better else (second, first)
    tell(better, 10.0, 8.0, name=1.0)
    tell(worse, 12.0, 9.5, name=2.0)
    whole = first.joined(second.solution())
    assert (whole.objective, whole.theta[0]) == (10.0, 1.0)
    assert whole.dual == 9.5
    assert whole.weights[0] == whole.slopes[0] == 2.0
    assert whole.gap == pytest.approx(0.05)
    assert whole.status is Status.CONVERGED
    assert whole.n_iter == 7 and whole.history == first.history + second.history
    stalled = replace(second.solution(), dual=1.0, status=Status.STALLED)
    first.dual = 2.0
    assert first.joined(stalled).status is Status.STALLED


def test_a_search_that_goes_on_counts_from_the_first():
    progress, seen = search(), []
    progress.n_iter = 5
    record = {"iteration": 2, "seconds": 0.0}
    resumed(progress, seen.append)(record)
    assert seen == [record] and record["iteration"] == 7
    assert 0.0 < record["seconds"] <= progress.seconds
    resumed(progress, None)(record)
    assert record["iteration"] == 12


def test_no_worse_than_the_best_constant_of_a_real_objective(problem):
    for loss in ("squared", "logistic"):
        objective = problem(loss, "superquantile:0.9", d=2)
        progress = Progress(objective, 1e-6, None)
        bad = objective.at(np.full(3, 100.0))
        worst = Bound(objective.value(bad), 0.0, np.inf)
        progress.record(bad.theta, None, worst, 1.0, 0.0)
        found = progress.solution(Status.STALLED)
        grid = [objective.value_at(np.array([0, 0, b])) for b in np.linspace(-9, 9, 61)]
        assert found.objective <= min(grid)
        assert objective.value_at(found.theta) == found.objective
