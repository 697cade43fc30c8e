"""The noises: exact, replicates, known covariance, Gaussian, Laplace, any φ."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import FEATURE, TARGET
from .._params import refused
from .._typing import AnyArray, Floats
from .base import Noise, check_size, checked_covariance, divided, expanded


class Exact(Noise):
    """No noise: every estimator becomes its ordinary, uncorrected self.

    Parameters
    ----------
    mean : float or array of shape (d,), default=0.0
        A constant that is in every row: deducted.
    target_mean : float, default=0.0
        Likewise of the targets.

    See Also
    --------
    KnownCovariance : For noise of known size.

    Examples
    --------
    >>> from lrisk.noise import Exact
    >>> Exact().covariance(2)
    array([0., 0.])
    """

    name = "exact"
    knows_characteristic = True

    def __init__(self, *, mean: ArrayLike = 0.0, target_mean: float = 0.0) -> None:
        super().__init__(mean=mean, target_mean=target_mean)

    def covariance(self, n_features: int) -> Floats:
        """Zero."""
        return np.zeros(n_features)

    def characteristic(self, omega: Floats, factor: float = 1.0) -> AnyArray:
        """One."""
        return np.ones(len(omega))

    def sample(self, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """The mean, in every row."""
        return np.zeros(shape) + self.expectation(shape[1])

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "Exact":
        """No noise in any unit."""
        return Exact(**self._means(scale))


class Replicates(Noise):
    """Noise of which nothing is known, in rows observed at least twice, independently.

    The products of different copies are free of bias (paper 3, algorithm 1, left).

    Parameters
    ----------
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row of every copy.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    lrisk.noise.from_replicates : Estimates the noise from copies of some rows.
    KnownCovariance : Where rows are observed once.

    Examples
    --------
    >>> from lrisk.noise import Replicates
    >>> Replicates().knows_covariance
    False
    """

    name = "replicates"
    knows_covariance = False

    def __init__(self, *, mean: ArrayLike = 0.0, target_mean: float = 0.0) -> None:
        super().__init__(mean=mean, target_mean=target_mean)

    def covariance(self, n_features: int) -> Floats:
        """Unknown: refused."""
        remedy = "pass X2, or estimate it with from_replicates(X1, X2)"
        rule = "one with a known covariance"
        raise ValueError(refused(self, "noise", rule, self, remedy))

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "Replicates":
        """Nothing but the mean is known of it in any unit."""
        return Replicates(**self._means(scale))


class KnownCovariance(Noise):
    """Noise of known covariance and unknown shape (paper 3, algorithm 1, right).

    Parameters
    ----------
    cov : float, array of shape (d,) or (d, d), default=1.0
        Σ: one variance for all features, one for each, or the matrix.
    target_cov : float, array of shape (d,) or None, default=None
        Cov(n, noise of the target), where the two are correlated (linear regression
        only). Further copies in `X2` must still be independent of each other: copies
        that share a part of the target's noise have a mean of more noise than Σ/m, so
        pass that mean as X, with its own covariance.
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row before the correction.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    GaussianNoise : Also knows the shape, which kernel models need.
    Replicates : Where the covariance is not known either.
    lrisk.noise.from_reliability : Makes it from reliability ratios.

    Examples
    --------
    >>> from lrisk.noise import KnownCovariance
    >>> KnownCovariance([0.1, 0.4]).covariance(2)
    array([0.1, 0.4])
    """

    name = "known_covariance"

    def __init__(
        self,
        cov: ArrayLike = 1.0,
        *,
        target_cov: Any = None,
        mean: ArrayLike = 0.0,
        target_mean: float = 0.0,
    ) -> None:
        self.cov = cov
        self.target_cov = target_cov
        super().__init__(mean=mean, target_mean=target_mean)

    def validate(self) -> None:
        """Σ is symmetric and positive semi-definite."""
        super().validate()
        checked_covariance(self, "cov", self.cov)
        if self.target_cov is None:
            return
        try:
            fits = np.ndim(self.target_cov) <= 1
            fits = fits and bool(np.all(np.isfinite(self.target_cov)))
        except (TypeError, ValueError):
            fits = False
        if not fits:
            rule = "finite, a number or of shape (d,)"
            remedy, value = "give one per feature", self.target_cov
            raise ValueError(refused(self, "target_cov", rule, value, remedy))
        check_size(self, "target_cov", self.target_cov, FEATURE * TARGET)

    def covariance(self, n_features: int) -> Floats:
        """Σ as its diagonal or in full."""
        cov = checked_covariance(self, "cov", self.cov)
        return expanded(self, "cov", cov, n_features)

    def target_covariance(self, n_features: int) -> Floats:
        """Cov(n, noise of the target)."""
        if self.target_cov is None:
            return np.zeros(n_features)
        array = np.asarray(self.target_cov, dtype=np.float64)
        return expanded(self, "target_cov", array, n_features)

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "KnownCovariance":
        """The noise of the features divided by `scale`."""
        cov = divided(self.covariance(len(scale)), scale, correction)
        cross = correction * self.target_covariance(len(scale)) / scale
        target_cov = cross if cross.any() else None
        return type(self)(cov, target_cov=target_cov, **self._means(scale))


class GaussianNoise(KnownCovariance):
    """Gaussian noise N(0, Σ) of known covariance (paper 3, section 5).

    φ(ω) = exp(−½ ωᵀΣω).

    Parameters
    ----------
    cov : float, array of shape (d,) or (d, d), default=1.0
        Σ: one variance for all features, one for each, or the matrix.
    target_cov : float, array of shape (d,) or None, default=None
        Cov(n, noise of the target), where the two are correlated (linear regression
        only). Further copies in `X2` must still be independent of each other: copies
        that share a part of the target's noise have a mean of more noise than Σ/m, so
        pass that mean as X, with its own covariance.
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row before the correction.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    KnownCovariance : The same without the shape, for linear models.
    lrisk.noise.from_reliability : Makes it from reliability ratios.
    lrisk.noise.from_replicates : Makes it from two copies of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.noise import GaussianNoise
    >>> GaussianNoise(0.5).characteristic(np.array([[0.0, 2.0]])).round(4)
    array([0.3679])
    """

    name = "gaussian"
    knows_characteristic = True

    def characteristic(self, omega: Floats, factor: float = 1.0) -> AnyArray:
        """Evaluate exp(−½ factor ωᵀΣω)."""
        cov = self.covariance(omega.shape[1])
        if cov.ndim == 1:
            form = (omega**2) @ cov
        else:
            form = np.einsum("ij,ij->i", omega @ cov, omega)
        return np.exp(-0.5 * factor * form)

    def sample(self, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """Draw from N(E n, Σ)."""
        cov, mean = self.covariance(shape[1]), self.expectation(shape[1])
        normal = rng.normal(size=shape)
        if cov.ndim == 1:
            return np.asarray(normal * np.sqrt(cov) + mean)
        values, vectors = np.linalg.eigh(cov)
        return np.asarray(normal @ (vectors * np.sqrt(values.clip(0))).T + mean)


class LaplaceNoise(Noise):
    """Independent Laplace noise in each feature, density e^{−|n|/b} / (2b).

    Its covariance is 2b² and φ(ω) = ∏ 1/(1 + b²ω²); it is what the Laplace mechanism of
    local differential privacy adds.

    Parameters
    ----------
    scale : float or array of shape (d,), default=1.0
        The scale b: one for all features or one for each.
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row before the correction.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    GaussianNoise : For lighter tails.
    lrisk.noise.local_differential_privacy : Makes it from a privacy budget.

    Examples
    --------
    >>> from lrisk.noise import LaplaceNoise
    >>> LaplaceNoise(0.5).covariance(2)
    array([0.5, 0.5])
    """

    name = "laplace"
    knows_characteristic = True

    def __init__(
        self, scale: ArrayLike = 1.0, *, mean: ArrayLike = 0.0, target_mean: float = 0.0
    ) -> None:
        self.scale = scale
        super().__init__(mean=mean, target_mean=target_mean)

    def validate(self) -> None:
        """b is finite and at least 0."""
        super().validate()
        array = checked_covariance(self, "scale", self.scale)
        if array.ndim > 1:
            rule, remedy = "a number or of shape (d,)", "coordinates are independent"
            raise ValueError(refused(self, "scale", rule, array.shape, remedy))

    def scales(self, n_features: int) -> Floats:
        """The scales b, shape (d,)."""
        array = np.asarray(self.scale, dtype=np.float64)
        return expanded(self, "scale", array, n_features)

    def covariance(self, n_features: int) -> Floats:
        """2b²."""
        return 2.0 * self.scales(n_features) ** 2

    def characteristic(self, omega: Floats, factor: float = 1.0) -> AnyArray:
        """∏ 1/(1 + factor b²ω²)."""
        b = self.scales(omega.shape[1])
        return np.asarray(1.0 / np.prod(1.0 + factor * (b * omega) ** 2, axis=1))

    def sample(self, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """Draw independent Laplace variables."""
        own = rng.laplace(size=shape) * self.scales(shape[1])
        return own + self.expectation(shape[1])

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "LaplaceNoise":
        """The noise of the features divided by `scale`."""
        own = np.sqrt(correction) * self.scales(len(scale)) / scale
        return LaplaceNoise(own, **self._means(scale))


class CharacteristicNoise(Noise):
    """Noise of any known distribution, given by its characteristic function.

    Parameters
    ----------
    phi : callable
        The function φ(ω) for frequencies of shape (m, d), giving shape (m,), real or
        complex; of the noise less its `mean`.
    cov : float, array of shape (d,) or (d, d)
        Its covariance Σ.
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row before the correction.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    GaussianNoise, LaplaceNoise : The usual ones, with nothing to write.
    KnownCovariance : Where only the covariance is known.

    Examples
    --------
    Uniform noise on [−½, ½] in each feature:

    >>> import numpy as np
    >>> from lrisk.noise import CharacteristicNoise
    >>> def phi(omega):
    ...     return np.sinc(omega / (2 * np.pi)).prod(axis=1)
    >>> noise = CharacteristicNoise(phi, cov=1 / 12)
    >>> noise.characteristic(np.array([[0.0], [np.pi]])).round(4)
    array([1.    , 0.6366])
    """

    name = "characteristic"
    knows_characteristic = True

    def __init__(
        self,
        phi: Callable[[Floats], AnyArray],
        cov: ArrayLike,
        *,
        mean: ArrayLike = 0.0,
        target_mean: float = 0.0,
    ) -> None:
        self.phi = phi
        self.cov = cov
        super().__init__(mean=mean, target_mean=target_mean)

    def validate(self) -> None:
        """`phi` can be called, `cov` is positive semi-definite."""
        super().validate()
        checked_covariance(self, "cov", self.cov)
        if not callable(self.phi):
            remedy = "pass a function of an (m, d) array"
            raise TypeError(refused(self, "phi", "callable", self.phi, remedy))

    def covariance(self, n_features: int) -> Floats:
        """Σ as its diagonal or in full."""
        cov = checked_covariance(self, "cov", self.cov)
        return expanded(self, "cov", cov, n_features)

    def characteristic(self, omega: Floats, factor: float = 1.0) -> AnyArray:
        """φ(√factor · ω), checked: shape (m,), ``|φ| ≤ 1``."""
        values = np.asarray(self.phi(np.sqrt(factor) * omega))
        if values.shape != (len(omega),):
            rule = f"giving shape ({len(omega)},) for {len(omega)} frequencies"
            remedy = "reduce over the last axis"
            raise ValueError(refused(self, "phi", rule, values.shape, remedy))
        if not np.all(np.abs(values) <= 1.0 + 1e-9):
            seen = float(np.abs(values).max())
            remedy = "a characteristic function never exceeds 1"
            raise ValueError(refused(self, "phi", "at most 1 in size", seen, remedy))
        return values

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "CharacteristicNoise":
        """The noise of the features divided by `scale`."""
        cov = divided(self.covariance(len(scale)), scale, correction)
        phi = _RescaledPhi(self.phi, np.sqrt(correction) / scale)
        return CharacteristicNoise(phi, cov, **self._means(scale))


class _RescaledPhi:
    """ω ↦ φ(c·ω); a class, so that it pickles."""

    def __init__(self, phi: Callable[[Floats], AnyArray], factors: Floats) -> None:
        self.phi = phi
        self.factors = factors

    def __call__(self, omega: Floats) -> AnyArray:
        return self.phi(omega * self.factors)
