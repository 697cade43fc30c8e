"""The questions that spectra answer agree with the weights they give."""

import ast
from pathlib import Path

import numpy as np
import pytest

import lrisk
from lrisk.ranking import Ranking
from lrisk.spectra import (
    ESRM,
    CustomSpectrum,
    Extremile,
    Mean,
    RankedRange,
    RiskSeekingExtremile,
    Subquantile,
    Superquantile,
    WorstCase,
)

SPECTRA = [
    Mean(),
    Superquantile(0.6),
    Superquantile(0.0),
    Extremile(3),
    ESRM(2.0),
    WorstCase(),
    Subquantile(0.7),
    Subquantile(1.0),
    RiskSeekingExtremile(2),
    RankedRange(0.2, 0.9),
    RankedRange(0.0, 0.5),
    RankedRange(0.5, 1.0),
    CustomSpectrum(weights=[0.0, 1.0]),
    CustomSpectrum(weights=[1.0, 3.0, 1.0]),
]


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
class TestQuestions:
    def test_it_trims_where_a_larger_loss_has_less_weight(self, spectrum):
        falls = np.any(np.diff(spectrum.weights(200)) < -1e-12)
        assert spectrum.trims == falls

    def test_outside_the_support_no_loss_counts(self, spectrum):
        low, high = spectrum.support
        assert spectrum.cumulative(low) <= 1e-12
        assert spectrum.cumulative(high) == pytest.approx(1.0)

    def test_it_selects_or_keeps_only_where_losses_within_count_alike(self, spectrum):
        low, high = spectrum.support
        inside = np.linspace(low, high, 11)
        if spectrum.selects or spectrum.keeps:
            assert np.diff(spectrum.cumulative(inside)) == pytest.approx(0.1)
        if spectrum.selects:
            assert (low > 0.0, high) == (True, 1.0)
        if spectrum.keeps:
            assert low == 0.0

    def test_a_range_is_a_tail_of_what_is_kept(self, spectrum):
        assert (spectrum.shape == "range") <= (spectrum.monotone == "none")
        if spectrum.shape != "range":
            assert spectrum.shape == spectrum.monotone
            return
        first, second = spectrum.in_two_steps()
        assert (first.monotone, second.monotone) == ("down", "up")
        losses = np.sort(np.random.default_rng(0).exponential(size=100))
        kept = Ranking(first, 100).weights(losses)
        rows = kept > 0
        rest = Ranking(second, int(rows.sum()), kept[rows]).risk(losses[rows])
        assert rest == pytest.approx(Ranking(spectrum, 100).risk(losses), rel=1e-12)


#: Classes that only their own room may ask for by name.
FAMILIES = {type(spectrum).__name__ for spectrum in SPECTRA}
TRIMMERS = {"Concentration", "SubquantileGradient"}


def asked_for(folder):
    """Names of classes that files of a folder ask for with isinstance."""
    root = Path(lrisk.__file__).parent
    found = set()
    for path in (root / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if called and node.func.id == "isinstance":
                asked = ast.walk(node.args[1])
                found |= {name.id for name in asked if isinstance(name, ast.Name)}
    return found


@pytest.mark.parametrize("folder", ["solvers", "spaces", "procedures", "estimators"])
def test_nobody_asks_for_the_class_of_a_spectrum(folder):
    assert not asked_for(folder) & FAMILIES


def test_estimators_do_not_ask_for_the_class_of_a_trimming_solver():
    assert not asked_for("estimators") & TRIMMERS
