"""The likelihood of noisy labels and its fits, against scikit-learn and scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from lrisk.procedures.label_noise.basis import linear_basis
from lrisk.procedures.label_noise.folds import LabelledRows, assign_folds
from lrisk.procedures.label_noise.likelihood import (
    class_scores,
    fit_logistic,
    held_out_scores,
    label_terms,
    probabilities,
    surprise,
    uniform_noise,
)


def table(n_classes, n=120, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=n_classes, random_state=seed
    )
    return (X - X.mean(0)) / X.std(0), y


def rows_of(X, y, n_classes):
    return LabelledRows.of(X, y, n_classes)


def biased_noise(n_classes, seed=0):
    """A class-conditional T."""
    rng = np.random.default_rng(seed)
    return 0.7 * np.eye(n_classes) + 0.3 * rng.dirichlet(np.ones(n_classes), n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.1, 30.0])
def test_without_noise_the_fit_is_logistic_regression(n_classes, alpha):
    X, y = table(n_classes)
    theta = fit_logistic(X, rows_of(X, y, n_classes), alpha)
    peer = LogisticRegression(C=1 / alpha, fit_intercept=False, tol=1e-10).fit(X, y)
    expected = peer.coef_.T
    assert np.allclose(theta, expected, atol=1e-5 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("biased", [False, True])
def test_forward_corrected_fit_is_a_minimum_of_its_likelihood(n_classes, biased):
    X, y = table(n_classes)
    T = biased_noise(n_classes) if biased else uniform_noise(0.3, n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    k = 1 if n_classes == 2 else n_classes

    def loss(flat):
        scores = X @ flat.reshape(-1, k)
        if k == 1:
            scores = np.hstack([np.zeros((len(X), 1)), scores])
        p = np.exp(log_softmax(scores, axis=1))
        likelihood = (p @ T)[np.arange(len(y)), y]
        return -weight @ np.log(likelihood) + 0.5 * 2.0 * flat @ flat

    rows = rows_of(X, y, n_classes)._replace(weight=weight)
    ordinary = fit_logistic(X, rows, 2.0)
    theta = fit_logistic(X, rows, 2.0, T, ordinary).ravel()
    lowest = minimize(loss, theta, method="BFGS", options={"gtol": 1e-8})
    assert loss(theta) - lowest.fun < 1e-6
    assert loss(theta) < loss(ordinary.ravel())


@pytest.mark.parametrize("k", [1, 3])
def test_surprise_is_that_of_the_probabilities(k):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(0, 3, (40, k)), rng.integers(0, max(k, 2), 40)
    p = probabilities(scores)[np.arange(40), codes]
    assert np.allclose(surprise(scores, codes), -np.log(p))
    assert np.all(np.isfinite(surprise(1e4 * scores, codes)))


def test_held_out_scores_are_those_of_fits_without_the_fold():
    X, y = table(2)
    features = linear_basis(X, np.ones(len(y))).features
    folds = assign_folds(y, 5, np.random.default_rng(0))
    alphas = np.array([10.0, 1.0])
    rows = rows_of(X, y, 2)
    scores = held_out_scores(features, rows, folds, alphas)
    out = folds == 2
    peer = LogisticRegression(C=0.1, fit_intercept=False, tol=1e-10)
    expected = peer.fit(features[~out], y[~out]).decision_function(features[out])
    assert np.allclose(scores[0, out, 0], expected, atol=1e-3)
    some = np.array([(folds != f) & (np.arange(len(y)) % 3 > 0) for f in range(5)])
    fewer = held_out_scores(features, rows, folds, alphas, learnt=some)
    peer.fit(features[some[2]], y[some[2]])
    expected = peer.decision_function(features[out])
    assert np.allclose(fewer[0, out, 0], expected, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("biased", [False, True])
def test_probability_of_a_wrong_label_is_its_frequency(n_classes, biased):
    rng = np.random.default_rng(0)
    n = 200_000
    T = biased_noise(n_classes) if biased else uniform_noise(0.3, n_classes)
    scores = rng.normal(0, 2, size=(n, 1 if n_classes == 2 else n_classes))

    def draw(p):
        codes = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
        return np.minimum(codes, n_classes - 1)

    truth = draw(probabilities(scores))
    seen = draw(T[truth])
    logs, p, posterior = label_terms(class_scores(scores), seen, T)
    assert np.allclose(np.exp(logs), (p @ T)[np.arange(n), seen])
    chance = 1.0 - posterior[np.arange(n), seen]
    for low in (0.0, 0.2, 0.5, 0.8):
        rows = (chance >= low) & (chance < low + 0.2)
        if rows.sum() > 2000:
            wrong = truth[rows] != seen[rows]
            assert wrong.mean() == pytest.approx(chance[rows].mean(), abs=0.02)
