"""Figures 6–9: a spectrum that forgets the worst rows is not misled by outliers."""

import numpy as np
import pytest

from experiments import clustering
from lrisk import risk


def test_the_page_has_the_printed_accuracies_and_pictures(miniature):
    made = miniature("clustering")
    (table,) = made.tables()
    assert table[0] == [
        "spectrum", "paper", "ours, SGD, averaged", "difference", "SGD, last iterate",
        "alternating",
    ]  # fmt: skip
    assert [row[0] for row in table[1:]] == list(clustering.TASKS["clouds"]["spectra"])
    assert [row[1] for row in table[1:]] == ["–", "1.000", "1.000"]
    assert len(made.figures) == 3
    assert all(path.stat().st_size > 1000 for path in made.figures)


def test_truncated_and_fading_spectra_beat_k_means(miniature):
    records = miniature("clustering").records

    def accuracy(spectrum, solver):
        return np.mean(clustering.values(records, "clouds", spectrum, solver))

    for spectrum in ("subquantile:0.75", "risk_seeking_extremile:5"):
        assert accuracy(spectrum, "alternating") >= 0.99
        assert accuracy(spectrum, "alternating") > accuracy("mean", "alternating") + 0.1


def test_losses_and_accuracies_of_both_parts_are_recorded(miniature):
    """Those of figures 7 to 9, from the centres of the last epoch."""
    record = next(
        r for r in miniature("clustering").records
        if r["cell"]["solver"] == "plain" and r["cell"]["seed"] == 0
    )  # fmt: skip
    train, test, own, groups = clustering.rows("clouds", 0)
    assert (own < 0).sum() == 100 and (groups >= 0).all()
    fitted = clustering.model(record["cell"], record["cell"]["epochs"][-1]).fit(train)
    centres = fitted.cluster_centers_
    np.testing.assert_allclose(centres, record["centres"], atol=0.006)
    for part, data in (("train", train), ("test", test)):
        least = ((data[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1)
        expected = risk(least, record["cell"]["spectrum"])
        assert record[f"{part}_loss"][-1] == pytest.approx(expected, rel=1e-9)
    assert len(record["train_accuracy"]) == len(record["cell"]["epochs"])


def test_ties_do_not_tell_an_order():
    assert clustering.as_printed([1, 2, 8]) == "as printed"
    assert clustering.as_printed([1, 1, 8]).startswith("as printed but for ties")
    assert clustering.as_printed([1, 1, 1]).startswith("as printed but for ties")
    assert clustering.as_printed([2, 1, 8]) == "not as printed"
    assert clustering.as_printed([1, 8, 2]) == "not as printed"


def test_when_a_curve_arrives():
    epochs = [1, 2, 4, 8]
    assert clustering.arrival(epochs, [0.5, 0.9, 0.9, 0.9]) == 2
    assert clustering.arrival(epochs, [0.9, 0.9, 0.9, 0.9]) == 1
    assert clustering.arrival(epochs, [0.9, 0.5, 0.6, 0.9]) == 8
