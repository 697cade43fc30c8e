"""Theorems 1 and 2: the mean regret is within its bound and grows slower than T."""

import numpy as np
import pytest

from experiments import regret


def test_the_page_has_a_row_for_every_setting_and_length(miniature):
    made = miniature("noisy-regret")
    table, growth = made.tables()
    assert len(table) == 1 + 3 * 2
    assert len(growth) == 1 + 3
    assert len(made.figures) == 1


def test_mean_regret_is_positive_and_within_the_bound(miniature):
    found = regret.collected(miniature("noisy-regret").records)
    for by_rounds in found.values():
        for regrets, bounds in by_rounds.values():
            assert len(regrets) == 2 * regret.REPETITIONS
            assert 0.0 < np.mean(regrets) <= np.mean(bounds)
        assert regret.exponent(by_rounds) < 0.9


def test_the_exponent_is_that_of_a_power():
    powers = {T: ([3.0 * T**0.5], [1.0]) for T in (10, 100, 1000)}
    assert regret.exponent(powers) == pytest.approx(0.5)
