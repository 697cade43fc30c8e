"""Grids are as fine as a fall of F demands, and not finer than a proof may."""

import numpy as np
import pytest

from lrisk.partitions.at import At
from lrisk.partitions.fineness import (
    DOUBT,
    FLOOR,
    MOST_DIGITS,
    PROOF_DOUBT,
    ROUGH_DIGITS,
    Fineness,
)
from lrisk.partitions.grid import Ranks, Table
from lrisk.spectra import Extremile

SPECTRUM = Extremile(3.0)


def point(grid, losses):
    places = grid.places(losses)
    mass = np.bincount(places, minlength=grid.bins).astype(float)
    above = np.bincount(places, losses - grid.floors[places], grid.bins)
    table = Table(mass, above, float(losses.min()), float(losses.max()))
    ranks = Ranks.of(SPECTRUM, grid, table)
    none = np.empty(0)
    return At(none, ranks.value, ranks.missing, none, ranks, table, ranks.missing)


@pytest.fixture(params=["even", "heavy", "tied", "one"])
def losses(request):
    rng = np.random.default_rng(0)
    return {
        "even": rng.random(5000),
        "heavy": rng.standard_cauchy(5000) ** 2,
        "tied": np.full(5000, 0.7),
        "one": np.array([3.0]),
    }[request.param]


def first(losses, most=10**9):
    fineness = Fineness(SPECTRUM, 4, most)
    grid = fineness.first(float(losses.max()), float(losses.mean()))
    return fineness, point(grid, losses)


def test_the_first_bins_have_room_above_and_a_floor(losses):
    _, now = first(losses)
    assert now.digits == ROUGH_DIGITS
    assert now.ranks.grid.floors[-1] > 2.0 * losses.max()
    assert now.ranks.grid.floors[1] <= FLOOR * losses.mean()


@pytest.mark.parametrize("share", [1e-2, 1e-5, 1e-9])
def test_bins_for_a_proof_leave_little_in_doubt(losses, share):
    fineness, now = first(losses)
    fall = share * now.value
    while (grid := fineness.finer(now, fall)) is not None:
        after = point(grid, losses)
        assert after.digits > now.digits
        now = after
    assert now.missing <= PROOF_DOUBT * fall or now.digits == MOST_DIGITS


def test_a_walk_demands_more_of_a_smaller_fall(losses):
    fineness, now = first(losses)
    digits = [fineness.of_walk(now, s * now.value)[0] for s in (1.0, 1e-4, 1e-8)]
    assert digits == sorted(digits) and digits[0] == ROUGH_DIGITS
    assert digits[-1] <= MOST_DIGITS


def test_each_digit_leaves_a_quarter_in_doubt():
    """A fall 256 times smaller takes four digits more."""
    fineness, now = first(np.random.default_rng(0).random(5000))
    for more in range(5):
        fall = now.doubt / DOUBT / 4.0**more * 1.01
        digits, _ = fineness.of_walk(now, fall)
        assert digits == now.digits + more


def test_near_the_goal_a_walk_is_ranked_as_a_proof_may_need(losses):
    fineness, now = first(losses)
    fineness.goal = 1e-6
    fall = 10.0 * fineness.goal * now.value  # within reach of the last
    _, made = fineness.of_walk(now, fall)
    assert made < fall
    assert fineness.of_walk(now, 1e-3 * now.value)[1] == 1e-3 * now.value


def test_fewer_bins_where_one_read_then_serves(losses):
    fall = 1e-6
    many, now = first(losses)
    digits, _ = many.of_walk(now, fall * now.value)
    whole = many.near(now, digits, fall * now.value)
    few, _ = first(losses, most=4 * (whole.bins - 1))
    coarse = few.near(now, digits, fall * now.value)
    assert many.binnable(whole) and not few.binnable(whole)
    assert coarse.bins < whole.bins or coarse == whole
    if few.binnable(coarse):  # and still of the fall, not of the rows
        found = point(coarse, losses)
        assert found.missing <= max(now.missing, DOUBT * now.value)
