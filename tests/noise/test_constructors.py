"""Noises from replicates, reliabilities and privacy budgets."""

import numpy as np
import pytest
from scipy.stats import norm

from lrisk.noise import (
    CharacteristicNoise,
    GaussianNoise,
    KnownCovariance,
    LaplaceNoise,
    from_reliability,
    from_replicates,
    local_differential_privacy,
)


def test_replicates_give_the_covariance():
    rng = np.random.default_rng(0)
    cov = np.array([[0.5, 0.2], [0.2, 0.3]])
    X = 10 * rng.normal(size=(50_000, 2))
    P, Q = (X + rng.multivariate_normal([0, 0], cov, size=len(X)) for _ in range(2))
    noise = from_replicates(P, Q + 3.0)  # an offset between the copies is no noise
    np.testing.assert_allclose(noise.cov, cov, atol=0.02)
    assert type(noise) is KnownCovariance
    assert type(from_replicates(P, Q, gaussian=True)) is GaussianNoise


def test_reliability():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50_000, 2)) * [1.0, 2.0]
    noisy = X + rng.normal(size=X.shape) * [0.5, 0.0]
    noise = from_reliability([0.8, 1.0], noisy)
    np.testing.assert_allclose(noise.cov, [0.25, 0.0], atol=0.01)
    assert isinstance(from_reliability(0.5, noisy, gaussian=True), GaussianNoise)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_gaussian_mechanism_is_private_and_tight(epsilon, delta):
    """The hockey-stick divergence of N(0, σ²) and N(s, σ²) is δ, by integration."""
    s = 2.0
    noise = local_differential_privacy(
        "gaussian", epsilon=epsilon, delta=delta, sensitivity=s
    )
    sigma = np.sqrt(noise.cov)
    grid = np.linspace(-12 * sigma, s + 12 * sigma, 400_001)
    excess = norm.pdf(grid, s, sigma) - np.exp(epsilon) * norm.pdf(grid, 0, sigma)
    lost = np.trapezoid(excess.clip(0.0), grid)
    assert lost == pytest.approx(delta, rel=1e-3)
    if epsilon <= 1:  # tighter than the textbook's σ
        assert sigma < s * np.sqrt(2 * np.log(1.25 / delta)) / epsilon


def test_laplace_mechanism():
    noise = local_differential_privacy("laplace", epsilon=0.5, sensitivity=3.0)
    assert noise == LaplaceNoise(6.0)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: from_replicates(np.ones((3, 2)), np.ones((4, 2))), "shape of X1"),
        (lambda: from_replicates([[np.nan]], [[1.0]]), "finite"),
        (lambda: from_reliability(0.0, np.eye(3)), r"\(0, 1\]"),
        (lambda: from_reliability([0.5, 0.5], np.eye(3)), "ratio"),
        (lambda: from_reliability(0.5, [[1.0]]), "2 rows"),
        (lambda: local_differential_privacy("exponential", epsilon=1.0), "mechanism"),
        (lambda: local_differential_privacy("laplace", epsilon=0.0), "epsilon"),
        (lambda: local_differential_privacy("gaussian", epsilon=1.0), "delta"),
        (
            lambda: local_differential_privacy("laplace", epsilon=1.0, delta=0.1),
            "delta",
        ),
        (lambda: KnownCovariance(np.ones((2, 2, 2))), "noise_scale"),
        (lambda: KnownCovariance(np.inf), "finite"),
        (lambda: KnownCovariance(1.0, target_cov=np.eye(2)), "target_cov"),
        (lambda: KnownCovariance(1.0, target_cov="far"), "target_cov"),
        (lambda: KnownCovariance(1.0, target_cov=[[1.0], [2.0, 3.0]]), "target_cov"),
        # Products of what is larger overflow, and estimates become NaN.
        (lambda: KnownCovariance(1e97), "at most"),
        (lambda: KnownCovariance(1e97 * np.eye(2)), "at most"),
        (lambda: LaplaceNoise(1e97), "at most"),
        (lambda: KnownCovariance(1.0, target_cov=1e151), "at most"),
        (lambda: from_replicates(1e49 * np.eye(2), np.eye(2)), "X1 must be at most"),
        (lambda: from_reliability(0.5, 1e49 * np.eye(2)), "X must be at most"),
        (lambda: LaplaceNoise(np.eye(2)), "independent"),
        (lambda: LaplaceNoise(-1.0), "at least 0"),
    ],
)
def test_refusals(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_characteristic_functions_are_checked():
    omega = np.zeros((4, 2))
    with pytest.raises(ValueError, match="shape"):
        CharacteristicNoise(lambda w: np.ones((2, 2)), 1.0).characteristic(omega)
    with pytest.raises(ValueError, match="never exceeds 1"):
        CharacteristicNoise(lambda w: 2 * np.ones(4), 1.0).characteristic(omega)
    with pytest.raises(TypeError, match="callable"):
        CharacteristicNoise(1.0, 1.0)
    with pytest.raises(TypeError, match="numeric"):
        KnownCovariance("large")


def test_replicates_with_their_columns_in_another_order():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    P, Q = (pd.DataFrame(rng.normal(size=(9, 2)), columns=["a", "b"]) for _ in "12")
    with pytest.raises(ValueError, match="columns"):
        from_replicates(P, Q[["b", "a"]])
    assert from_replicates(P, Q) == from_replicates(P.to_numpy(), Q)
