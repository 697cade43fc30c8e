"""Public risk and risk_weights."""

import numpy as np
import pytest

import lrisk
from lrisk.ranking import Ranking
from lrisk.spectra import WorstCase


def test_risk_of_known_losses():
    losses = [3.0, 1.0, 2.0, 10.0]
    assert lrisk.risk(losses, "mean") == 4.0
    assert lrisk.risk(losses, "superquantile:0.5") == 6.5
    assert lrisk.risk(losses, "worst_case") == 10.0
    assert lrisk.risk(losses, "subquantile:0.5") == 1.5
    assert lrisk.risk(losses, "superquantile:0.375") == pytest.approx(14 / 2.5)


def test_zero_weight_is_no_row():
    losses, weight = [3.0, 1.0, 50.0], [1.0, 2.0, 0.0]
    for spectrum in ("extremile:3", "worst_case", "superquantile:0.4"):
        expected = lrisk.risk([3.0, 1.0, 1.0], spectrum)
        assert lrisk.risk(losses, spectrum, weight) == pytest.approx(expected)
        weights = lrisk.risk_weights(losses, spectrum, sample_weight=weight)
        assert weights[2] == 0.0


def test_worst_case_keeps_its_weight_when_the_masses_do_not_add_up():
    """A cumulative sum of masses may miss one by rounding."""
    weight = np.random.default_rng(0).uniform(0.1, 1.0, 1000)
    ranking = Ranking(WorstCase(), 1000, weight)
    losses = np.random.default_rng(1).normal(size=1000)
    assert ranking.risk(losses) == losses.max()


def test_scale_of_the_weights_does_not_matter():
    losses = np.random.default_rng(0).exponential(size=20)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 20)
    once = lrisk.risk(losses, "esrm:2", weight)
    assert lrisk.risk(losses, "esrm:2", 1e6 * weight) == pytest.approx(once)
    equal = lrisk.risk(losses, "esrm:2", np.full(20, 3.0))
    assert equal == lrisk.risk(losses, "esrm:2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one loss"),
        (([[1.0]],), "1-d"),
        (([1.0, np.nan],), "finite"),
        (([1.0], "median"), "spectrum must be one of"),
        (([1.0], "mean", [1.0, 2.0]), "sample_weight must be of shape"),
        (([1.0], "mean", [-1.0]), "finite and ≥ 0"),
        (([1.0], "mean", [np.inf]), "finite and ≥ 0"),
        (([1.0], "mean", [0.0]), "zero"),
        (([1.0, 2.0], "mean", [1e308, 1e308]), "finite sum"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        lrisk.risk(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": "l1", "nu": 1.0}, "one of None, 'l2', 'entropy'"),
        ({"smoothing": "l2", "nu": -1.0}, "nu must be"),
        ({"smoothing": "l2", "nu": np.nan}, "nu must be"),
        ({"smoothing": "l2", "nu": 1.0, "spectrum": "subquantile"}, "not increasing"),
    ],
)
def test_smoothing_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        lrisk.risk_weights([1.0, 2.0], **options)
