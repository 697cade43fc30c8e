"""Bounds of the subquantile paper: theorems 7, 9 and 10, corollary 8, its lemmas."""

import math

from ..._params import check_count, check_real
from ._checks import check_positive, check_share, check_sizes

#: Of matrices that a rate divides by.
INVERTIBLE = "the covariance must be invertible"


def contamination_ratio(epsilon: float, *, root: bool = False) -> float:
    """γ: the most wrong rows among those kept, for each right one kept.

    γ = |P∖S|/|S∩P| ≤ ε/(1 − 2ε). The paper also calls its square root γ, three lines
    earlier (section 3.1); ``root=True`` gives that.

    Examples
    --------
    >>> from lrisk.analysis.bounds import contamination_ratio
    >>> contamination_ratio(0.25)
    0.5
    """
    check_share("contamination_ratio", epsilon)
    ratio = epsilon / (1.0 - 2.0 * epsilon)
    return math.sqrt(ratio) if root else ratio


def trimmed_regression_rate(
    epsilon: float, sigma: float, smallest: float, *, root: bool = True
) -> float:
    """γσ/√λ_min, corollary 8's error of trimmed regression without its constant.

    The paper's O(·) hides the constant, and that enough rows are needed: at ε = 0 this
    is zero, while any fit of n rows is about σ√(d/n)/√λ_min off.

    Parameters
    ----------
    epsilon, sigma : float
        Share of wrong rows, deviation of the right rows' noise.
    smallest : float
        λ_min of the right rows' covariance.
    root : bool
        Which γ (see `contamination_ratio`).
    """
    owner = "trimmed_regression_rate"
    check_sizes(owner, sigma=sigma)
    check_positive(owner, INVERTIBLE, smallest=smallest)
    return contamination_ratio(epsilon, root=root) * sigma / math.sqrt(smallest)


def trimmed_binary_rate(
    epsilon: float,
    n: int,
    radius: float,
    trace: float,
    largest_wrong: float,
    smallest: float,
) -> float:
    r"""Theorem 9's error of trimmed logistic regression, without its constant.

    .. math:: \frac{\sqrt{\mathrm{Tr}\,\Sigma} + \sqrt{Q_k}}{\sqrt{n(1-2\varepsilon)}\,
              e^{-R(\mathrm{Tr}\,\Sigma + \ln n)}\, \lambda_{\min}}

    The exponential, n^R e^{R·Tr Σ}, makes it fall with n for R < ½ only.

    Parameters
    ----------
    epsilon, n : float, int
    radius : float
        R.
    trace, smallest : float
        Tr Σ and λ_min.
    largest_wrong : float
        Q_k, the largest k(x, x) of a wrong row.
    """
    owner = "trimmed_binary_rate"
    check_share(owner, epsilon)
    check_count(owner, "n", n)
    check_sizes(owner, radius=radius, trace=trace, largest_wrong=largest_wrong)
    check_positive(owner, INVERTIBLE, smallest=smallest)
    top = math.sqrt(trace) + math.sqrt(largest_wrong)
    if top == 0.0:
        return 0.0
    exponent = radius * (trace + math.log(n))
    growth = math.exp(exponent) if exponent < 700.0 else math.inf
    return top * growth / (math.sqrt(n * (1.0 - 2.0 * epsilon)) * smallest)


def trimmed_multiclass_rate(
    epsilon: float, n: int, trace: float, largest_wrong: float, smallest: float
) -> float:
    r"""Theorem 10's error of trimmed softmax regression, without its constant.

    .. math:: \frac{\sqrt{n(1-\varepsilon)\mathrm{Tr}\,\Sigma}
                    + \sqrt{n\varepsilon Q_k}}
              {n(1-2\varepsilon)\lambda_{\min}
               - \sqrt{n(1-2\varepsilon)\mathrm{Tr}\,\Sigma}}

    Infinite where n is too small for the denominator to be positive. Parameters as in
    `trimmed_binary_rate`.
    """
    owner = "trimmed_multiclass_rate"
    check_share(owner, epsilon)
    check_count(owner, "n", n)
    check_sizes(owner, trace=trace, largest_wrong=largest_wrong)
    check_positive(owner, INVERTIBLE, smallest=smallest)
    top = math.sqrt(n * (1.0 - epsilon) * trace) + math.sqrt(
        n * epsilon * largest_wrong
    )
    kept = n * (1.0 - 2.0 * epsilon)
    below = kept * smallest - math.sqrt(kept * trace)
    return top / below if below > 0.0 else math.inf


def trimmed_descent_bound(
    start: float, steps: int, smallest: float, largest: float, pull: float
) -> float:
    r"""Distance to the truth after T steps of trimmed gradient descent of step 1/β.

    .. math:: \|f^{(T)} - f^*\| \le \rho^T \|f^{(0)} - f^*\| + \frac{p}{\lambda},
              \qquad \rho = 1 - \lambda/\|K\|

    with λ the smallest eigenvalue of Σ φφᵀ over the right rows that are kept, in any of
    the steps, and p the largest ‖Σ μ_iφ_i‖ + ‖Σ ξ_iφ_i‖ over the kept rows (paper 2,
    equation 111, unrolled). Equation 112 contracts a quantity that contains p as well,
    which steps do not reduce; what is left of it here is p/λ.

    Parameters
    ----------
    start : float
        ‖f^(0) − f*‖.
    steps : int
        T.
    smallest, largest : float
        λ and ‖K‖.
    pull : float
        p.
    """
    owner = "trimmed_descent_bound"
    check_sizes(owner, start=start, pull=pull)
    check_count(owner, "steps", steps, low=0)
    check_positive(owner, "the kept rows must span the space", smallest=smallest)
    check_real(owner, "largest", largest, low=smallest, remedy="it is ‖K‖")
    return (1.0 - smallest / largest) ** steps * start + pull / smallest


def trimmed_descent_steps(
    start: float, accuracy: float, contraction: float, *, printed: bool = False
) -> float:
    """Steps after which the part of the distance that contracts is below `accuracy`.

    log(Λ/ε)/log(1/(1 − c)) with Λ = `start` and c = λ/‖K‖ = `contraction`. Equations 14
    and 118 have ε outside the logarithm, log(Λ)/(ε log(1/(1 − c))): negative for Λ < 1.
    """
    owner = "trimmed_descent_steps"
    check_positive(owner, "it is a distance", start=start, accuracy=accuracy)
    check_real(owner, "contraction", contraction, low=0, high=1, low_open=True,
               high_open=True, remedy="it is λ/‖K‖")  # fmt: skip
    rate = -math.log1p(-contraction)
    if printed:
        return math.log(start) / (accuracy * rate)
    return max(math.log(start / accuracy), 0.0) / rate


def largest_gaussian_bound(n: int, sigma: float, *, printed: bool = False) -> float:
    """E max |μ_i| ≤ σ√(2 ln n) + σ/(√(2π) ln n) for n normal μ_i (paper 2, lemma 15).

    Printed is σ²/√(π ln n) for the second term, whose unit is not that of μ.
    """
    check_count("largest_gaussian_bound", "n", n, low=2)
    check_sizes("largest_gaussian_bound", sigma=sigma)
    log = math.log(n)
    rest = sigma**2 / math.sqrt(math.pi * log)
    if not printed:
        rest = sigma / (math.sqrt(2.0 * math.pi) * log)
    return sigma * math.sqrt(2.0 * log) + rest


def largest_norm_bound(
    n: int, trace: float, *, printed: bool = False, s: float = 1.0
) -> float:
    """E max k(x_i, x_i) ≤ 4 Tr Σ (ln n + ½ ln 2) for φ(x_i) ~ N(0, Σ).

    By Jensen's inequality at λ = 1/(4 Tr Σ), where E e^{λ‖φ‖²} ≤ √2. Printed (paper 2,
    lemma 19) is 2 Tr Σ ln(ns/(2 Tr Σ)) + 1/s for any s ≥ 1, which has the logarithm of
    a number with a unit, and is negative once ns is well below 2 Tr Σ.
    """
    owner = "largest_norm_bound"
    check_count(owner, "n", n)
    check_sizes(owner, trace=trace)
    if printed:
        check_positive(owner, "the printed form divides by it", trace=trace, s=s)
        return 2.0 * trace * math.log(n * s / (2.0 * trace)) + 1.0 / s
    return 4.0 * trace * (math.log(n) + 0.5 * math.log(2.0))


def noise_norm_bound(
    n: int, sigma: float, trace: float, *, printed: bool = False
) -> float:
    """E‖Σ μ_iφ(x_i)‖ ≤ σ√(n Tr Σ) for independent normal μ_i.

    By Jensen's inequality, as E‖Σ μ_iφ_i‖² = nσ² Tr Σ; printed (paper 2, lemma 20) is
    O(σ√(n ln n Tr Σ)), here without its constant.
    """
    check_count("noise_norm_bound", "n", n)
    check_sizes("noise_norm_bound", sigma=sigma, trace=trace)
    logs = math.log(n) if printed else 1.0
    return sigma * math.sqrt(n * logs * trace)


def covariance_error_bound(n: int, trace: float) -> float:
    """E‖Σ̂ − Σ‖_HS ≤ 2√3 Tr Σ/√n for Gaussian rows (paper 2, lemma 22)."""
    check_count("covariance_error_bound", "n", n)
    check_sizes("covariance_error_bound", trace=trace)
    return 2.0 * math.sqrt(3.0) * trace / math.sqrt(n)


def covariance_norm_bound(n: int, d: int, largest: float) -> float:
    """E‖Σ̂ − Σ‖₂ ≤ 62.82 ‖Σ‖ (√(d/n) + 1/√(dn)), Gaussian rows (paper 2, lemma 24)."""
    check_count("covariance_norm_bound", "n", n)
    check_count("covariance_norm_bound", "d", d)
    check_sizes("covariance_norm_bound", largest=largest)
    return 62.82 * largest * (math.sqrt(d / n) + 1.0 / math.sqrt(d * n))
