"""A known mean of the noise is deducted, once, from rows and targets."""

import numpy as np
import pytest

from lrisk import (
    NoiseCorrectedClassifier,
    NoiseCorrectedKernelRegressor,
    NoiseCorrectedRegressor,
    RegressionCalibration,
)
from lrisk.corrections import (
    Gaussian,
    RandomFeatures,
    Surrogate,
    corrected_gradients,
    corrected_losses,
    corrected_rows,
)
from lrisk.metrics import corrected_risk
from lrisk.noise import (
    NOISES,
    CharacteristicNoise,
    Exact,
    GaussianNoise,
    KnownCovariance,
    LaplaceNoise,
    Replicates,
)

MEAN, SHIFT = np.array([1.5, -0.75]), 2.0


def gaussian_phi(omega):
    return np.exp(-0.5 * 0.09 * (omega**2).sum(axis=1))


def noises(**options):
    """Every noise by name, σ² = 0.09."""
    return {
        "exact": Exact(**options),
        "replicates": Replicates(**options),
        "known_covariance": KnownCovariance(0.09, **options),
        "gaussian": GaussianNoise(0.09, **options),
        "laplace": LaplaceNoise(np.sqrt(0.045), **options),
        "characteristic": CharacteristicNoise(gaussian_phi, 0.09, **options),
    }


def test_every_noise_takes_a_mean():
    assert set(noises()) == set(NOISES)
    for name, noise in noises(mean=MEAN, target_mean=SHIFT).items():
        np.testing.assert_array_equal(noise.expectation(2), MEAN)
        assert noise.centred() == noises()[name]
        assert noise.centred().centred() is not noise
        half = noise.rescaled(np.array([2.0, 4.0]))
        np.testing.assert_allclose(half.expectation(2), MEAN / [2.0, 4.0])
        assert half.target_mean == SHIFT
        assert "mean" in repr(noise)
        assert "mean" not in repr(noises()[name])


@pytest.mark.parametrize("mean", [np.nan, "far", np.zeros((2, 2)), [1.0, None]])
def test_means_that_cannot_be(mean):
    with pytest.raises(ValueError, match="mean must be finite"):
        GaussianNoise(1.0, mean=mean)
    with pytest.raises(ValueError, match="mean must be at most"):
        GaussianNoise(1.0, mean=1e49)
    with pytest.raises(ValueError, match="target_mean must be a number in"):
        GaussianNoise(1.0, target_mean=1e103)
    noise = GaussianNoise(1.0, mean=np.ones(3))
    with pytest.raises(ValueError, match="for 2 features"):
        NoiseCorrectedRegressor(noise).fit(np.eye(2), [0.0, 1.0])


@pytest.mark.parametrize("name", ["gaussian", "laplace", "exact"])
def test_draws_have_the_stated_mean(name):
    noise = noises(mean=MEAN)[name]
    draws = noise.sample(np.random.default_rng(0), (200_000, 2))
    spread = draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12
    assert np.abs((draws.mean(axis=0) - MEAN) / spread).max() < 5.0


@pytest.mark.parametrize("name", ["known_covariance", "gaussian", "laplace"])
def test_loss_and_gradient_are_unbiased_after_deduction(name):
    """E over the noise at one clean row, in standard errors; not so before."""
    rng = np.random.default_rng(1)
    noise = noises(mean=MEAN, target_mean=SHIFT)[name]
    own = noise if name == "laplace" else GaussianNoise(0.09, mean=MEAN)
    x, w, n = np.array([0.3, -1.0]), np.array([0.8, 0.4]), 200_000
    rows = x + own.sample(rng, (n, 2))
    y = 0.5 + SHIFT + 0.2 * rng.normal(size=n)
    for deducted in (True, False):
        seen = rows - noise.expectation(2) * deducted
        target = y - noise.target_mean * deducted
        corrected = corrected_rows(seen[None], noise.centred())
        found = np.column_stack(
            [
                corrected_gradients(corrected, target, w),
                corrected_losses(corrected, target, w),
            ]
        )
        residual = x @ w - 0.5
        truth = np.append(2.0 * residual * x, residual**2 + 0.04)
        z = (found.mean(axis=0) - truth) / found.std(axis=0) * np.sqrt(n)
        assert np.abs(z).max() < 5.0 if deducted else np.abs(z).max() > 50.0


def test_corrections_refuse_a_mean_that_nobody_deducted():
    noise = GaussianNoise(0.09, mean=1.0)
    with pytest.raises(ValueError, match="expectation"):
        corrected_rows(np.zeros((1, 3, 2)), noise)
    with pytest.raises(ValueError, match="expectation"):
        Surrogate(Gaussian(2.0), noise, 2)
    with pytest.raises(ValueError, match="expectation"):
        RandomFeatures(Gaussian(2.0), noise, 2, 10, np.random.default_rng(0))


def problem(n=300):
    """Numbers of few binary digits: adding the mean and deducting it rounds nothing."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    copies = [X + 0.3 * rng.normal(size=X.shape) for _ in range(2)]
    return X, _short(y), [_short(copy) for copy in copies]


def _short(values):
    return np.round(values * 2.0**20) / 2.0**20


features = {"random_features": True, "n_components": 40}
FORMS = {
    "linear, naive": (NoiseCorrectedRegressor, "exact", {}),
    "linear, one copy": (NoiseCorrectedRegressor, "known_covariance", {}),
    "linear, two copies": (NoiseCorrectedRegressor, "replicates", {}),
    "linear, standardised": (
        NoiseCorrectedRegressor, "gaussian", {"standardize": True},
    ),
    "linear, not corrected": (NoiseCorrectedRegressor, "gaussian", {"correction": 0.0}),
    "kernel, naive": (NoiseCorrectedKernelRegressor, "exact", {}),
    "kernel": (NoiseCorrectedKernelRegressor, "gaussian", {"alpha": 1.0}),
    "kernel, budget": (
        NoiseCorrectedKernelRegressor, "gaussian", {"budget": 20, "alpha": 1.0},
    ),
    "kernel, Laplace": (NoiseCorrectedKernelRegressor, "laplace", {"alpha": 1.0}),
    "kernel, features": (
        NoiseCorrectedKernelRegressor, "characteristic", {**features, "alpha": 1.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
@pytest.mark.parametrize("form", FORMS)
def test_the_fit_is_that_of_the_rows_less_the_mean(form, way):
    """Paper 3, section 2: the case reduces to that of mean zero."""
    kind, name, options = FORMS[form]
    if kind is NoiseCorrectedKernelRegressor:
        options = {"gamma": 0.3, "random_state": 0, **options}
    X, y, (P, Q) = problem()
    X2 = None if "naive" in form or "one copy" in form else Q
    centred, moved = (
        kind(noise, **options)
        for noise in (noises()[name], noises(mean=MEAN, target_mean=SHIFT)[name])
    )
    getattr(centred, way)(P, y, X2=X2)
    shifted = None if X2 is None else X2 + MEAN
    getattr(moved, way)(P + MEAN, y + SHIFT, X2=shifted)
    np.testing.assert_allclose(moved.predict(X), centred.predict(X), atol=1e-8)
    noisy = centred.predict_from_noisy(P)
    np.testing.assert_allclose(moved.predict_from_noisy(P + MEAN), noisy, atol=1e-8)


def test_classes_and_calibration_deduct_it_too():
    X, y, (P, Q) = problem()
    for labels in (y > 0, np.digitize(y, [-0.5, 0.5])):
        one, other = (
            NoiseCorrectedClassifier(GaussianNoise(0.09, mean=mean)).fit(rows, labels)
            for mean, rows in ((0.0, P), (MEAN, P + MEAN))
        )
        np.testing.assert_allclose(
            other.predict_proba(X), one.predict_proba(X), atol=1e-7
        )
    for X2 in (None, Q):
        one, other = (
            RegressionCalibration(KnownCovariance(0.09, mean=mean))
            for mean in (0.0, MEAN)
        )
        first = one.fit_transform(P, X2=X2)
        second = other.fit_transform(P + MEAN, X2=None if X2 is None else X2 + MEAN)
        np.testing.assert_allclose(second, first, atol=1e-9)


def test_the_risk_deducts_it():
    _, y, (P, _) = problem()
    risks = [
        corrected_risk(NoiseCorrectedRegressor(noise).fit(rows, target), rows, target)
        for noise, rows, target in (
            (KnownCovariance(0.09), P, y),
            (KnownCovariance(0.09, mean=MEAN, target_mean=SHIFT), P + MEAN, y + SHIFT),
        )
    ]
    assert risks[0] == pytest.approx(risks[1], rel=1e-9)


def test_a_stream_of_rivers_rows_deducts_it():
    pytest.importorskip("river")
    from lrisk.river import LinearRegressor

    _, y, (P, _) = problem(60)
    learners = [
        LinearRegressor(KnownCovariance(0.09)),
        LinearRegressor(KnownCovariance(0.09, mean=MEAN, target_mean=SHIFT)),
    ]
    for row, value in zip(P, y):
        learners[0].learn_one(dict(enumerate(row)), value)
        learners[1].learn_one(dict(enumerate(row + MEAN)), value + SHIFT)
    probe = {0: 0.3, 1: -0.2}
    found = [learner.predict_one(probe) for learner in learners]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
