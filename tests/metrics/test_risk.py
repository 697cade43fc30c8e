"""Scorers and loss quantiles."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_score

from lrisk.metrics import (
    clustering_accuracy,
    loss_quantiles,
    make_risk_scorer,
    risk_score,
    row_losses,
)


def test_row_losses():
    np.testing.assert_allclose(row_losses([1.0, 2.0], [3.0, 2.0]), [2.0, 0.0])
    np.testing.assert_allclose(row_losses([1.0], [3.0], "absolute"), [2.0])
    proba = np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(
        row_losses(["b", "a"], proba, "log"), -np.log([0.75, 0.5])
    )


def test_masks_and_absurd_sizes_are_refused():
    mask, y = np.array([False, True]), np.array([1.0, 2.0])
    masked = np.ma.array(y, mask=mask)
    for pair in ((masked, y), (y, masked)):
        with pytest.raises(ValueError, match="losses must be finite"):
            risk_score(*pair)
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        risk_score(y, y, sample_weight=masked)
    with pytest.raises(ValueError, match="losses must be finite"):
        loss_quantiles(masked, [0.5])
    with pytest.raises(ValueError, match="y_pred must be at most"):
        risk_score(y, 1e200 * y)
    with pytest.raises(TypeError, match="labels must be whole numbers"):
        clustering_accuracy([0, 1], np.ma.array([0, 1], mask=mask))


def test_mean_log_risk_is_log_loss():
    X, y = load_iris(return_X_y=True)
    proba = LogisticRegression(max_iter=1000).fit(X, y).predict_proba(X)
    got = risk_score(y, proba, spectrum="mean", loss="log")
    assert got == pytest.approx(log_loss(y, proba))


def test_scorer_survives_folds_without_a_class():
    X, y = load_iris(return_X_y=True)  # sorted by class
    scorer = make_risk_scorer("superquantile:0.5", "log")
    model = LogisticRegression(max_iter=1000).fit(X, y)
    assert scorer(model, X[:50], y[:50]) < 0
    scores = cross_val_score(
        model, X, y, scoring=scorer, cv=KFold(5, shuffle=True, random_state=0)
    )
    assert np.all(np.isfinite(scores))


def test_labels_give_the_order_of_the_columns():
    proba = [[0.9, 0.1], [0.2, 0.8]]
    np.testing.assert_allclose(
        row_losses(["a", "b"], proba, "log", labels=["b", "a"]), -np.log([0.1, 0.2])
    )


def test_scorer_takes_a_class_that_training_lacked():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X[y < 2], y[y < 2])
    assert make_risk_scorer("worst_case", "log")(model, X, y) < -700


def test_scorer_weights_and_sign():
    X = np.arange(6.0).reshape(-1, 1)
    y = np.array([0, 1, 2, 3, 4, 9.0])
    model = Ridge().fit(X, y)
    scorer = make_risk_scorer("worst_case", "absolute")
    assert scorer(model, X, y) == -np.abs(y - model.predict(X)).max()
    light = scorer(model, X, y, sample_weight=[1, 1, 1, 1, 1, 0])
    assert light == -np.abs(y - model.predict(X))[:5].max()


def test_quantiles_are_those_of_the_empirical_distribution():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=97)
    levels = np.linspace(0, 1, 30)
    expected = np.quantile(losses, levels, method="inverted_cdf")
    np.testing.assert_array_equal(loss_quantiles(losses, levels), expected)
    counts = rng.integers(0, 4, 97)
    np.testing.assert_array_equal(
        loss_quantiles(losses, levels, counts),
        loss_quantiles(np.repeat(losses, counts), levels),
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: row_losses([1.0], [1.0, 2.0]), "y_pred must be of shape"),
        (lambda: row_losses([1.0], [1.0], "hinge"), "loss must be one of"),
        (lambda: row_losses([0, 1], [0.5, 0.5], "log"), "a column for each class"),
        (
            lambda: row_losses([2], [[0.5, 0.5]], "log", labels=[0, 1]),
            "y_true must be among labels",
        ),
        (lambda: loss_quantiles([1.0], [1.5]), "levels must be within"),
        (lambda: make_risk_scorer("nothing"), "spectrum must be one of"),
        (lambda: make_risk_scorer("mean", "hinge"), "loss must be one of"),
        (lambda: risk_score([np.nan], [1.0]), "finite"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_accuracy_is_that_of_the_best_renaming():
    rng = np.random.default_rng(0)
    for k, c in ((3, 3), (2, 4), (4, 2)):
        y, labels = rng.integers(0, k, 60), rng.integers(0, c, 60)
        weight = rng.exponential(size=60)
        renamings = itertools.permutations(range(max(k, c)))
        right = [np.asarray(names)[labels] == y for names in renamings]
        best = max(agreed.mean() for agreed in right)
        assert clustering_accuracy(y, labels) == pytest.approx(best)
        heavy = max(np.average(agreed, weights=weight) for agreed in right)
        assert clustering_accuracy(y, labels, weight) == pytest.approx(heavy)


def test_accuracy_counts_trimmed_rows_as_wrong():
    assert clustering_accuracy(["a", "a", "b", "b"], [3, 3, 7, -1]) == 0.75
    assert clustering_accuracy([0, 1], [-1, -1]) == 0.0


def test_accuracy_refuses_what_are_not_clusters():
    with pytest.raises(ValueError, match="labels must be of shape"):
        clustering_accuracy([0, 1], [0])
    with pytest.raises(TypeError, match="labels must be whole numbers"):
        clustering_accuracy([0, 1], [0.5, 1.0])
    with pytest.raises(ValueError, match="y_true must be"):
        clustering_accuracy([], [])
