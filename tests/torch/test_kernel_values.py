"""Kernels of tensors are those of arrays."""

import numpy as np
import pytest

from lrisk.spaces import Kernel

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch import kernel_values  # noqa: E402
from lrisk.torch.kernel_values import TensorKernel, kernel_matrix  # noqa: E402

NAMES = ["rbf", "laplacian", "linear", "poly", "cosine"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_values(name):
    rng = np.random.default_rng(0)
    kernel = Kernel(name, gamma=0.7, coef0=0.3)
    X, Z = rng.normal(size=(40, 3)) + 5.0, rng.normal(size=(20, 3)) + 5.0
    X[3] = 0.0
    values, expected = TensorKernel(kernel, torch.tensor(Z)), kernel(X, Z)
    np.testing.assert_allclose(values(torch.tensor(X)).numpy(), expected, rtol=1e-12)
    out = torch.empty(40, 20, dtype=torch.float64)
    values(torch.tensor(X), out=out)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_matrix_in_blocks(name, monkeypatch):
    monkeypatch.setattr(kernel_values, "BLOCK", 100)
    X = np.random.default_rng(1).normal(size=(30, 2))
    kernel = Kernel(name)
    K = kernel_matrix(kernel, torch.tensor(X)).numpy()
    np.testing.assert_allclose(K, kernel(X, X), rtol=1e-12)


def test_far_rows_are_compared_by_differences():
    X = np.array([[1e9, 0.0], [1e9, 1.0], [0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    kernel = Kernel("rbf", gamma=1.0)
    K = kernel_matrix(kernel, torch.tensor(X)).numpy()
    np.testing.assert_allclose(K, kernel(X, X), rtol=1e-12)
    assert K[0, 1] == pytest.approx(np.exp(-1.0))


def test_values_too_large_are_refused():
    X = torch.full((2, 2), 1e45, dtype=torch.float64)
    with pytest.raises(ValueError, match="kernel values are at most"):
        kernel_matrix(Kernel("poly", degree=3), X)
