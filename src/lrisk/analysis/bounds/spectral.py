"""Bounds of the spectral paper: propositions 1 and 3, corollary 15, theorem 4."""

import math
from typing import NamedTuple

import numpy as np

from ..._params import check_count, check_real, refused
from ...spectra import Spectrum, parse_spectrum
from ._checks import check_sizes


def largest_density(spectrum: str | Spectrum) -> float:
    """‖s‖_∞ = sup s of a monotone spectrum; infinite where S jumps.

    Examples
    --------
    >>> from lrisk.analysis.bounds import largest_density
    >>> largest_density("superquantile:0.75")
    4.0
    """
    return max(_ends(spectrum))


def distance_to_mean(spectrum: str | Spectrum) -> float:
    """‖s − u‖_∞ = sup |s − 1| of a monotone spectrum, C_s of proposition 3.

    Examples
    --------
    >>> from lrisk.analysis.bounds import distance_to_mean
    >>> distance_to_mean("extremile:2")
    1.0
    """
    return max(abs(end - 1.0) for end in _ends(spectrum))


def _ends(spectrum: str | Spectrum) -> tuple[float, float]:
    """The density's limits at 0 and 1, between which a monotone one lies."""
    known = parse_spectrum(spectrum)
    if known.monotone == "none":
        rule, remedy = "monotone", "use one that only rises or only falls"
        raise ValueError(refused("lrisk", "spectrum", rule, known, remedy))
    first, before, last = known.density(np.array([0.0, np.nextafter(1.0, 0.0), 1.0]))
    return float(first), float(max(before, last))  # the last one may be a value beyond


def risk_error_bound(
    spectrum: str | Spectrum, n: int, moment: float, p: float
) -> float:
    r"""Bound on the mean squared error of an empirical spectral risk.

    .. math:: E|L_s[F_n] - L_s[F]|^2
              \le \frac{2 \|s\|_\infty^2}{n} \Big(\frac{p}{p-2}\Big)^2 E[|Z|^p]^{2/p}

    (paper 1, proposition 1).

    Parameters
    ----------
    spectrum : str or Spectrum
        Monotone.
    n : int
        Number of losses.
    moment : float
        E|Z|^p of a loss.
    p : float > 2

    Examples
    --------
    >>> from lrisk.analysis.bounds import risk_error_bound
    >>> risk_error_bound("mean", 100, moment=3.0, p=4.0).__round__(4)
    0.1386
    """
    owner = "risk_error_bound"
    check_count(owner, "n", n)
    check_real(owner, "moment", moment, low=0, remedy="it is a mean of |Z|^p")
    check_real(owner, "p", p, low=2, low_open=True, remedy="4 is usual")
    if moment == 0.0:  # all losses are zero, and 0·∞ is
        return 0.0
    root = float(largest_density(spectrum) * p / (p - 2.0) * moment ** (1.0 / p))
    return 2.0 * root**2 / n


def minibatch_bias_bound(
    spectrum: str | Spectrum, n: int, m: int, largest_loss: float
) -> float:
    r"""Bound on the bias of the risk of a minibatch drawn without replacement.

    .. math:: |E R_{\hat\sigma}(w) - R_\sigma(w)|
              \le \sqrt2\, \|s - u\|_\infty \sqrt{\frac{n-m}{m(n-1)}}\, B

    with B the largest |ℓ_i(w)| (paper 1, lemma 14 and corollary 15).

    Parameters
    ----------
    spectrum : str or Spectrum
        Monotone.
    n, m : int
        Rows, and rows in a minibatch; at most n.
    largest_loss : float
        B; over all w of the ball of radius G/μ for the corollary.

    Examples
    --------
    >>> from lrisk.analysis.bounds import minibatch_bias_bound
    >>> minibatch_bias_bound("superquantile:0.5", 101, 101, 3.0)
    0.0
    """
    owner = "minibatch_bias_bound"
    check_count(owner, "n", n)
    check_count(owner, "m", m)
    if m > n:
        rule, remedy = f"at most n = {n}", "it is drawn without replacement"
        raise ValueError(refused(owner, "m", rule, m, remedy))
    check_real(owner, "largest_loss", largest_loss, low=0, remedy="pass max |ℓ_i|")
    distance = distance_to_mean(spectrum)
    if m == n or distance == 0.0 or largest_loss == 0.0:
        return 0.0
    share = (n - m) / (m * (n - 1.0))
    return math.sqrt(2.0 * share) * distance * largest_loss


class SGDBound(NamedTuple):
    """Proposition 3's two terms, and their sum."""

    bias: float
    optimization: float

    @property
    def total(self) -> float:
        """The bound."""
        return self.bias + self.optimization


def sgd_bound(
    spectrum: str | Spectrum,
    n: int,
    m: int,
    steps: int,
    lipschitz: float,
    mu: float,
    largest_loss: float,
) -> SGDBound:
    r"""Bound on the expected suboptimality of minibatch SGD's average.

    .. math:: E R_{\sigma,\mu}(\bar w^{(T)}) - \min R_{\sigma,\mu}
              \le 2\sqrt2\, C_s B_\mu \sqrt{\frac{n-m}{m(n-1)}}
              + \frac{2 G^2 (1 + \ln T)}{\mu T}

    for steps 1/(μ(t + 1)) and losses that are G-Lipschitz (paper 1, proposition 3).

    Parameters
    ----------
    spectrum : str or Spectrum
        Increasing, so that the risk is convex.
    n, m, steps : int
        Rows, rows in a minibatch, T.
    lipschitz, mu : float
        G and μ.
    largest_loss : float
        B_μ, the largest |ℓ_i(w)| over ‖w‖ ≤ G/μ.
    """
    owner = "sgd_bound"
    known = parse_spectrum(spectrum)
    if known.monotone not in ("flat", "up"):
        rule, remedy = "increasing", "the proposition is of convex risks"
        raise ValueError(refused(owner, "spectrum", rule, known, remedy))
    check_count(owner, "steps", steps)
    remedy = "for losses without one the proposition says nothing"
    check_real(owner, "lipschitz", lipschitz, low=0, remedy=remedy)
    check_real(owner, "mu", mu, low=0, low_open=True, remedy="pass alpha/n")
    bias = 2.0 * minibatch_bias_bound(spectrum, n, m, largest_loss)
    return SGDBound(bias, 2.0 * lipschitz**2 * (1.0 + math.log(steps)) / (mu * steps))


class LSVRGTheory(NamedTuple):
    """What theorem 4 asks of LSVRG, for a distance that halves in every epoch.

    Attributes
    ----------
    nu : float
        Smoothing, 4nG²/μ.
    learning_rate : float
        2/((n + 8κ)μ).
    epoch_length : int
        N = 4(n + 8κ).
    checkpoint_probability : float
        q* = 1/n, of the proof.
    """

    nu: float
    learning_rate: float
    epoch_length: int
    checkpoint_probability: float


def lsvrg_theory(
    n: int, largest_weight: float, lipschitz: float, smoothness: float, mu: float
) -> LSVRGTheory:
    """Settings under which E‖w^(kN) − w*‖ ≤ 2^(−k)‖w^(0) − w*‖ (paper 1, theorem 4).

    κ = nσ_nL/μ + 1; w* minimises the risk smoothed with ν.

    Parameters
    ----------
    n : int
    largest_weight : float
        σ_n, 1/n or more.
    lipschitz, smoothness : float
        G and L of the losses as functions of w.
    mu : float

    Examples
    --------
    >>> from lrisk.analysis.bounds import lsvrg_theory
    >>> lsvrg_theory(10, 0.1, 1.0, 1.0, 0.5).epoch_length
    136
    """
    owner = "lsvrg_theory"
    check_count(owner, "n", n)
    least, remedy = (1.0 - 1e-9) / n, "of n weights of sum one the largest is"
    check_real(owner, "largest_weight", largest_weight, low=least, high=1.0 + 1e-9,
               remedy=remedy)  # fmt: skip
    check_sizes(owner, lipschitz=lipschitz, smoothness=smoothness)
    check_real(owner, "mu", mu, low=0, low_open=True, remedy="pass alpha/n")
    kappa = n * largest_weight * smoothness / mu + 1.0
    size = n + 8.0 * kappa
    nu = 4.0 * n * lipschitz**2 / mu
    return LSVRGTheory(nu, 2.0 / (size * mu), math.ceil(4.0 * size), 1.0 / n)
