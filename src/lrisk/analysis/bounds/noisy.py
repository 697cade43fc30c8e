"""Regret bounds of the noisy-data paper, as printed and with valid constants."""

import math

from ..._params import check_count, check_real, refused
from ...corrections import bounds as valid
from ._checks import check_positive, check_sizes


def two_copy_regret(
    radius: float, feature: float, target: float, rounds: int, *, printed: bool = False
) -> float:
    """Theorem 1's regret bound B_w√(GT) of algorithm 1 (left).

    G = 4(B_w B_x̃ + B_ỹ)² B_x̃². Printed is G = 4(B_w² B_x̃² + B_ỹ²) B_x̃², without the
    cross term of the square: E(⟨w, x̃⟩ − ỹ)² may be as large as (B_w B_x̃ + B_ỹ)².

    Parameters
    ----------
    radius, feature, target : float
        B_w; √E‖x̃‖² ≤ B_x̃ and √E ỹ² ≤ B_ỹ.
    rounds : int
        T.
    """
    owner = "two_copy_regret"
    check_sizes(owner, radius=radius, feature=feature, target=target)
    check_count(owner, "rounds", rounds)
    gradient = valid.pair_gradient_bound(radius, feature, target)
    if printed:
        gradient = 4.0 * ((radius * feature) ** 2 + target**2) * feature**2
    return valid.regret_bound(radius, gradient, rounds)


def one_copy_regret(
    radius: float, feature: float, target: float, noise: float, rounds: int
) -> float:
    """Regret bound B_w√(GT) of algorithm 1 (right); the paper leaves it out.

    G = 4(B_w B_x̃² + B_ỹ B_x̃ + B_Σ B_w)², with E‖x̃‖⁴ ≤ B_x̃⁴ and ‖Σ_t‖ ≤ B_Σ = `noise`.
    """
    owner = "one_copy_regret"
    check_sizes(owner, radius=radius, feature=feature, target=target, noise=noise)
    check_count(owner, "rounds", rounds)
    gradient = valid.single_gradient_bound(radius, feature, feature**2, target, noise)
    return valid.regret_bound(radius, gradient, rounds)


def kernel_regret(
    norm: float,
    squared_radius: float,
    target: float,
    rounds: int,
    angle: float = math.pi / 2,
    *,
    printed: bool = False,
) -> float:
    """Theorem 2's regret bound of algorithm 2, against functions of norm at most B_w.

    2WR(WR + B_y)√T with W = R·B_w/√(1 − cos β). Printed is 2WR√((W²R² + B_y²)T),
    without the cross term, with W = √5·R·B_w/sin β, which is larger.

    Parameters
    ----------
    norm : float
        B_w.
    squared_radius : float
        R² = k̂(0) (`Surrogate.squared_radius`).
    target : float
        B_y.
    rounds : int
        T.
    angle : float in (0, π/2]
        β, the least angle between the positive and the negative part of a function.
    """
    owner = "kernel_regret"
    check_sizes(owner, norm=norm, target=target)
    check_positive(owner, "it is k̂(0)", squared_radius=squared_radius)
    check_count(owner, "rounds", rounds)
    check_real(owner, "angle", angle, low=0, high=math.pi / 2, low_open=True,
               remedy="π/2 is that of functions of one sign")  # fmt: skip
    R = math.sqrt(squared_radius)
    if printed:
        W = math.sqrt(5.0) * R * norm / math.sin(angle)
        return 2.0 * W * R * math.sqrt(((W * R) ** 2 + target**2) * rounds)
    W = valid.surrogate_ball(norm, squared_radius, math.cos(angle))
    gradient = valid.kernel_gradient_bound(W, squared_radius, target)
    return valid.regret_bound(W, gradient, rounds)


def online_to_batch_bound(regret: float, rounds: int) -> float:
    """Excess risk of the average of the iterates on new rows, regret/T.

    For rows drawn independently: E[risk(w̄)] − risk(u) ≤ E[regret against u]/T, by
    convexity (paper 3, section 2, after its reference [1]).
    """
    owner = "online_to_batch_bound"
    if math.isnan(regret):
        raise ValueError(refused(owner, "regret", "a number", regret, "pass a bound"))
    check_count(owner, "rounds", rounds)
    return regret / rounds
