"""Tables that several tests of final fits share."""

import numpy as np
import pytest


@pytest.fixture(params=[(40, 5), (15, 30)], ids=["tall", "wide"])
def problem(request):
    n, d = request.param
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 100, size=d) + 5
    return X, X[:, 0] / 10 + rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)
