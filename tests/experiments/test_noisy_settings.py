"""The three settings come nearer to the clean fit than the uncorrected one."""

import numpy as np
from experiments._noisy import SIGMA, noisy_rows

from experiments import noisy_settings


def test_the_page_has_all_methods(miniature):
    made = miniature("noisy-settings")
    batch, online = made.tables()
    assert batch[0] == ["method", "synthetic", "diabetes", "concrete"]
    assert len(batch) == 1 + len(noisy_settings.METHODS)
    assert len(online) == 1 + len(noisy_settings.METHODS)
    for name in noisy_settings.DATA:
        assert f"**{name}**: setting 1 in batch" in made.text
    assert len(made.figures) == 1


def test_known_covariance_beats_no_correction_where_the_relation_is_linear(miniature):
    records = miniature("noisy-settings").records

    def error(method):
        return np.mean(noisy_settings.values(records, "synthetic", method, "fit"))

    assert error("clean") < error("setting 2") < error("naive")


def test_the_noise_has_the_stated_size_and_the_test_rows_none():
    rows = noisy_rows("synthetic", 0)
    assert np.isclose(np.std(rows.first - rows.X), SIGMA, rtol=0.03)
    errors = np.corrcoef((rows.first - rows.X).ravel(), (rows.second - rows.X).ravel())
    assert abs(errors[0, 1]) < 0.05
    assert np.allclose(rows.X.std(axis=0), 1.0)


def test_what_is_won_back_is_counted_from_the_records():
    def record(seed, clean, naive, ours):
        cell = {"data": "toy", "seed": seed}
        found = {"clean|fit": clean, "naive|fit": naive, "setting 2|fit": ours}
        return {"cell": cell, "rmse": found}

    sure = [record(0, 0.2, 0.4, 0.25), record(1, 0.2, 0.41, 0.26)]
    told = noisy_settings.closed(sure, "toy", "setting 2", "fit")
    assert "wins back 73 % of the 0.205" in told
    worse = [record(0, 0.2, 0.4, 0.5), record(1, 0.2, 0.41, 0.5)]
    told = noisy_settings.closed(worse, "toy", "setting 2", "fit")
    assert "worse than the uncorrected fit, by 0.095" in told
    unsure = [record(0, 0.2, 0.3, 0.2), record(1, 0.2, 0.1, 0.2)]
    told = noisy_settings.closed(unsure, "toy", "setting 2", "fit")
    assert "too little to say" in told
