"""Mixtures of Gaussians: the kernels they stand for, and the errors they report."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from lrisk.corrections import Gaussian, Laplacian, Matern, RationalQuadratic, Surrogate
from lrisk.corrections.surrogates import narrowest_width
from lrisk.noise import Exact, GaussianNoise, LaplaceNoise

PEERS = [
    (Matern(1.5, 2.0), gp.Matern(2.0, nu=1.5)),
    (Matern(2.5, 0.7), gp.Matern(0.7, nu=2.5)),
    (Laplacian(1.3), gp.Matern(1.3, nu=0.5)),
    (RationalQuadratic(1.5, 6.0), gp.RationalQuadratic(np.sqrt(2.0), alpha=1.5)),
    (Gaussian(3.0), gp.RBF(np.sqrt(1.5))),
]


@pytest.mark.parametrize(("kernel", "peer"), PEERS, ids=lambda k: str(k)[:24])
def test_kernels_are_scikit_learns(kernel, peer):
    X = np.random.default_rng(0).normal(size=(20, 3))
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(kernel.value(squared), peer(X), atol=1e-9)
    exact = Surrogate(kernel, Exact(), 3)
    assert np.abs(exact.matrix(X, X) - peer(X)).max() <= exact.error + 1e-12
    assert exact.error < 1e-4


# Largest distance between kernel and clamped mixture at s₀² = 2.5σ²: rows are kernels,
# columns σ = .1, .3, .5, .7. Computed from the closed form below, not from the code.
ERRORS = {
    "laplacian": (Laplacian(1.0), (0.5, 4.0)),
    "matern 1.5": (Matern(1.5, 1.0), (1.5, 2 / 1.5)),
    "matern 2.5": (Matern(2.5, 1.0), (2.5, 2 / 2.5)),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("sigma", [0.1, 0.3, 0.5, 0.7])
def test_clamping_error_by_numerical_integration(name, sigma):
    """sup |∫_{s² < s₀²} (e^{−r²/s²} − e^{−r²/s₀²}) dP(s²)| by scipy's quad."""
    from math import exp, gamma

    from scipy import integrate

    kernel, (shape, scale) = ERRORS[name]
    low = narrowest_width(sigma**2, 2)
    assert low == pytest.approx(2.5 * sigma**2)

    def density(v):
        return v ** (shape - 1) * exp(-v / scale) / (gamma(shape) * scale**shape)

    def error(r):
        part = integrate.quad(
            lambda v: (exp(-(r**2) / low) - exp(-(r**2) / v)) * density(v), 0, low
        )
        return part[0]

    truth = max(error(r) for r in np.sqrt(low) * np.geomspace(0.02, 4, 80))
    reported = kernel.mixture(low).error
    assert reported == pytest.approx(truth, rel=0.05, abs=2e-4)


def test_amplification_stays_bounded_in_many_dimensions():
    for d in (1, 2, 5, 20, 100):
        for noise in (GaussianNoise(0.3), LaplaceNoise(0.4)):
            surrogate = Surrogate(Laplacian(0.1), noise, d)
            assert surrogate.squared_radius <= 5.0 + 1e-9


def test_surrogate_kernels_are_positive_definite():
    X = np.random.default_rng(1).normal(size=(60, 2))
    for noise in (GaussianNoise([[0.2, 0.1], [0.1, 0.3]]), LaplaceNoise([0.5, 0.2])):
        for kernel in (Gaussian(1.0), Matern(1.5, 1.0), RationalQuadratic()):
            values = np.linalg.eigvalsh(Surrogate(kernel, noise, 2).matrix(X, X))
            assert values[0] > -1e-9 * values[-1]


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: Gaussian(0.0), "positive"),
        (lambda: Gaussian(np.array([[1.0, 2.0], [2.0, 1.0]])), "positive"),
        (lambda: Gaussian([1.0, np.nan]), "finite"),
        (lambda: Matern(nu=0.0), "nu"),
        (lambda: Laplacian(-1.0), "length"),
        (lambda: RationalQuadratic(m=0.0), "m must"),
        (lambda: Surrogate(Gaussian(np.eye(2)), LaplaceNoise(1.0), 2), "axes"),
        (lambda: Surrogate(Gaussian(2.0), GaussianNoise(1.0), 3), "positive definite"),
        (lambda: Surrogate(Gaussian(np.ones(2)), GaussianNoise(1.0), 2), "times as la"),
    ],
)
def test_refusals(build, match):
    with pytest.raises(ValueError, match=match):
        build()


@pytest.mark.parametrize("nu", [30.0, 200.0, 1000.0])
def test_smooth_matern_kernels_do_not_overflow(nu):
    """Against E exp(−r²/s²) over s² ~ Gamma(ν, 2ℓ²/ν), by scipy's expectation."""
    from scipy import integrate, stats

    law = stats.gamma(nu, scale=2.0 / nu)
    low, high = law.ppf(1e-16), law.isf(1e-16)
    for r in (1e-6, 0.1, 1.0, 4.0):
        truth = integrate.quad(
            lambda v, r=r: np.exp(-(r**2) / v) * law.pdf(v), low, high, epsabs=1e-13
        )[0]
        value = Matern(nu, 1.0).value(np.array([r**2]))[0]
        assert value == pytest.approx(truth, rel=1e-6, abs=1e-12)
    assert Matern(nu, 1.0).value(np.array([1e8]))[0] == 0.0
    surrogate = Surrogate(Matern(nu), GaussianNoise(0.1), 1)
    assert 0.0 <= surrogate.error < 1e-3


def test_errors_of_rough_kernels_are_not_understated():
    """A Matérn of ν = .05 drops within 1e-6: the error must be looked for there."""
    for kernel in (Matern(0.05), Matern(0.2, 3.0), Laplacian(0.5)):
        mixture = Surrogate(kernel, GaussianNoise(0.3), 1)
        squared = np.geomspace(1e-24, 1e4, 20_001)
        X = np.sqrt(squared)[:, None]
        seen = np.abs(mixture.clean_matrix(X, np.zeros((1, 1)))[:, 0]
                      - kernel.value(squared)).max()  # fmt: skip
        assert seen <= mixture.error * (1 + 1e-3)
