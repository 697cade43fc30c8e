"""What is known of the observation noise: x̃ = x + n.

A noise says as much as its user knows. Its covariance Σ corrects linear models, its
characteristic function φ(ω) = E e^{iω·(n − E n)} corrects kernel models, and knowing
neither still allows linear models if each row was observed twice (paper 3, sections 4
and 5). A known mean E n is deducted from the rows before anything else (section 2);
the corrections speak of noise of mean zero.
"""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import FEATURE, TARGET
from .._params import Parameters, check_real, refused
from .._typing import AnyArray, Floats


class Noise(Parameters):
    """Base of all noises: what is known of the errors in the features.

    The rows are observed as x̃ = x + n. A subclass says what is known of n: its
    covariance, its distribution, or nothing.

    Parameters
    ----------
    mean : float or array of shape (d,), default=0.0
        E n: deducted from every noisy row before the correction.
    target_mean : float, default=0.0
        Mean of the targets' noise: deducted from the targets.

    See Also
    --------
    KnownCovariance : For noise of known size.
    GaussianNoise : For Gaussian noise, which kernel models can correct too.
    Replicates : For rows observed twice, and noise of unknown size.

    Examples
    --------
    >>> from lrisk.noise import GaussianNoise, Replicates
    >>> GaussianNoise(0.5).knows_characteristic, Replicates().knows_covariance
    (True, False)
    """

    name: ClassVar[str]
    #: Whether the covariance is known; otherwise each row must be observed twice.
    knows_covariance: ClassVar[bool] = True
    #: Whether the characteristic function is known.
    knows_characteristic: ClassVar[bool] = False
    _silent = ("mean", "target_mean")

    def __init__(self, *, mean: ArrayLike = 0.0, target_mean: float = 0.0) -> None:
        self.mean = mean
        self.target_mean = target_mean
        self.validate()

    def validate(self) -> None:
        """E n is finite, and so is the mean of the targets' noise."""
        try:
            fits = np.ndim(self.mean) <= 1 and bool(np.all(np.isfinite(self.mean)))
        except (TypeError, ValueError):
            fits = False
        if not fits:
            rule, remedy = "finite, a number or of shape (d,)", "give one per feature"
            raise ValueError(refused(self, "mean", rule, self.mean, remedy))
        check_size(self, "mean", self.mean, FEATURE)
        check_real(self, "target_mean", self.target_mean, low=-TARGET, high=TARGET,
                   remedy="0 means none")  # fmt: skip

    def expectation(self, n_features: int) -> Floats:
        """E n, shape (d,)."""
        mean = np.asarray(self.mean, dtype=np.float64)
        return expanded(self, "mean", mean, n_features)

    def centred(self) -> Self:
        """The same noise with mean zero: of rows from which E n was deducted."""
        if not np.any(self.mean) and self.target_mean == 0.0:
            return self
        return type(self)(**{**self.get_params(), "mean": 0.0, "target_mean": 0.0})

    def check_centred(self, owner: object) -> None:
        """Refuse a mean that is not zero where nothing deducts it."""
        if np.any(self.mean):
            rule = "of mean zero: the correction is of the rows less that mean"
            remedy = "deduct noise.expectation(d) from the rows, use noise.centred()"
            raise ValueError(refused(owner, "noise", rule, self, remedy))

    def covariance(self, n_features: int) -> Floats:
        """Σ as its diagonal, shape (d,), or in full, shape (d, d)."""
        raise NotImplementedError

    def target_covariance(self, n_features: int) -> Floats:
        """Cov(n, noise of the target), shape (d,); zero unless stated."""
        return np.zeros(n_features)

    def characteristic(self, omega: Floats, factor: float = 1.0) -> AnyArray:
        """φ(√factor · ω), of the noise less its mean, for frequencies (m, d).

        `factor` multiplies the covariance. Shape (m,).
        """
        rule = "one with a known characteristic function"
        remedy = "use GaussianNoise, LaplaceNoise or CharacteristicNoise"
        raise ValueError(refused(self, "noise", rule, self, remedy))

    def sample(self, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """Draw noise for `shape` = (n, d) entries, where the distribution is known."""
        rule = "one with a known distribution"
        raise ValueError(
            refused(self, "noise", rule, self, "use GaussianNoise or LaplaceNoise")
        )

    def rescaled(self, scale: Floats, correction: float = 1.0) -> "Noise":
        """The noise of the features divided by `scale`, shape (d,).

        `correction` multiplies the covariance, never the mean.
        """
        raise NotImplementedError

    def _means(self, scale: Floats) -> dict[str, Any]:
        """`mean` and `target_mean` of the features divided by `scale`."""
        mean = self.expectation(len(scale)) / scale if np.any(self.mean) else 0.0
        return {"mean": mean, "target_mean": self.target_mean}


def check_size(owner: object, name: str, value: ArrayLike, limit: float) -> None:
    """Refuse what is larger than rows and targets may be: products would overflow."""
    size = float(np.max(np.abs(value), initial=0.0))
    if size > limit:
        rule, remedy = f"at most {limit:.2g} in size", "use other units"
        raise ValueError(refused(owner, name, rule, size, remedy))


def checked_covariance(owner: object, name: str, cov: ArrayLike) -> Floats:
    """A scalar, diagonal or full covariance as an array, or one clear error."""
    try:
        array = np.asarray(cov, dtype=np.float64)
    except (TypeError, ValueError):
        remedy = "pass a variance, one per feature, or a matrix"
        raise TypeError(refused(owner, name, "numeric", cov, remedy)) from None
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] != array.shape[1]):
        rule = "a number, of shape (d,), or of shape (d, d)"
        remedy = "per-row covariances go into noise_scale"
        raise ValueError(refused(owner, name, rule, array.shape, remedy))
    if not np.all(np.isfinite(array)):
        remedy = "remove NaN and infinity"
        raise ValueError(refused(owner, name, "finite", "non-finite values", remedy))
    check_size(owner, name, array, FEATURE**2)
    rule = "positive semi-definite"
    if array.ndim < 2:
        if np.any(array < 0):
            remedy = "variances are at least 0"
            raise ValueError(refused(owner, name, rule, float(array.min()), remedy))
        return array
    size = float(np.abs(array).max()) if array.size else 0.0
    if not np.allclose(array, array.T, rtol=1e-8, atol=1e-12 * size):
        remedy = "symmetrise it: (cov + cov.T) / 2"
        raise ValueError(refused(owner, name, "symmetric", "an asymmetric one", remedy))
    array = 0.5 * (array + array.T)
    lowest = float(np.linalg.eigvalsh(array)[0]) if array.size else 0.0
    if lowest < -1e-8 * max(size, 1e-300):
        seen = f"a matrix with the eigenvalue {lowest:.3g}"
        remedy = "clip its eigenvalues at 0 if it is an estimate"
        raise ValueError(refused(owner, name, rule, seen, remedy))
    return array


def check_same_columns(owner: object, name: str, X: object, X2: object) -> None:
    """Refuse a second table whose columns are named unlike the first one's."""
    first, second = (getattr(table, "columns", None) for table in (X, X2))
    if first is None or second is None or list(first) == list(second):
        return
    pairs = zip([*first, "nothing"], [*second, "nothing"])
    seen = next((b for a, b in pairs if a != b), len(second))
    remedy = "select the columns of the first table, in its order"
    rule = f"of the columns {list(first)}, in that order"
    raise ValueError(refused(owner, name, rule, seen, remedy))


def expanded(owner: object, name: str, array: Floats, n_features: int) -> Floats:
    """A checked scalar, (d,) or (d, d) array as (d,) or (d, d) for `n_features`."""
    if array.ndim == 0:
        return np.full(n_features, float(array))
    if array.shape[0] != n_features:
        rule = f"for {n_features} features, as X has"
        remedy = "give one per feature, or a single number for all"
        raise ValueError(refused(owner, name, rule, f"shape {array.shape}", remedy))
    return array


def divided(cov: Floats, scale: Floats, correction: float) -> Floats:
    """Covariance of the features divided by `scale`, times `correction`."""
    if cov.ndim == 1:
        return correction * cov / scale**2
    return correction * cov / np.outer(scale, scale)
