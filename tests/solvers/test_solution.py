"""The template of all solvers: check first, then solve, and no way round it."""

import dataclasses

import numpy as np
import pytest

from lrisk.losses import Absolute, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import SOLVERS, Newton
from lrisk.solvers.clustering.centers import Alternating, CenterSGD, clustering
from lrisk.spaces import CenterSpace, LinearSpace
from lrisk.spectra import (
    CustomSpectrum,
    RankedRange,
    Spectrum,
    Subquantile,
    Superquantile,
)

EVERY_SOLVER = {
    **SOLVERS,
    "alternating": Alternating,
    "sgd of centres": CenterSGD,
}
#: Neither increasing nor decreasing, nor a range: no solver of linear models takes it.
TWO_SIDED = CustomSpectrum(weights=[1.0, 3.0, 1.0])


def objective(spectrum: Spectrum, loss=None, space=None, weights=None) -> Objective:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    space = LinearSpace(X, intercept=True) if space is None else space
    ranking = Ranking(spectrum, 12, weights)
    return Objective(ranking, Squared() if loss is None else loss, space, X[:, 0], 1.0)


class Bare:
    """A space over twelve rows that can do nothing."""

    n_rows, n_scores, size, intercept = 12, 1, 2, False


@pytest.mark.parametrize("name", EVERY_SOLVER)
def test_every_solver_refuses_a_space_that_cannot_do_what_it_needs(name):
    solver = EVERY_SOLVER[name]()
    spectrum = Superquantile(0.5) if "up" in solver.spectra else Subquantile(0.5)
    with pytest.raises(ValueError, match=r"able to work on Bare .* missing there"):
        solver.solve(objective(spectrum, space=Bare()))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_of_a_model_refuses_spectra_it_cannot_minimise(name):
    solver = SOLVERS[name]()
    wrong = Subquantile(0.5) if "up" in solver.spectra else Superquantile(0.5)
    for spectrum in (wrong, TWO_SIDED):
        with pytest.raises(ValueError, match=rf"{type(solver).__name__}.*spectrum"):
            solver.solve(objective(spectrum))


@pytest.mark.parametrize(
    "name", [name for name, solver in SOLVERS.items() if not solver.kinks]
)
def test_every_solver_without_kinks_refuses_a_loss_with_one(name):
    solver = SOLVERS[name]()
    spectrum = Superquantile(0.5) if "up" in solver.spectra else Subquantile(0.5)
    with pytest.raises(ValueError, match="loss must be smooth"):
        solver.solve(objective(spectrum, loss=Absolute()))


@pytest.mark.parametrize("name", ["concentration", "subquantile"])
def test_every_trimming_solver_refuses_to_keep_less_than_a_row(name):
    with pytest.raises(ValueError, match="wide enough to keep one row"):
        SOLVERS[name]().solve(objective(Subquantile(0.01)))


@pytest.mark.parametrize("name", EVERY_SOLVER)
def test_parameters_set_after_construction_are_checked(name):
    solver = EVERY_SOLVER[name]()
    setattr(solver, solver.limit, 0)
    with pytest.raises(ValueError, match=solver.limit):
        solver.solve(objective(Superquantile(0.5)))


def test_a_run_without_certificate_is_checked_as_well():
    with pytest.raises(ValueError, match=r"LSVRG.*spectrum"):
        SOLVERS["lsvrg"]().run(objective(Subquantile(0.5)), proof=False)


def test_a_subclass_cannot_replace_the_template():
    with pytest.raises(TypeError, match="_solve"):

        class Careless(Newton):
            def solve(self, objective, start=None, **options):
                return None


def test_clusters_may_have_any_spectrum():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for spectrum in (TWO_SIDED, RankedRange(0.2, 0.8), Subquantile(0.5)):
        problem = clustering(CenterSpace(X, 2), Ranking(spectrum, 12))
        found = Alternating().solve(problem, X[:2].ravel())
        assert found.objective <= problem.value(problem.at(X[:2].ravel()))


def test_a_solution_cannot_be_changed():
    found = Newton().solve(objective(Superquantile(0.5)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.gap = 0.0


def test_a_note_goes_into_a_copy():
    found = Newton().solve(objective(Superquantile(0.5)))
    noted = found.noted("for a reason")
    assert noted.history[0]["note"] == "for a reason"
    assert "note" not in found.history[0]
    assert noted.history[1:] == found.history[1:]
