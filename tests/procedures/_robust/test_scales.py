"""Robust locations and scales."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation

from lrisk.procedures._robust.scales import (
    Columns,
    compress,
    deviation,
    half_scale,
    prevailing_value,
    shortest_half,
    spread,
)

NUMBERS = st.lists(st.integers(-50, 50), min_size=3, max_size=40)


def test_half_scale_is_the_consistent_mad():
    x = np.random.default_rng(0).normal(size=999)
    expected = median_abs_deviation(x, scale="normal")
    assert half_scale(x - np.median(x)) == pytest.approx(expected)


@given(NUMBERS)
def test_a_deviation_is_numpys_in_any_unit(values):
    x = np.array(values, dtype=float)
    for unit in (1.0, 2.0**-900, 2.0**1000):
        assert deviation(unit * x) == unit * np.std(x)


@given(NUMBERS)
def test_spread_is_zero_for_constants_only(values):
    x = np.array(values, dtype=float)
    assert (spread(x) == 0.0) == (np.ptp(x) == 0.0)


@given(NUMBERS)
def test_shortest_half_by_trying_all(values):
    x = np.array(values, dtype=float)
    low, high = shortest_half(x)
    held = len(x) // 2 + 1
    assert np.sum((x >= low) & (x <= high)) >= held
    pairs = [(b - a, a, b) for a in x for b in x if np.sum((x >= a) & (x <= b)) >= held]
    assert high - low == min(pairs)[0]


def test_compress_keeps_the_inside_and_the_order():
    x = np.linspace(-1e4, 1e4, 10_001)
    y = compress(x, 3.0)
    inside = np.abs(x) <= 3.0
    np.testing.assert_array_equal(y[inside], x[inside])
    assert np.all(np.diff(y) > 0)
    np.testing.assert_allclose(y, -y[::-1])
    assert y[-1] == pytest.approx(3.0 * (1.0 + np.log(1e4 / 3.0)))


def test_columns_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=99), rng.random(99) < 0.1, np.full(99, 7.0)])
    other = X * [1e6, 1e-6, 3.0] + [1.0, -2.0, 5.0]
    a, b = Columns.of(X), Columns.of(other)
    np.testing.assert_allclose(a.compressed(X), b.compressed(other), atol=1e-8)


def test_a_fifth_of_gross_values_moves_columns_little():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    dirty = X.copy()
    dirty[:100] *= 1e6
    clean, spoiled = Columns.of(X), Columns.of(dirty)
    assert np.all(spoiled.scale < 2.0 * clean.scale)


def test_a_value_prevails_unless_it_is_a_code_far_from_the_others():
    rng = np.random.default_rng(0)
    others = rng.normal(size=700)
    assert prevailing_value(others) is None
    for value, held, expected in (
        (0.0, 300, 0.0),
        (0.0, 200, None),
        (-999.0, 300, None),
        (-999.0, 900, -999.0),
        (20.0, 300, None),
    ):
        found = prevailing_value(np.append(others, np.full(held, value)))
        assert found == expected
    assert prevailing_value(np.append(np.zeros(90), np.ones(10))) == 0.0
    claims = np.append(np.zeros(400), np.exp(5 + others))
    assert prevailing_value(claims) == 0.0
