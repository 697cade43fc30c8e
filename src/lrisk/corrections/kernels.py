"""Radial kernels as mixtures of Gaussians (Schoenberg), ready to be corrected.

    k(u) = E exp(−‖u‖²/s²) over a distribution of the squared width s²

Every kernel below is such an expectation; its mixture is discretised by Gauss–Legendre
quadrature in log s². Widths too narrow for the noise are clamped to the smallest one
that can be corrected, and the error made by that is reported.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import special, stats

from .._params import Parameters, check_real, refused
from .._typing import Floats

#: Quadrature nodes of a mixture.
NODES = 32
#: Mass at either end of a mixture that is clamped in any case.
TAIL = 1e-4


class Mixture(NamedTuple):
    """Σ_j weights_j exp(−‖u‖²/widths_j), and how far that is from the kernel."""

    weights: Floats
    widths: Floats
    error: float

    def value(self, squared: Floats) -> Floats:
        """The mixture at squared distances of any shape."""
        total = np.zeros_like(squared)
        for weight, width in zip(self.weights, self.widths):
            total += weight * np.exp(-squared / width)
        return total


class CorrectableKernel(Parameters):
    """Base of the kernels that can be corrected for noise in the features.

    They are mixtures of Gaussians of several widths.

    See Also
    --------
    Gaussian : The usual one, also called RBF.
    Matern, Laplacian, RationalQuadratic : For rougher functions.

    Examples
    --------
    >>> from lrisk.corrections import CorrectableKernel, Gaussian
    >>> isinstance(Gaussian(1.0), CorrectableKernel)
    True
    """

    name: ClassVar[str]

    def value(self, squared: Floats) -> Floats:
        """k at squared distances."""
        raise NotImplementedError

    def mixture(self, lowest: float) -> Mixture:
        """The kernel as a mixture of widths of at least `lowest`."""
        raise NotImplementedError


class Gaussian(CorrectableKernel):
    """Gaussian kernel (RBF): k(u) = exp(−uᵀM⁻¹u) of the difference u of two rows.

    Parameters
    ----------
    width : float, array of shape (d,) or (d, d), default=1.0
        M: the squared width s² (scikit-learn's gamma is 1/s²), one for each feature, or
        the matrix.

    See Also
    --------
    Laplacian, Matern : For rougher functions.
    RationalQuadratic : For several widths at once.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Gaussian
    >>> Gaussian(2.0).value(np.array([0.0, 2.0])).round(4)
    array([1.    , 0.3679])
    """

    name = "rbf"

    def __init__(self, width: Any = 1.0) -> None:
        self.width = width
        self.validate()

    def validate(self) -> None:
        """M is positive definite."""
        width = np.asarray(self.width, dtype=np.float64)
        rule = "positive (definite) and finite"
        fine = np.all(np.isfinite(width)) and width.ndim <= 2
        if fine and width.ndim == 2:
            fine = width.shape[0] == width.shape[1] and np.allclose(width, width.T)
            fine = fine and np.linalg.eigvalsh(width)[0] > 0
        elif fine:
            fine = bool(np.all(width > 0))
        if not fine:
            remedy = "pass s², one for each feature, or a symmetric matrix"
            raise ValueError(refused(self, "width", rule, self.width, remedy))

    def value(self, squared: Floats) -> Floats:
        """Evaluate exp(−squared/s²), for a scalar width."""
        return np.asarray(np.exp(-squared / float(self.width)))

    def mixture(self, lowest: float) -> Mixture:
        """A mixture of one; the width is never clamped."""
        return Mixture(np.ones(1), np.array([float(self.width)]), 0.0)


class RadialKernel(CorrectableKernel):
    """Base of the kernels that are genuine mixtures."""

    def widths(self) -> Any:
        """Distribution of s² (a frozen scipy distribution)."""
        raise NotImplementedError

    def mixture(self, lowest: float) -> Mixture:
        """Clamp the mass below `lowest` to it; Gauss–Legendre in log s² above."""
        law = self.widths()
        low, high = max(lowest, float(law.ppf(TAIL))), float(law.isf(TAIL))
        if low >= high:
            widths, weights = np.array([low]), np.ones(1)
        else:
            x, w = np.polynomial.legendre.leggauss(NODES)
            half = 0.5 * (np.log(high) - np.log(low))
            widths = np.exp(half * (x + 1.0) + np.log(low))
            weights = half * w * law.pdf(widths) * widths
            widths = np.concatenate([widths, [low, high]])
            weights = np.concatenate([weights, [law.cdf(low), law.sf(high)]])
            weights /= weights.sum()
        mixture = Mixture(weights, widths, 0.0)
        # From where the narrowest part lives to where the widest is gone.
        near = 1e-3 * np.sqrt(max(float(law.ppf(TAIL)), 1e-30 * high))
        far = 10.0 * np.sqrt(max(low, high))
        squared = np.append(0.0, np.geomspace(near, far, 4000)) ** 2
        error = float(np.abs(mixture.value(squared) - self.value(squared)).max())
        return mixture._replace(error=error)


class Laplacian(RadialKernel):
    """Laplacian kernel k(u) = exp(−‖u‖/ℓ), with the Euclidean norm.

    It is a mixture of Gaussians with s² ~ Gamma(½, 4ℓ²). scikit-learn's kernel of the
    same name uses the 1-norm, which is not radial.

    Parameters
    ----------
    length : float, default=1.0
        The length ℓ over which the kernel falls to 1/e.

    See Also
    --------
    Matern : With a smoothness to choose.
    Gaussian : For smooth functions.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Laplacian
    >>> Laplacian(2.0).value(np.array([0.0, 4.0])).round(4)
    array([1.    , 0.3679])
    """

    name = "laplacian"

    def __init__(self, length: float = 1.0) -> None:
        self.length = length
        self.validate()

    def validate(self) -> None:
        """ℓ > 0."""
        _positive(self, "length")

    def widths(self) -> Any:
        """Gamma(½, 4ℓ²)."""
        return stats.gamma(0.5, scale=4.0 * self.length**2)

    def value(self, squared: Floats) -> Floats:
        """Evaluate exp(−r/ℓ)."""
        return np.exp(-np.sqrt(squared) / self.length)


class Matern(RadialKernel):
    """Matérn kernel of smoothness ν and length ℓ.

    It is a mixture of Gaussians with s² ~ Gamma(ν, 2ℓ²/ν).

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness ν: ½ is the Laplacian kernel, infinity a Gaussian one.
    length : float, default=1.0
        The length ℓ over which the kernel falls.

    See Also
    --------
    Laplacian : The roughest usual one.
    sklearn.gaussian_process.kernels.Matern : The same kernel for Gaussian processes.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Matern
    >>> Matern(0.5, 2.0).value(np.array([0.0, 4.0])).round(4)
    array([1.    , 0.3679])
    """

    name = "matern"

    def __init__(self, nu: float = 1.5, length: float = 1.0) -> None:
        self.nu = nu
        self.length = length
        self.validate()

    def validate(self) -> None:
        """ν > 0, ℓ > 0."""
        _positive(self, "nu")
        _positive(self, "length")

    def widths(self) -> Any:
        """Gamma(ν, 2ℓ²/ν)."""
        return stats.gamma(self.nu, scale=2.0 * self.length**2 / self.nu)

    def value(self, squared: Floats) -> Floats:
        """2^{1−ν}/Γ(ν) z^ν K_ν(z) with z = √(2ν) r/ℓ."""
        z = np.sqrt(2.0 * self.nu * squared) / self.length
        near = np.maximum(z, 1e-10)
        log = (1.0 - self.nu) * np.log(2.0) - special.gammaln(self.nu)
        value = np.exp(log + self.nu * np.log(near) + _log_bessel(self.nu, near))
        return np.where(z < 1e-10, 1.0, value)


class RationalQuadratic(RadialKernel):
    """Rational quadratic kernel (multiquadric): k(u) = (1 + ‖u‖²/m)^{−α}.

    It is a mixture of Gaussians with s² ~ InvGamma(α, m).

    Parameters
    ----------
    alpha : float, default=1.0
        Exponent α; the smaller, the farther rows influence each other.
    m : float, default=1.0
        The squared length at which the kernel begins to fall.

    See Also
    --------
    Gaussian : For one width.
    Matern : For rougher functions.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import RationalQuadratic
    >>> RationalQuadratic(2.0, 1.0).value(np.array([0.0, 1.0]))
    array([1.  , 0.25])
    """

    name = "rational_quadratic"

    def __init__(self, alpha: float = 1.0, m: float = 1.0) -> None:
        self.alpha = alpha
        self.m = m
        self.validate()

    def validate(self) -> None:
        """α > 0, m > 0."""
        _positive(self, "alpha")
        _positive(self, "m")

    def widths(self) -> Any:
        """InvGamma(α, m)."""
        return stats.invgamma(self.alpha, scale=self.m)

    def value(self, squared: Floats) -> Floats:
        """(1 + r²/m)^{−α}."""
        return (1.0 + squared / self.m) ** -self.alpha


KERNELS: dict[str, type[CorrectableKernel]] = {
    kernel.name: kernel for kernel in (Gaussian, Laplacian, Matern, RationalQuadratic)
}


def _log_bessel(nu: float, z: Floats) -> Floats:
    """Log K_ν(z); by Debye's expansion in 1/ν where K_ν overflows (DLMF 10.41.4)."""
    with np.errstate(divide="ignore"):
        log = np.log(special.kve(nu, z)) - z
    x = z / nu
    root = np.sqrt(1.0 + x**2)
    p = 1.0 / root
    eta = root + np.log(x / (1.0 + root))
    u1 = (3.0 * p - 5.0 * p**3) / 24.0
    u2 = (81.0 * p**2 - 462.0 * p**4 + 385.0 * p**6) / 1152.0
    series = np.maximum(1.0 - u1 / nu + u2 / nu**2, 0.5)  # near 1 where it is used
    large = 0.5 * np.log(0.5 * np.pi / (nu * root)) - nu * eta + np.log(series)
    return np.where(np.isfinite(log), log, large)


def _positive(owner: Parameters, name: str) -> None:
    value = getattr(owner, name)
    check_real(owner, name, value, low=0, low_open=True, remedy="1.0 is the default")
