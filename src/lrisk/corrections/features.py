"""Parallel-world random features: kernel learning from noisy rows in O(D) a round.

For frequencies ω drawn from the kernel's spectral density, and a noise of
characteristic function φ = |φ|e^{iθ}, rows that carry noise are mapped to

    ψ̂(x̃) = a_ω [cos(ω·x̃ − θ), sin(ω·x̃ − θ)],     a_ω = |φ(ω)|^{−1/2}/√D

and clean rows to |φ(ω)| a_ω [cos ω·x, sin ω·x], so that E⟨ψ̂(a), ψ̂(x̃)⟩ is the kernel of
the clean rows. Under Gaussian noise ω comes from the surrogate's own density
N(0, 2(M − 2Σ)⁻¹), which makes a_ω = R/√D constant and its variance smallest.
"""

import numpy as np

from .._params import refused
from .._typing import Floats
from ..noise import Exact, GaussianNoise, Noise
from .kernels import CorrectableKernel
from .surrogates import Surrogate, Terms, bounded

#: Frequencies at which |φ| is smaller are dropped: 1/φ would amplify them too much.
SMALLEST = 0.02
#: Largest norm of a row's features, over R, that its own noise may lead to: one row
#: beyond it outweighs all the others.
GROWTH = 10.0


class RandomFeatures:
    """Random features of a kernel, for noisy rows and for clean ones.

    Parameters
    ----------
    kernel : CorrectableKernel
        The kernel that the features stand for.
    noise : Noise
        Noise of the rows, with a known characteristic function.
    n_features : int
        Columns of the rows.
    n_components : int
        How many features: two for each frequency.
    rng : numpy.random.Generator
        Draws the frequencies.

    Attributes
    ----------
    omega : array of shape (n_components // 2, d)
    squared_radius : float
        ‖ψ̂(x̃)‖², the same for all rows.
    error : float
        Bound on the error that clamping and dropped frequencies make in the kernel.

    See Also
    --------
    Surrogate : The kernel itself, exact and slower.
    sklearn.kernel_approximation.RBFSampler : The same idea without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Gaussian, RandomFeatures
    >>> from lrisk.noise import LaplaceNoise
    >>> rng = np.random.default_rng(0)
    >>> features = RandomFeatures(Gaussian(4.0), LaplaceNoise(0.5), 2, 100, rng)
    >>> features.noisy(np.zeros((3, 2))).shape
    (3, 100)
    """

    def __init__(
        self,
        kernel: CorrectableKernel,
        noise: Noise,
        n_features: int,
        n_components: int,
        rng: np.random.Generator,
    ) -> None:
        if not noise.knows_characteristic:
            noise.characteristic(np.zeros((1, n_features)))  # raises, saying why
        noise.check_centred("random features")
        self.noise = noise
        count = max(n_components // 2, 1)
        if isinstance(noise, GaussianNoise):
            surrogate = Surrogate(kernel, noise, n_features)
            self.omega = _draw(surrogate, surrogate.terms, n_features, count, rng)
            radius = np.sqrt(surrogate.squared_radius / count)
            self._amplitude = np.full(count, radius)
            self.error = surrogate.error
            phi = noise.characteristic(self.omega).astype(np.complex128)
        else:
            clean = Surrogate(kernel, Exact(), n_features)
            omega = _draw(clean, clean.clean_terms, n_features, count, rng)
            phi = noise.characteristic(omega).astype(np.complex128)
            kept = np.abs(phi) >= SMALLEST
            if not kept.any():
                rule = "smooth enough for the noise: every frequency is lost in it"
                remedy = "use a larger width (a smaller gamma)"
                raise ValueError(
                    refused("random features", "kernel", rule, kernel, remedy)
                )
            self.omega, phi = omega[kept], phi[kept]
            self._amplitude = 1.0 / np.sqrt(np.abs(phi) * count)
            self.error = clean.error + 1.0 - float(kept.mean())
        self._phase = np.angle(phi)
        self._decay = np.abs(phi)

    @property
    def n_components(self) -> int:
        """Number of features."""
        return 2 * len(self.omega)

    @property
    def squared_radius(self) -> float:
        """‖ψ̂‖²."""
        return float((self._amplitude**2).sum())

    def noisy(self, X: Floats, factor: Floats | None = None) -> Floats:
        """ψ̂ of rows that carry noise; shape (n, n_components).

        `factor`, shape (n,), multiplies the noise covariance row by row.
        """
        angle = bounded(X) @ self.omega.T - self._phase
        if factor is None:
            return _pair(angle, self._amplitude)
        own = np.stack([self.noise.characteristic(self.omega, c) for c in factor])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = self._decay * np.exp(1j * self._phase) / own
            growth = np.abs(ratio) ** 2 @ self._amplitude**2 / self.squared_radius
        if not np.all(growth <= GROWTH**2):  # NaN is refused too
            remedy = "leave out rows of so much noise, or use a smaller gamma"
            rule = f"small enough for the kernel: features may grow {GROWTH:g}-fold"
            seen = float(factor[~(growth <= GROWTH**2)].max())
            raise ValueError(
                refused("random features", "noise_scale", rule, seen, remedy)
            )
        return _pair(angle + np.angle(ratio), self._amplitude * np.abs(ratio))

    def clean(self, X: Floats) -> Floats:
        """Features of clean rows; shape (n, n_components)."""
        return _pair(bounded(X) @ self.omega.T, self._amplitude * self._decay)


def _pair(angle: Floats, amplitude: Floats) -> Floats:
    return np.hstack([np.cos(angle) * amplitude, np.sin(angle) * amplitude])


def _draw(
    surrogate: Surrogate,
    terms: Terms,
    d: int,
    count: int,
    rng: np.random.Generator,
) -> Floats:
    """Frequencies of Σ_j weights_j exp(−Σ_i rates_ji u_i²), back in X's coordinates."""
    weights, rates = terms.weights, terms.rates
    choice = rng.choice(len(weights), size=count, p=weights / weights.sum())
    own = rng.normal(size=(count, d)) * np.sqrt(2.0 * rates[choice])
    return np.asarray(own @ surrogate.rotation.T)
