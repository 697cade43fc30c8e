"""Online rounds: the state that is handed on, and what the theory is true of."""

import copy

import numpy as np
import pytest

from lrisk.corrections import Gaussian, RandomFeatures, Surrogate
from lrisk.noise import Exact, GaussianNoise, LaplaceNoise
from lrisk.procedures.noise.rounds import (
    bound_is_proven,
    feature_rounds,
    kernel_rounds,
)
from lrisk.solvers import OnlineKernel

RNG = np.random.default_rng(0)
Y = RNG.normal(size=40)
COPIES = [RNG.normal(size=(40, 2)) for _ in range(2)]
NOISE = GaussianNoise(0.1)


def rounds(kind, solver, state, rows):
    """One call for some of the rows."""
    copies, y = [c[rows] for c in COPIES], Y[rows]
    if kind == "kernel":
        surrogate = Surrogate(Gaussian(1.0), NOISE, 2)
        return kernel_rounds(solver, surrogate, state, copies, y)
    rng = np.random.default_rng(1)
    features = RandomFeatures(Gaussian(1.0), NOISE, 2, 16, rng)
    return feature_rounds(solver, features, 1.0, state, copies, y, None)


@pytest.mark.parametrize("kind", ["kernel", "features"])
def test_two_calls_are_one_and_do_not_change_the_state_they_go_on_from(kind):
    solver = OnlineKernel(learning_rate=0.1, radius=5.0)
    whole = rounds(kind, solver, None, slice(0, 40))
    first = rounds(kind, solver, None, slice(0, 25))
    kept = copy.deepcopy(vars(first.state))
    second = rounds(kind, solver, first.state, slice(25, 40))
    assert second.coefficients == pytest.approx(whole.coefficients, rel=1e-12)
    assert second.state.rounds == 40
    for name, value in kept.items():
        np.testing.assert_array_equal(vars(first.state)[name], value)


@pytest.mark.parametrize(
    ("noise", "changes", "proven"),
    [
        (NOISE, {}, True),
        (Exact(), {"chosen": True, "correction": 0.5}, True),
        (NOISE, {"chosen": True}, False),
        (NOISE, {"correction": 0.5}, False),
        (NOISE, {"exact": False}, False),
        (LaplaceNoise(0.1), {}, False),
    ],
)
def test_the_bound_holds_for_what_the_theorem_speaks_of(noise, changes, proven):
    options = {"correction": 1.0, "chosen": False, "exact": True, **changes}
    assert bound_is_proven(noise, OnlineKernel(), **options) is proven
    assert not bound_is_proven(noise, OnlineKernel(budget=5), **options)
