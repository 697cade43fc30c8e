"""Regret bounds and the steps that go with them, with valid constants.

Online gradient descent with unbiased gradients of E‖g‖² ≤ G inside a ball of radius B
has an expected regret of at most B√(GT) with the fixed step B/√(GT), and of at most
2√2·B√(GT) with steps √2·B/√(Gt) that need no horizon.
"""

import numpy as np


def pair_gradient_bound(radius: float, feature: float, target: float) -> float:
    """G = 4(B_w B_x̃ + B_ỹ)² B_x̃², two copies (theorem 1, with its cross term)."""
    return 4.0 * (radius * feature + target) ** 2 * feature**2


def single_gradient_bound(
    radius: float, feature: float, fourth: float, target: float, noise: float
) -> float:
    """G = 4(B_w √E‖x̃‖⁴ + B_ỹ B_x̃ + B_Σ B_w)², one copy and known covariance.

    Parameters
    ----------
    radius, feature, target : float
        B_w, B_x̃ and B_ỹ: bounds on ‖w‖ and on root mean squares.
    fourth : float
        √E‖x̃‖⁴.
    noise : float
        B_Σ, the largest eigenvalue of a noise covariance.
    """
    return 4.0 * (radius * fourth + target * feature + noise * radius) ** 2


def regret_bound(
    radius: float, gradient: float, rounds: int, *, fixed: bool = True
) -> float:
    """B√(GT) for a step fixed in advance, 2√2 times that without a horizon."""
    factor = 1.0 if fixed else 2.0 * np.sqrt(2.0)
    return float(factor * radius * np.sqrt(gradient * rounds))


def kernel_gradient_bound(radius: float, surrogate: float, target: float) -> float:
    """G = 4R²(WR + B_y)², so that W√(GT) = 2WR(WR + B_y)√T (theorem 2).

    Parameters
    ----------
    radius : float
        W, of the ball in the surrogate space.
    surrogate : float
        R² = k̂(0).
    target : float
        B_y.
    """
    root = np.sqrt(surrogate)
    return float(4.0 * surrogate * (radius * root + target) ** 2)


def surrogate_ball(norm: float, surrogate: float, cosine: float = 0.0) -> float:
    """W ≥ R·B_w/√(1 − cos β), the ball that holds every comparator of norm B_w.

    β is the angle between the comparator's positive and negative parts; the paper asks
    for √5·R·B_w/sin β, which is larger.

    Why: û has the coefficients of u, so with p and q its two parts
    ‖û‖² ≤ R²(‖p‖² + ‖q‖²) (k̂ ≥ 0 makes the cross term negative, and each part's
    norm grows by at most R), and ‖u‖² ≥ (1 − cos β)(‖p‖² + ‖q‖²). The norm grows by at
    most R since 0 ≤ k̂ ≤ R²k: of a Gaussian by its formula; of a mixture of Gaussians by
    Chebyshev's inequality, as the factor falls with the width and the kernel rises.

    Examples
    --------
    >>> from lrisk.corrections.bounds import surrogate_ball
    >>> surrogate_ball(2.0, 4.0)
    4.0
    """
    return float(np.sqrt(surrogate) * norm / np.sqrt(1.0 - cosine))
