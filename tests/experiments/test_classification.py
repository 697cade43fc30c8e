"""ERM is multinomial regression, tails are lower, no curve passes the minimum."""

import numpy as np
import pytest
from experiments._classifying import LEVELS, NAMES, Split, _reference
from experiments._spectral import FLOOR
from experiments.classification import _at, images, texts
from sklearn.linear_model import LogisticRegression

NAME = "classification"


def test_two_tables_and_a_figure_for_each_set(miniature):
    found = miniature(NAME)
    tail, curves = found.tables()
    assert len(tail) == 1 + 4
    assert curves[0] == ["risk", *NAMES]
    assert len(curves) == 1 + 4
    assert [path.name for path in found.figures] == ["classification-emotion.svg"]


def test_fits_are_certified_and_the_far_tail_is_below_that_of_erm(miniature):
    records = miniature(NAME).records
    (record,) = [r for r in records if r["cell"]["kind"] == "quantiles"]
    assert max(fit["gap"] for fit in record["certified"].values()) <= 1e-6
    for risk in ("extremile", "ESRM"):
        assert _at(record["differences"][risk], 0.95, 1.0) > 0


def test_every_curve_falls_and_stays_above_the_minimum(miniature):
    for record in miniature(NAME).records:
        if record["cell"]["kind"] == "curves":
            for curve in record["runs"]["curves"]:
                assert FLOOR < curve[-1] < -0.3


def test_erm_is_multinomial_regression(miniature, monkeypatch):
    import os
    from pathlib import Path

    monkeypatch.setenv("LRISK_DATA", str(Path(os.environ["LRISK_SHARED"]) / "data"))
    split = Split("emotion", 1000)
    objective = split.problem("mean")
    best = _reference(objective)
    other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=5000)
    coef = other.fit(split.X, split.y).coef_
    value = objective.value(objective.at(coef.T.ravel()))
    assert best.low <= value
    assert value == pytest.approx(best.low, rel=1e-5)
    scores = split.test_X @ objective.space.split(best.theta)[0]
    agreed = np.mean(scores.argmax(axis=1) == other.predict(split.test_X))
    assert agreed > 0.999


def test_means_over_levels_do_not_count_the_dense_tail_more():
    # ∫p dp and ∫p² dp over the range, whatever the spacing of the levels.
    assert _at(LEVELS.tolist(), 0.5, 1.0) == pytest.approx(0.75)
    assert _at((LEVELS**2).tolist(), 0.5, 1.0) == pytest.approx(7 / 12, rel=1e-3)
    assert _at(LEVELS.tolist(), 0.95, 1.0) == pytest.approx(0.975)
    parts = 0.9 * _at((LEVELS**2).tolist(), 0.5, 0.95)
    parts += 0.1 * _at((LEVELS**2).tolist(), 0.95, 1.0)
    assert parts == pytest.approx(_at((LEVELS**2).tolist(), 0.5, 1.0), rel=1e-3)


def test_each_set_has_the_statement_of_its_own(miniature):
    assert "The paper, on emotion" in miniature(NAME).text
    assert "on iWildCam" not in miniature(NAME).text
    found = {"superquantile": [-0.2, -0.1, 0.5], "ESRM": [0.1, 0.1, 0.2]}
    words = images(found)
    assert "in all three ranges: ESRM;" in words
    assert "not between 0.5 and 0.95: superquantile." in words
    assert "0.300, 0.200, 0.300 mean losses apart" in texts(found)
    assert "so not similar" in texts(found)
