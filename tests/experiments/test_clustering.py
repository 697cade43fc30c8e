"""Figures 6–9: a spectrum that forgets the worst rows is not misled by outliers."""

import numpy as np

from experiments import clustering


def test_the_page_has_the_printed_accuracies_and_pictures(miniature):
    made = miniature("clustering")
    (table,) = made.tables()
    assert table[0] == [
        "spectrum", "paper", "ours, SGD", "difference", "ours, alternating",
    ]  # fmt: skip
    assert [row[0] for row in table[1:]] == list(clustering.TASKS["clouds"]["spectra"])
    assert [row[1] for row in table[1:]] == ["–", "1.000", "1.000"]
    assert len(made.figures) == 2
    assert all(path.stat().st_size > 1000 for path in made.figures)


def test_truncated_and_fading_spectra_beat_k_means(miniature):
    records = miniature("clustering").records

    def accuracy(spectrum, solver):
        return np.mean(clustering.values(records, "clouds", spectrum, solver))

    for spectrum in ("subquantile:0.75", "risk_seeking_extremile:5"):
        assert accuracy(spectrum, "alternating") >= 0.99
        assert accuracy(spectrum, "alternating") > accuracy("mean", "alternating") + 0.1
