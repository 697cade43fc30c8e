"""Spectra by name."""

import numpy as np
import pytest

from lrisk.spectra import (
    ESRM,
    CustomSpectrum,
    Extremile,
    Mean,
    RankedRange,
    Subquantile,
    Superquantile,
    WorstCase,
    parse_spectrum,
)


@pytest.mark.parametrize(
    ("text", "spectrum"),
    [
        ("mean", Mean()),
        ("superquantile", Superquantile(0.5)),
        ("superquantile:0.9", Superquantile(0.9)),
        ("CVaR:0.9", Superquantile(0.9)),
        ("subquantile", Subquantile(0.8)),
        ("trimmed:0.7", Subquantile(0.7)),
        ("extremile", Extremile(2.0)),
        ("esrm", ESRM(1.0)),
        ("max", WorstCase()),
        ("worst-case", WorstCase()),
        ("ranked_range:0.1:0.8", RankedRange(0.1, 0.8)),
    ],
)
def test_parse(text, spectrum):
    assert parse_spectrum(text) == spectrum


def test_objects_pass_through():
    spectrum = Extremile(3)
    assert parse_spectrum(spectrum) is spectrum


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("superquantil:0.9", r"did you mean 'superquantile'\?"),
        ("zzz", "one of mean, superquantile"),
        ("superquantile:1.0", "use WorstCase"),
        ("superquantile:-0.1", r"\[0, 1\)"),
        ("superquantile:nan", r"\[0, 1\)"),
        ("extremile:0.5", "≥ 1"),
        ("extremile:inf", "WorstCase"),
        ("esrm:0", "Mean"),
        ("subquantile:0", "fraction of rows to keep"),
        ("superquantile:a", "followed by q"),
        ("superquantile:0.1:0.2", "followed by q"),
        ("mean:1", "no parameter"),
        ("ranked_range:0.8:0.1", "above lower"),
    ],
)
def test_refusals_name_rule_value_and_remedy(text, message):
    with pytest.raises(ValueError, match=message):
        parse_spectrum(text)


def test_not_a_spectrum():
    with pytest.raises(TypeError, match=r"got 0\.5"):
        parse_spectrum(0.5)


def test_edges_are_right_or_refused():
    assert Superquantile(1 - 1e-16).weights(10)[-1] == 1.0
    assert np.array_equal(Superquantile(0.0).weights(4), np.full(4, 0.25))
    assert np.array_equal(Extremile(400).weights(1), [1.0])
    assert np.allclose(ESRM(1e-300).weights(7), 1 / 7, rtol=1e-15)
    assert ESRM(800.0).weights(1000)[-1] == pytest.approx(1 - np.exp(-0.8), rel=1e-13)
    # pairs that published code gets wrong
    assert Superquantile(0.29).weights(100)[28] <= 1e-15
    assert Superquantile(0.58).weights(50)[28] <= 1e-15
    assert np.count_nonzero(Superquantile(0.29).weights(100) > 1e-10) == 71


class TestCustom:
    def test_cumulative(self):
        spectrum = CustomSpectrum(lambda u: u**2)
        np.testing.assert_allclose(spectrum.weights(50), Extremile(2).weights(50))
        assert spectrum.monotone == "up"

    def test_weights_are_piecewise_linear(self):
        spectrum = CustomSpectrum(weights=[1, 1, 2])
        np.testing.assert_allclose(spectrum.weights(3), [0.25, 0.25, 0.5])
        np.testing.assert_allclose(spectrum.weights(6), np.repeat([1, 1, 2], 2) / 8)
        assert spectrum.weights(7).sum() == pytest.approx(1.0, abs=1e-14)

    @pytest.mark.parametrize(
        ("weights", "monotone"),
        [([1, 1], "flat"), ([0, 1], "up"), ([2, 1], "down"), ([0, 1, 0], "none")],
    )
    def test_monotone(self, weights, monotone):
        assert CustomSpectrum(weights=weights).monotone == monotone

    def test_cloned_and_changed(self):
        from sklearn.base import clone

        spectrum = CustomSpectrum(weights=np.array([0.0, 1.0]))
        copy = clone(spectrum)
        assert copy == spectrum
        copy.set_params(weights=np.array([1.0, 0.0]))
        assert copy.monotone == "down" and spectrum.monotone == "up"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "either cumulative or weights"),
            ({"cumulative": np.sqrt, "weights": [1]}, "either cumulative or weights"),
            ({"weights": [1, -1]}, "finite weights"),
            ({"weights": [0, 0]}, "not all zero"),
            ({"weights": [[1]]}, "1-d array"),
            ({"weights": [np.nan]}, "finite weights"),
            ({"cumulative": lambda u: u + 1}, r"S\(0\)=0"),
            ({"cumulative": lambda u: np.sin(9 * u) / np.sin(9)}, "non-decreasing"),
            ({"cumulative": lambda u: 1.0}, "vectorised"),
        ],
    )
    def test_refusals(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            CustomSpectrum(**arguments)
