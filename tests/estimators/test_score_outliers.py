"""Scores of rows that a robust fit has not seen."""

import numpy as np
import pytest

from lrisk import RobustClassifier, RobustRegressor


@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    y = X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=240)
    wrong = rng.random(240) < 0.15
    return X, np.where(wrong, y + 10.0, y), wrong


def test_new_rows_of_a_regression_are_judged(line):
    X, y, wrong = line
    model = RobustRegressor(random_state=0).fit(X[:160], y[:160])
    scores = model.score_outliers(X[160:], y[160:])
    assert np.all((scores >= 0.0) & (scores <= 1.0))
    assert np.mean((scores > 0.7) == wrong[160:]) > 0.97
    expected, scale = model.expect(X[160:])
    fine = ~wrong[160:]
    u = (y[160:][fine] - expected[fine]) / scale[fine]
    assert 0.5 < np.median(np.abs(u)) / 0.6745 < 1.5


def test_rows_beyond_the_tail_are_wrong_though_the_fit_found_none(line):
    """One absurd row among new ones is seen by a fit to clean rows; usual ones fit."""
    X, y, wrong = line
    X, y = X[~wrong], y[~wrong]
    model = RobustRegressor(random_state=0).fit(X[:120], y[:120])
    assert model.contamination_ == 0.0
    new, far = X[120:], y[120:].copy()
    far[0] += 1e3
    scores = model.score_outliers(new, far)
    assert scores[0] > 0.95
    assert np.all((scores[1:] > 0.0) & (scores[1:] <= 0.001))
    told = model.score_outliers(new, far, contamination=0.0)
    assert np.all((told > 0.0) & (told <= 0.001)) and told.argmax() == 0
    given = RobustRegressor(contamination=0.1, random_state=0).fit(X[:120], y[:120])
    assert given.score_outliers(new, far)[0] > 0.9


def test_rows_apart_in_x_are_not_judged_by_a_tail(line):
    """Where the reference knows no others it only guesses."""
    X, y, wrong = line
    model = RobustRegressor(random_state=0).fit(X[~wrong], y[~wrong])
    assert model.score_outliers([[300.0, -500.0]], [1e6])[0] <= 0.001


def test_a_share_known_from_elsewhere(line):
    """The larger it is, the likelier a doubtful row is wrong."""
    X, y, _ = line
    model = RobustRegressor(random_state=0).fit(X, y)
    expected, scale = model.expect(X[:1])
    some = np.repeat(X[:1], 30, axis=0)
    off = expected + scale * np.linspace(3.0, 30.0, 30)
    few, usual, many = (
        model.score_outliers(some, off, contamination=share)
        for share in (0.001, model.contamination_, 0.45)
    )
    assert np.all(few <= many) and np.any(few < many - 0.1)
    assert np.allclose(usual, model.score_outliers(some, off), atol=0.02)
    for wrong_value in (0.5, -0.1, "some"):
        with pytest.raises((TypeError, ValueError), match="contamination"):
            model.score_outliers(some, off, contamination=wrong_value)


@pytest.mark.parametrize("rows", [10, 120])
def test_rows_are_ordered_where_nothing_is_found(line, rows):
    """By their residuals, of the fit or of new rows; of too few rows to judge, too."""
    X, y, wrong = line
    X, y = X[~wrong], y[~wrong]
    model = RobustRegressor(random_state=0).fit(X[:rows], y[:rows])
    assert not model.contamination_ and model.inlier_mask_.all()
    assert 0.0 < model.outlier_score_.max() <= 0.001
    assert len(np.unique(model.outlier_score_)) == rows
    steps = model.predict(X[:1]) + np.array([0.5, 1.0, 5.0, 50.0])
    scores = model.score_outliers(np.repeat(X[:1], 4, axis=0), steps)
    assert np.all(np.diff(scores) > 0.0)


def test_new_labels_are_judged():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    wrong = rng.random(400) < 0.15
    dirty = np.where(wrong, 1 - y, y)
    model = RobustClassifier(random_state=0).fit(X[:300], dirty[:300])
    scores = model.score_outliers(X[300:], dirty[300:])
    found, missed = scores[wrong[300:]], scores[~wrong[300:]]
    assert np.mean(found[:, None] > missed[None, :]) > 0.95
    silent = model.score_outliers(X[300:], dirty[300:], contamination=0.0)
    assert np.all(silent == 0.0)
    gross = X[300:301] + 1e6
    assert model.score_outliers(gross, dirty[300:301])[0] == 1.0
    with pytest.raises(ValueError, match="contamination"):
        model.score_outliers(X, dirty, contamination=0.9)
    with pytest.raises(ValueError, match="among"):
        model.score_outliers(X[:1], [7])
