"""One population or two."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from lrisk.procedures.outliers._likelihood import (
    core_log_density,
    descend,
    likelihood,
)
from lrisk.procedures.outliers.populations import (
    Histogram,
    Populations,
    fit_two_populations,
    one_population_loss,
    split,
)


def density(u, core):
    return np.exp(core_log_density(np.asarray(u, dtype=float), np.asarray(core)))


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


def value_and_slope(p, u, counts, least):
    slope = np.empty(len(p))
    work = np.empty(9), np.empty(10)
    return likelihood(p, u, counts, least, 6.0, *work, slope), slope


def test_mixture_likelihood_by_scipy():
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.normal(size=80), rng.normal(12, 5, size=20)])
    p = np.array([0.1, np.log(1.1), np.log(1.1), np.log(2.0), 0.3, 12.0, np.log(5.0)])
    share = 0.499 / (1 + np.exp(-0.3))
    core = stats.t(5, loc=0.1, scale=1.1).pdf(u)
    width = np.sqrt(5.0**2 + (11.9 / 4) ** 2 + (1.1 / 2) ** 2)
    both = (1 - share) * core + share * stats.norm(12, width).pdf(u)
    value, _ = value_and_slope(p, u, np.ones(len(u)), 3.0)
    assert value == pytest.approx(-np.log(both).sum(), rel=1e-12)


CORES = [
    (0.1, 0.2, -0.1, 0.5, 0.8),
    (-0.7, -1.0, 0.6, 2.5, -3.0),
    (0.0, 9.5, -9.5, 4.5, -9.5),  # beyond every clamp
]
OUTLIERS = [(-1.0, 4.0, 1.0), (0.5, 1.0, -1.5), (9.5, -3.0, 2.0), (0.0, 0.3, 16.5)]


def check_slope(function, p):
    """The slope by differences of fourth order; the steps cross no clamp."""
    p = np.array(p)
    _, slope = function(p)
    expected = np.empty_like(p)
    for k in range(len(p)):
        h = 1e-3 * (np.arange(len(p)) == k)
        near, far = (function(p + s * h)[0] - function(p - s * h)[0] for s in (1, 2))
        expected[k] = (8 * near - far) / 12e-3
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("core", CORES)
def test_slope_of_one_population(core):
    u = np.random.default_rng(1).standard_t(3, size=60)
    check_slope(lambda p: value_and_slope(p, u, np.ones(len(u)), 1.5), core)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("outliers", OUTLIERS)
def test_slope_of_two_populations(core, outliers):
    u = np.random.default_rng(1).standard_t(3, size=60)
    check_slope(
        lambda p: value_and_slope(p, u, np.ones(len(u)), 3.0),
        (*core[:4], *outliers),
    )


def test_one_population_by_scipy():
    u = np.random.default_rng(2).standard_t(3, size=60)
    free = np.log(5.0 - 1.5)
    value, _ = value_and_slope(
        np.array([0.3, 0.2, 0.2, free, free]), u, np.ones(60), 1.5
    )
    expected = -stats.t(5, loc=0.3, scale=np.exp(0.2)).logpdf(u).sum()
    assert value == pytest.approx(expected + 2e-3 * (free - 1.5) ** 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_descents_end_as_low_as_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    u = np.r_[rng.standard_t(4, size=90), rng.normal(12, 4, size=10)]
    counts = rng.integers(1, 4, size=100).astype(float)
    one, two = np.zeros(5), np.array([0.0, 0.0, 0.0, 1.0, -1.0, 12.0, 1.0])
    for start, function in [
        (one, lambda p: value_and_slope(p, u, counts, 1.5)),
        (two, lambda p: value_and_slope(p, u, counts, 3.0)),
    ]:
        least = 1.5 if start is one else 3.0
        value, p = descend(start, u, counts, least, 6.0)
        assert value == pytest.approx(function(p)[0], rel=1e-12)
        other = optimize.minimize(function, start, jac=True, method="BFGS")
        assert value <= other.fun + 1e-5


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_share_is_recovered(share):
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        u = rng.normal(size=400)
        wrong = rng.random(400) < share
        u[wrong] = rng.normal(10, 6, size=wrong.sum())
        found.append(fit_two_populations(Histogram.of(u)).share - wrong.mean())
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
        rows = Histogram.of(u)
        gain = one_population_loss(rows) - fit_two_populations(rows).loss
        gains.append(2 * gain - 2 * np.log(len(u)))
    assert max(gains) < 2.0 + 400 / 300


def test_chance_never_falls_outwards_and_is_zero_inside():
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.normal(size=300), rng.normal(8, 3, size=60)])
    found = fit_two_populations(Histogram.of(u))
    mode, left, right = found.core[:3]
    out = mode + right * np.linspace(0, 1e3, 2000)
    chance = found.outlier_probability(out)
    assert np.all(np.diff(chance) >= 0)
    assert np.all(found.outlier_probability(mode - left * np.linspace(0, 1.99, 9)) == 0)
    assert chance[-1] > 0.99


@pytest.mark.parametrize("n", [200, 2000, 20_000])
def test_equal_errors_of_both_signs_are_outliers(n):
    """A spike on one side must not leave the other to the tail of the core."""
    u = np.random.default_rng(n).normal(size=n)
    u[: n // 5], u[n // 5 : 2 * n // 5] = -50.0, 50.0
    found = split(u)
    assert found.found
    assert np.all(found.populations.outlier_probability(u)[: 2 * n // 5] > 0.99)
    assert np.mean(found.populations.outlier_probability(u)[2 * n // 5 :] > 0.5) < 0.01


def test_rows_opposite_to_outliers_are_mirrored():
    """Those between the cut on the other side and their own, on either side."""
    core = np.array([0.0, 1.0, 1.0, 60.0, 60.0])
    for side in (-1.0, 1.0):
        both = Populations(core, 0.2, side * 10.0, 2.0, 0.0, np.zeros(7))
        u = np.linspace(-8.0, 8.0, 1601)
        out = both.outlier_probability(u) > 0.5
        found = both.mirrored(u)
        np.testing.assert_allclose(
            np.abs(u[found]).min(), np.abs(u[out]).min(), atol=0.1
        )
        assert not np.any(found & out) and np.all(u[found] * side < 0.0)
