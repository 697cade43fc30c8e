"""The proof that the best coefficients are zero."""

import numpy as np
import pytest

from lrisk.certificate import local_slack
from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import Status
from lrisk.solvers._linalg import Factor
from lrisk.solvers.certified import collapse as module
from lrisk.solvers.certified.collapse import _lowest, _Search, certified_collapse
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum

STRONG = ["superquantile:0.8", "extremile:6"]


def classes(
    spectrum="superquantile:0.8",
    n=2000,
    *,
    apart=0.0,
    weighted=False,
    intercept=True,
    alpha=1.0,
):
    """Two classes, as far apart as asked."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.45).astype(float)
    X = rng.normal(size=(n, 2)) + apart * y[:, None]
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    ranking = Ranking(parse_spectrum(spectrum), n, weight)
    return Objective(ranking, Logistic(), LinearSpace(X, intercept=intercept), y, alpha)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("spectrum", STRONG)
def test_overlapping_classes_collapse(spectrum, intercept, weighted):
    objective = classes(spectrum, intercept=intercept, weighted=weighted)
    seen = []
    found = certified_collapse(objective, 1e-8, seen.append)
    assert found.status is Status.CONVERGED and 0 <= found.gap <= 1e-8
    assert found.solver == "collapse" and not found.theta.any()
    assert found.objective == pytest.approx(np.log(2.0), rel=1e-14)
    assert found.history[0]["note"] == "the fit without features looked best"
    assert len(seen) == len(found.history) == found.n_iter
    # by itself: λ in the dual set, and the classes' means and weights agree
    weights, mass = found.weights, objective.ranking.mass
    order = np.argsort(weights / mass)
    least = objective.ranking.sigma(order)
    assert np.all(np.cumsum(weights[order]) >= np.cumsum(least) - 1e-12)
    pulled = objective.space.pullback(found.theta, weights * (2 * objective.y - 1))
    assert np.abs(pulled).max() <= 1e-3


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_is_what_the_gradient_at_zero_proves(weighted):
    objective = classes(weighted=weighted)
    found = certified_collapse(objective, 1e-3, None)
    point = objective.at(np.zeros(3))
    gradient = objective.gradient(point, found.weights)
    slack = local_slack(objective, point.scores, found.weights, gradient)
    assert slack > 1e-12
    assert found.gap == pytest.approx(slack / np.log(2.0), rel=1e-2)


def test_a_sample_decides_whether_to_look_at_all_rows(monkeypatch):
    monkeypatch.setattr(module, "SMALLEST", 500)
    objective = classes(n=4000)
    found = certified_collapse(objective, 1e-8, None)
    assert found is not None and 0 <= found.gap <= 1e-8
    pulled = objective.space.pullback(found.theta, found.weights * (objective.y - 0.5))
    assert np.abs(pulled).max() <= 1e-3


@pytest.mark.parametrize("spectrum", STRONG)
def test_classes_that_are_apart_do_not(spectrum):
    assert certified_collapse(classes(spectrum, apart=3.0), 1e-8, None) is None


def test_under_a_weak_spectrum_the_features_are_of_use():
    assert certified_collapse(classes("superquantile:0.05"), 1e-8, None) is None


def test_only_penalised_logistic_models_are_asked():
    assert certified_collapse(classes(alpha=0.0), 1e-8, None) is None
    assert certified_collapse(classes("mean"), 1e-8, None) is None
    objective = classes().with_loss(Squared())
    assert certified_collapse(objective, 1e-8, None) is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", ["superquantile:0.75", "esrm:2"])
def test_the_lowest_value_is_that_of_a_vertex(spectrum, weighted):
    objective = classes(spectrum, n=8, weighted=weighted)
    mass, rng = objective.ranking.mass, np.random.default_rng(0)
    found = _lowest(objective)
    if not weighted:
        sigma = objective.ranking.sigma(np.arange(8))
        assert found == pytest.approx(-0.5 * (8 * np.sum(sigma**2) - 1))
    if spectrum == "superquantile:0.75" and not weighted:  # two rows at four times p
        assert found == pytest.approx(-0.5 * (4 - 1))
    for _ in range(20):
        weights = objective.ranking.weights(rng.permutation(8).astype(float))
        if not weighted:
            chi2 = np.sum((weights - mass) ** 2 / mass)
            assert found == pytest.approx(-0.5 * chi2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectrum", STRONG)
def test_the_dual_and_its_gradient(spectrum, weighted):
    objective = classes(spectrum, n=200, weighted=weighted)
    v = np.array([0.3, -0.5, 0.2])
    search = _Search(objective, Factor(np.eye(3)), v)
    mass, signs = objective.ranking.mass, 2 * objective.y - 1
    B = signs[:, None] * np.column_stack([objective.space.X, np.ones(200)])
    expected = -search.weights @ (B @ v)
    expected -= 0.5 * np.sum((search.weights - mass) ** 2 / mass)
    assert search.value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(search.pull, B.T @ search.weights, atol=1e-12)
    # no other λ gives more
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = objective.ranking.weights(rng.normal(size=200))
        for share in (1e-3, 1.0):
            mixed = search.weights + share * (other - search.weights)
            value = -mixed @ (B @ v) - 0.5 * np.sum((mixed - mass) ** 2 / mass)
            assert value <= search.value + 1e-12
    assert search.residual == pytest.approx(search.pull @ search.pull)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("length", [1.0, 10.0])  # no row is at its cap, and many are
def test_the_metric_is_the_hessian_under_a_superquantile(length, weighted):
    objective = classes(n=300, weighted=weighted)
    v = length * np.array([0.3, -0.5, 0.2])
    search = _Search(objective, Factor(np.eye(3)), v)
    h, columns = 1e-6, []
    for axis in np.eye(3):
        up, down = (search._evaluate(v + s * h * axis)[2] for s in (1, -1))
        columns.append((down - up) / (2 * h))
    hessian = np.array(columns) + objective.mu * np.eye(3)
    solved = search.metric().solve(np.array([1.0, 2.0, -3.0]))
    np.testing.assert_allclose(hessian @ solved, [1.0, 2.0, -3.0], rtol=1e-4)


def test_the_metric_stays_where_blocks_are_not_simple_or_too_small():
    old = Factor(np.eye(3))
    for objective in (classes("extremile:6", n=300), classes(n=15)):
        search = _Search(objective, old, np.zeros(3))
        assert search.metric() is old


def test_steps_descend_and_are_remembered():
    search = _Search(classes(n=300), Factor(np.eye(3)), np.array([0.3, -0.5, 0.2]))
    for _ in range(3):
        v, value, pull = search.v, search.value, search.pull
        search.step()
        assert search.value < value
        s, y, _ = search.memory._pairs[-1]
        np.testing.assert_allclose(s, search.v - v, rtol=1e-12)
        np.testing.assert_allclose(y, pull - search.pull, rtol=1e-12)
        assert s @ y > 0
