"""Small problems for the parts of the certified solvers."""

import numpy as np
import pytest

from lrisk.losses import LOSSES
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum


@pytest.fixture
def problem():
    """Build an objective whose columns have different sizes and whose rows err."""

    def build(
        loss="squared",
        spectrum="superquantile:0.5",
        n=60,
        d=3,
        *,
        weighted=False,
        alpha=1.0,
        intercept=True,
        seed=0,
    ):
        rng = np.random.default_rng(seed)
        kind = LOSSES[loss]() if isinstance(loss, str) else loss
        X = rng.normal(size=(n, d)) * np.geomspace(2.0, 0.3, d) + 0.2
        signal = X @ np.linspace(1.0, -2.0, d)
        noise = rng.standard_t(5, n)
        y = signal + noise
        if kind.per_class:
            y = np.searchsorted([-1.0, 1.0], y).astype(float)
        elif kind.classifies:
            y = (y > 0.3).astype(float)
        weight = rng.uniform(0.5, 3.0, n) if weighted else None
        ranking = Ranking(parse_spectrum(spectrum), n, weight)
        scores = 3 if kind.per_class else 1
        space = LinearSpace(X, intercept=intercept, n_scores=scores)
        return Objective(ranking, kind, space, y, alpha)

    return build
