"""The nearest-centre loss, which the laws of convex losses do not cover."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from lrisk.losses import LOSSES, NearestCentre


def test_slopes_are_the_gradient_of_the_value():
    rng = np.random.default_rng(0)
    loss, y = NearestCentre(), np.zeros(1)
    for _ in range(20):
        z = rng.exponential(size=4)
        error = check_grad(
            lambda z: loss.value(y, z[None])[0],
            lambda z: loss.derivative(y, z[None])[0],
            z,
        )
        assert error < 1e-6


def test_ties_go_to_the_first():
    slopes = NearestCentre().derivative(np.zeros(1), np.array([[2.0, 1.0, 1.0]]))
    np.testing.assert_array_equal(slopes, [[0.0, 1.0, 0.0]])


def test_stays_out_of_the_registry_of_convex_losses():
    assert "nearest_centre" not in LOSSES
    with pytest.raises(NotImplementedError):
        NearestCentre().conjugate(np.zeros(1), np.zeros((1, 2)))
