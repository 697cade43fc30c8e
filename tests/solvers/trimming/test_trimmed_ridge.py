"""One inverse for every choice of rows, against ridge fits of those rows."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from lrisk import KernelRiskRegressor
from lrisk.losses import Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers.trimming.trimmed_ridge import TrimmedRidge
from lrisk.spaces import Kernel, KernelSpace
from lrisk.spectra import Subquantile

pytestmark = pytest.mark.numerics

N, GAMMA, ALPHA = 50, 0.3, 0.4
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = np.sin(X[:, 0]) + rng.standard_t(1.5, N)


def problem(p, weight=None):
    space = KernelSpace(Kernel("rbf", gamma=GAMMA), X)
    return Objective(Ranking(Subquantile(p), N, weight), Squared(), space, Y, ALPHA)


def refit(rows, alpha, weight=None):
    """Kernel ridge of some rows, by scikit-learn."""
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=alpha)
    weight = None if weight is None else weight[rows]
    return model.fit(X[rows], Y[rows], sample_weight=weight)


@pytest.mark.parametrize("p", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_is_kernel_ridge_of_the_kept_rows(p, weighted):
    weight = rng.uniform(0.5, 2.0, N) if weighted else None
    objective = problem(p, weight)
    ridge = TrimmedRidge(objective, p)
    rows = rng.permutation(N)[: int(p * N)]
    weights = np.zeros(N)
    weights[rows] = ridge.full[rows]
    fit = ridge.fit(weights)
    model = refit(rows, p * ALPHA, weight)
    np.testing.assert_allclose(fit.coefficients[rows], model.dual_coef_, rtol=1e-8)
    assert np.all(np.delete(fit.coefficients, rows) == 0)
    np.testing.assert_allclose(Y - fit.residuals, model.predict(X), atol=1e-9)
    point = objective.at(fit.coefficients)
    value = float(weights @ point.losses) + point.penalty
    assert fit.value == pytest.approx(value, rel=1e-9)


def test_part_of_a_row():
    objective = problem(0.61)
    ridge = TrimmedRidge(objective, 0.61)
    weights = np.where(np.arange(N) < 30, ridge.full, 0.0)
    weights[30] = 0.5 * ridge.full[30]
    fit = ridge.fit(weights)
    share = np.r_[np.ones(30), 0.5]
    model = refit(np.arange(31), 0.61 * ALPHA, share)
    np.testing.assert_allclose(fit.coefficients[:31], model.dual_coef_, rtol=1e-8)
    np.testing.assert_allclose(Y - fit.residuals, model.predict(X), atol=1e-9)


@pytest.mark.parametrize("part", [0.0, 0.4])
def test_leave_one_out_residuals(part):
    p = 0.8
    objective = problem(p)
    ridge = TrimmedRidge(objective, p)
    weights = np.where(np.arange(N) < 39, ridge.full, 0.0)
    weights[39] = part * ridge.full[39]
    residuals = ridge.leave_one_out(weights)
    share = np.where(np.arange(N) < 39, 1.0, 0.0)
    share[39] = part
    for i in (0, 7, 38, 39, 45):
        rows = np.flatnonzero((share > 0) & (np.arange(N) != i))
        model = refit(rows, p * ALPHA, share)
        expected = Y[i] - model.predict(X[[i]])[0]
        assert residuals[i] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("panel", [1, 3, 48])
def test_elimination_deletes_the_best_row_each_time(panel, monkeypatch):
    monkeypatch.setattr("lrisk.solvers.trimming.trimmed_ridge.PANEL", panel)
    p = 0.75
    objective = problem(p)
    ridge = TrimmedRidge(objective, p)
    weights = ridge.eliminate(objective.ranking.mass, 1 - p)
    kept = list(range(N))
    for _ in range(12):
        values = []
        for i in kept:
            rows = [j for j in kept if j != i]
            values.append(float(Y[rows] @ refit(rows, p * ALPHA).dual_coef_))
        kept.remove(kept[int(np.argmin(values))])
    # Half a row is left to delete: the thirteenth goes in part.
    assert np.sum(weights >= ridge.full * (1 - 1e-12)) == 37
    assert set(np.flatnonzero(weights > 0)) == set(kept)
    assert weights.sum() == pytest.approx(1.0)


def test_exchange_takes_the_best_pair_and_ends_at_a_local_minimum():
    p = 0.8
    objective = problem(p)
    ridge = TrimmedRidge(objective, p)
    weights = np.where(np.arange(N) < 40, ridge.full, 0.0)

    def value(rows):
        return float(Y[rows] @ refit(rows, p * ALPHA).dual_coef_)

    def neighbours(weights):
        kept = np.flatnonzero(weights > 0)
        gone = np.flatnonzero(weights == 0)
        return [value(np.r_[kept[kept != i], j]) for i in kept for j in gone], value(
            kept
        )

    pairs_best, _ = neighbours(weights)
    cut, fit = ridge._cut_and_fit(weights)
    pairs = ridge._pairs(fit, cut, np.arange(40))
    kept = np.r_[np.delete(np.arange(40), pairs[0][0]), pairs[0][1]]
    assert value(kept) == pytest.approx(min(pairs_best), rel=1e-9)
    values = [ridge.fit(weights).value]
    while (moved := ridge.exchange(weights)) is not None:
        weights, fit = moved
        values.append(fit.value)
    assert np.all(np.diff(values) < 0) and len(values) > 2
    others, best = neighbours(weights)
    assert min(others) >= best * (1 - 1e-9)


def test_path_uses_its_own_penalty():
    objective = problem(0.8)
    heavy = TrimmedRidge(objective, 0.8, mu=10 * objective.mu)
    weights = np.where(np.arange(N) < 40, heavy.full, 0.0)
    model = refit(np.arange(40), 0.8 * ALPHA * 10)
    np.testing.assert_allclose(
        heavy.fit(weights).coefficients[:40], model.dual_coef_, rtol=1e-8
    )


def test_more_equal_rows_than_a_panel_holds_can_be_eliminated():
    # Rows far from all others, with one and the same enormous target each.
    rng = np.random.default_rng(0)
    near = rng.normal(size=(200, 2))
    far = 1e3 * np.arange(1, 101)[:, None] * np.ones((100, 2))
    X = np.vstack([near, far])
    y = np.concatenate([np.sin(near[:, 0]), np.full(100, 1e4)])
    model = KernelRiskRegressor(Subquantile(2 / 3), gamma=0.5, alpha=1e-3)
    model.fit(X, y)
    assert not model.inlier_mask_[200:].any()
    assert model.inlier_mask_[:200].all()
