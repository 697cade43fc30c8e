"""Kernel values, between rows however far from each other."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from lrisk.spaces.kernels import Kernel, KernelColumns


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12, 1e45])
def test_rows_far_out_do_not_spoil_the_kernel_of_the_others(size, seed):
    """One row at 1e12 moved the mean, and with it the rounding of all distances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X[:1] *= size
    X[1:5] = size * (1.0 + 1e-15 * rng.integers(-9, 9, size=(4, 3)))  # near each other
    exact = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
    kernel = Kernel("rbf", gamma=0.5)
    left, right = X[1:40], X[:30]
    for K, expected in (
        (kernel(X, X), exact),
        (kernel(left, right), exact[1:40, :30]),
        (KernelColumns(kernel, right, 64)(left), exact[1:40, :30]),
    ):
        np.testing.assert_allclose(K, expected, atol=1e-8)
        assert np.all(K <= 1.0 + 1e-8)
    if size <= 1e12:  # the squares of stored entries are all that sparse rows have
        rows = sp.csr_array(X)
        np.testing.assert_allclose(kernel(rows, rows), exact, atol=1e-8)


def test_many_rows_far_out_are_compared_as_they_are():
    """Features of a large scale: every row is far from the middle of all."""
    rng = np.random.default_rng(5)
    X = 1e7 + 1e5 * rng.normal(size=(50, 2))
    X[25:] = X[:25] + rng.normal(size=(25, 2))
    exact = np.exp(-cdist(X, X, "sqeuclidean"))
    np.testing.assert_allclose(Kernel("rbf", gamma=1.0)(X, X), exact, atol=1e-8)


def test_the_kernel_of_an_estimator_has_its_parameters():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    owner = SimpleNamespace(kernel="poly", gamma=0.5, degree=2, coef0=3.0)
    assert Kernel.of(owner)(x, z) == pytest.approx((0.5 * 1.0 + 3.0) ** 2)
    owner.kernel, owner.kernel_params = (lambda a, b, scale: scale), {"scale": 7.0}
    assert Kernel.of(owner)(x, z) == 7.0


def test_a_precomputed_kernel_of_training_rows_is_square():
    wide = np.ones((2, 3))
    Kernel("rbf").check_training("Owner", wide)
    Kernel("precomputed").check_training("Owner", np.eye(2))
    with pytest.raises(ValueError, match=r"Owner: X must be a square .* \(2, 3\)"):
        Kernel("precomputed").check_training("Owner", wide)
