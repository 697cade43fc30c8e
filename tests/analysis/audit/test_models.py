"""Noise scales that an audit divides by are never zero."""

import numpy as np
import pytest

from lrisk.analysis.audit.models import ROUNDING, expect, rounding


class Exact:
    """A robust fit to targets that follow exactly from the features."""

    def expect(self, X):
        return X[:, 0], np.zeros(len(X))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_rounding_is_no_misfit(size):
    rng = np.random.default_rng(0)
    X = size * rng.normal(size=(200, 3))
    y = X @ np.array([0.1, 0.2, 0.7])
    again = (X @ np.array([1.0, 2.0, 7.0])) / 10.0  # the same but for rounding
    assert np.any(again != y)
    expected, scale = expect(Exact(), again[:, None], rounding(y))
    assert np.all(np.abs(y - expected) < scale)
    assert np.all(scale < 1e-9 * np.std(y))


def test_wrong_targets_and_zeros_do_not_move_the_rounding():
    y = np.r_[np.zeros(90), np.full(60, 5.0), np.full(40, 1e15)]
    assert rounding(y) == 5.0 * ROUNDING
    assert rounding(np.zeros(9)) > 0.0
