"""Spectra that average the losses between two quantiles."""

import numpy as np
from numpy.typing import ArrayLike

from .._params import check_real, refused
from .._typing import Floats
from .base import Monotone, Shape, Spectrum


class RankedRange(Spectrum):
    """Mean of the losses between two quantiles: S(u) = clip((u − a)/(b − a), 0, 1).

    Two-sided: ignores the lowest and the highest losses (sum of ranked range).

    Parameters
    ----------
    lower : float in [0, 1], default=0.1
        Quantile of the losses above which rows count.
    upper : float in [0, 1], default=0.9
        Quantile of the losses up to which they do.

    See Also
    --------
    Superquantile : Ignores the lowest losses only.
    Subquantile : Ignores the highest losses only.

    Examples
    --------
    >>> RankedRange(lower=0.25, upper=0.75).weights(4)
    array([0. , 0.5, 0.5, 0. ])
    """

    name = "ranked_range"

    def __init__(self, lower: float = 0.1, upper: float = 0.9) -> None:
        self.lower = lower
        self.upper = upper
        self.validate()

    def validate(self) -> None:
        """0 ≤ lower < upper ≤ 1."""
        limits = {"low": 0.0, "high": 1.0, "remedy": "pass fractions of the rows"}
        check_real(self, "lower", self.lower, **limits)  # type: ignore[arg-type]
        check_real(self, "upper", self.upper, **limits)  # type: ignore[arg-type]
        if not self.lower < self.upper:
            rule = f"above lower={self.lower!r}"
            raise ValueError(
                refused(self, "upper", rule, self.upper, "widen the range")
            )

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def support(self) -> tuple[float, float]:
        """The quantiles (a, b)."""
        return self._ends

    @property
    def shape(self) -> Shape:
        """``"range"`` unless one end is open."""
        return "range" if self.monotone == "none" else self.monotone

    @property
    def selects(self) -> bool:
        """Whether only the lower end cuts."""
        return self.monotone == "up"

    @property
    def keeps(self) -> bool:
        """Whether the lower end is open."""
        return self._ends[0] == 0.0

    def in_two_steps(self) -> tuple[Spectrum, Spectrum]:
        """Drop all above b, then take the Superquantile(a/b) of the rest."""
        a, b = self._ends
        return Subquantile(b), Superquantile(a / b)

    @property
    def monotone(self) -> Monotone:
        """``"none"`` unless one end is open."""
        a, b = self._ends
        if a == 0.0:
            return "flat" if b == 1.0 else "down"
        return "up" if b == 1.0 else "none"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) = clip((u − a)/(b − a), 0, 1)."""
        a, b = self._ends
        return np.clip(np.asarray(u, dtype=np.float64) - a, 0.0, b - a) / (b - a)

    def density(self, u: ArrayLike) -> Floats:
        """1/(b − a) for a ≤ u < b, and at u = b = 1; else 0."""
        a, b = self._ends
        u = np.asarray(u, dtype=np.float64)
        inside = (u >= a) & ((u < b) | (b == 1.0))
        return np.where(inside, 1.0 / (b - a), 0.0)

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """Length of [P − p, P] ∩ [a, b] over b − a, fractional at the two ends."""
        a, b = self._ends
        overlap = np.minimum(mass, b - a)
        if a > 0.0:
            overlap = np.minimum(overlap, np.maximum(P - a, 0.0))
        if b < 1.0:
            overlap = np.minimum(overlap, np.maximum(b - (P - mass), 0.0))
        return np.asarray(overlap / (b - a))

    def inverse(self, v: ArrayLike) -> Floats:
        """Linear between the ends: a + (b − a)v."""
        a, b = self._ends
        return a + (b - a) * np.asarray(v, dtype=np.float64)

    def kl_divergence(self) -> float:
        """−ln(b − a)."""
        a, b = self._ends
        return float(-np.log(b - a)) + 0.0

    def chi2_divergence(self) -> float:
        """1/(b − a) − 1."""
        a, b = self._ends
        return (1.0 - (b - a)) / (b - a)


class Superquantile(RankedRange):
    """Mean of the largest losses (CVaR): S(u) = (u − q)₊/(1 − q).

    Parameters
    ----------
    q : float in [0, 1), default=0.5
        The fraction of rows, those with the smallest losses, that is left out.

    See Also
    --------
    Subquantile : The mean of the smallest losses, for rows that may be wrong.
    Extremile, ESRM : Smooth spectra, which weigh every row.

    Examples
    --------
    >>> Superquantile(0.5).weights(4)
    array([0. , 0. , 0.5, 0.5])
    """

    name = "superquantile"

    def __init__(self, q: float = 0.5) -> None:
        self.q = q
        self.validate()

    def validate(self) -> None:
        """0 ≤ q < 1."""
        remedy = "for the largest loss alone use WorstCase()"
        check_real(self, "q", self.q, low=0, high=1, high_open=True, remedy=remedy)

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.q), 1.0


class Subquantile(RankedRange):
    """Mean of the smallest losses (trimmed): S(u) = min(u/p, 1).

    Parameters
    ----------
    p : float in (0, 1], default=0.8
        The fraction of rows that is kept.

    See Also
    --------
    Superquantile : The mean of the largest losses.
    RiskSeekingExtremile : Weighs large losses less, but leaves none out.

    Examples
    --------
    >>> Subquantile(0.75).weights(2)
    array([0.66666667, 0.33333333])
    """

    name = "subquantile"

    def __init__(self, p: float = 0.8) -> None:
        self.p = p
        self.validate()

    def validate(self) -> None:
        """0 < p ≤ 1."""
        remedy = "pass the fraction of rows to keep"
        check_real(self, "p", self.p, low=0, high=1, low_open=True, remedy=remedy)

    @property
    def _ends(self) -> tuple[float, float]:
        return 0.0, float(self.p)
