"""Online solvers refuse states that their compiled rounds cannot hold."""

import numpy as np
import pytest

from lrisk.corrections import Gaussian, Surrogate, corrected_rows
from lrisk.noise import Exact
from lrisk.solvers import OnlineKernel, OnlineLinear
from lrisk.solvers.online import squared_norms


@pytest.mark.parametrize("features", [2, 3])
def test_linear_states_of_another_size(features):
    copies = np.ones((1, 4, features))
    rows = corrected_rows(copies, Exact())
    state = OnlineLinear(0.1).init(2)
    solver = OnlineLinear("auto" if features == 2 else 0.1)
    with pytest.raises(ValueError, match="init"):
        solver.step(state, rows, np.ones(4), squared_norms(copies, rows))
    assert state.rounds == 0


@pytest.mark.parametrize("options", [{"budget": 5}, {}, {"learning_rate": "auto"}])
def test_kernel_states_of_another_form(options):
    surrogate, rows = Surrogate(Gaussian(1.0), Exact(), 1), np.zeros((3, 1))
    begun = OnlineKernel(0.1, budget=None if options else 7).init(1)
    solver = OnlineKernel(**{"learning_rate": 0.1, **options})
    with pytest.raises(ValueError, match="init"):
        solver.step(begun, surrogate, rows, rows, np.ones(3))
    assert begun.rounds == 0
