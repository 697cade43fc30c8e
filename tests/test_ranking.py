"""Public risk and risk_weights."""

import numpy as np
import pytest

import lrisk
from lrisk.ranking import Ranking
from lrisk.spectra import CustomSpectrum, WorstCase, parse_spectrum


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
        (([1.0, 2.0], "mean", [1e308, 1e308]), "sample_weight must be at most"),
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


def test_kept_shares_are_what_trimming_leaves():
    rng = np.random.default_rng(0)
    for n in (1, 7, 100, 1000):
        losses, weight = rng.exponential(size=n), rng.integers(1, 5, n) * 1.0
        for p in (0.1, 0.29, 0.5, 0.75, 1.0):
            ranking = Ranking(parse_spectrum(f"subquantile:{p}"), n, weight)
            shares = ranking.kept_shares(losses)
            # the trimmed mean is the plain mean over what is kept
            np.testing.assert_allclose(shares @ ranking.mass, p, rtol=1e-8)
            mean = np.average(losses, weights=shares * weight)
            np.testing.assert_allclose(mean, ranking.risk(losses), rtol=1e-8)
            assert np.sum((shares > 0) & (shares < 1)) <= 1


def test_a_whole_number_of_rows_is_kept_whole():
    for n in range(1, 400):
        for kept in (1, n // 3, n // 2, n - 1):
            if 0 < kept < n:
                ranking = Ranking(parse_spectrum(f"subquantile:{kept / n}"), n)
                shares = ranking.kept_shares(np.arange(n, dtype=float))
                assert set(shares[:kept]) == {1.0} and set(shares[kept:]) == {0.0}


@pytest.mark.parametrize("name", ["mean", "superquantile", "extremile", "worst_case"])
def test_rising_spectra_trim_nothing_at_the_top(name):
    shares = Ranking(parse_spectrum(name), 5).kept_shares(np.arange(5.0))
    np.testing.assert_array_equal(shares, 1.0)


def test_weights_that_end_early_trim_the_rest():
    spectrum = CustomSpectrum(weights=[0.1] * 10 + [0.0] * 2)  # they sum to 1 − ε
    shares = Ranking(spectrum, 12).kept_shares(np.arange(12.0))
    np.testing.assert_array_equal(shares, [1.0] * 10 + [0.0] * 2)


def test_rows_without_weight_are_kept_by_their_loss():
    weight = np.array([1.0, 0.0, 1.0, 0.0])
    ranking = Ranking(parse_spectrum("subquantile:0.5"), 4, weight)
    shares = ranking.kept_shares(np.array([1.0, 0.5, 2.0, 3.0]))
    np.testing.assert_array_equal(shares, [1.0, 1.0, 0.0, 0.0])
