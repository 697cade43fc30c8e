"""Projections against their plain definitions, on rows few enough for all orders.

The laws for every spectrum and any rows are in ``laws/test_permutahedron.py``.
"""

import itertools

import numpy as np
import pytest

import lrisk
from lrisk.permutahedron import (
    entropic_weights,
    majorisation_excess,
    project,
    proximal_weights,
    proximity,
    risk_and_excess,
    smoothed_risk,
    smoothed_weights,
)
from lrisk.ranking import Ranking
from lrisk.spectra import parse_spectrum

SPECTRA = ["superquantile:0.55", "extremile:2.5", "esrm:2", "worst_case"]
spectra = pytest.mark.parametrize("spectrum", SPECTRA)
weighings = pytest.mark.parametrize("weighted", [False, True])


def rows(spectrum, weighted, n=5):
    rng = np.random.default_rng(n)
    weight = rng.uniform(0.5, 3.0, n) if weighted else None
    return Ranking(parse_spectrum(spectrum), n, weight), rng


def vertices(ranking):
    """σ along every order of the rows."""
    for order in itertools.permutations(range(ranking.n_rows)):
        vertex = np.empty(ranking.n_rows)
        vertex[list(order)] = ranking.sigma(np.array(order))
        yield vertex


def assert_maximal(ranking, weights, slope):
    """λ in the set, and no vertex that a concave function with this slope prefers."""
    assert majorisation_excess(ranking, weights) <= 1e-14
    best = max(float(slope @ (vertex - weights)) for vertex in vertices(ranking))
    assert best <= 1e-9 * (1.0 + np.abs(slope).max())


@weighings
@spectra
@pytest.mark.parametrize("nu", [1e-3, 0.3, 2.0, 1e3])
def test_proximal_weights_are_maximal(spectrum, weighted, nu):
    ranking, rng = rows(spectrum, weighted)
    for losses in (rng.exponential(size=5), np.array([1.0, 0.0, 1.0, 2.0, 1.0])):
        for center in (ranking.mass, ranking.weights(rng.normal(size=5))):
            weights = proximal_weights(ranking, losses, center, nu).weights
            slope = losses - nu * (weights - center) / ranking.row_weight
            assert_maximal(ranking, weights, slope)


@weighings
@spectra
@pytest.mark.parametrize("nu", [1e-2, 0.5, 20.0])
def test_entropic_weights_are_maximal(spectrum, weighted, nu):
    ranking, rng = rows(spectrum, weighted)
    for losses in (rng.exponential(size=5), np.array([1.0, 0.0, 1.0, 2.0, 1.0])):
        weights = entropic_weights(ranking, losses, nu).weights
        safe = np.maximum(weights, 1e-300)
        slope = losses - nu * (np.log(safe / ranking.mass) + 1.0)
        assert_maximal(ranking, weights, slope)


@weighings
@spectra
def test_projections_are_nearest(spectrum, weighted):
    ranking, rng = rows(spectrum, weighted)
    for _ in range(5):
        point = rng.normal(size=5)
        weights = project(ranking, point)
        assert_maximal(ranking, weights, (point - weights) / ranking.row_weight)
    inside = 0.5 * (ranking.mass + ranking.weights(rng.normal(size=5)))
    np.testing.assert_allclose(project(ranking, inside), inside, atol=1e-12)


@weighings
@spectra
def test_blocks_are_the_derivative(spectrum, weighted):
    ranking, rng = rows(spectrum, weighted, 12)
    losses, nu, h = rng.exponential(size=12), 10.0, 1e-7
    found = proximal_weights(ranking, losses, ranking.mass, nu)
    assert found.starts[0] == 0 and found.starts[-1] == len(found.rows) >= 2
    assert np.all(np.diff(found.starts) > 1)
    expected, w = np.zeros((12, 12)), ranking.row_weight
    for first, last in itertools.pairwise(found.starts):
        block = found.rows[first:last]
        if np.all(found.weights[block] > 0):
            share = np.outer(w[block], w[block]) / w[block].sum()
            expected[np.ix_(block, block)] = (np.diag(w[block]) - share) / nu
    for j, axis in enumerate(np.eye(12)):
        up = proximal_weights(ranking, losses + h * axis, ranking.mass, nu).weights
        down = proximal_weights(ranking, losses - h * axis, ranking.mass, nu).weights
        if found.weights[j] > 0:
            np.testing.assert_allclose((up - down) / (2 * h), expected[j], atol=1e-6)


@weighings
@pytest.mark.parametrize("smoothing", ["l2", "entropy"])
def test_smoothed_risks_are_their_formula(smoothing, weighted):
    ranking, rng = rows("esrm:2", weighted, 8)
    losses, nu = rng.exponential(size=8), 0.7
    value, weights = smoothed_risk(ranking, losses, smoothing, nu)
    p = ranking.mass
    penalty = np.sum(weights * np.log(weights / p))
    if smoothing == "l2":
        penalty = 0.5 * np.sum((weights - p) ** 2 / ranking.row_weight)
    assert value == pytest.approx(weights @ losses - nu * penalty, rel=1e-12)
    assert value < ranking.risk(losses)
    h = 1e-6
    for j, axis in enumerate(np.eye(8)):
        up, _ = smoothed_risk(ranking, losses + h * axis, smoothing, nu)
        down, _ = smoothed_risk(ranking, losses - h * axis, smoothing, nu)
        assert (up - down) / (2 * h) == pytest.approx(weights[j], abs=1e-7)


def test_weights_without_smoothing_are_shared_by_tied_rows():
    ranking = Ranking(parse_spectrum("superquantile:0.5"), 4, np.array([1.0, 1, 1, 3]))
    losses = np.array([0.0, 2.0, 1.0, 2.0])
    for arguments in ((None, 3.0), ("l2", 0.0), ("entropy", 0.0)):
        weights = smoothed_weights(ranking, losses, *arguments)
        np.testing.assert_allclose(weights, [0, 0.25, 0, 0.75], atol=1e-15)
        value, _ = smoothed_risk(ranking, losses, *arguments)
        assert value == pytest.approx(2.0)


def test_proximity_is_half_a_weighted_square():
    rng = np.random.default_rng(0)
    a, b, w = rng.uniform(0.5, 2.0, (3, 7))
    assert proximity(a, b, w) == pytest.approx(0.5 * np.sum((a - b) ** 2 / w))
    assert proximity(a, a, w) == 0.0


@weighings
@spectra
@pytest.mark.parametrize("n", [1, 2, 1200])
def test_the_risk_and_what_it_exceeds_any_other_value_by(spectrum, n, weighted):
    ranking, rng = rows(spectrum, weighted, n)
    losses = rng.exponential(size=n)
    losses[: n // 3] = losses[0]
    value, excess = risk_and_excess(ranking, losses, ranking.weights(losses))
    assert value == pytest.approx(ranking.risk(losses), rel=1e-13)
    assert excess <= 1e-15 * value
    for weights in (ranking.mass, ranking.weights(rng.normal(size=n))):
        value, excess = risk_and_excess(ranking, losses, weights)
        assert value == pytest.approx(ranking.risk(losses), rel=1e-13)
        assert excess == pytest.approx(value - weights @ losses, rel=1e-9, abs=1e-14)


def test_a_tiny_excess_keeps_its_digits():
    ranking, _ = rows("superquantile:0.5", False, 4)
    losses = np.array([1.0, 2.0, 3.0, 4.0])
    weights = np.array([0.0, 1e-20, 0.5, 0.5])
    assert risk_and_excess(ranking, losses, weights)[1] == pytest.approx(1e-20)


def test_under_the_mean_nothing_is_exceeded():
    ranking, rng = rows("mean", True)
    losses = rng.exponential(size=5)
    value, excess = risk_and_excess(ranking, losses, ranking.mass)
    assert (value, excess) == (pytest.approx(ranking.mass @ losses), 0.0)


@weighings
@spectra
def test_outside_is_measured_by_the_worst_set(spectrum, weighted):
    ranking, rng = rows(spectrum, weighted)
    for _ in range(10):
        weights = rng.dirichlet(np.ones(5))
        worst = abs(weights.sum() - 1.0)
        for size in range(1, 6):
            for chosen in itertools.combinations(range(5), size):
                mass = min(float(ranking.mass[list(chosen)].sum()), 1.0)
                if size == 5:
                    mass = 1.0
                share = float(ranking.spectrum.cumulative(mass))
                worst = max(worst, share - float(weights[list(chosen)].sum()))
        # σ sums to S but for rounding
        assert majorisation_excess(ranking, weights) == pytest.approx(worst, abs=1e-12)
    assert majorisation_excess(ranking, 1.1 * ranking.mass) == pytest.approx(0.1)


def test_public_weights_leave_rows_without_weight_out():
    losses, weight = np.array([5.0, 1.0, 9.0, 3.0]), np.array([1.0, 2.0, 0.0, 1.0])
    for options in ({}, {"smoothing": "l2", "nu": 0.5}):
        found = lrisk.risk_weights(losses, "esrm:2", sample_weight=weight, **options)
        kept = weight > 0
        inner = lrisk.risk_weights(
            losses[kept], "esrm:2", sample_weight=weight[kept], **options
        )
        np.testing.assert_array_equal(found[kept], inner)
        assert found[2] == 0.0 and found.sum() == pytest.approx(1.0)
