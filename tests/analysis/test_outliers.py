"""Outlier maps, contamination paths and histories of fits."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict

from lrisk import KernelRiskRegressor, RiskKMeans, RiskRegressor, RobustRegressor
from lrisk.analysis import contamination_path, convergence, outlier_map, robust_path


@pytest.fixture(scope="module")
def dirty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.2 * rng.normal(size=120)
    bad = rng.permutation(120)[:12]
    y[bad] += 10.0 * rng.choice([-1, 1], 12)
    return X, y, bad


@pytest.fixture(scope="module")
def robust(dirty):
    return RobustRegressor(random_state=0).fit(*dirty[:2])


def test_map_is_what_the_estimator_says(dirty, robust):
    X, y, bad = dirty
    found = outlier_map(robust, X, y)
    np.testing.assert_array_equal(found.score, robust.outlier_score_)
    np.testing.assert_array_equal(np.flatnonzero(found.flagged), np.sort(bad))
    fits = ~found.flagged
    assert np.abs(found.residual[bad]).min() > np.abs(found.residual[fits]).max()
    with pytest.raises(ValueError, match="120 rows of the fit"):
        outlier_map(robust, X[:9], y[:9])
    with pytest.raises(ValueError, match="RobustRegressor"):
        outlier_map(Ridge().fit(X, y), X, y)


def test_path_begins_at_ordinary_cross_validation(dirty):
    X, y, _ = dirty
    path = contamination_path(Ridge(), X, y, np.zeros(120), shares=[0.0], cv=KFold(4))
    errors = np.abs(y - cross_val_predict(Ridge(), X, y, cv=KFold(4)))
    assert path.mean[0] == pytest.approx(errors.mean())
    assert path.median[0] == pytest.approx(np.median(errors))


def test_path_leaves_out_the_worst(dirty):
    """At the true share the fit is that without the planted rows."""
    X, y, bad = dirty
    badness = np.zeros(120)
    badness[bad] = 1.0
    folds = KFold(4, shuffle=True, random_state=0)
    path = contamination_path(Ridge(), X, y, badness, shares=[0.0, 0.2], cv=folds)
    clean = np.setdiff1d(np.arange(120), bad)
    oracle = []
    for train, test in folds.split(X):
        model = Ridge().fit(
            X[np.intersect1d(train, clean)], y[np.intersect1d(train, clean)]
        )
        oracle.append(np.abs(y[test] - model.predict(X[test])))
    assert path.median[1] == pytest.approx(np.median(np.concatenate(oracle)), rel=0.1)
    assert path.median[1] < 0.7 * path.median[0]


def test_path_of_a_robust_estimator(dirty, robust):
    path = robust_path(robust, *dirty[:2], shares=[0.0, 0.1], cv=3)
    assert path.median[1] < 0.7 * path.median[0]


def test_path_of_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    flipped = rng.permutation(150)[:30]
    y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
    badness = np.isin(np.arange(150), flipped).astype(float)
    path = contamination_path(LogisticRegression(), X, y, badness, shares=[0, 0.2])
    assert path.median[1] < 0.7 * path.median[0]


def test_path_refuses(dirty):
    X, y, _ = dirty
    with pytest.raises(ValueError, match="shares must be"):
        contamination_path(Ridge(), X, y, np.zeros(120), shares=[1.0])
    with pytest.raises(ValueError, match="badness must be"):
        contamination_path(Ridge(), X, y, np.zeros(3))


def test_histories(dirty):
    X, y, _ = dirty
    model = RiskRegressor("superquantile:0.8").fit(X, y)
    run = convergence(model)
    assert run.gap[-1] == model.history_[-1]["gap"] and len(run.gap) == model.n_iter_
    assert np.all(np.isnan(run.passes)) and np.all(np.diff(run.seconds) >= 0)
    assert run.excess.min() == 0.0
    trimmed = convergence(KernelRiskRegressor("subquantile:0.9").fit(X, y))
    assert not np.any(np.isfinite(trimmed.gap))
    centres = convergence(RiskKMeans(2, random_state=0).fit(X))
    assert np.all(np.isnan(centres.gap)) and len(centres.objective) > 0
    with pytest.raises(ValueError, match="keeps a history"):
        convergence(Ridge().fit(X, y))
