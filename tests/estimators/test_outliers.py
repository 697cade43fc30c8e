"""Rows that do not fit, by any reference."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from lrisk import OutlierDetector, RobustRegressor


def table(n, wrong, seed=0):
    """A wave with noise of deviation .2 and targets 4 off."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)
    bad = rng.choice(n, wrong, replace=False)
    y[bad] += rng.choice([-4.0, 4.0], size=wrong)
    return X, y, np.isin(np.arange(n), bad)


REFERENCES = {
    "own": None,
    "forest": RandomForestRegressor(40, min_samples_leaf=3, random_state=0),
    "polynomial": make_pipeline(PolynomialFeatures(7), LinearRegression()),
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("n", [300, 2500])
def test_planted_errors_are_found(name, n):
    X, y, bad = table(n, n // 20)
    flagged = []
    for seed in range(3 if n == 300 else 1):
        found = OutlierDetector(REFERENCES[name], random_state=seed).fit(X, y)
        flagged.append(~found.inlier_mask_)
        assert np.mean(flagged[-1][bad]) >= 0.9
    assert np.sum([rows & bad for rows in flagged]) >= 0.9 * np.sum(flagged)
    # Rows beside a wrong one are predicted badly by models that it has moved.
    within = 0.02 if name == "own" else 0.04
    assert found.contamination_ == pytest.approx(0.05, abs=within)
    low, high = found.contamination_interval_
    assert low <= 0.05 <= high


@pytest.mark.parametrize("name", REFERENCES)
def test_nothing_is_found_where_nothing_is_wrong(name):
    for seed in range(3):
        X, y, _ = table(400, 0, seed)
        found = OutlierDetector(REFERENCES[name], random_state=0).fit(X, y)
        assert np.sum(~found.inlier_mask_) <= 2


@pytest.mark.parametrize("name", REFERENCES)
def test_rows_are_ranked_even_so(name):
    X, y, _ = table(400, 0)
    y[7] += 1.5
    found = OutlierDetector(REFERENCES[name], random_state=0).fit(X, y)
    assert np.argmax(found.outlier_score_) == 7
    assert len(np.unique(found.outlier_score_)) > 390
    assert np.all((found.outlier_score_ >= 0.0) & (found.outlier_score_ <= 1.0))


def test_own_reference_is_that_of_the_robust_regressor():
    X, y, _ = table(300, 15)
    found = OutlierDetector(random_state=0).fit(X, y)
    robust = RobustRegressor("rbf", random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.inlier_mask_, robust.inlier_mask_)
    assert found.contamination_ == robust.contamination_


def test_given_predictions_are_those_of_the_judgement():
    X, y, bad = table(300, 15)
    truth = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    found = OutlierDetector(random_state=0).fit(X, y, predictions=truth)
    np.testing.assert_array_equal(~found.inlier_mask_, bad)
    shift = found.expected_ - truth
    np.testing.assert_allclose(shift, shift[0], atol=1e-12)
    assert abs(shift[0]) < 0.05
    assert np.median(found.noise_scale_) == pytest.approx(0.2, rel=0.25)


def test_rows_of_a_group_share_a_fold():
    """Copies with one wrong target would vouch for each other."""
    X, y, _ = table(300, 0)
    y[:5] += 4.0
    X, y = np.vstack([X, X[:5] + 1e-6]), np.append(y, y[:5])
    groups = np.append(np.arange(300), np.arange(5))
    model = RandomForestRegressor(40, random_state=0)
    found = OutlierDetector(model, random_state=0).fit(X, y, groups=groups)
    assert not found.inlier_mask_[[*range(5), *range(300, 305)]].any()


def test_rows_without_weight_are_not_judged():
    X, y, bad = table(300, 15)
    weight = np.ones(300)
    weight[:30] = 0.0
    for model in REFERENCES.values():
        found = OutlierDetector(model, random_state=0).fit(X, y, weight)
        assert found.inlier_mask_[:30].all()
        assert np.isnan(found.expected_[:30]).all()
        assert np.mean(~found.inlier_mask_[30:] == bad[30:]) > 0.98


def test_a_share_is_taken_at_its_word():
    X, y, _ = table(300, 15)
    for model in REFERENCES.values():
        found = OutlierDetector(model, contamination=0.1, random_state=0).fit(X, y)
        assert np.sum(~found.inlier_mask_) == 30
        assert found.contamination_ == 0.1


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_units_do_not_matter(size):
    X, y, _ = table(300, 15)
    found = OutlierDetector(LinearRegression(), random_state=0).fit(X, size * y)
    plain = OutlierDetector(LinearRegression(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.inlier_mask_, plain.inlier_mask_)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"predictions": np.ones(299)}, "predictions must be"),
        ({"predictions": np.full(300, np.nan)}, "NaN or infinity"),
        ({"groups": np.ones(299)}, "groups must be"),
        ({"groups": np.ones(300)}, "at least two groups"),
    ],
)
def test_wrong_arguments_are_refused(options, words):
    X, y, _ = table(300, 15)
    with pytest.raises(ValueError, match=words):
        OutlierDetector(LinearRegression()).fit(X, y, **options)
    with pytest.raises(ValueError, match="contamination must be"):
        OutlierDetector(contamination=0.7).fit(X, y)


def test_exact_predictions_show_one_row_that_is_slightly_wrong():
    """A floor on the noise is for models that are only near the relation."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    truth = X @ [1.0, -2.0, 0.5] + 3.0
    y = truth.copy()
    y[7] += 0.1
    found = OutlierDetector(random_state=0).fit(X, y, predictions=truth)
    assert np.flatnonzero(~found.inlier_mask_).tolist() == [7]


def test_equal_rows_are_named_where_no_fold_is_left():
    y = np.random.default_rng(0).normal(size=60)
    with pytest.raises(ValueError, match="equal rows are of one"):
        OutlierDetector(LinearRegression()).fit(np.ones((60, 2)), y)


@pytest.mark.parametrize("model", [None, LinearRegression()])
def test_sparse_rows_are_judged_as_dense_ones(model):
    X, y, _ = table(300, 15)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = OutlierDetector(model, random_state=0).fit(X, y)
    sparse = OutlierDetector(model, random_state=0).fit(csr_array(X), y)
    assert np.array_equal(dense.outlier_score_, sparse.outlier_score_)


@pytest.mark.parametrize("how", ["own", "estimator", "predictions"])
def test_the_order_of_rows_does_not_matter(how):
    """Beyond the rows that the noise is measured on, too."""
    X, y, bad = table(1300, 60)
    order = np.random.default_rng(1).permutation(1300)
    model = RandomForestRegressor(10, random_state=0) if how == "estimator" else None
    given = LinearRegression().fit(X[~bad], y[~bad]).predict(X)
    scores = []
    for rows in (slice(None), order):
        options = {"predictions": given[rows]} if how == "predictions" else {}
        found = OutlierDetector(model, random_state=0).fit(X[rows], y[rows], **options)
        scores.append(found.outlier_score_)
    np.testing.assert_array_equal(scores[0][order], scores[1])


@pytest.mark.parametrize("y", [["a", "b"] * 30, ["1", "2"] * 30, [None, 1.0] * 30])
def test_targets_must_be_numbers(y):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for model in (OutlierDetector(), RobustRegressor()):
        with pytest.raises(ValueError, match=r"y must be numbers|NaN"):
            model.fit(X, y)


def test_masked_predictions_are_missing():
    X, y, _ = table(300, 15)
    masked = np.ma.masked_array(y, np.arange(300) == 4)
    with pytest.raises(ValueError, match="NaN or infinity"):
        OutlierDetector().fit(X, y, predictions=masked)


@pytest.mark.parametrize("n", [6, 8, 11])
def test_the_wrong_row_of_a_handful_ranks_first(n):
    """By a reference, not by the distance of its target from the others'."""
    for seed in range(10):
        rng = np.random.default_rng([seed, n])
        X = rng.normal(size=(n, 1))
        y, wrong = 5.0 * X[:, 0] + 0.1 * rng.normal(size=n), rng.integers(n)
        y[wrong] += 10.0
        for options in ({}, {"predictions": 5.0 * X[:, 0]}):
            found = OutlierDetector(random_state=0).fit(X, y, **options)
            assert np.argmax(found.outlier_score_) == wrong
            assert found.inlier_mask_.all()
        told = RobustRegressor(contamination=1.01 / n, random_state=0).fit(X, y)
        assert np.flatnonzero(~told.inlier_mask_).tolist() == [wrong]
