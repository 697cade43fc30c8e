"""Rows on a device are drawn by the numbers that they have in memory."""

import numpy as np
import pytest

from lrisk.procedures.nystroem import row_keys

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch.keys import tensor_keys  # noqa: E402


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits(dtype):
    rng = np.random.default_rng(0)
    for salt in (0, 1, 2**31 - 1):
        X = (rng.standard_t(1, (500, 3)) * 1e5).astype(dtype)
        X[::7, 1], X[::5, 2] = 0.0, -0.0
        y = rng.normal(size=500)
        y[:3] = -0.0
        for target in (None, y):
            found = tensor_keys(torch.tensor(X), salt, target)
            assert found.dtype == np.uint64
            np.testing.assert_array_equal(found, row_keys(X, salt, target))
