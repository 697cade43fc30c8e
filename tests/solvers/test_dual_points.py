"""Dual points over parts: a bound, however they were found, and a tight one."""

import itertools

import numpy as np
import pytest
import scipy.optimize

from lrisk.losses import Huber, Logistic, Squared, SquaredHinge
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.solvers.dual_points import dual_slack
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.spectra import Extremile, Superquantile

pytestmark = pytest.mark.numerics

N, D = 300, 3
#: From one where few residuals bend to one where all do.
LOSSES = [Huber(0.01), Huber(0.5), Huber(1e3), SquaredHinge(), Logistic(), Squared()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def drawn(loss, seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal([0.0, 3.0, -1.0], [1.0, 5.0, 0.1], size=(N, D))
    y = X @ [1.0, 0.1, 3.0] + rng.standard_t(3, size=N)
    if loss.classifies:
        y = (y > np.median(y)).astype(float)
    return X, y, rng.uniform(0.1, 2.0, N) if weighted else None


def parted(loss, seed, *, weighted=False, intercept=True, alpha=0.3, q=None, cuts=()):
    X, y, weight = drawn(loss, seed, weighted)
    parts = [
        Part(ArrayRows(X[a:b]), y[a:b], None if weight is None else weight[a:b], loss)
        for a, b in itertools.pairwise([0, *cuts, N])
    ]
    spectrum = Extremile(2.0) if q is None else Superquantile(q)
    return PartitionedObjective(Local(parts), spectrum, loss, alpha, intercept)


def least(objective, theta):
    """Φ(θ, λ) at the λ that parts hold, and its minimum, by SciPy alone."""
    parts = objective.engine.parts
    X = np.concatenate([part.rows.X for part in parts]) - objective.offset
    if objective.space.intercept:
        X = np.column_stack([X, np.ones(N)])
    y = np.concatenate([part.y for part in parts])
    lam = np.concatenate([part.weights for part in parts])
    ridge = np.full(objective.size, objective.mu)
    ridge[D:] = 0.0

    def phi(v):
        value = lam @ objective.loss.value(y, X @ v) + 0.5 * float(ridge @ v**2)
        slopes = lam * objective.loss.derivative(y, X @ v)
        return value, X.T @ slopes + ridge * v

    best, v = np.inf, theta
    for method in ("BFGS", "L-BFGS-B", "BFGS"):
        found = scipy.optimize.minimize(
            phi, v, jac=True, method=method, options={"maxiter": 2000}
        )
        if found.fun < best:
            best, v = float(found.fun), found.x
    return float(phi(theta)[0]), best, phi(theta)[1]


def bounded(objective, theta, enough=0.0):
    """The bound with λ by rank and with the same λ held; Φ and its minimum."""
    now = objective.refined(objective.begin(theta), 1e-9)
    rule = objective.rule_at(now)
    seen = dual_slack(objective, theta, now.gradient, rule, enough)
    objective.hold(now.weights)
    value, best, gradient = least(objective, theta)
    np.testing.assert_allclose(gradient, now.gradient, atol=1e-9)
    again = dual_slack(objective, theta, now.gradient, (), enough)
    assert again == pytest.approx(seen, rel=1e-9, abs=1e-15)
    return seen, value, best


@every_loss
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("q", [None, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_it_holds_wherever_it_is_asked(loss, intercept, q, seed):
    weighted, cuts = bool(seed % 2), [(), (0, 7, 120)][seed % 2]
    objective = parted(
        loss, seed, weighted=weighted, intercept=intercept, q=q, cuts=cuts
    )
    rng = np.random.default_rng(seed)
    for spread in (0.0, 0.1, 1.0):
        theta = spread * rng.normal(size=objective.size)
        seen, value, best = bounded(objective, theta)
        assert seen >= (value - best) - 1e-9 * value


@every_loss
@pytest.mark.parametrize("intercept", [True, False])
def test_near_a_minimum_it_is_tight(loss, intercept):
    objective = parted(loss, 1, intercept=intercept, alpha=30.0)
    theta = minimise_in_parts(objective, tol=1e-10).theta
    theta = theta * (1.0 + 1e-3 * np.random.default_rng(0).normal(size=len(theta)))
    seen, value, best = bounded(objective, theta)
    assert seen >= (value - best) - 1e-11 * value
    assert seen <= 2.0 * (value - best) + 1e-6 * value


def test_it_is_that_of_a_quadratic():
    objective = parted(Squared(), 0, cuts=(50,))
    theta = np.full(objective.size, 0.2)
    seen, value, best = bounded(objective, theta)
    assert seen == pytest.approx(value - best, rel=1e-8)


@pytest.mark.parametrize("shift", [0.0, 0.02, -0.5])
@every_loss
def test_parts_tell_what_dual_points_add_up_to(loss, shift):
    objective = parted(loss, 2, weighted=True, cuts=(0, 100))
    theta, step = np.full(objective.size, 0.1), np.array([0.3, -0.1, 2.0, 0.5])
    now = objective.begin(theta)
    rule = objective.rule_at(now)
    told = objective.dual(step, shift, rule)
    objective.hold(now.weights)
    lam = np.concatenate([part.weights for part in objective.engine.parts])
    X = np.concatenate([part.rows.X for part in objective.engine.parts])
    y = np.concatenate([part.y for part in objective.engine.parts])
    rows = np.column_stack([X - objective.offset, np.ones(N)])
    z = rows @ theta
    linear = loss.derivative(y, z) + loss.curvature(y, z) * (rows @ step) - shift
    a = loss.to_dual_domain(y, linear)
    assert np.all(np.isfinite(loss.conjugate(y, a)))
    inside = np.isclose(a, linear, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(told.pulled, (lam * a) @ rows, atol=1e-11)
    young = loss.value(y, z) + loss.conjugate(y, a) - a * z
    assert told.fitted == pytest.approx(float(lam @ young), rel=1e-9)
    assert told.size == pytest.approx(float(lam @ np.abs(a)))
    assert told.free == pytest.approx(float(lam @ inside))
    assert told.bend == pytest.approx(float((lam * inside) @ loss.curvature(y, z)))


def test_without_a_penalty_there_is_none():
    objective = parted(Huber(0.5), 0, alpha=0.0)
    assert bounded(objective, np.zeros(objective.size))[0] == np.inf


def test_an_unbalanced_point_proves_nothing():
    """All targets on one side of all scores: no shift brings Σλa to zero."""
    objective = parted(Huber(0.5), 0)
    theta = np.zeros(objective.size)
    theta[-1] = 1e8
    now = objective.begin(theta)
    rule = objective.rule_at(now)
    seen = dual_slack(objective, theta, now.gradient, rule, 0.0)
    objective.hold(now.weights)
    value, best, _ = least(objective, theta)
    assert seen >= value - best
