"""The radix argsort is numpy's stable argsort."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lrisk import _sorting
from lrisk._sorting import (
    FLOOR,
    SMALL,
    argsort,
    assign_by_rank,
    share_by_rank,
    value_at,
)


def same(values):
    np.testing.assert_array_equal(argsort(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("n", [1, 2, SMALL - 1, SMALL, SMALL + 1, 5000, 100_003])
def test_random(n):
    rng = np.random.default_rng(n)
    same(rng.normal(size=n))
    same(rng.exponential(size=n) ** 8)
    same(rng.integers(0, 5, n) * 1.0)
    same(np.full(n, 3.0))
    same(np.arange(n)[::-1] * 1.0)


def test_nearly_equal_values_do_not_take_for_ever():
    """All values within rounding of each other, as at a collapsed fit."""
    rng = np.random.default_rng(0)
    same(np.log(2) + 1e-13 * rng.normal(size=200_000))
    same(np.r_[np.log(2) + 1e-13 * rng.normal(size=3000), rng.normal(size=3000)])


def test_odd_values():
    tiny = np.finfo(float).tiny
    odd = np.array([0.0, -0.0, tiny, -tiny, 5e-324, -5e-324, 1e308, -1e308, 1.0])
    values = np.random.default_rng(0).choice(odd, 1000)
    # −0 and 0 are equal to a comparison, but not in their bits
    np.testing.assert_array_equal(values[argsort(values)], np.sort(values))
    same(np.random.default_rng(0).choice(odd[odd != 0], 1000))


@settings(max_examples=50, deadline=None)
@given(
    arrays(
        np.float64,
        st.integers(1, 400),
        elements=st.floats(-1e300, 1e300).map(lambda x: x + 0.0),
    )
)
def test_any_floats(values):
    with mock.patch.object(_sorting, "SMALL", 0):
        same(values + 0.0)


def test_strided_input():
    values = np.random.default_rng(0).normal(size=4000)[::2]
    same(values)


def shared(values):
    """What `share_by_rank` makes of the ranks themselves."""
    out = np.empty(len(values))
    total = share_by_rank(values, np.arange(len(values)) * 1.0, out)
    with np.errstate(over="ignore"):
        assert total == pytest.approx(values @ out, rel=1e-12)
    over = np.ascontiguousarray(values).copy()
    assert share_by_rank(over, np.arange(len(values)) * 1.0, over) == total
    np.testing.assert_array_equal(over, out)
    return out


@pytest.mark.parametrize("n", [SMALL, SMALL + 1, 70_001])
def test_bins_of_ranks_hold_close_values_only(n):
    rng = np.random.default_rng(n)
    kinds = (
        rng.exponential(size=n),
        rng.exponential(size=n) ** 8,
        np.r_[1e13, rng.exponential(size=n - 1)],
        np.r_[1e308, 5e-324, np.zeros(n - 2)],
        1.0 + 1e-9 * rng.exponential(size=n),
        rng.integers(0, 4, n) * 1.0,
        np.zeros(n),
        np.full(n, 2.0),
        np.exp(rng.normal(size=2 * n))[::2],
    )
    for values in kinds:
        ranks = shared(values)
        assert ranks.sum() == n * (n - 1) / 2  # exact: halves of whole numbers
        order = np.argsort(values, kind="stable")
        assert np.all(np.diff(ranks[order]) >= 0.0)
        together = np.diff(ranks[order]) == 0.0
        low, high = values[order[:-1]][together], values[order[1:]][together]
        close = (high - low <= 2e-3 * high) | (high <= FLOOR * values.max() * 1.002)
        assert close.all()


def test_equal_values_share_their_ranks():
    values = np.repeat([3.0, 0.0, 1.0], SMALL)
    expected = np.repeat([2.5, 0.5, 1.5], SMALL) * SMALL - 0.5
    np.testing.assert_array_equal(shared(values), expected)


def test_minus_zero_ranks_as_zero():
    """Its bits are those of the largest number there is."""
    values, ranked = np.arange(5000.0) - 40.0, np.arange(5000.0)
    values[:40] = 0.0
    signed = values.copy()
    signed[:40:2] = -0.0
    np.testing.assert_array_equal(shared(signed), shared(values))
    found = np.empty((2, 5000))
    for own, out in zip((signed, values), found, strict=True):
        assert assign_by_rank(own, ranked, out)
    np.testing.assert_array_equal(*found)
    none = np.full(5000, -0.0)
    np.testing.assert_array_equal(shared(none), np.full(5000, 4999 / 2))


def test_few_values_are_not_binned():
    few = np.ones(SMALL - 1)
    assert share_by_rank(few, few, np.empty(1)) is None


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, st.integers(1, 400), elements=st.floats(allow_nan=False)))
def test_the_value_at_a_place_is_that_of_a_sort(values):
    with mock.patch.object(_sorting, "MANY", 0):
        found = [value_at(values, place) for place in range(len(values))]
    np.testing.assert_array_equal(found, np.sort(values))


def test_the_value_at_a_place_among_very_many():
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=150_001) ** 2,
        rng.normal(size=150_001),
        np.full(150_001, 0.25),
        rng.integers(0, 3, 300_000)[::2] * 1.0,
    ):
        before = values.copy()
        for place in (0, 1000, len(values) // 2, len(values) - 1):
            assert value_at(values, place) == np.sort(values)[place]
        np.testing.assert_array_equal(values, before)
