"""A solver is run as it is, or with the search that it needs round it."""

import numpy as np
import pytest

from lrisk.losses import Squared
from lrisk.objective import Objective
from lrisk.procedures import minimise, minimise_trimmed
from lrisk.procedures.nystroem import Kept
from lrisk.ranking import Ranking
from lrisk.solvers import Concentration, Newton, SubquantileGradient
from lrisk.spaces import LinearSpace
from lrisk.spectra import Subquantile, Superquantile


def objective(spectrum):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=50)
    y[:12] = 20.0 - 5.0 * X[:12, 0]
    space = LinearSpace(X, intercept=True)
    return Objective(Ranking(spectrum, 50), Squared(), space, y, 1e-3)


@pytest.mark.parametrize(
    ("solver", "spectrum"),
    [
        (Newton(), Superquantile(0.5)),
        (SubquantileGradient(max_iter=20), Subquantile(0.7)),
    ],
)
def test_other_solvers_are_run_as_they_are(solver, spectrum):
    problem = objective(spectrum)
    found = minimise(problem, solver)
    np.testing.assert_array_equal(found.theta, solver.solve(problem).theta)


def test_concentration_is_searched_round():
    problem, solver = objective(Subquantile(0.7)), Concentration()
    found = minimise(problem, solver, rng=np.random.default_rng(0))
    searched = minimise_trimmed(problem, solver, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(found.theta, searched.theta)
    assert not np.any(found.weights[:12] > 0)


def test_a_search_that_a_pilot_has_begun_goes_on_from_there():
    problem = objective(Subquantile(0.24))
    wrong = np.arange(50) < 12  # a floor that only a search from there ends in
    kept = Kept(np.where(wrong, 0.0, 1.0), wrong / 12.0, wrong)
    found = minimise(problem, Concentration(), begun=kept)
    assert {record["start"] for record in found.history} == {"pilot"}
    assert np.flatnonzero(found.weights > 0).tolist() == list(range(12))
