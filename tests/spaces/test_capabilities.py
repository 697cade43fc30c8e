"""A solver asks a space for nothing beyond what its `requires` stands for."""

import inspect

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import SOLVERS
from lrisk.spaces import (
    CenterSpace,
    Kernel,
    KernelSpace,
    LinearSpace,
    NystroemSpace,
    Space,
    capabilities,
)
from lrisk.spaces.nystroem import Centres
from lrisk.spectra import parse_spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=60)

PROTOCOLS = [
    kind
    for kind in vars(capabilities).values()
    if inspect.isclass(kind) and Space in kind.__mro__
]


def members(protocol):
    """Every name of a Protocol, those of the ones it extends included."""
    names = set()
    for kind in protocol.__mro__:
        if kind is Space or Space in kind.__mro__:
            names |= set(kind.__annotations__) | set(vars(kind))
    return {name for name in names if not name.startswith("_")}


EVERY = set().union(*map(members, PROTOCOLS))


#: Works on linear spaces by one of these and on kernel spaces by others.
EITHER = {"concentration": frozenset({"gram"})}


def granted(kind):
    """What the smallest Protocols with the required names have."""
    names = members(Space)
    for name in (kind.requires | EITHER.get(kind.name, frozenset())) - names:
        holders = [members(p) for p in PROTOCOLS if name in members(p)]
        assert holders, f"no Protocol has {name!r}"
        names |= min(holders, key=len)
    return names


class Sparing:
    """A space without the capabilities that nobody has asked for."""

    def __init__(self, space, names):
        self._space, self._names = space, names

    def __getattr__(self, name):
        if name in EVERY and name not in self._names:
            raise AttributeError(f"{name} was not required")
        return getattr(self._space, name)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_uses_no_capability_that_it_does_not_require(name, loss):
    kind = SOLVERS[name]
    spectrum = "superquantile:0.5" if "up" in kind.spectra else "subquantile:0.7"
    ranking = Ranking(parse_spectrum(spectrum), 60, None)
    target = Y if loss.name == "squared" else (Y > 0).astype(float)
    theta = []
    plain = LinearSpace(X, intercept=False)
    for space in (plain, Sparing(plain, granted(kind))):
        objective = Objective(ranking, loss, space, target, 1.0)
        options = {kind.limit: 20}
        found = kind(**options).solve(objective, rng=np.random.default_rng(0))
        theta.append(found.theta)
    # The same way, not a detour for want of what was held back.
    np.testing.assert_array_equal(*theta)


SPACES = {
    "linear": (LinearSpace(X, intercept=True), {"linear", "row_access"}),
    "kernel": (KernelSpace(Kernel("rbf"), X), {"kernel_matrix"}),
    "factored": (KernelSpace(Kernel("rbf"), X).factored(), {"linear", "row_access"}),
    "nystroem": (
        NystroemSpace(Centres(Kernel("rbf"), X[::5]), X),
        {"linear", "moments"},
    ),
    "centers": (CenterSpace(X, 2), set()),
}


@pytest.mark.parametrize("name", SPACES)
def test_which_space_can_do_what(name):
    space, expected = SPACES[name]
    by_name = {
        "linear": capabilities.LinearFunctions,
        "row_access": capabilities.RowAccess,
        "moments": capabilities.Moments,
        "ridge_fits": capabilities.RidgeFits,
        "kernel_matrix": capabilities.KernelMatrix,
    }
    able = {
        short
        for short, protocol in by_name.items()
        if all(hasattr(space, member) for member in members(protocol))
    }
    assert able == expected
    assert all(hasattr(space, member) for member in members(Space))


def test_a_certified_solver_refuses_a_kernel_space_by_name():
    space = KernelSpace(Kernel("rbf"), X)
    ranking = Ranking(parse_spectrum("superquantile:0.5"), 60, None)
    objective = Objective(ranking, Squared(), space, Y, 1.0)
    for name in ("newton", "lbfgs", "band"):
        with pytest.raises(ValueError, match="KernelSpace"):
            SOLVERS[name]().solve(objective)
