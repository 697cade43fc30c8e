"""Laws of risk, weights and projections, for every increasing registered spectrum."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.permutahedron import (
    entropic_weights,
    majorisation_excess,
    project,
    proximal_weights,
    risk_and_excess,
    smoothed_risk,
    smoothed_weights,
)
from lrisk.ranking import Ranking
from lrisk.spectra import FAMILIES

RISING = [name for name, f in FAMILIES.items() if f().monotone in ("up", "flat")]
rising = pytest.mark.parametrize("name", RISING)
every_family = pytest.mark.parametrize("name", FAMILIES)
smoothings = pytest.mark.parametrize("smoothing", ["l2", "entropy"])


@rising
@smoothings
def test_the_smoothed_risk_is_smooth(name, smoothing):
    """Its gradient moves by at most 1/ν times what the losses do (paper 1, lemma 16).

    Both in the Euclidean norm, and for the entropy in the sum norm by the largest move,
    which is more.
    """
    ranking, rng = Ranking(FAMILIES[name](), 30), np.random.default_rng(0)
    closest = 0.0
    for nu in (0.05, 1.0, 30.0):
        for size in (1e-3, 0.1, 3.0):
            losses = rng.exponential(size=30)
            moved = losses + size * rng.normal(size=30)
            change = smoothed_weights(ranking, moved, smoothing, nu)
            change = change - smoothed_weights(ranking, losses, smoothing, nu)
            slope = np.linalg.norm(change) * nu / np.linalg.norm(moved - losses)
            if smoothing == "entropy":
                far = np.abs(moved - losses).max()
                slope = max(slope, np.abs(change).sum() * nu / far)
            assert slope <= 1.0 + 1e-6
            closest = max(closest, slope)
    assert closest > 0.05 or name == "mean"


def case(seed, n, weighted):
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 4, n) * 0.5 + rng.choice([0.0, 1e-3], n)  # many ties
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    return losses, weight


def dual_set(ranking, variable):
    """λ(A) ≥ S(p(A)) for all A, Σλ = 1, written out."""
    p, n = ranking.mass, ranking.n_rows
    constraints = [cp.sum(variable) == 1]
    for size in range(1, n):
        for rows in itertools.combinations(range(n), size):
            least = float(ranking.spectrum.cumulative(min(p[list(rows)].sum(), 1.0)))
            constraints.append(cp.sum(variable[list(rows)]) >= least)
    return constraints


@rising
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.7])
def test_smoothed_risks_agree_with_a_convex_solve(name, weighted, nu):
    losses, weight = case(RISING.index(name), 6, weighted)
    ranking = Ranking(FAMILIES[name](), 6, weight)
    p, w = ranking.mass, ranking.row_weight
    variable = cp.Variable(6, nonneg=True)
    distance = cp.sum_squares(cp.multiply(variable - p, 1 / np.sqrt(w)))
    for smoothing, penalty, close in (
        ("l2", 0.5 * distance, 2e-4),
        ("entropy", cp.sum(cp.rel_entr(variable, p)), 2e-4),
    ):
        problem = cp.Problem(
            cp.Maximize(losses @ variable - nu * penalty), dual_set(ranking, variable)
        )
        problem.solve(solver="CLARABEL")
        value, weights = smoothed_risk(ranking, losses, smoothing, nu)
        assert value == pytest.approx(problem.value, abs=1e-7)
        np.testing.assert_allclose(weights, variable.value, atol=close)


@pytest.mark.numerics
@rising
@pytest.mark.parametrize("weighted", [False, True])
def test_projection_agrees_with_a_convex_solve(name, weighted):
    _, weight = case(3, 6, weighted)
    ranking = Ranking(FAMILIES[name](), 6, weight)
    point = np.random.default_rng(4).normal(size=6)
    variable = cp.Variable(6)
    scale = 1 / np.sqrt(ranking.row_weight)
    distance = cp.sum_squares(cp.multiply(variable - point, scale))
    cp.Problem(cp.Minimize(distance), dual_set(ranking, variable)).solve("CLARABEL")
    np.testing.assert_allclose(project(ranking, point), variable.value, atol=2e-4)


@rising
@smoothings
def test_gradient_of_the_smoothed_risk(name, smoothing):
    ranking = Ranking(FAMILIES[name](), 30)
    rng = np.random.default_rng(0)
    losses, v = rng.exponential(size=30), rng.normal(size=30)
    h = 1e-6
    up, _ = smoothed_risk(ranking, losses + h * v, smoothing, 0.5)
    down, _ = smoothed_risk(ranking, losses - h * v, smoothing, 0.5)
    _, weights = smoothed_risk(ranking, losses, smoothing, 0.5)
    assert (up - down) / (2 * h) == pytest.approx(float(weights @ v), abs=1e-6)


@pytest.mark.numerics
@rising
@smoothings
@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=15),
    seed=st.integers(0, 10**6),
    exponent=st.floats(-6, 1),
)
def test_weight_k_is_k_copies(name, smoothing, counts, seed, exponent):
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 5, len(counts)) * 0.3
    weighted = Ranking(FAMILIES[name](), len(counts), np.array(counts, float))
    copies = np.repeat(np.arange(len(counts)), counts)
    copied = Ranking(FAMILIES[name](), len(copies))
    nu = 10.0**exponent
    for kind, strength in ((smoothing, nu), (None, 0.0)):
        value, weights = smoothed_risk(weighted, losses, kind, strength)
        other, each = smoothed_risk(copied, losses[copies], kind, strength)
        assert value == pytest.approx(other, abs=1e-13)
        together = np.bincount(copies, each, minlength=len(counts))
        np.testing.assert_allclose(weights, together, atol=1e-12)


@pytest.mark.numerics
@every_family
@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), seed=st.integers(0, 10**6), weighted=st.booleans())
def test_order_and_ties_do_not_matter(name, n, seed, weighted):
    losses, weight = case(seed, n, weighted)
    ranking = Ranking(FAMILIES[name](), n, weight)
    shuffle = np.random.default_rng(seed).permutation(n)
    other = Ranking(FAMILIES[name](), n, None if weight is None else weight[shuffle])
    assert ranking.risk(losses) == pytest.approx(other.risk(losses[shuffle]), abs=1e-13)
    weights = ranking.shared_weights(losses)
    np.testing.assert_allclose(
        weights[shuffle], other.shared_weights(losses[shuffle]), atol=1e-14
    )
    assert weights @ losses == pytest.approx(ranking.risk(losses), abs=1e-13)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    density = weights / ranking.mass
    for value in np.unique(losses):
        assert np.ptp(density[losses == value]) <= 1e-9 * density.max()


@pytest.mark.numerics
@rising
@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(1, 200),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
    exponent=st.floats(-12, 2),
)
def test_weights_never_leave_the_dual_set(name, n, seed, weighted, exponent):
    """Whatever ν: a λ outside would make the duality gap a false proof."""
    rng = np.random.default_rng(seed)
    losses = rng.exponential(size=n)
    losses[: n // 2] = 1.0 + 1e-10 * rng.normal(size=n // 2)
    weight = rng.uniform(0.01, 5.0, n) if weighted else None
    ranking = Ranking(FAMILIES[name](), n, weight)
    nu = 10.0**exponent * ranking.total
    center = project(ranking, rng.normal(size=n))
    for weights in (
        proximal_weights(ranking, losses, center, nu).weights,
        entropic_weights(ranking, losses, nu).weights,
        ranking.shared_weights(losses),
    ):
        assert np.all(weights >= 0)
        assert majorisation_excess(ranking, weights) <= 1e-13
        value, excess = risk_and_excess(ranking, losses, weights)
        assert value == pytest.approx(ranking.risk(losses), rel=1e-13)
        assert excess == pytest.approx(value - weights @ losses, abs=1e-12)


@rising
@smoothings
def test_no_smoothing_is_the_limit(name, smoothing):
    ranking = Ranking(FAMILIES[name](), 25)
    losses = np.random.default_rng(0).exponential(size=25)
    plain = smoothed_weights(ranking, losses, None, 0.0)
    np.testing.assert_allclose(
        smoothed_weights(ranking, losses, smoothing, 1e-7), plain, atol=1e-7
    )
    assert np.array_equal(smoothed_weights(ranking, losses, smoothing, 0.0), plain)


@rising
def test_scipy_agrees_on_the_isotonic_regression(name):
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(0)
    weight = rng.uniform(0.2, 3.0, 80)
    ranking = Ranking(FAMILIES[name](), 80, weight)
    losses, nu = rng.exponential(size=80), 5.0
    center = ranking.mass
    key = center / weight + losses / nu
    order = np.argsort(key)
    sigma = ranking.sigma(order)
    fit = isotonic_regression(
        key[order] - sigma / weight[order], weights=weight[order]
    ).x
    expected = np.empty(80)
    expected[order] = weight[order] * (key[order] - fit)
    got = proximal_weights(ranking, losses, center, nu).weights
    np.testing.assert_allclose(got, expected, atol=1e-13)
