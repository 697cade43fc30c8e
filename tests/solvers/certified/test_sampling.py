"""Samples of rows, and the Hessian that they estimate."""

import numpy as np
import pytest

from lrisk.solvers.certified import sampling
from lrisk.solvers.certified.sampling import RUN, WINDOW, spectral_hessian, stratified


@pytest.mark.parametrize(("n", "size"), [(1000, 160), (999, 100), (50, 20), (33, 7)])
def test_strata_are_runs_from_stretches_of_equal_length(n, size):
    rows = stratified(n, size)
    run = min(RUN, size)
    assert len(rows) == size // run * run
    assert np.all(np.diff(rows) > 0) and rows[0] >= 0 and rows[-1] < n
    runs = rows.reshape(-1, run)
    np.testing.assert_array_equal(
        runs - runs[:, :1], np.tile(range(run), (len(runs), 1))
    )
    stretch = n / len(runs)
    edges = np.floor(np.arange(len(runs) + 1) * stretch)
    assert np.all(runs[:, 0] >= edges[:-1]) and np.all(runs[:, -1] < edges[1:])
    np.testing.assert_array_equal(rows, stratified(n, size))


def test_every_place_of_a_stretch_can_be_drawn():
    starts = stratified(20 * 2000, RUN * 2000).reshape(-1, RUN)[:, 0]
    assert set(starts % 20) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("n", [1, 5])
def test_few_rows_are_all_taken(n):
    np.testing.assert_array_equal(stratified(n, 5), np.arange(n))


def evaluated(objective, seed=3):
    theta = 0.3 * np.random.default_rng(seed).normal(size=objective.size)
    return objective.evaluate(theta, objective.space.scores(theta))


def plain(objective, at, windows, factors):
    """∂²Φ and Σ over windows of the slope of the density times the scatter of ℓ′x."""
    hessian = objective.hessian(at.point, at.weights)
    order = np.argsort(at.point.losses)
    losses, mass = at.point.losses[order], objective.ranking.mass[order]
    density = at.weights[order] / mass
    columns = np.column_stack([objective.space.X, np.ones(objective.n_rows)])
    rows = at.slopes[order, None] * columns[order]
    for (first, last), factor in zip(windows, factors, strict=True):
        part = slice(first, last)
        rise = density[last - 1] - density[first]
        # m neighbours span m − 1 of the m distances that they stand for
        slope = rise / (losses[last - 1] - losses[first])
        slope *= (last - first) / (last - first - 1)
        away = rows[part] - np.average(rows[part], axis=0, weights=mass[part])
        hessian += factor * slope * away.T @ (mass[part, None] * away)
    return hessian


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_windows_of_neighbours_estimate_what_ranks_add(loss, weighted, problem):
    objective = problem(loss, "esrm:2", n=3 * WINDOW + 7, weighted=weighted)
    at = evaluated(objective)
    cuts = [0, WINDOW, 2 * WINDOW, 3 * WINDOW + 7]
    cuts = [(0, WINDOW), (WINDOW, 2 * WINDOW), (cuts[2], cuts[3])]
    np.testing.assert_allclose(
        spectral_hessian(objective, at), plain(objective, at, cuts, [1] * 3), rtol=1e-9
    )


def test_every_other_of_many_windows_counts_twice(problem, monkeypatch):
    monkeypatch.setattr(sampling, "ENOUGH", 3)
    objective = problem("squared", "esrm:2", n=4 * WINDOW)
    at = evaluated(objective)
    cuts = [(i * WINDOW, (i + 1) * WINDOW) for i in range(4)]
    expected = plain(objective, at, cuts, [0, 2, 0, 2])
    np.testing.assert_allclose(spectral_hessian(objective, at), expected, rtol=1e-9)


def test_gathering_in_chunks_changes_nothing(problem, monkeypatch):
    objective = problem("squared", "esrm:2", n=9 * WINDOW)
    at = evaluated(objective)
    whole = spectral_hessian(objective, at)
    monkeypatch.setattr(sampling, "CHUNK", 2 * WINDOW * objective.size)
    np.testing.assert_allclose(spectral_hessian(objective, at), whole, rtol=1e-12)


def test_a_superquantile_has_one_window_about_its_threshold(problem):
    objective = problem("squared", "superquantile:0.6", n=200)
    at = evaluated(objective)
    half = 5 * objective.size
    expected = plain(objective, at, [(120 - half, 120 + half)], [1])
    np.testing.assert_allclose(spectral_hessian(objective, at), expected, rtol=1e-9)


def test_the_mean_has_no_part_from_ranks(problem):
    objective = problem("logistic", "mean", n=200)
    at = evaluated(objective)
    np.testing.assert_array_equal(
        spectral_hessian(objective, at), objective.hessian(at.point, at.weights)
    )


@pytest.mark.parametrize("n", [1, WINDOW - 1])
def test_too_few_rows_for_a_window_add_nothing(n, problem):
    objective = problem("squared", "extremile:2", n=n)
    at = evaluated(objective)
    np.testing.assert_array_equal(
        spectral_hessian(objective, at), objective.hessian(at.point, at.weights)
    )


def test_tied_losses_add_nothing(problem):
    objective = problem("squared", "extremile:2", n=200)
    objective.y[:] = 1.0
    theta = np.zeros(objective.size)
    at = objective.evaluate(theta, np.zeros(200))
    np.testing.assert_allclose(
        spectral_hessian(objective, at), objective.hessian(at.point, at.weights)
    )


@pytest.mark.parametrize("jitter", [0.0, 1e-13])
def test_windows_of_tied_losses_add_nothing(jitter, problem):
    objective = problem("squared", "extremile:2", n=4 * WINDOW)
    rng = np.random.default_rng(0)
    objective.y[: 2 * WINDOW] = 0.1 + jitter * rng.random(2 * WINDOW)
    objective.y[2 * WINDOW :] = np.linspace(1.0, 5.0, 2 * WINDOW)
    at = objective.evaluate(np.zeros(objective.size), np.zeros(4 * WINDOW))
    cuts = [(2 * WINDOW, 3 * WINDOW), (3 * WINDOW, 4 * WINDOW)]
    expected = plain(objective, at, cuts, [1, 1])
    np.testing.assert_allclose(spectral_hessian(objective, at), expected, rtol=1e-9)


def test_it_is_the_second_derivative_of_many_rows(problem):
    objective = problem("squared", "extremile:2", n=20_000)
    at = evaluated(objective)
    h, columns = 0.05, []
    for axis in np.eye(objective.size):
        up, down = (
            objective.evaluate(at.theta + s * h * axis, at.point.scores)
            for s in (1, -1)
        )
        ends = [
            objective.evaluate(e.theta, objective.space.scores(e.theta)).gradient
            for e in (up, down)
        ]
        columns.append((ends[0] - ends[1]) / (2 * h))
    measured = np.array(columns)
    found = spectral_hessian(objective, at)
    root = np.linalg.inv(np.linalg.cholesky(measured))
    values = np.linalg.eigvalsh(root @ found @ root.T)
    assert np.all(np.abs(values - 1.0) <= 0.05)
