"""Descents on F in the coordinates of a sample."""

import numpy as np
import pytest

from lrisk.losses import LOSSES
from lrisk.ranking import Ranking
from lrisk.solvers import Newton, Status
from lrisk.solvers._linalg import Factor
from lrisk.solvers.certified.progress import Progress
from lrisk.solvers.certified.whitening import (
    SMALLEST,
    Descent,
    Memory,
    Sample,
    minimise_whitened,
    sample_of,
    sample_size,
    whitenable,
)
from lrisk.spectra import parse_spectrum


def positive(rng, size):
    A = rng.normal(size=(3 * size, size))
    return A.T @ A


class TestMemory:
    def test_its_direction_is_that_of_bfgs(self):
        rng = np.random.default_rng(0)
        first, true = positive(rng, 4), positive(rng, 4)
        memory, inverse = Memory(Factor(first), 10), np.linalg.inv(first)
        for _ in range(3):
            s = rng.normal(size=4)
            y = true @ s
            memory.add(s, y)
            turn = np.eye(4) - np.outer(y, s) / (y @ s)
            inverse = turn.T @ inverse @ turn + np.outer(s, s) / (y @ s)
        gradient = rng.normal(size=4)
        before = gradient.copy()
        np.testing.assert_allclose(
            memory.direction(gradient), -inverse @ gradient, rtol=1e-9
        )
        np.testing.assert_array_equal(gradient, before)
        np.testing.assert_allclose(memory.direction(true @ s), -s, rtol=1e-9)

    def test_only_the_last_pairs_are_kept(self):
        rng = np.random.default_rng(0)
        steps = rng.normal(size=(5, 3))
        few, last = Memory(Factor(np.eye(3)), 2), Memory(Factor(np.eye(3)), 9)
        for i, s in enumerate(steps):
            few.add(s, 2.0 * s)
            if i >= 3:
                last.add(s, 2.0 * s)
        gradient = rng.normal(size=3)
        np.testing.assert_array_equal(few.direction(gradient), last.direction(gradient))

    def test_pairs_without_curvature_are_left_out(self):
        memory = Memory(Factor(np.eye(2)), 5)
        for y in ([-1.0, 0.0], [0.0, 1.0], [1e-13, 1.0], [0.0, 0.0]):
            memory.add(np.array([1.0, 0.0]), np.array(y))
        gradient = np.array([3.0, 4.0])
        np.testing.assert_array_equal(memory.direction(gradient), -gradient)


class Rows:
    n_rows, size, take = SMALLEST, 3, None


@pytest.mark.parametrize(
    ("change", "can"),
    [
        ({}, True),
        ({"n_rows": SMALLEST - 1}, False),
        ({"size": 500}, True),
        ({"size": 501}, False),
        ({"size": 1000, "n_rows": 20_000}, True),
        ({"size": 1001, "n_rows": 30_000}, False),
    ],
)
def test_a_sample_stands_for_many_rows_of_few_parameters(change, can, problem):
    objective = problem("logistic")
    objective.space = type("Changed", (Rows,), change)()
    assert whitenable(objective) is can


@pytest.mark.parametrize("loss", LOSSES)
def test_only_losses_of_known_curvature_can_be_sampled(loss, problem):
    objective = problem(loss)
    objective.space = Rows()
    assert whitenable(objective) is (loss in ("squared", "logistic"))


def test_samples_are_larger_where_the_spectrum_ignores_most_rows():
    def size(spectrum, n):
        return sample_size(Ranking(parse_spectrum(spectrum), 10), n)

    assert size("mean", 10_000) == size("extremile:9", 100_000) == 10_000
    assert size("mean", 200_000) == 20_000
    assert size("mean", 10**7) == 50_000
    assert size("superquantile:0.5", 10_000) == 20_000
    assert size("superquantile:0.9", 10_000) == 50_000


def descent(objective, seed=1, scale=0.5):
    theta = scale * np.random.default_rng(seed).normal(size=objective.size)
    metric = Factor(objective.hessian(objective.at(theta), objective.ranking.mass))
    return Descent(objective, theta, metric, 5), metric


def test_a_step_descends_and_is_remembered(problem):
    objective = problem("logistic", "extremile:2", weighted=True)
    search, metric = descent(objective)
    for _ in range(3):
        before = search.now
        fall = 0.5 * before.gradient @ metric.solve(before.gradient)
        assert search.decrement == pytest.approx(fall)
        theta, gradient = before.theta.copy(), before.gradient.copy()
        direction = search.memory.direction(gradient)
        assert search.step()
        now = search.now
        assert now.value < before.value
        assert now.value == pytest.approx(objective.value_at(now.theta), rel=1e-12)
        s, y, inverse = search.memory._pairs[-1]
        np.testing.assert_allclose(s, now.theta - theta, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(y, now.gradient - gradient, atol=1e-13)
        assert inverse == pytest.approx(1 / (s @ y))
        share = (s @ direction) / (direction @ direction)
        assert np.log2(share) == pytest.approx(round(np.log2(share)), abs=1e-9)


def test_the_part_of_a_step_that_was_taken_is_remembered(problem):
    objective = problem("squared", "extremile:2")
    search, metric = descent(objective)
    theta, gradient = search.now.theta.copy(), search.now.gradient.copy()
    search.memory.direction = lambda g: -16.0 * metric.solve(g)
    assert search.step()
    s, y, _ = search.memory._pairs[-1]
    taken = search.now.theta - theta
    assert np.linalg.norm(taken) < 8.1 * np.linalg.norm(metric.solve(gradient))
    np.testing.assert_allclose(s, taken, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(y, search.now.gradient - gradient, atol=1e-13)


def test_a_step_up_is_not_taken(problem):
    objective = problem("squared", "mean")
    search, _ = descent(objective)
    theta, value = search.now.theta, search.now.value
    search.memory.direction = lambda gradient: gradient  # uphill
    assert not search.step()
    np.testing.assert_array_equal(search.now.theta, theta)
    assert search.now.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(search.now.point.scores, objective.space.scores(theta))


def test_a_point_is_told_with_what_its_value_misses(problem):
    objective = problem("squared", "mean")
    search, _ = descent(objective)

    class Short(type(search.now)):
        missing = 0.25

    search.now = Short(*search.now[:5], False)
    value = search.now.value
    progress = Progress(objective, 1e-6, None)
    search.tell(progress, np.inf, 0.5)
    assert progress.primal == value + 0.25 and not progress.certified
    assert progress.approximate_ranks
    assert progress.stationarity == 0.75
    search.tell(progress, 0.125, 0.5)
    assert progress.dual == pytest.approx(value - 0.125)
    search.now = objective.begin(Newton().solve(objective).theta)
    search.refine()
    search.tell(progress, np.inf, 0.5)
    assert not progress.approximate_ranks


def test_rough_ranks_are_refined(problem):
    objective = problem("squared", "extremile:2")
    search, _ = descent(objective)
    assert not search.now.exact
    search.refine()
    assert search.now.exact
    assert search.now.value == pytest.approx(objective.value_at(search.now.theta))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_slack_of_a_sample_bounds_the_fall(loss, problem):
    objective = problem(loss, "mean", n=400)
    best = Newton(tol=1e-12).solve(objective)
    theta = best.theta + 0.01
    now = objective.evaluate(theta, objective.space.scores(theta))
    for rows in (np.arange(400), np.arange(0, 400, 2)):
        slack = Sample(rows, None).slack(objective, now)
        fall = now.value - best.objective
        assert fall <= slack <= 4.0 * fall


def test_a_sample_begins_near_the_minimum(problem):
    objective = problem("squared", "extremile:2", n=12_000)
    best = Newton(tol=1e-8).solve(objective)
    sample, theta = sample_of(objective, None)
    assert len(sample.rows) == SMALLEST
    miss = objective.value_at(theta) - best.objective
    assert miss <= 1e-3 * best.objective
    _, given = sample_of(objective, best.theta)
    np.testing.assert_array_equal(given, best.theta)
    # its metric is near the Hessian: half of the squared gradient is what F falls by
    now = objective.begin(theta)
    estimate = 0.5 * now.gradient @ sample.metric.solve(now.gradient)
    assert estimate == pytest.approx(miss, rel=0.2)


@pytest.mark.parametrize(("loss", "passes"), [("squared", 12), ("logistic", 12)])
def test_few_passes_prove_a_minimum(loss, passes, problem):
    objective = problem(loss, "extremile:2", n=12_000)
    progress = Progress(objective, 1e-9, None)
    options = {"pairs": 20, "max_iter": 50}
    assert minimise_whitened(objective, None, progress, **options) is Status.CONVERGED
    assert 0 <= progress.gap <= 1e-9 and progress.n_iter <= passes
    value = objective.value_at(progress.theta)
    assert progress.primal == pytest.approx(value, rel=1e-12)


def test_a_limit_and_a_stall_are_told_apart(problem, monkeypatch):
    objective = problem("logistic", "extremile:2", n=10_000)
    progress = Progress(objective, 1e-12, None)
    limited = minimise_whitened(objective, None, progress, pairs=9, max_iter=1)
    assert limited is Status.MAX_ITER and progress.n_iter == 1
    assert progress.certified  # the last point is proven by all rows
    progress = Progress(objective, 1e-12, None)
    monkeypatch.setattr(Descent, "step", lambda self: False)
    stalled = minimise_whitened(objective, None, progress, pairs=9, max_iter=50)
    assert stalled is Status.STALLED and progress.n_iter == 1
