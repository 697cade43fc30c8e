"""NoiseCorrectedClassifier and RegressionCalibration."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrisk import (
    NoiseCorrectedClassifier,
    NoiseCorrectedRegressor,
    NoiseMismatchWarning,
    RegressionCalibration,
)
from lrisk.noise import Exact, GaussianNoise, KnownCovariance, LaplaceNoise, Replicates


def classes(n=20_000, sigma=0.8, seed=5):
    rng = np.random.default_rng(seed)
    w, b = np.array([1.5, -1.0, 0.5]), 0.3
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < 1 / (1 + np.exp(-(X @ w + b)))
    copies = [X + sigma * rng.normal(size=X.shape) for _ in range(2)]
    return X, np.where(y, "yes", "no"), copies, w, b


@parametrize_with_checks(
    [
        NoiseCorrectedClassifier(Exact()),
        NoiseCorrectedClassifier(GaussianNoise(1e-3), standardize=True),
        RegressionCalibration(Exact()),
        RegressionCalibration(KnownCovariance(0.01)),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_logistic_regression(alpha, fit_intercept):
    X, y, _, _, _ = classes(n=300)
    ours = NoiseCorrectedClassifier(Exact(), alpha=alpha, fit_intercept=fit_intercept)
    theirs = LogisticRegression(C=1 / alpha, fit_intercept=fit_intercept, tol=1e-10)
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5
    )
    np.testing.assert_allclose(
        ours.predict_log_proba(X), np.log(ours.predict_proba(X)), rtol=1e-9
    )
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_conditional_score_recovers_the_clean_relation():
    _, y, (P, Q), w, b = classes()
    naive = LogisticRegression().fit(P, y)
    assert np.linalg.norm(naive.coef_[0] - w) > 0.5
    fits = [
        NoiseCorrectedClassifier(GaussianNoise(0.64)).fit(P, y),
        NoiseCorrectedClassifier(GaussianNoise(0.64)).fit(P, y, X2=Q),
        NoiseCorrectedClassifier().fit(P, y, X2=Q),
        NoiseCorrectedClassifier(Replicates(), standardize=True).fit(P, y, X2=Q),
        NoiseCorrectedClassifier(KnownCovariance(1.0)).fit(
            P, y, noise_scale=np.full(len(y), 0.64)
        ),
    ]
    for model in fits:
        assert np.linalg.norm(model.coef_[0] - w) < 0.15
        assert model.intercept_[0] == pytest.approx(b, abs=0.08)
        assert model.correction_ == 1.0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rows", ["shared", "own"])
@pytest.mark.parametrize("K", [2, 4])
def test_derivative_of_the_score(K, rows, intercept):
    from lrisk.corrections import ConditionalScore, MultinomialScore
    from lrisk.corrections.covariances import RowDiagonal, SharedFull

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.arange(50.0) % K
    root = rng.normal(size=(3, 3))
    cov = {
        "shared": SharedFull(0.2 * root @ root.T, np.ones(50)),
        "own": RowDiagonal(rng.uniform(0.0, 0.5, size=(50, 3))),
    }[rows]
    kind = ConditionalScore if K == 2 else MultinomialScore
    score = kind(X, y, cov, 0.1, intercept, rng.uniform(0.5, 2.0, 50))
    theta, h = rng.normal(size=score.size), 1e-6
    columns = [
        (score.score(theta + h * e, 0.7) - score.score(theta - h * e, 0.7)) / (2 * h)
        for e in np.eye(score.size)
    ]
    np.testing.assert_allclose(
        np.array(columns).T, score.derivative(theta, 0.7), atol=1e-7
    )
    loss, gradient = score._naive(theta)
    for j, e in enumerate(np.eye(score.size)):
        slope = (score._naive(theta + h * e)[0] - loss) / h
        assert slope == pytest.approx(gradient[j], abs=1e-5)


def several(n=40_000, sigma=0.6, seed=7):
    """Three classes by softmax of the clean rows, which are not Gaussian."""
    rng = np.random.default_rng(seed)
    W = np.array([[1.5, 0.0], [-1.0, 1.0], [-0.5, -1.0]])
    b = np.array([0.2, -0.3, 0.1])
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    y = np.argmax(X @ W.T + b + rng.gumbel(size=(n, 3)), axis=1)
    copies = [X + sigma * rng.normal(size=X.shape) for _ in range(2)]
    return X, y, copies, W, b


@pytest.mark.parametrize("alpha", [0.1, 30.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_several_classes_without_noise_are_multinomial_regression(alpha, fit_intercept):
    X, y, _, _, _ = several(n=300)
    ours = NoiseCorrectedClassifier(Exact(), alpha=alpha, fit_intercept=fit_intercept)
    theirs = LogisticRegression(C=1 / alpha, fit_intercept=fit_intercept, tol=1e-10)
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5
    )
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_several_classes_recover_the_clean_relation():
    """Only differences between the classes mean anything: compare them."""
    _, y, (P, Q), W, b = several()

    def off(model):
        found = np.column_stack([model.coef_, model.intercept_])
        truth = np.column_stack([W, b])
        return np.abs(found - found[0] - (truth - truth[0])).max()

    assert off(LogisticRegression().fit(P, y)) > 0.5
    cov = np.array([[0.36, 0.0], [0.0, 0.36]])
    for model in (
        NoiseCorrectedClassifier(GaussianNoise(0.36)).fit(P, y),
        NoiseCorrectedClassifier(GaussianNoise(cov), standardize=True).fit(P, y),
        NoiseCorrectedClassifier().fit(P, y, X2=Q),
        NoiseCorrectedClassifier(GaussianNoise(0.36)).fit(P, y, X2=Q),
        NoiseCorrectedClassifier(GaussianNoise(1.0)).fit(
            P, y, noise_scale=np.full(len(y), 0.36)
        ),
    ):
        assert off(model) < 0.15
        assert model.correction_ == 1.0
        assert model.decision_function(P).shape == (len(y), 3)


@pytest.mark.parametrize("copies", [1, 2])
def test_the_score_of_several_classes_is_zero_on_average_at_the_truth(copies):
    """By simulation: mean of the score over a million rows, in standard errors."""
    from lrisk.corrections import MultinomialScore
    from lrisk.corrections.covariances import SharedDiagonal

    _, y, (P, Q), W, b = several(n=400_000)
    X = P if copies == 1 else 0.5 * (P + Q)
    cov = SharedDiagonal(np.full(2, 0.36), np.full(len(y), 1.0 / copies))
    theta = np.column_stack([W, b]).ravel()
    for share, limit in ((1.0, 5.0), (0.0, None)):
        score = MultinomialScore(X, y.astype(float), cov, 0.0, True)
        delta, _, residual, _ = score._at(theta, share)
        rows = residual[:, :, None] * score._with_one(delta)[:, None, :]
        z = np.abs(rows.mean(axis=0) / rows.std(axis=0)) * np.sqrt(len(y))
        assert z.max() < limit if limit else z.max() > 20.0


def test_a_mean_of_the_targets_noise_means_nothing_for_classes():
    X, y, _, _, _ = classes(n=60)
    with pytest.raises(ValueError, match="target_mean"):
        NoiseCorrectedClassifier(GaussianNoise(0.1, target_mean=1.0)).fit(X, y)


def test_unfinished_fits_warn_and_are_kept():
    X, y, _, _, _ = classes(n=200)
    model = NoiseCorrectedClassifier(GaussianNoise(0.3), max_iter=2)
    with pytest.warns(ConvergenceWarning, match="over-stated"):
        model.fit(X, y)
    assert model.correction_ == 0.0
    naive = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, naive.coef_, atol=0.02)


@pytest.mark.parametrize(
    ("noise", "match"),
    [(None, "X2"), (LaplaceNoise(0.3), "Gaussian"), (Replicates(), "X2")],
)
def test_what_the_classifier_refuses(noise, match):
    X, y, _, _, _ = classes(n=100)
    model = NoiseCorrectedClassifier(noise)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)
    assert vars(model) == before


def test_calibrated_least_squares_is_corrected_least_squares():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    y = X @ np.ones(4)
    cov = 0.2 * np.eye(4) + 0.05
    noise = GaussianNoise(cov)
    noisy = X + noise.sample(rng, X.shape)
    hat = RegressionCalibration(noise).fit_transform(noisy)
    ours = NoiseCorrectedRegressor(noise, alpha=0.0).fit(noisy, y)
    np.testing.assert_allclose(
        LinearRegression().fit(hat, y).coef_, ours.coef_, rtol=1e-6
    )


@pytest.mark.parametrize("known", [True, False])
def test_calibration_helps_other_estimators(known):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 2))
    f = np.abs(X[:, 0]) + X[:, 1]
    P, Q = (X + 0.5 * rng.normal(size=X.shape) for _ in range(2))
    calibration = RegressionCalibration(KnownCovariance(0.25) if known else None)
    hat = calibration.fit_transform(P, X2=Q)
    assert np.mean((hat - X) ** 2) < 0.95 * np.mean((0.5 * (P + Q) - X) ** 2)
    np.testing.assert_allclose(
        calibration.noise_covariance_, 0.25 * np.eye(2), atol=0.03
    )
    forest = HistGradientBoostingRegressor(max_iter=60, random_state=0)
    errors = [
        np.mean((forest.fit(rows, f).predict(X) - f) ** 2)
        for rows in (hat, 0.5 * (P + Q))
    ]
    assert errors[0] < errors[1]


def test_calibration_by_rows_and_with_constant_features():
    rng = np.random.default_rng(3)
    X = np.c_[rng.normal(size=(300, 2)), np.ones(300)]
    noise = KnownCovariance([0.3, 0.3, 0.0])
    noisy = X + rng.normal(size=X.shape) * np.sqrt([0.3, 0.3, 0.0])
    model = RegressionCalibration(noise).fit(noisy)
    plain = model.transform(noisy)
    np.testing.assert_allclose(plain[:, 2], 1.0)
    variances = np.tile([0.3, 0.3, 0.0], (300, 1))
    for scale in (np.ones(300), variances, np.stack([np.diag(v) for v in variances])):
        np.testing.assert_allclose(model.transform(noisy, noise_scale=scale), plain)


@pytest.mark.parametrize("estimated", [True, False])
def test_calibration_corrects_rows_by_the_share_asked_for(estimated):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    noisy, other = (X + 0.5 * rng.normal(size=X.shape) for _ in range(2))
    noise = None if estimated else KnownCovariance(0.25)
    model = RegressionCalibration(noise, correction=0.5)
    model.fit(noisy, X2=other if estimated else None)
    cov = model.noise_covariance_ if estimated else 0.25 * np.eye(2)
    plain = model.transform(noisy)
    by_hand = model.covariance_ @ np.linalg.inv(model.covariance_ + 0.5 * cov)
    center = model.location_
    np.testing.assert_allclose(plain, center + (noisy - center) @ by_hand.T)
    scales = [np.ones(300), np.broadcast_to(cov, (300, 2, 2))]
    scales += [] if estimated else [np.full((300, 2), 0.25)]
    for scale in scales:
        np.testing.assert_allclose(model.transform(noisy, noise_scale=scale), plain)


def test_calibration_of_clean_rows_belongs_to_the_last_step():
    """The caveat of the docstring: a pipeline shrinks clean rows as well."""
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(5)
    x = rng.normal(size=(20_000, 1))
    noisy = x + rng.normal(size=x.shape)
    calibration = RegressionCalibration(KnownCovariance(1.0))
    pipeline = make_pipeline(calibration, LinearRegression()).fit(noisy, 2 * x[:, 0])
    clean = np.array([[0.0], [1.0]])
    assert np.diff(pipeline[-1].predict(clean))[0] == pytest.approx(2.0, abs=0.1)
    assert np.diff(pipeline.predict(clean))[0] == pytest.approx(1.0, abs=0.1)


def test_noise_beyond_what_is_seen_draws_a_warning():
    X, y, _, _, _ = classes(n=300)
    with pytest.warns(NoiseMismatchWarning, match="larger than the variance") as seen:
        RegressionCalibration(KnownCovariance(9.0)).fit(X)
    assert seen[0].filename == __file__
    model = NoiseCorrectedClassifier(GaussianNoise(9.0), alpha=1e4)
    with pytest.warns(NoiseMismatchWarning, match="larger") as seen:
        model.fit(X, y)
    assert seen[0].filename == __file__


def test_noise_correlated_with_classes_is_refused():
    X, y, _, _, _ = classes(n=100)
    model = NoiseCorrectedClassifier(GaussianNoise(0.1, target_cov=0.05))
    with pytest.raises(ValueError, match="target_cov"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
