"""Band Newton: its split, its model of F, its search and its rounds."""

import functools

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.solvers import Band, Newton, Status
from lrisk.solvers.certified.band import Rounds, _BandNewton, _model, approach
from lrisk.solvers.certified.holding import HeldRows, moved_across
from lrisk.solvers.certified.progress import Progress
from lrisk.solvers.certified.whitening import Descent, sample_of
from lrisk.solvers.line_search import backtrack


def rounds(objective, width=40, seed=1):
    """Rounds that begin at a point in some way off the minimum."""
    theta = Newton(tol=1e-3).solve(objective).theta
    theta = theta + 0.02 * np.random.default_rng(seed).normal(size=theta.size)
    now = objective.evaluate(theta, objective.space.scores(theta))
    now = now._replace(weights=now.weights.copy())
    progress = Progress(objective, 1e-8, None)
    return Rounds(objective, HeldRows(objective, now), progress, width)


def parted(search):
    """The split of the rows, the model of F, and the place where both are made."""
    rows = search.rows
    theta, value = rows.theta, rows.value
    split = rows.split(search.width)
    return split, _model(split, theta, value), theta


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q", [0.3, 0.9])
def test_the_split_leaves_the_band_its_share(q, weighted, problem):
    objective = problem(spectrum=f"superquantile:{q}", n=400, weighted=weighted)
    search, mass = rounds(objective), objective.ranking.mass
    losses = search.rows._losses
    band, fixed, share = search.rows._parted(search.width)
    order = np.argsort(losses)
    places = np.flatnonzero(np.isin(order, band))
    np.testing.assert_array_equal(places, np.arange(places[0], places[-1] + 1))
    assert 40 <= len(band) <= 42
    before = np.cumsum(mass[order])[places] - mass[order][places]
    middle = np.searchsorted(before, q)  # the threshold is in its middle
    assert abs(middle - 20) <= 1
    above = order[places[-1] + 1 :]
    expected = np.zeros(400)
    expected[above] = mass[above] / (1 - q)
    np.testing.assert_allclose(fixed, expected, rtol=1e-12)
    assert share == pytest.approx(1 - expected.sum(), abs=1e-12)


def test_a_band_of_all_rows_fixes_none(problem):
    search = rounds(problem(n=50), width=500)
    band, fixed, share = search.rows._parted(search.width)
    assert len(band) == 50 and not fixed.any() and share == 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_model_of_squared_losses_is_exact(intercept, weighted, problem):
    """As long as the threshold stays within the band."""
    objective = problem(
        spectrum="superquantile:0.6", n=400, weighted=weighted, intercept=intercept
    )
    split, model, start = parted(rounds(objective))
    rng = np.random.default_rng(2)
    for size in (0.0, 1e-3, 3e-3):
        theta = start + size * rng.normal(size=start.size)
        expected = objective.value_at(theta)
        assert split.share * model.value_at(theta) == pytest.approx(expected, rel=1e-12)


def test_the_model_of_logistic_losses_is_so_to_second_order(problem):
    objective = problem("logistic", "superquantile:0.6", n=400)
    split, model, start = parted(rounds(objective))
    direction, misses = np.array([1.0, -1.0, 0.5, 0.3]), []
    for size in (1e-3, 4e-3):
        theta = start + size * direction
        misses.append(split.share * model.value_at(theta) - objective.value_at(theta))
    assert split.share * model.value_at(start) == pytest.approx(
        objective.value_at(start)
    )
    assert abs(misses[1]) <= 1e-7  # sixty-four times 1e-9
    assert abs(misses[0]) <= 0.05 * abs(misses[1]) + 1e-15


def test_a_sample_of_the_rows_counts_for_all(problem):
    objective = problem(spectrum="superquantile:0.6", n=400)
    whole = parted(rounds(objective))[1]._quadratic.matrix
    search = rounds(objective)
    search.rows._some = search.rows._some[::2]
    part = parted(search)[1]._quadratic.matrix
    # the intercept's entry is the weight alone
    assert part[-1, -1] == pytest.approx(whole[-1, -1], rel=1e-12)
    np.testing.assert_allclose(np.diag(part), np.diag(whole), rtol=0.3)


def test_derivatives_of_the_model(problem):
    objective = problem("logistic", "superquantile:0.6", n=400)
    split, model, start = parted(rounds(objective))
    rng = np.random.default_rng(3)
    theta = start + 0.1 * rng.normal(size=4)
    weights, h = rng.dirichlet(np.ones(len(split.rows.y))), 1e-5
    point = model.at(theta)
    gradient, hessian = model.gradient(point, weights), model.hessian(point, weights)
    for j, axis in enumerate(np.eye(4)):
        up, down = model.at(theta + h * axis), model.at(theta - h * axis)
        rise = weights @ (up.losses - down.losses) + up.penalty - down.penalty
        assert rise / (2 * h) == pytest.approx(gradient[j], rel=1e-6, abs=1e-8)
        turn = model.gradient(up, weights) - model.gradient(down, weights)
        np.testing.assert_allclose(turn / (2 * h), hessian[j], rtol=1e-5, atol=1e-7)


def test_newton_for_the_band_takes_its_decrement_for_the_slack(problem):
    objective = problem()
    point, even = objective.at(np.zeros(4)), objective.ranking.mass
    progress = Progress(objective, 1e-6, None)
    proof = _BandNewton()._prove(progress, point, even, np.zeros(4), np.zeros(4), 0.125)
    excess = objective.ranking.risk(point.losses) - even @ point.losses
    assert proof.slack == 0.125
    assert proof.primal == pytest.approx(objective.value(point))
    assert proof.excess == pytest.approx(excess)


@pytest.mark.parametrize("factor", [1e-3, 64.0])
def test_a_search_ends_no_higher_and_knows_where(factor, problem):
    objective = problem(spectrum="superquantile:0.6", n=400)
    search = rounds(objective)
    rows = search.rows
    start, value = rows.theta, rows.value
    hessian = objective.hessian(objective.at(start), rows._weights)
    step = -factor * np.linalg.solve(hessian, rows._gradient)
    walk = rows.walk(step)
    length = backtrack(
        lambda t: (walk.value_at(t), None), lambda new, t: new <= value, 11
    ).length
    held = rows.arrive(walk)
    assert length == 1.0 if factor < 1.0 else 0.0 < length < 0.5
    np.testing.assert_allclose(held.theta, start + length * step)
    there = objective.at(held.theta)
    np.testing.assert_allclose(rows._scores, there.scores, rtol=1e-9, atol=1e-12)
    assert held.primal == pytest.approx(objective.value(there), rel=1e-12)
    assert held.primal == rows.value <= value
    excess = held.primal - there.penalty - float(held.weights @ there.losses)
    assert held.excess == pytest.approx(excess, abs=1e-12)
    gradient = objective.gradient(there, held.weights)
    np.testing.assert_allclose(held.gradient, gradient, rtol=1e-9, atol=1e-12)


def test_the_band_is_as_wide_as_the_next_step_reaches(problem):
    objective = problem(spectrum="superquantile:0.6", n=400)
    sample, theta = sample_of(objective, rounds(objective).rows.theta)
    descent = Descent(objective, theta, sample.metric, 5)
    descent.refine()
    losses = descent.now.point.losses
    threshold = np.sort(losses)[240]
    rows = np.arange(0, 400, 2)
    near = rows[np.argsort(np.abs(losses[rows] - threshold))[:100]]
    direction = descent.memory.direction(descent.now.gradient)
    moved = objective.space.scores(direction) * (descent.now.point.scores - objective.y)
    reach = 3 * np.sqrt(np.mean(moved[near] ** 2))
    expected = np.sum(np.abs(losses - threshold) <= reach)
    inside = moved_across(objective, descent.now, rows, direction)
    assert 5 < expected < 395
    assert inside == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "q"), [("squared", 0.7), ("logistic", 0.3)])
def test_few_rounds_prove_a_minimum(loss, q, weighted, problem):
    objective = problem(loss, f"superquantile:{q}", n=10_000, weighted=weighted)
    found = Band(tol=1e-9).solve(objective)
    assert found.status is Status.CONVERGED and 0 <= found.gap <= 1e-9
    assert found.solver == ""  # and not Newton, after a stall
    assert found.n_iter <= 20
    assert found.objective == pytest.approx(objective.value_at(found.theta), rel=1e-12)
    mass = objective.ranking.mass
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(found.weights >= 0)
    assert np.all(found.weights <= mass / (1 - q) * (1 + 1e-12))


def test_rounds_end_at_the_limit_where_the_gap_is_proven_or_where_it_stands(problem):
    objective = problem("logistic", "superquantile:0.3", n=400)
    search = rounds(objective)
    assert search.run(1) is Status.MAX_ITER and search.progress.n_iter == 1
    search = rounds(objective)
    assert search.run(50) is Status.CONVERGED
    assert search.progress.gap <= 1e-8
    search = rounds(objective)
    search._round = lambda: True
    assert search.run(50) is Status.STALLED and search.progress.n_iter == 4
    search = rounds(objective)
    search._round = lambda: None
    assert search.run(50) is Status.STALLED and search.progress.n_iter == 0
    search = rounds(objective, width=30)
    search._round = lambda: False
    search.run(50)
    assert search.width == 400  # tripled each time, up to all rows


def test_a_proof_that_is_given_is_the_one_that_counts(problem):
    """Where the curvature of a loss tells nothing, dual points do."""
    search, asked = rounds(problem(spectrum="superquantile:0.9", n=400)), []

    def prove(held):
        asked.append(held)
        return 0.125 * held.primal

    search._prove = prove
    search._round()
    progress, held = search.progress, asked[0]
    assert len(asked) == 1
    expected = held.primal - held.excess - 0.125 * held.primal
    assert progress.dual == pytest.approx(expected, rel=1e-12)


def test_without_a_band_there_is_no_round(problem):
    search = rounds(problem(n=50))
    search.rows._parted = lambda width: (np.arange(3), np.zeros(50), 0.0)
    assert search._round() is None


def test_what_it_cannot_do_goes_to_newton(problem):
    for objective in (problem(n=300), problem(spectrum="extremile:2", n=10_000)):
        found = Band().solve(objective)
        assert found.solver == "newton"
        assert "changed to newton, since a band" in found.history[0]["note"]


def test_no_bound_at_all_is_a_stall(problem):
    """Far fewer passes than the limit are spent without any gap."""
    objective = problem("logistic", "superquantile:0.9", n=10_000)
    objective.space.X[3, 0] = 1e12
    progress = Progress(objective, 1e-6, None)
    approach(
        objective,
        None,
        progress,
        200,
        inside=functools.partial(moved_across, objective),
        hold=functools.partial(HeldRows, objective),
    )
    assert progress.n_iter <= 40


def test_the_rounds_look_at_the_rows_that_count(problem):
    for loss in (Squared(), Logistic()):
        search = rounds(problem(loss, "superquantile:0.6", n=400))
        np.testing.assert_array_equal(
            search.rows._some, np.flatnonzero(search.rows._weights > 0)
        )
        assert search.rows._length == pytest.approx(0.4)
