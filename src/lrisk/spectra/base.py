"""What a spectrum is: how sorted losses are weighted.

A spectrum is a distribution function S on [0, 1]. The row that brings the cumulative
mass from P − p to P, in ascending order of loss, gets the weight

    σ = S(P) − S(P − p)                                       (paper 1, section 2)

so that n rows of mass 1/n get σ_i = S(i/n) − S((i−1)/n). S convex ("up") weights large
losses more and gives a convex objective; S concave ("down") weights them less.
Differencing S in floating point loses ten digits at a million rows, so each family has
its own stable closed form.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._params import Parameters, check_choice, check_count
from .._typing import Floats

Monotone = Literal["flat", "up", "down", "none"]
#: As `Monotone`, with two-sided spectra that can be minimised told from the others.
Shape = Literal["flat", "up", "down", "range", "none"]
#: Terms that make a risk smooth: ½Σ(λ − p)²/w, and Σλ log(λ/p).
SMOOTHINGS = ("l2", "entropy")


class Spectrum(Parameters):
    """Base of all spectra: how losses are weighted once they are sorted.

    An average counts all losses alike; a spectrum counts the largest more, or less. A
    subclass gives S, the share of the weight on the lowest fraction u of the rows, and
    its stable increments.

    See Also
    --------
    Mean : The plain average.
    Superquantile : The mean of the largest losses.
    Subquantile : The mean of the smallest losses.

    Examples
    --------
    >>> from lrisk.spectra import Mean, Spectrum, Superquantile
    >>> isinstance(Mean(), Spectrum)
    True
    >>> Superquantile(0.5).weights(4)  # of the losses in ascending order
    array([0. , 0. , 0.5, 0.5])
    """

    name: ClassVar[str]
    #: Whether S has a density of bounded slope, so that F is nearly smooth.
    smooth: ClassVar[bool] = False

    @property
    def monotone(self) -> Monotone:
        """Whether larger losses get more ("up"), less ("down") or equal weight."""
        raise NotImplementedError

    # -- questions, so that nobody need ask for a class --------------------------------

    @property
    def shape(self) -> Shape:
        """As `monotone`; ``"range"`` where `in_two_steps` splits a two-sided one."""
        return self.monotone

    @property
    def trims(self) -> bool:
        """Whether the largest losses get less weight, or none: then F is not convex."""
        return self.monotone in ("down", "none")

    @property
    def selects(self) -> bool:
        """Whether the losses above a quantile count alike, and no others."""
        return False

    @property
    def keeps(self) -> bool:
        """Whether the losses below a quantile count alike, and no others."""
        return False

    @property
    def support(self) -> tuple[float, float]:
        """Quantiles outside which no loss counts; (0, 1) where that is not known."""
        return 0.0, 1.0

    def in_two_steps(self) -> tuple["Spectrum", "Spectrum"]:
        """Spectra (A, B): this risk is that of B over the rows that A keeps.

        A decreases and B increases; only spectra of shape ``"range"`` have them.
        """
        raise NotImplementedError

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u), the share of the weight on the lowest fraction u of the mass."""
        raise NotImplementedError

    def density(self, u: ArrayLike) -> Floats:
        """s(u) = S′(u), at a jump the value on its right; infinite where S jumps."""
        raise NotImplementedError

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """S(P) − S(P − mass) for cumulative masses P in ascending order of loss."""
        raise NotImplementedError

    def inverse(self, v: ArrayLike) -> Floats:
        """The u with S(u) = v: where a draw from the spectrum falls (0 ≤ v ≤ 1)."""
        raise NotImplementedError

    def weights(self, n: int) -> Floats:
        """σ_1 … σ_n for n equal masses, in ascending order of loss; shape (n,)."""
        check_count(self, "n", n)
        sigma = np.arange(1, n + 1, dtype=np.float64)
        sigma /= n
        for start in range(0, n, 1 << 14):  # in parts, so that they stay in the cache
            part = sigma[start : start + (1 << 14)]
            part[:] = self.increments(part, np.full(len(part), 1.0 / n))
        # Rounding may swap two neighbours in the last digit; the order is a promise.
        if self.monotone == "up":
            np.maximum.accumulate(sigma, out=sigma)
        elif self.monotone == "down":
            np.minimum.accumulate(sigma, out=sigma)
        return sigma

    def kl_divergence(self) -> float:
        """KL(s ‖ u) = ∫ s ln s of the density s = S′ (paper 1, corollary 18)."""
        raise NotImplementedError

    def chi2_divergence(self) -> float:
        """χ²(s ‖ u) = ∫ (s − 1)² of the density s = S′ (paper 1, corollary 18)."""
        raise NotImplementedError

    def smoothing_bound(self, smoothing: str, nu: float, n: int) -> float:
        """Largest error of the smoothed risk, νΩ(σ) ≥ h − h_ν ≥ 0 (paper 1, lemma 17).

        Ω is ½‖σ − 1/n‖² for ``"l2"`` and Σσ log(nσ) for ``"entropy"``; the limits for
        large n are νχ²/(2n) and ν·KL.
        """
        check_choice(self, "smoothing", smoothing, SMOOTHINGS)
        sigma = self.weights(n)
        if smoothing == "l2":
            return float(0.5 * nu * np.sum((sigma - 1.0 / n) ** 2))
        positive = sigma[sigma > 0]
        return float(nu * np.sum(positive * np.log(n * positive)))
