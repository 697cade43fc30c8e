"""Newton's method: its Hessian, its steps, its proofs and how it ends."""

from fractions import Fraction
from operator import mul

import numpy as np
import pytest
import scipy.optimize

from lrisk.losses import Absolute, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import Newton, Status
from lrisk.solvers.certified import newton as module
from lrisk.solvers.certified.lagrangian import Lagrangian
from lrisk.solvers.certified.newton import (
    _decrement,
    _groups,
    _search,
    add_scatter,
    mean_fit,
    newton_size,
)
from lrisk.solvers.certified.progress import Progress
from lrisk.spaces import LinearSpace
from lrisk.spectra import Mean, Superquantile, parse_spectrum


def ridge(objective):
    """θ of the weighted mean of squared losses, by its normal equations."""
    space, mass = objective.space, objective.ranking.mass
    X = np.column_stack([space.X, np.ones(space.n_rows)][: 1 + space.intercept])
    penalty = np.full(space.size, objective.mu)
    penalty[space.n_features :] = 0.0
    normal = X.T @ (mass[:, None] * X) + np.diag(penalty)
    return np.linalg.solve(normal, X.T @ (mass * objective.y))


def smoothed(objective, nu=2.0):
    """φ about a point, with a ν under which several blocks are pooled."""
    theta = 0.3 * np.random.default_rng(1).normal(size=objective.size)
    point = objective.at(theta)
    lagrangian = Lagrangian(objective, point.losses)
    lagrangian.nu = nu
    return lagrangian, point, lagrangian.at(point)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize(
    ("spectrum", "nu"), [("superquantile:0.5", 2.0), ("extremile:2", 200.0)]
)
def test_the_hessian_is_that_of_phi(spectrum, nu, loss, weighted, problem):
    objective = problem(loss, spectrum, weighted=weighted, intercept=False)
    lagrangian, point, at = smoothed(objective, nu)
    hessian = objective.hessian(point, at.projection.weights)
    assert add_scatter(hessian, objective, point, at.projection, lagrangian.nu)
    h, columns = 1e-6, []
    for axis in np.eye(objective.size):
        ends = [objective.at(point.theta + s * h * axis) for s in (1, -1)]
        up, down = (
            objective.gradient(p, lagrangian.at(p).projection.weights) for p in ends
        )
        columns.append((up - down) / (2 * h))
    np.testing.assert_allclose(hessian, np.array(columns), rtol=1e-4, atol=1e-6)


def test_scatter_in_groups_is_the_same(problem, monkeypatch):
    objective = problem("squared", "extremile:2", n=200)
    _, point, at = smoothed(objective, nu=1000.0)
    whole, parts = np.zeros((2, 4, 4))
    assert len(at.projection.starts) > 3
    add_scatter(whole, objective, point, at.projection, 0.5)
    monkeypatch.setattr(module, "CHUNK", 4 * objective.size)
    add_scatter(parts, objective, point, at.projection, 0.5)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


def test_nothing_pooled_adds_nothing(problem):
    objective = problem("squared", "extremile:2")
    _, point, at = smoothed(objective, nu=1e-9)
    matrix = np.zeros((4, 4))
    assert not add_scatter(matrix, objective, point, at.projection, 1e-9)
    assert not matrix.any()


def test_groups_never_cut_a_block():
    rng = np.random.default_rng(0)
    for most in (1, 5, 30, 1000):
        lengths = rng.integers(2, 12, 40)
        groups = _groups(np.concatenate([[0], np.cumsum(lengths)]), most)
        covered = np.concatenate([np.arange(40)[group] for group in groups])
        np.testing.assert_array_equal(covered, np.arange(40))
        sizes = [int(lengths[group].sum()) for group in groups]
        assert min(sizes) > 0 and max(sizes) <= max(most, 1) + 2 * 11


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_step_is_ridge_regression(intercept, weighted, problem):
    objective = problem(spectrum="mean", intercept=intercept, weighted=weighted)
    found = Newton(tol=1e-12).solve(objective)
    assert found.status is Status.CONVERGED and found.n_iter <= 2
    np.testing.assert_allclose(found.theta, ridge(objective), rtol=1e-9)
    assert found.objective == pytest.approx(objective.value_at(found.theta), rel=1e-13)


def test_the_start_is_the_fit_of_the_mean(problem):
    objective = problem(weighted=True)
    np.testing.assert_allclose(mean_fit(objective), ridge(objective), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize(
    "spectrum", ["superquantile:0.5", "extremile:2", "esrm:1", "worst_case"]
)
def test_few_steps_prove_a_minimum(spectrum, loss, problem):
    objective = problem(loss, spectrum, weighted=True)
    found = Newton(tol=1e-9).solve(objective)
    assert found.status is Status.CONVERGED and 0 <= found.gap <= 1e-9
    assert found.n_iter <= 40
    assert found.objective == pytest.approx(objective.value_at(found.theta), rel=1e-12)
    # no point near by is better than the bound
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        other = found.theta + size * rng.normal(size=objective.size)
        assert objective.value_at(other) >= found.dual
    assert found.dual <= found.objective


def test_the_minimum_is_that_of_another_method(problem):
    objective = problem("squared", "superquantile:0.5", n=40)
    found = Newton(tol=1e-10).solve(objective)

    other = scipy.optimize.minimize(
        objective.value_at,
        found.theta + 0.05,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxfev": 3000},
    )
    assert found.objective <= other.fun * (1 + 1e-10)
    assert other.fun == pytest.approx(found.objective, rel=1e-4)


def test_a_warm_start_takes_fewer_steps(problem):
    objective = problem("logistic", "superquantile:0.5", n=200)
    cold = Newton(tol=1e-8).solve(objective)
    warm = Newton(tol=1e-8).solve(objective, cold.theta, weights=cold.weights)
    assert warm.n_iter <= 2 < cold.n_iter
    assert warm.gap <= 1e-8


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
@pytest.mark.parametrize("intercept", [False, True])
def test_fewer_rows_than_columns_are_solved_in_their_span(
    intercept, loss, problem, monkeypatch
):
    objective = problem(loss, "extremile:2", n=8, d=12, intercept=intercept)
    within = Newton(tol=1e-10).solve(objective)
    again = Newton(tol=1e-8).solve(objective, within.theta, weights=within.weights)
    assert again.n_iter <= 2
    monkeypatch.setattr(LinearSpace, "most_rotated", 0)
    plain = Newton(tol=1e-10).solve(objective)
    assert within.theta.shape == plain.theta.shape
    assert within.objective == pytest.approx(plain.objective, rel=1e-9)
    assert objective.value_at(within.theta) == pytest.approx(within.objective, rel=1e-9)


def far_row(size, seed=0, spectrum="extremile:2"):
    """Three rows in eight columns, one entry of that size."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(3, 8)), rng.normal(size=3)
    X[2, 4] = size
    ranking = Ranking(parse_spectrum(spectrum), 3)
    return Objective(ranking, Squared(), LinearSpace(X, intercept=True), y, 1.0)


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, 1e12, 1e20, 1e35])
@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.5"])
@pytest.mark.parametrize("large", [False, True])
def test_beside_a_far_row_the_bound_is_one_of_all_columns(
    large, spectrum, size, monkeypatch
):
    """In the rows' span it was not: min Φ(·, λ), in more digits, was far below."""
    if large:  # too large for anything but their span
        monkeypatch.setattr(module, "MOST_PARAMETERS", 5)
    for seed in range(4):
        objective = far_row(size, seed, spectrum)
        found = Newton(tol=1e-10).solve(objective)
        assert found.dual <= least_at(found.weights, objective) * (1.0 + 1e-9)
        value = objective.value_at(found.theta)
        assert found.objective == pytest.approx(value, rel=1e-9)
        if size == 1.0 or (size == 1e4 and not large):
            assert found.gap <= 1e-10


def least_at(weights, objective):
    """min Φ(·, λ) = ½μc·y, in fractions: w = Xᵀc with (XXᵀ + μ/λ)c + b = y, Σc = 0."""
    some = np.flatnonzero(weights)
    rows = [[Fraction(x) for x in row] for row in objective.space.X[some]]
    right = [Fraction(v) for v in objective.y[some]] + [Fraction(0)]
    mu, size = Fraction(objective.mu), len(rows)
    system = [[sum(map(mul, a, b)) for b in rows] + [Fraction(1)] for a in rows]
    system.append([Fraction(1)] * size + [Fraction(0)])
    for i, row in enumerate(some):
        system[i][i] += mu / Fraction(weights[row])
    table = [[*row, value] for row, value in zip(system, right, strict=True)]
    for i, pivot in enumerate(table):
        for j, other in enumerate(table):
            if i != j:
                share = other[i] / pivot[i]
                table[j] = [b - share * a for a, b in zip(pivot, other, strict=True)]
    found = [row[-1] / row[i] for i, row in enumerate(table)]
    return float(mu * sum(map(mul, found[:-1], right[:-1])) / 2)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e3])
def test_usual_rows_stay_in_their_span(loss, alpha, problem, monkeypatch):
    objective = problem(loss, "extremile:2", n=20, d=200)
    objective = Objective(
        objective.ranking, objective.loss, objective.space, objective.y, alpha
    )
    sizes, inner = [], Newton._continue

    def told(self, within, *rest):
        sizes.append(within.size)
        return inner(self, within, *rest)

    monkeypatch.setattr(Newton, "_continue", told)
    Newton(tol=1e-12).solve(objective)
    assert len(sizes) == 1 and sizes[0] <= 21


def test_its_size_is_what_it_works_with(monkeypatch):
    wide = LinearSpace(np.zeros((5, 9)), intercept=True, n_scores=2)
    assert newton_size(wide) == 12
    assert newton_size(LinearSpace(np.zeros((9, 5)), intercept=True)) == 6
    monkeypatch.setattr(LinearSpace, "most_rotated", 44)
    assert newton_size(wide) == 20


@pytest.mark.parametrize("loss", ["absolute", "huber", "pinball"])
def test_losses_with_flat_pieces_are_minimised(loss, problem):
    objective = problem(loss, "superquantile:0.5")
    found = Newton(tol=1e-7).solve(objective)
    assert found.status is Status.CONVERGED and 0 <= found.gap <= 1e-7
    assert found.slopes is not None
    assert found.objective == pytest.approx(objective.value_at(found.theta), rel=1e-12)


def test_the_mean_of_absolute_losses_is_a_median():
    y = np.array([0.0, 1.0, 2.5, 7.0, 90.0])
    space = LinearSpace(np.zeros((5, 1)), intercept=True)
    objective = Objective(Ranking(Mean(), 5), Absolute(), space, y, 1.0)
    found = Newton(tol=1e-8).solve(objective)
    assert found.theta[1] == pytest.approx(2.5, abs=1e-5)


@pytest.mark.parametrize("y", [[3.0], [3.0, 3.0]])
def test_one_row_and_tied_rows_are_fitted_exactly(y):
    y = np.array(y)
    space = LinearSpace(np.ones((len(y), 1)), intercept=True)
    objective = Objective(
        Ranking(Superquantile(0.5), len(y)), Squared(), space, y, 1e-3
    )
    found = Newton(tol=1e-6).solve(objective)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.theta, [0.0, 3.0], atol=1e-9)


def test_a_limit_ends_with_a_proof_and_no_worse_than_the_constant(problem):
    objective = problem("logistic", "superquantile:0.8", n=200)
    found = Newton(tol=1e-14, max_iter=1).solve(objective)
    assert found.status is Status.MAX_ITER and found.n_iter == 1
    assert np.isfinite(found.gap)
    assert found.objective <= objective.value_at(objective.constant_fit())


def test_without_any_proof_it_stalls_soon(problem, monkeypatch):
    monkeypatch.setattr(module, "proven_slack", lambda *_: (np.inf, None))
    for spectrum in ("mean", "superquantile:0.5"):
        found = Newton(tol=1e-8).solve(problem(spectrum=spectrum))
        assert found.status is Status.STALLED
        assert found.n_iter <= 200


def test_proofs_are_made_where_the_gap_looks_small(problem):
    objective = problem("squared", "superquantile:0.5")
    point = objective.at(np.zeros(4))
    weights = objective.ranking.weights(point.losses)
    hessian = objective.hessian(point, weights)
    gradient = objective.gradient(point, weights)
    step = np.linalg.solve(hessian, -gradient)
    fall = -0.5 * gradient @ step
    newton, value = Newton(tol=1e-6), objective.value(point)
    progress = Progress(objective, 1e-6, None)
    far = newton._prove(progress, point, weights, step, gradient, fall)
    assert far.slack == np.inf and far.primal == pytest.approx(value)
    near = newton._prove(progress, point, weights, step, gradient, 1.9e-6 * value)
    sure = newton._prove(progress, point, weights, step, gradient, fall, certainly=True)
    assert near.slack == sure.slack == pytest.approx(fall, rel=1e-9)


def test_a_step_that_does_not_descend_is_none(problem):
    lagrangian, point, at = smoothed(problem())
    step = np.ones(4)
    assert _search(lagrangian, point, at.value, step, 0.0) is None
    assert _search(lagrangian, point, at.value, step, 1.0) is None


def test_a_step_too_long_is_halved(problem):
    lagrangian, point, at = smoothed(problem())
    objective = lagrangian.objective
    gradient = objective.gradient(point, at.projection.weights)
    step = -100.0 * gradient
    slope = float(gradient @ step)
    moved, there, length = _search(lagrangian, point, at.value, step, slope)
    assert length < 1.0 and np.log2(length) == round(np.log2(length))
    assert there.value <= at.value + 1e-4 * length * slope
    np.testing.assert_allclose(moved.theta, point.theta + length * step)
    np.testing.assert_allclose(moved.scores, objective.space.scores(moved.theta))


def test_a_decrement_is_half_of_what_the_slope_promises(problem):
    objective = problem("absolute", alpha=0.0)
    hessian, gradient = np.eye(4), np.array([1.0, -2.0, 0.0, 3.0])
    step = np.array([0.5, 0.5, 0.5, -1.0])
    assert _decrement(objective, hessian, gradient, step) == 0.5 * 3.5
    hessian[3, 3] = 0.0
    assert _decrement(objective, hessian, gradient, step) == np.inf
    gradient[3] = 1e-13
    assert _decrement(objective, hessian, gradient, step) == pytest.approx(0.25)
    penalised = problem("absolute", alpha=1.0)
    gradient[3] = 3.0
    assert _decrement(penalised, hessian, gradient, step) == 0.5 * 3.5
