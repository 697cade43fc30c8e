"""One population or two."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from lrisk.procedures.contamination._likelihood import (
    core_log_density,
    one_population,
    one_population_slope,
    two_populations,
    two_populations_slope,
)
from lrisk.procedures.contamination.populations import alone, together


def density(u, core):
    out = np.empty(len(u))
    core_log_density(np.asarray(u, dtype=float), np.asarray(core, dtype=float), out)
    return np.exp(out)


@pytest.mark.parametrize(
    "core", [(0, 1, 1, 5, 5), (1, 0.5, 2, 3, 20), (-2, 3, 1, 2, 2)]
)
def test_core_is_a_density(core):
    total = sum(
        integrate.quad(lambda x: density([x], core)[0], a, b, limit=200)[0]
        for a, b in [(-np.inf, core[0]), (core[0], np.inf)]
    )
    assert total == pytest.approx(1.0, abs=1e-6)


def test_symmetric_core_is_students_t():
    u = np.linspace(-20, 20, 101)
    expected = stats.t(4, loc=0.5, scale=2).pdf(u)
    np.testing.assert_allclose(density(u, (0.5, 2, 2, 4, 4)), expected, rtol=1e-12)


def test_mixture_likelihood_by_scipy():
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.normal(size=80), rng.normal(12, 5, size=20)])
    p = np.array([0.1, np.log(1.1), np.log(1.1), np.log(2.0), 0.3, 12.0, np.log(5.0)])
    share = 0.499 / (1 + np.exp(-0.3))
    core = stats.t(5, loc=0.1, scale=1.1).pdf(u)
    both = (1 - share) * core + share * stats.norm(12, 5).pdf(u)
    value = two_populations(p, u, 3.0, 6.0, np.empty(len(u)))
    assert value == pytest.approx(-np.log(both).sum(), rel=1e-12)


def test_slopes_by_scipy():
    rng = np.random.default_rng(1)
    u, work = rng.standard_t(3, size=60), np.empty(60)
    p = np.array([0.1, 0.2, -0.1, 0.5, 0.8])
    value, slope = one_population_slope(p, u, 1.5)
    assert value == one_population(p, u, 1.5, work)
    expected = optimize.approx_fprime(
        p, lambda q: one_population(q, u, 1.5, work), 1e-7
    )
    np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-3)
    p = np.array([0.1, 0.2, -0.1, 0.5, -1.0, 4.0, 1.0])
    value, slope = two_populations_slope(p, u, 3.0, 6.0)
    expected = optimize.approx_fprime(
        p, lambda q: two_populations(q, u, 3.0, 6.0, work), 1e-7
    )
    np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_share_is_recovered(share):
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        u = rng.normal(size=400)
        wrong = rng.random(400) < share
        u[wrong] = rng.normal(10, 6, size=wrong.sum())
        found.append(together(u).share - wrong.mean())
    assert abs(np.mean(found)) < 0.03
    assert np.max(np.abs(found)) < 0.07


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=300),
        lambda rng: rng.standard_t(3, size=300),
        lambda rng: np.exp(rng.normal(size=300)),
        lambda rng: rng.exponential(size=300),
    ],
)
def test_one_population_is_enough_for_awkward_noise(draw):
    gains = []
    for seed in range(5):
        u = draw(np.random.default_rng(seed))
        u = (u - np.median(u)) / stats.median_abs_deviation(u, scale="normal")
        gains.append(2 * (alone(u) - together(u).loss) - 2 * np.log(len(u)))
    assert max(gains) < 2.0 + 400 / 300


def test_chance_never_falls_outwards_and_is_zero_inside():
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.normal(size=300), rng.normal(8, 3, size=60)])
    found = together(u)
    mode, left, right = found.core[:3]
    out = mode + right * np.linspace(0, 1e3, 2000)
    chance = found.outlier_probability(out)
    assert np.all(np.diff(chance) >= 0)
    assert np.all(found.outlier_probability(mode - left * np.linspace(0, 1.99, 9)) == 0)
    assert chance[-1] > 0.99
