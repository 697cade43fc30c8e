"""The parts of the search for wrong labels, against scikit-learn, scipy, simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression

from lrisk.procedures.label_fits import (
    LabelModel,
    assign_folds,
    held_out_scores,
    kernel_basis,
    linear_basis,
    noise_terms,
    probabilities,
    surprise,
    wrong_label,
)
from lrisk.procedures.label_rows import (
    column_units,
    gross_rows,
    in_units,
    plain_scaling,
    weighted_quantiles,
)
from lrisk.procedures.label_selection import SHARES, judge, share_of_noise
from lrisk.spaces import Kernel


def table(n_classes, n=120, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=n_classes, random_state=seed
    )
    return (X - X.mean(0)) / X.std(0), y


# -- rows ------------------------------------------------------------------------------


def test_quantiles_count_weights_as_copies():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)), rng.integers(1, 5, 40)
    copies = np.repeat(X, weight, axis=0)
    levels = [0.1, 0.25, 0.5, 0.75]
    expected = np.quantile(copies, levels, axis=0, method="inverted_cdf")
    found = weighted_quantiles(X, weight.astype(float), levels)
    assert np.array_equal(found, expected)


def test_scaling_is_standardisation_where_nothing_is_far_out():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(200, 4))
    scaling = plain_scaling(X, np.ones(200))
    assert np.allclose(scaling.centre, X.mean(0))
    assert np.allclose(scaling.scale, X.std(0))


def test_units_are_exact_and_huge_values_finite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1e-300, 1.0, 1e160, 0.0]
    X[:3, 1] = 1e300
    units = column_units(X)
    assert np.all(np.frexp(units)[0] == 0.5)
    inside = in_units(X, units)
    assert np.array_equal((inside * units)[:, [0, 2, 3]], X[:, [0, 2, 3]])
    assert np.array_equal((inside * units)[3:], X[3:])
    assert np.all(inside[:3, 1] == 1e30)
    assert np.all(np.abs(np.delete(inside, 1, axis=1)) < 1e3)


@pytest.mark.parametrize("fraction", [0.05, 0.4])
@pytest.mark.parametrize("d", [3, 13])
def test_rows_times_hundred_are_gross(fraction, d):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, d))
    wrong = rng.random(300) < fraction
    X[wrong] *= 100
    found = gross_rows(X, rng.integers(0, 2, 300), np.ones(300))
    assert not found[~wrong].any()
    assert found[wrong].mean() > 0.95


def test_far_rows_do_not_hide_behind_their_own_scale():
    caught = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 5))
        wrong = rng.random(250) < 0.4
        X[wrong] *= 100
        caught.append(gross_rows(X, rng.integers(0, 2, 250), np.ones(250))[wrong])
    assert np.mean(np.concatenate(caught)) > 0.995


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(400, 8)),
        lambda rng: rng.lognormal(0.0, 1.5, size=(400, 8)),
        lambda rng: rng.standard_t(3, size=(400, 8)),
        lambda rng: np.eye(8)[rng.integers(0, 8, 400)],
        lambda rng: (rng.random((400, 8)) < 0.02).astype(float),
        lambda rng: rng.lognormal(0.0, 1.0, size=(400, 1)),
        lambda rng: np.round(rng.exponential(0.3, size=(400, 2))),
        lambda rng: np.ones((400, 2)),
    ],
)
def test_awkward_features_are_not_gross(draw):
    counts = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = gross_rows(draw(rng), rng.integers(0, 2, 400), np.ones(400))
        counts.append(found.mean())
    assert np.mean(counts) <= 0.002


def test_a_class_somewhere_else_is_not_gross():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(200, 5)), np.repeat([0, 1], [160, 40])
    X[codes == 1] *= 100
    assert not gross_rows(X, codes, np.ones(200)).any()


# -- fits ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.1, 30.0])
def test_without_noise_the_fit_is_logistic_regression(n_classes, alpha):
    X, y = table(n_classes)
    theta = LabelModel(X, y, n_classes, np.ones(len(y))).fit(alpha)
    peer = LogisticRegression(C=1 / alpha, fit_intercept=False, tol=1e-10).fit(X, y)
    expected = peer.coef_.T
    assert np.allclose(theta, expected, atol=1e-5 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rho", [0.1, 0.4])
def test_mixture_fit_is_a_minimum_of_its_likelihood(n_classes, rho):
    X, y = table(n_classes)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, len(y))
    k = 1 if n_classes == 2 else n_classes

    def loss(flat):
        scores = X @ flat.reshape(-1, k)
        if k == 1:
            p = expit(np.where(y == 1, scores[:, 0], -scores[:, 0]))
        else:
            p = np.exp(log_softmax(scores, axis=1))[np.arange(len(y)), y]
        likelihood = (1 - rho) * p + rho * (1 - p) / (n_classes - 1)
        return -weight @ np.log(likelihood) + 0.5 * 2.0 * flat @ flat

    model = LabelModel(X, y, n_classes, weight)
    theta = model.fit(2.0, rho, model.fit(2.0)).ravel()
    lowest = minimize(loss, theta, method="BFGS", options={"gtol": 1e-8})
    assert loss(theta) - lowest.fun < 2e-3
    assert loss(theta) < loss(model.fit(2.0).ravel())


def test_conjugate_gradients_agree_with_the_dense_hessian(monkeypatch):
    X, y = table(3)
    model = LabelModel(X, y, 3, np.ones(len(y)))
    dense = model.fit(1.0, 0.2)
    monkeypatch.setattr("lrisk.procedures.label_fits.DENSE", 0)
    assert np.allclose(model.fit(1.0, 0.2), dense, atol=1e-3)


def test_kernel_basis_spans_the_centred_kernel():
    X, _ = table(2, n=60)
    K = Kernel("rbf", gamma=0.3)(X, X)
    mass = np.full(60, 1 / 60)
    basis = kernel_basis(K, mass, True, 6)
    H = np.eye(60) - 1 / 60
    features = basis.features[:, :-1]
    assert np.allclose(features @ features.T, H @ K @ H, atol=1e-7)
    theta = np.random.default_rng(0).normal(size=(basis.features.shape[1], 2))
    coefficients, intercept = basis.coefficients(theta)
    assert np.allclose(K @ coefficients + intercept, basis.features @ theta, atol=1e-6)


@pytest.mark.parametrize("shape", [(50, 4), (8, 30)])
def test_linear_basis_gives_back_coefficients_of_the_columns(shape):
    rng = np.random.default_rng(0)
    Z = rng.normal(2.0, 1.0, size=shape)
    basis = linear_basis(Z, np.full(len(Z), 1 / len(Z)), True)
    theta = rng.normal(size=(basis.features.shape[1], 1))
    coefficients, intercept = basis.coefficients(theta)
    assert coefficients.shape == (shape[1], 1)
    assert np.allclose(Z @ coefficients + intercept, basis.features @ theta)


def test_folds_hold_every_class_and_never_a_lone_row():
    codes = np.repeat([0, 1, 2, 3], [50, 7, 2, 1])
    folds = assign_folds(codes, 5, np.random.default_rng(0))
    assert folds[-1] == -1 and np.all(folds[:-1] >= 0)
    for fold in range(5):
        assert set(codes[folds != fold]) == {0, 1, 2, 3}


def test_rows_of_one_place_share_a_fold():
    rng = np.random.default_rng(0)
    places, codes = rng.integers(0, 20, 100), rng.integers(0, 2, 100)
    folds = assign_folds(codes, 5, rng, places)
    for place in range(20):
        assert len(set(folds[places == place])) == 1
    assert set(folds) == set(range(5))


@pytest.mark.parametrize("k", [1, 3])
def test_surprise_is_that_of_the_probabilities(k):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(0, 3, (40, k)), rng.integers(0, max(k, 2), 40)
    p = probabilities(scores)[np.arange(40), codes]
    assert np.allclose(surprise(scores, codes), -np.log(p))
    assert np.all(np.isfinite(surprise(1e4 * scores, codes)))


def test_held_out_scores_are_those_of_fits_without_the_fold():
    X, y = table(2)
    folds = assign_folds(y, 5, np.random.default_rng(0))
    alphas = np.array([1.0, 10.0])
    scores = held_out_scores(X, y, 2, np.ones(len(y)), folds, alphas)
    out = folds == 2
    peer = LogisticRegression(C=0.1, fit_intercept=False, tol=1e-10)
    expected = peer.fit(X[~out], y[~out]).decision_function(X[out])
    assert np.allclose(scores[1, out, 0], expected, atol=1e-5)


# -- the share of wrong labels ---------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probability_of_a_wrong_label_is_its_frequency(n_classes):
    rng = np.random.default_rng(0)
    n, rho = 200_000, 0.3
    p = probabilities(rng.normal(0, 2, size=(n, 1 if n_classes == 2 else n_classes)))
    truth = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    truth = np.minimum(truth, n_classes - 1)
    wrong = rng.random(n) < rho
    seen = np.where(wrong, truth + rng.integers(1, n_classes, n), truth) % n_classes
    chance = wrong_label(p[np.arange(n), seen], rho, n_classes)
    for low in (0.0, 0.2, 0.5, 0.8):
        rows = (chance >= low) & (chance < low + 0.2)
        if rows.sum() > 2000:
            assert wrong[rows].mean() == pytest.approx(chance[rows].mean(), abs=0.02)


def simulated(rho, n_classes, seed, n=600, threshold=1.0):
    """Held-out scores of a good but badly scaled model, and noisy labels."""
    rng = np.random.default_rng(seed)
    k = 1 if n_classes == 2 else n_classes
    scores = rng.normal(0, 3.0, size=(n, k))
    p = probabilities(scores)
    truth = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    truth = np.minimum(truth, n_classes - 1)
    wrong = rng.random(n) < rho
    seen = np.where(wrong, truth + rng.integers(1, n_classes, n), truth) % n_classes
    verdict = judge(
        "linear", None, 1.0, 0.0, 0.01 * scores[None], seen, n_classes, np.ones(n)
    )
    return share_of_noise([verdict], np.ones(n), rng, threshold=threshold)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_share_is_found_and_covered(n_classes):
    for rho in (0.15, 0.3):
        found = [
            simulated(rho, n_classes, seed, n=3000, threshold=-np.inf)
            for seed in range(15)
        ]
        assert np.mean([f.share for f in found]) == pytest.approx(rho, abs=0.03)
        assert np.mean([f.low <= rho <= f.high for f in found]) >= 0.75


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_share_where_no_label_is_wrong(n_classes):
    found = [simulated(0.0, n_classes, seed) for seed in range(15)]
    assert np.mean([f.share == 0.0 for f in found]) >= 0.9
    assert all(f.low == 0.0 for f in found if f.share == 0.0)


def test_impossible_shares_are_left_out():
    _, rest = noise_terms(float(SHARES[-1]), 2)
    assert rest > 0
    X, y = make_blobs(60, centers=2, random_state=0)
    verdict = judge("linear", None, 1.0, 0.0, X[None, :, :1], y, 2, np.ones(60))
    assert np.all(np.isfinite(verdict.likelihood))
    assert np.all(np.isfinite(verdict.slopes))
