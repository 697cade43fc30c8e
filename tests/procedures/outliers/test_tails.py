"""The tail of the noise: how many right rows lie as far out as a row."""

import numpy as np
import pytest
from scipy import stats

from lrisk.procedures.outliers import tails
from lrisk.procedures.outliers.tails import Tail, Tails

KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n),
    "t5": lambda rng, n: rng.standard_t(5, size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
}


@pytest.mark.parametrize("freedom", [3.0, 6.0, 30.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_tail_is_that_of_students_t(freedom, scale):
    """Of many rows, cut where 1 % are beyond, the tail is what was cut."""
    t, n = stats.t(freedom), 60_000
    d = np.abs(t.rvs(n, random_state=np.random.default_rng(0)))
    for tail in (0.01, 0.001):
        end = float(t.isf(0.005))
        found = Tail.of(scale * d[d < end], scale * end, 1.5)
        expected = found.expected_beyond(scale * t.isf([tail / 2.0]))[0]
        assert expected == pytest.approx(n * tail, rel=0.15)


def test_the_grid_is_fine_enough(monkeypatch):
    d = np.abs(np.random.default_rng(0).standard_t(4, size=300))
    at = np.array([7.0, 10.0, 20.0])
    found = Tail.of(d[d < 6.0], 6.0, 1.5).expected_beyond(at)
    monkeypatch.setattr(tails, "FREEDOMS", 241)
    monkeypatch.setattr(tails, "ERRORS", np.linspace(-5.0, 5.0, 41))
    again = Tail.of(d[d < 6.0], 6.0, 1.5).expected_beyond(at)
    np.testing.assert_allclose(again, found, rtol=0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [60, 300, 1500])
def test_few_clean_tables_have_a_row_too_far_out(kind, n):
    """One of twenty may: of 40 tables six or more have a chance of 1 %."""
    far = 0
    for seed in range(40):
        u = KINDS[kind](np.random.default_rng(seed), n)
        far += np.any(Tails.of(u).expected_beyond(u) < 0.05)
    assert far < 6


@pytest.mark.parametrize(("n", "needed"), [(60, 0.5), (200, 0.8), (1000, 1.0)])
def test_one_row_twenty_scales_out_is_too_far(n, needed):
    found = []
    for seed in range(20):
        u = np.random.default_rng(seed).normal(size=n)
        u[0] = 20.0
        beyond = Tails.of(u).expected_beyond(u)
        found.append(beyond[0] < 0.05)
        assert np.all(beyond[1:] >= 0.05)
    assert np.mean(found) >= needed


def test_who_is_farther_out_is_no_likelier_right():
    u = np.r_[np.random.default_rng(0).standard_t(4, size=400), 1e300, -1e300]
    of = Tails.of(u)
    for sign in (-1.0, 1.0):
        beyond = of.expected_beyond(sign * np.geomspace(0.1, 1e308, 200))
        assert np.all(beyond[1:] <= beyond[:-1])
    assert of.expected_beyond(np.array([np.inf, -np.inf])).tolist() == [0.0, 0.0]


def test_shift_and_scale_change_nothing():
    u = np.r_[np.random.default_rng(0).normal(size=200), 15.0, -40.0]
    before = Tails.of(u).expected_beyond(u)
    after = Tails.of(1e-3 * u + 5.0).expected_beyond(1e-3 * u + 5.0)
    np.testing.assert_allclose(after, before, rtol=1e-6)


@pytest.mark.parametrize("u", [np.zeros(50), np.r_[np.zeros(60), 1.0], np.arange(9.0)])
def test_what_has_no_scale_is_judged_without_complaint(u):
    assert np.all(Tails.of(u).expected_beyond(u) >= 0.0)
