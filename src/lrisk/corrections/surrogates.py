"""Surrogate kernels: E k̂(a, x + n) = k(a, x) over the noise n (paper 3, equation 3).

For k(u) = exp(−uᵀM⁻¹u) and Gaussian noise N(0, Σ), with M − 2Σ ≻ 0 strictly,

    k̂(u) = √(|M|/|M − 2Σ|) · exp(−uᵀ(M − 2Σ)⁻¹u)             (paper 3, equation 4)

for Laplace noise of scales b and M = diag(s²), without any condition,

    k̂(u) = ∏_i exp(−u_i²/s_i²)(1 + 2b_i²/s_i² − 4b_i²u_i²/s_i⁴)

and mixtures of Gaussians are corrected term by term. In compiled loops
``surrogate_value(kernel, Z, i, z)`` is k̂ between row i of Z and z, both in the
coordinates of `Surrogate.transform`.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular

from .._jit import implements
from .._params import refused
from .._typing import Floats
from ..noise import Exact, GaussianNoise, LaplaceNoise, Noise
from ..noise.base import expanded
from .kernels import CorrectableKernel, Gaussian, Mixture


class GaussianTerms(NamedTuple):
    """Σ_j weights_j exp(−Σ_i rates_ji u_i²)."""

    weights: Floats
    rates: Floats


class LaplaceTerms(NamedTuple):
    """The same terms, each times ∏_i (1 + 2b_i²r − 4b_i²r²u_i²) with r = rates_ji."""

    weights: Floats
    rates: Floats
    squares: Floats


Terms = GaussianTerms | LaplaceTerms


def surrogate_value(kernel: Any, Z: Floats, i: int, z: Floats) -> float:
    """k̂ between row i of Z and z, in compiled code."""
    raise NotImplementedError("only available in compiled code")


@implements(surrogate_value, GaussianTerms)
def _gaussian_value(kernel: Any, Z: Any, i: Any, z: Any) -> Any:
    total = 0.0
    for j in range(kernel.weights.shape[0]):
        form = 0.0
        for k in range(z.shape[0]):
            u = Z[i, k] - z[k]
            form += kernel.rates[j, k] * u * u
        total += kernel.weights[j] * np.exp(-form)
    return total


@implements(surrogate_value, LaplaceTerms)
def _laplace_value(kernel: Any, Z: Any, i: Any, z: Any) -> Any:
    total = 0.0
    for j in range(kernel.weights.shape[0]):
        form = 0.0
        product = 1.0
        for k in range(z.shape[0]):
            r = kernel.rates[j, k]
            u = Z[i, k] - z[k]
            form += r * u * u
            b = kernel.squares[k]
            product *= 1.0 + 2.0 * b * r - 4.0 * b * r * r * u * u
        total += kernel.weights[j] * product * np.exp(-form)
    return total


def terms_matrix(terms: Terms, A: Floats, B: Floats) -> Floats:
    """The sum of the terms between all rows of A and all of B; shape (n, m)."""
    total = np.zeros((len(A), len(B)))
    for weight, rates in zip(terms.weights, terms.rates):
        root = np.sqrt(rates)
        P, Q = A * root, B * root
        form = (P**2).sum(axis=1)[:, None] + (Q**2).sum(axis=1) - 2.0 * P @ Q.T
        part = weight * np.exp(-form.clip(min=0.0))
        if isinstance(terms, LaplaceTerms):
            for k, (r, b) in enumerate(zip(rates, terms.squares)):
                squared = (A[:, k, None] - B[:, k]) ** 2
                part *= 1.0 + 2.0 * b * r - 4.0 * b * r**2 * squared
        total += part
    return total


class Surrogate:
    """A kernel, and what replaces it so that noise cancels on average.

    Parameters
    ----------
    kernel : CorrectableKernel
        The kernel k of the clean rows.
    noise : Noise
        Noise of the rows.
    n_features : int
        Columns of the rows.

    Attributes
    ----------
    terms : GaussianTerms or LaplaceTerms
        k̂ in the coordinates of `transform`.
    clean_terms : GaussianTerms
        k in the coordinates of `transform`.
    squared_radius : float
        R² = k̂(0), the squared norm of every row's surrogate feature.
    error : float
        Largest distance between k and the mixture that stands for it.

    See Also
    --------
    RandomFeatures : For many rows, or other noises.
    lrisk.NoiseCorrectedKernelRegressor : The estimator that uses it.

    Examples
    --------
    >>> from lrisk.corrections import Gaussian, Surrogate
    >>> from lrisk.noise import GaussianNoise
    >>> surrogate = Surrogate(Gaussian(4.0), GaussianNoise(1.0), n_features=2)
    >>> round(surrogate.squared_radius, 12)  # s²/(s² − 2σ²) in two dimensions
    2.0
    """

    def __init__(
        self, kernel: CorrectableKernel, noise: Noise, n_features: int
    ) -> None:
        check_closed_form(noise)
        noise.check_centred("surrogate kernel")
        self.kernel, self.noise = kernel, noise
        self.error = 0.0
        self.clean_terms: GaussianTerms
        self.terms: Terms
        if isinstance(noise, LaplaceNoise):
            self._for_laplace(kernel, noise, n_features)
        else:
            self._for_gaussian(kernel, noise.covariance(n_features), n_features)

    def transform(self, X: Floats) -> Floats:
        """Coordinates in which `terms` and `clean_terms` are sums over axes."""
        return np.ascontiguousarray(bounded(X) @ self.rotation)

    def matrix(self, A: Floats, B: Floats) -> Floats:
        """k̂ between rows of A and of B."""
        return terms_matrix(self.terms, self.transform(A), self.transform(B))

    def clean_matrix(self, A: Floats, B: Floats) -> Floats:
        """K between rows of A and of B."""
        return terms_matrix(self.clean_terms, self.transform(A), self.transform(B))

    @property
    def squared_radius(self) -> float:
        """R² = k̂(0)."""
        zero = np.zeros((1, len(self.rotation)))
        return float(terms_matrix(self.terms, zero, zero)[0, 0])

    # -- the two noises ----------------------------------------------------------------

    def _for_gaussian(self, kernel: CorrectableKernel, cov: Floats, d: int) -> None:
        sigma = np.diag(cov) if cov.ndim == 1 else cov
        if isinstance(kernel, Gaussian):
            M = width_matrix(kernel, d)
            check_width(kernel, M, sigma)
            # M = L Lᵀ and L⁻¹ΣL⁻ᵀ = Q diag(ρ) Qᵀ make both kernels sums over axes.
            factor = np.linalg.cholesky(M)
            inner = solve_triangular(factor, sigma, lower=True)
            inner = solve_triangular(factor, inner.T, lower=True)
            noise_ratio, Q = np.linalg.eigh(0.5 * (inner + inner.T))
            self.rotation = solve_triangular(factor, Q, lower=True, trans="T")
            mixture = Mixture(np.ones(1), np.ones(1), 0.0)
            variances = noise_ratio.clip(0.0)
        else:
            variances, self.rotation = np.linalg.eigh(sigma)
            variances = variances.clip(0.0)
            mixture = kernel.mixture(narrowest_width(variances.max(), d))
            self.error = mixture.error
        widths = mixture.widths[:, None]
        gaps = widths - 2.0 * variances
        weights = mixture.weights * np.sqrt(np.prod(widths / gaps, axis=1))
        self.terms = GaussianTerms(weights, 1.0 / gaps)
        rates = np.tile(1.0 / widths, (1, d))
        self.clean_terms = GaussianTerms(mixture.weights, rates)

    def _for_laplace(
        self, kernel: CorrectableKernel, noise: LaplaceNoise, d: int
    ) -> None:
        squares = noise.scales(d) ** 2
        self.rotation = np.eye(d)
        if isinstance(kernel, Gaussian):
            width = np.asarray(kernel.width, dtype=np.float64)
            if width.ndim == 2:
                rule, remedy = "a number or one per feature", "Laplace noise has axes"
                raise ValueError(refused(kernel, "width", rule, width.shape, remedy))
            rates = 1.0 / expanded(kernel, "width", width, d)[None, :]
            weights = np.ones(1)
        else:
            # As much amplification as the narrowest width under Gaussian noise.
            lowest = 2.0 * squares.max() / (np.sqrt(_amplification(d)) - 1.0)
            mixture = kernel.mixture(lowest)
            self.error, weights = mixture.error, mixture.weights
            rates = np.tile(1.0 / mixture.widths[:, None], (1, d))
        self.terms = LaplaceTerms(weights, rates, squares)
        self.clean_terms = GaussianTerms(weights, rates)


def bounded(X: Floats) -> Floats:
    """The rows, no entry beyond ±1e100: their squares must not overflow.

    Every kernel is zero that far from any other row.
    """
    return np.clip(X, -1e100, 1e100)


def check_closed_form(noise: Noise) -> None:
    """Refuse a noise whose surrogate kernel has no closed form."""
    if isinstance(noise, GaussianNoise | LaplaceNoise | Exact):
        return
    rule = "GaussianNoise, LaplaceNoise or Exact for a kernel in closed form"
    remedy = (
        "use random_features=True"
        if noise.knows_characteristic
        else "kernel models need the noise's distribution, e.g. GaussianNoise(cov)"
    )
    raise ValueError(refused("surrogate kernel", "noise", rule, noise, remedy))


def width_matrix(kernel: Gaussian, d: int) -> Floats:
    """M of a Gaussian kernel as a (d, d) matrix."""
    width = expanded(kernel, "width", np.asarray(kernel.width, dtype=np.float64), d)
    return np.diag(width) if width.ndim == 1 else width


def check_width(kernel: Gaussian, M: Floats, sigma: Floats, times: float = 2.0) -> None:
    """Refuse unless M − times·Σ ≻ 0; say how much noise or width would do."""
    ratio = float(eigvalsh(times * sigma, M)[-1])
    if ratio < 1.0 - 1e-9:
        return
    rule = f"such that M − {times:g}Σ is positive definite"
    smallest = (
        f"a width above {(lowest := ratio * float(kernel.width)):.6g} (gamma below "
        f"{1.0 / lowest:.6g})"
        if np.ndim(kernel.width) == 0
        else f"a width more than {ratio:.6g} times as large"
    )
    remedy = (
        f"use {smallest}, or a noise covariance below {1.0 / ratio:.6g} times the "
        "stated one"
    )
    raise ValueError(refused("surrogate kernel", "width", rule, kernel.width, remedy))


def narrowest_width(variance: float, d: int) -> float:
    """Squared width below which mixtures are clamped, for noise of this variance.

    2.5σ² in one and two dimensions; it grows with d so that R² = ∏ √(s²/(s² − 2σ²))
    stays at or below 5.
    """
    q = _amplification(d)
    return 2.0 * variance * q / (q - 1.0)


def natural_width(
    X: Floats, noise: Noise, one_copy: bool, weights: Floats | None = None
) -> float:
    """Total variance of the clean features, or the narrowest width for the noise.

    One-copy corrections need twice that width (M − 4Σ ≻ 0).
    """
    d = X.shape[1]
    cov = noise.covariance(d)
    variances = cov if cov.ndim == 1 else np.linalg.eigvalsh(cov)
    away = X - np.average(X, axis=0, weights=weights)
    total = np.average(away**2, axis=0, weights=weights).sum()
    # With one row there is nothing to see: take the variance of standardised rows.
    clean = float(total - variances.sum()) if total > 0 else float(d)
    lowest = narrowest_width(float(variances.max()), d) * (2.0 if one_copy else 1.0)
    return max(clean, lowest, 1e-12)


def _amplification(d: int) -> float:
    """s²/(s² − 2σ²) allowed for each of d axes."""
    return float(5.0 ** min(1.0, 2.0 / d))
