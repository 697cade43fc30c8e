"""Backtracking, on values of which every share is known."""

import pytest

from lrisk.solvers.line_search import SUFFICIENT, armijo, backtrack


def tried(values, most, enough):
    """Backtrack over given values; the result and the shares that were tried."""
    shares = []

    def evaluate(t):
        shares.append(t)
        return values[len(shares) - 1], f"at {t}"

    return backtrack(evaluate, enough, most), shares


def test_the_whole_step_is_taken_where_it_is_good():
    trial, shares = tried([1.0], 30, lambda value, t: value < 2.0)
    assert trial == (1.0, "at 1.0", True)
    assert shares == [1.0]


def test_shares_are_halved_until_one_is_good():
    trial, shares = tried([5.0, 4.0, 1.0], 30, lambda value, t: value < 2.0)
    assert trial == (0.25, "at 0.25", True)
    assert shares == [1.0, 0.5, 0.25]


def test_the_last_of_so_many_is_returned_as_not_enough():
    trial, shares = tried([5.0] * 4, 4, lambda value, t: value < 2.0)
    assert trial == (0.125, "at 0.125", False)
    assert shares == [1.0, 0.5, 0.25, 0.125]


@pytest.mark.parametrize("t", [1.0, 0.25])
def test_armijo_asks_for_a_share_of_what_the_slope_promises(t):
    enough = armijo(10.0, slope=-2.0)
    edge = 10.0 - SUFFICIENT * t * 2.0
    assert enough(edge, t)
    assert not enough(edge + 1e-9, t)
    assert armijo(10.0, slope=-2.0, slack=1e-8)(edge + 1e-9, t)
    assert not enough(float("nan"), t)
