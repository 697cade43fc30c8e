"""Prospect: its steps as printed, and what its tables hold between them."""

import numpy as np
import pytest
import transcriptions
from problems import PRINTED, begun, build, data, last_iterate, printed, run

from lrisk.permutahedron import smoothed_weights
from lrisk.solvers import Prospect


@pytest.mark.parametrize(("loss", "spectrum", "full"), PRINTED)
def test_three_epochs_as_printed(loss, spectrum, full):
    objective, problem = printed(loss, spectrum, full)
    expected = transcriptions.prospect(problem, 0.02, 3, np.random.default_rng(5))
    found = last_iterate(Prospect(), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("refresh", [1, 7, 60])
@pytest.mark.parametrize(("smoothing", "nu"), [("l2", 3.0), ("entropy", 0.3)])
def test_three_smoothed_epochs_as_printed(smoothing, nu, refresh):
    objective, problem = printed("squared", "superquantile:0.4", False)

    def weigh(losses):
        return smoothed_weights(objective.ranking, losses, smoothing, nu)

    rng = np.random.default_rng(5)
    expected = transcriptions.prospect(problem, 0.02, 3, rng, weigh, refresh)
    found = last_iterate(Prospect(smoothing, nu, refresh), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_unequal_weights_are_refreshed_as_often():
    objective, problem = printed("squared", "extremile:2", True)
    rng = np.random.default_rng(5)
    expected = transcriptions.prospect(problem, 0.02, 3, rng, refresh=13)
    found = last_iterate(Prospect(refresh=13), objective, 0.02)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.4"])
def test_tables_after_an_epoch(spectrum, ties, intercept):
    """Sorted by l, q = σ by place, ρ the q of the last visit, ḡ = Σρ_i g_i."""
    X, y = data(n=12)
    if ties:  # every row three times, not together
        X, y = np.tile(X[:4], (3, 1)), np.tile(y[:4], 3)
    objective = build(X, y, spectrum=spectrum, intercept=intercept)
    solver, rng = Prospect(), np.random.default_rng(0)
    work = begun(objective)
    tables = solver.begin(work, rng)
    assert tables.tracked
    for _ in range(3):
        solver.epoch(work, tables, 0.1, rng)
    assert np.all(np.diff(tables.losses[tables.order]) >= 0)
    np.testing.assert_array_equal(tables.places[tables.order], np.arange(12))
    np.testing.assert_array_equal(
        tables.weights[tables.order], objective.ranking.spectrum.weights(12)
    )
    work.slopes[:] = tables.slopes
    work.gradient(tables.table_weights)
    np.testing.assert_allclose(tables.G, work.G, rtol=1e-10, atol=1e-12)
    if intercept:
        np.testing.assert_allclose(tables.h, work.h, rtol=1e-10, atol=1e-12)


def test_a_visit_brings_the_tables_of_that_row_up_to_date_and_no_other():
    X, y = data(n=12)
    objective = build(X, y)
    work = begun(objective)
    tables = Prospect().begin(work, None)
    before = tables.losses.copy()
    old = tables.weights.copy()
    theta = np.random.default_rng(1).normal(size=4)
    work.W[0] = theta
    tables.steps(work, np.array([5]), 0.1)
    at = objective.at(theta)
    assert tables.losses[5] == pytest.approx(at.losses[5], rel=1e-12)
    assert tables.slopes[5, 0] == pytest.approx(X[5] @ theta - y[5], rel=1e-12)
    assert tables.table_weights[5] == old[5]  # the q of the step, not the one after
    others = np.arange(12) != 5
    np.testing.assert_array_equal(tables.losses[others], before[others])
    np.testing.assert_array_equal(
        tables.weights, objective.ranking.weights(tables.losses)
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_right_on_average_for_the_weights_of_the_tables(weighted):
    """Mean over all rows of w − ηv = w − η(Σq_i∇ℓ_i(w) + μw)."""
    X, y = data(n=12)
    weight = np.arange(1.0, 13.0) if weighted else None
    objective = build(X, y, spectrum="extremile:3", weight=weight)
    first, rate = np.random.default_rng(0).normal(size=4), 0.05

    def after(rows):
        work = begun(objective)
        tables = Prospect().begin(work, None)
        work.W[0] = first
        for row in rows:
            tables.steps(work, np.array([row]), rate)
            tables.weigh(Prospect(), work)
        return work.theta(), tables.weights

    now, weights = after([3])
    mean = np.mean([after([3, row])[0] for row in range(12)], axis=0)
    expected = now - rate * objective.gradient(objective.at(now), weights)
    np.testing.assert_allclose(mean, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("n", "refresh", "count"), [(60, None, 60), (60, 25, 3), (1001, None, 501)]
)
def test_how_often_weights_are_computed_anew(n, refresh, count):
    calls = []
    X, y = data(n=n)
    work = begun(build(X, y))
    solver = Prospect("l2", 1.0, refresh)
    tables = solver.begin(work, None)
    weigh = tables.weigh
    tables.weigh = lambda *args: (calls.append(1), weigh(*args))
    passes = solver.epoch(work, tables, 1e-3, np.random.default_rng(0))
    assert len(calls) == count and passes == 1.0


def test_theory_rate():
    """1/(max nλL + μ): under the superquantile no row weighs above twice its mass."""
    work = begun(build(*data(), spectrum="superquantile:0.5"))
    expected = 1.0 / (2.0 * work.row_smoothness.max() + 1.0 / 60.0)
    assert Prospect(learning_rate="theory").rate(work) == pytest.approx(expected)


def test_one_row():
    solution = run(Prospect(max_epochs=60), build(np.ones((1, 1)), np.ones(1)))
    assert solution.theta[0] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": -1.0}, "nu must be"),
        ({"refresh": 0}, "refresh must be"),
        ({"smoothing": "l1"}, "smoothing must be one of"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        Prospect(**options)
