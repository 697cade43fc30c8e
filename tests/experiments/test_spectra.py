"""Figure 1 and tables 1 and 2 of the spectral paper."""

import pytest

from experiments import spectra


def test_the_page_has_both_tables_and_the_figure(miniature):
    made = miniature("spectra")
    risks, sets = made.tables()
    assert len(risks) == 1 + 3 * 4
    assert sets[1] == ["simulated", "10", "10", "800", "800", "200", "200"]
    assert len(made.figures) == 1
    assert "Other numbers than printed: yacht." in made.text


def test_integral_meaning_and_sample_agree(miniature):
    for record in miniature("spectra").records:
        if record["cell"]["kind"] == "law":
            assert record["formula"] < 1e-12
            assert record["empirical"] == pytest.approx(record["integral"], rel=0.1)
            if record["reading"] is not None:
                assert record["reading"] == pytest.approx(record["integral"], rel=0.02)


def test_known_integrals():
    """E max of two exponentials is 3/2; beyond the median, 1 + ln 2."""
    for risk, spectrum, value in (
        ("extremile", "extremile:2", 1.5),
        ("superquantile", "superquantile:0.5", 1.6931472),
    ):
        cell = {"kind": "law", "law": "exponential", "risk": risk,
                "spectrum": spectrum, "draws": 2000}  # fmt: skip
        assert spectra.run(cell)["integral"] == pytest.approx(value, abs=1e-4)
