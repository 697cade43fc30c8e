"""The schedule of softened losses, with a stand-in for what minimises them."""

import numpy as np
import pytest

from lrisk.losses import Huber
from lrisk.solvers import Newton, Solution, Status
from lrisk.solvers.certified.continuation import (
    BESIDE,
    FIRST,
    _error,
    _first_width,
    _prove,
    minimise_softened,
    needs_continuation,
)
from lrisk.solvers.certified.progress import Progress
from lrisk.spectra import Mean


class Inner:
    """Returns one θ whatever is asked, and keeps what was asked."""

    def __init__(self, theta, n_iter=2):
        self.theta, self.n_iter, self.asked = theta, n_iter, []

    def __call__(self, softened, tol, limit, start, weights, monitor):
        self.asked.append((softened, tol, limit, start, weights, monitor))
        theta = self.theta + len(self.asked)
        return Solution(
            theta=theta,
            objective=1.0,
            gap=tol,
            dual=0.0,
            weights=softened.ranking.mass,
            n_iter=self.n_iter,
            status=Status.CONVERGED,
            history=[{"stationarity": 0.125, "iteration": 1, "seconds": 0.0}],
            slopes=softened.loss.derivative(softened.y, softened.space.scores(theta)),
        )

    @property
    def widths(self):
        return [asked[0].loss.width for asked in self.asked]


def minimise(objective, inner, **options):
    options = {"tol": 1e-6, "max_iter": 1000, "start": None, "weights": None} | options
    return minimise_softened(objective, inner, **{"monitor": None} | options)


def test_losses_with_flat_pieces_at_the_scale_of_the_targets_need_it(problem):
    assert not needs_continuation(problem("squared"))
    assert not needs_continuation(problem("logistic"))
    assert needs_continuation(problem("absolute"))
    wide, narrow = problem(Huber(delta=1e3)), problem(Huber(delta=1e-2))
    assert not needs_continuation(wide)
    assert needs_continuation(narrow)


def test_the_first_width_is_of_the_residuals_of_the_constant_fit(problem):
    for intercept in (True, False):
        objective = problem("absolute", weighted=True, intercept=intercept)
        center = float(objective.mean_scores()) if intercept else 0.0
        miss = objective.ranking.mass @ np.abs(objective.y - center)
        assert _first_width(objective) == pytest.approx(miss)


def test_widths_fall_tenfold_and_each_fit_starts_the_next(problem):
    objective = problem("absolute")
    inner = Inner(np.zeros(4))
    found = minimise(objective, inner, max_iter=6)
    assert found.status is Status.MAX_ITER and found.n_iter == 6
    first = _first_width(objective)
    assert inner.widths == pytest.approx([first, 0.1 * first, 0.01 * first])
    _, tol, limit, start, weights, _ = inner.asked[0]
    assert (tol, limit, start, weights) == (FIRST, 6, None, None)
    for i, (_, _, limit, start, weights, monitor) in enumerate(inner.asked[1:], 1):
        assert limit == 6 - 2 * i and monitor is None
        np.testing.assert_array_equal(start, np.full(4, float(i)))
        np.testing.assert_array_equal(weights, objective.ranking.mass)
    assert [record["width"] for record in found.history] == inner.widths
    values = [objective.value_at(np.full(4, float(i))) for i in (1, 2, 3)]
    assert [record["objective"] for record in found.history] == pytest.approx(values)


def test_tolerances_follow_the_gap_to_come(problem):
    objective = problem("absolute", alpha=0.0)
    for tol, floor in ((1e-9, 0.0), (0.09, 0.1 * 0.09)):
        seen, inner = [], Inner(np.zeros(4))
        minimise(objective, inner, max_iter=4, monitor=seen.append, tol=tol)
        assert inner.asked[0][1] == FIRST
        error = seen[0]["stationarity"] / seen[0]["objective"]
        expected = max(BESIDE * 0.1 * error, floor)
        assert inner.asked[1][1] == pytest.approx(expected) and expected < FIRST


def test_a_warm_start_begins_with_a_narrow_width(problem):
    objective = problem("absolute")
    start, weights = np.ones(4), objective.ranking.mass
    for options, factor in (
        ({"start": start, "weights": weights}, 1e-2),
        ({"start": start}, 1.0),
    ):
        inner = Inner(np.zeros(4))
        minimise(objective, inner, max_iter=1, **options)
        assert inner.widths == pytest.approx([factor * _first_width(objective)])
        assert inner.asked[0][3] is start
        assert inner.asked[0][4] is options.get("weights")


def test_it_stalls_after_eight_widths_of_no_use(problem):
    objective = problem("absolute", alpha=0.0)
    inner = Inner(np.zeros(4))
    found = minimise(objective, inner)
    assert found.status is Status.STALLED
    assert len(inner.asked) == 9  # the first of all is of use
    patient = Inner(np.zeros(4), n_iter=1)  # a good start says nothing
    minimise(objective, patient)
    assert len(patient.asked) == 24


def test_at_its_own_width_the_loss_itself_is_minimised(problem):
    objective = problem(Huber(delta=0.5))
    seen, inner = [], Inner(np.zeros(4))
    found = minimise(objective, inner, tol=1e-5, monitor=seen.append)
    *softened, (last, tol, limit, start, _, monitor) = inner.asked
    assert last is objective and tol == 1e-5
    assert all(asked[0].loss is not objective.loss for asked in softened)
    assert limit == 1000 - 2 * len(softened)
    assert start[0] == len(softened)
    assert found.n_iter == 2 * len(inner.asked)
    record = {"iteration": 1, "seconds": 0.0}
    monitor(record)
    assert record["iteration"] == 2 * len(softened) + 1
    assert len(found.history) == len(inner.asked)


def test_the_gap_is_that_of_the_loss_itself(problem):
    objective = problem("absolute", "superquantile:0.5")
    best = Newton(tol=1e-8).solve(objective)
    for width, most in ((0.1, 0.1), (0.01, 0.01)):
        softened = objective.with_loss(objective.loss.softened(width))
        solution = Newton(tol=1e-9).solve(softened)
        progress = Progress(objective, 1e-6, None)
        _prove(progress, softened, solution, width)
        record = progress.history[-1]
        assert progress.primal == pytest.approx(objective.value_at(solution.theta))
        assert progress.dual <= best.objective <= progress.primal + 1e-8
        assert progress.primal - progress.dual <= 0.25 * width + 1e-6
        assert record["width"] == width and record["gap"] <= most


def test_without_penalty_the_error_is_the_stationarity(problem):
    objective = problem("absolute", alpha=0.0)
    objective = objective.with_ranking(objective.ranking.with_spectrum(Mean()))
    softened = objective.with_loss(objective.loss.softened(0.5))
    solution = Inner(np.zeros(4))(softened, 0.0, 1, None, None, None)
    progress = Progress(objective, 1e-6, None)
    bare = Solution(**{**vars(solution), "slopes": None})
    _prove(progress, softened, bare, 0.5)
    assert not progress.certified
    point = objective.at(solution.theta)
    a = softened.loss.derivative(softened.y, point.scores)
    fitted = point.losses - a * (point.scores - objective.y)  # ℓ* is a·y
    expected = objective.ranking.mass @ fitted + 0.125
    assert progress.stationarity == pytest.approx(expected)
    assert _error(progress) == pytest.approx(expected / progress.primal)
    _prove(progress, softened, solution, 0.5)


def test_with_a_bound_the_error_is_the_distance_to_it(problem):
    objective = problem("absolute")
    softened = objective.with_loss(objective.loss.softened(0.5))
    progress = Progress(objective, 1e-6, None)
    _prove(progress, softened, Newton(tol=1e-6).solve(softened), 0.5)
    assert progress.certified and _error(progress) == progress.distance < 1.0
