"""Spectra that weight every row, and the two limits: the mean and the worst case."""

import numpy as np
from numpy.typing import ArrayLike

from .._params import check_real
from .._typing import Floats
from .base import Monotone, Spectrum


class Mean(Spectrum):
    """The plain average of the losses, all of them counted alike: S(u) = u.

    See Also
    --------
    Superquantile : Counts the largest losses alone.
    Subquantile : Counts the smallest losses alone.

    Examples
    --------
    >>> from lrisk.spectra import Mean
    >>> Mean().weights(4)
    array([0.25, 0.25, 0.25, 0.25])
    """

    name = "mean"
    smooth = True

    @property
    def monotone(self) -> Monotone:
        """Always ``"flat"``."""
        return "flat"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) = u."""
        return np.asarray(u, dtype=np.float64)

    def density(self, u: ArrayLike) -> Floats:
        """One."""
        return np.ones_like(np.asarray(u, dtype=np.float64))

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """The masses themselves."""
        return mass.copy()

    def inverse(self, v: ArrayLike) -> Floats:
        """The identity."""
        return np.asarray(v, dtype=np.float64)

    def kl_divergence(self) -> float:
        """Zero."""
        return 0.0

    def chi2_divergence(self) -> float:
        """Zero."""
        return 0.0


class Extremile(Spectrum):
    """The largest of r losses drawn at random, on average: S(u) = u^r.

    Every loss counts, and the more, the larger it is.

    Parameters
    ----------
    r : float ≥ 1, default=2.0
        How many draws; 1 is the mean.

    See Also
    --------
    ESRM : Also counts every loss, with exponential weights.
    Superquantile : Counts the largest losses alone.
    RiskSeekingExtremile : The smallest of r losses instead.

    Examples
    --------
    >>> Extremile(2).weights(4)
    array([0.0625, 0.1875, 0.3125, 0.4375])
    """

    name = "extremile"
    smooth = True

    def __init__(self, r: float = 2.0) -> None:
        self.r = r
        self.validate()

    def validate(self) -> None:
        """1 ≤ r < ∞."""
        remedy = "for the largest loss alone use WorstCase()"
        check_real(self, "r", self.r, low=1, remedy=remedy)

    @property
    def monotone(self) -> Monotone:
        """``"up"``, or ``"flat"`` for r = 1."""
        return "flat" if self.r == 1 else "up"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) = u^r."""
        return np.asarray(u, dtype=np.float64) ** float(self.r)

    def density(self, u: ArrayLike) -> Floats:
        """s(u) = r·u^{r−1}."""
        r = float(self.r)
        with np.errstate(under="ignore"):
            return np.asarray(r * np.asarray(u, dtype=np.float64) ** (r - 1.0))

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """P^r · (1 − (1 − p/P)^r), through expm1 and log1p."""
        r = float(self.r)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            share = np.minimum(mass / P, 1.0)
            return P**r * -np.expm1(r * np.log1p(-share))

    def inverse(self, v: ArrayLike) -> Floats:
        """The r-th root."""
        return np.asarray(v, dtype=np.float64) ** (1.0 / float(self.r))

    def kl_divergence(self) -> float:
        """ln r + 1/r − 1."""
        r = float(self.r)
        return float(np.log1p(r - 1.0) - (r - 1.0) / r)

    def chi2_divergence(self) -> float:
        """(r − 1)²/(2r − 1)."""
        r = float(self.r)
        return (r - 1.0) ** 2 / (2.0 * r - 1.0)


class RiskSeekingExtremile(Extremile):
    """The smallest of r losses drawn at random, on average: S(u) = 1 − (1 − u)^r.

    The extremile's mirror. Large losses count little, and none is left out altogether.

    Parameters
    ----------
    r : float ≥ 1, default=2.0
        How many draws: 1 is the mean; the larger, the less large losses count.

    See Also
    --------
    Subquantile : Leaves the largest losses out.
    Extremile : Counts large losses more instead of less.

    Examples
    --------
    >>> RiskSeekingExtremile(2.0).weights(2)
    array([0.75, 0.25])
    """

    name = "risk_seeking_extremile"

    @property
    def monotone(self) -> Monotone:
        """``"down"``, or ``"flat"`` for r = 1."""
        return "flat" if self.r == 1 else "down"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) = 1 − (1 − u)^r."""
        with np.errstate(divide="ignore"):
            log = np.log1p(-np.asarray(u, dtype=np.float64))
        return np.asarray(-np.expm1(float(self.r) * log))

    def density(self, u: ArrayLike) -> Floats:
        """The extremile's, from the other end."""
        return super().density(1.0 - np.asarray(u, dtype=np.float64))

    def inverse(self, v: ArrayLike) -> Floats:
        """The extremile's, from the other end."""
        return 1.0 - super().inverse(1.0 - np.asarray(v, dtype=np.float64))

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """The extremile's, from the other end."""
        return super().increments((1.0 - P) + mass, mass)

    def weights(self, n: int) -> Floats:
        """The extremile's weights in reverse."""
        return Extremile(self.r).weights(n)[::-1].copy()


class ESRM(Spectrum):
    """A mean with weights that grow exponentially: S(u) = (e^{ρu} − 1)/(e^ρ − 1).

    Called the exponential spectral risk measure in finance. Every loss counts, and the
    more, the larger it is.

    Parameters
    ----------
    rho : float > 0, default=1.0
        Risk aversion; the weight of the worst row is e^ρ times that of the best.

    See Also
    --------
    Extremile : Also counts every loss, by a power.
    Superquantile : Counts the largest losses alone.

    Examples
    --------
    >>> ESRM(1.0).weights(2).round(4)
    array([0.3775, 0.6225])
    """

    name = "esrm"
    smooth = True

    def __init__(self, rho: float = 1.0) -> None:
        self.rho = rho
        self.validate()

    def validate(self) -> None:
        """0 < ρ < ∞."""
        remedy = "for no aversion use Mean(), for the largest loss alone WorstCase()"
        check_real(self, "rho", self.rho, low=0, low_open=True, remedy=remedy)

    @property
    def monotone(self) -> Monotone:
        """Always ``"up"``."""
        return "up"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u), in a form that cannot overflow."""
        u = np.asarray(u, dtype=np.float64)
        return self.increments(u, u)

    def density(self, u: ArrayLike) -> Floats:
        """s(u) = ρe^{ρ(u−1)}/(1 − e^{−ρ})."""
        rho, u = float(self.rho), np.asarray(u, dtype=np.float64)
        if rho < 1e-150:  # the mean to the last digit, as in `increments`
            return np.ones_like(u)
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(rho * (u - 1.0)) * (-rho / np.expm1(-rho)))

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """e^{ρ(P−1)} · expm1(−ρp)/expm1(−ρ)."""
        rho = float(self.rho)
        if rho < 1e-150:  # the mean to the last digit; below, ρp would underflow
            return np.array(mass, dtype=np.float64)
        with np.errstate(under="ignore"):
            share = np.expm1(-rho * mass) / np.expm1(-rho)
            return np.asarray(np.exp(rho * (P - 1.0)) * share)

    def inverse(self, v: ArrayLike) -> Floats:
        """log(1 + v(e^ρ − 1))/ρ, as 1 + log(v + (1 − v)e^{−ρ})/ρ for large ρ."""
        rho, v = float(self.rho), np.asarray(v, dtype=np.float64)
        if rho < 1e-8:
            return v
        if rho < 1.0:
            return np.asarray(np.log1p(v * np.expm1(rho)) / rho)
        inside = v + (1.0 - v) * np.exp(-rho)
        tiny = np.finfo(np.float64).tiny
        u = 1.0 + np.log(np.maximum(inside, tiny)) / rho
        return np.asarray(np.clip(u, 0.0, 1.0))

    def kl_divergence(self) -> float:
        """ln(x/sinh x) + x coth x − 1 with x = ρ/2."""
        x = 0.5 * float(self.rho)
        if x < 1e-2:
            return x**2 / 6.0 - x**4 / 60.0
        log_sinh = x + np.log1p(-np.exp(-2.0 * x)) - np.log(2.0)
        return float(np.log(x) - log_sinh + x / np.tanh(x) - 1.0)

    def chi2_divergence(self) -> float:
        """x coth x − 1 with x = ρ/2."""
        x = 0.5 * float(self.rho)
        return x**2 / 3.0 - x**4 / 45.0 if x < 1e-2 else float(x / np.tanh(x) - 1.0)


class WorstCase(Spectrum):
    """The largest loss alone: S(u) = 1[u = 1].

    See Also
    --------
    Superquantile : The mean of a share of the largest losses, less at one row's mercy.
    Mean : The other end: all losses alike.

    Examples
    --------
    >>> WorstCase().weights(3)
    array([0., 0., 1.])
    """

    name = "worst_case"

    @property
    def monotone(self) -> Monotone:
        """Always ``"up"``."""
        return "up"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) = 1 at u = 1, else 0."""
        return np.where(np.asarray(u, dtype=np.float64) >= 1.0, 1.0, 0.0)

    def density(self, u: ArrayLike) -> Floats:
        """Zero, and infinite at u = 1."""
        return np.where(np.asarray(u, dtype=np.float64) >= 1.0, np.inf, 0.0)

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """All on the row that completes the mass."""
        return np.where(P >= 1.0, 1.0, 0.0)

    def inverse(self, v: ArrayLike) -> Floats:
        """Always one."""
        return np.ones_like(np.asarray(v, dtype=np.float64))

    def kl_divergence(self) -> float:
        """Infinite: there is no density."""
        return float("inf")

    def chi2_divergence(self) -> float:
        """Infinite: there is no density."""
        return float("inf")
