"""The online rounds of kernel regression from noisy rows, in their three forms.

Algorithm 2 of the paper: exact or on a budget in the surrogate's space, and with random
features. A call goes on from a copy of the state, so that one which is interrupted
changes nothing.
"""

import copy
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Floats
from ...corrections import RandomFeatures, Surrogate, corrected_rows
from ...noise import Exact, GaussianNoise, Noise, Replicates
from ...solvers.online import OnlineKernel, OnlineLinear, squared_norms

#: Rows turned into features at a time: 8 MB for a thousand features.
BLOCK = 1024


class Rounds(NamedTuple):
    """What the rounds so far have come to.

    Attributes
    ----------
    state : KernelState or LinearState
        To go on from.
    support : array of shape (m, d) or None
        Support vectors, as the surrogate transforms them; None with random features.
    coefficients : array of shape (m,)
    report : dict
        Radius, step, loss and regret bound.
    """

    state: Any
    support: Floats | None
    coefficients: Floats
    report: dict[str, float]


def kernel_rounds(
    solver: OnlineKernel,
    surrogate: Surrogate,
    state: Any,
    copies: list[Floats],
    y: Floats,
) -> Rounds:
    """One round for each row, from its copies, in the space of the surrogate.

    Parameters
    ----------
    solver : OnlineKernel
    surrogate : Surrogate
    state : KernelState or None
        Of the rounds before; it is not changed.
    copies : list of arrays of shape (n, d)
    y : array of shape (n,)
    """
    begun = solver.init(copies[0].shape[1]) if state is None else copy.deepcopy(state)
    P, *others = (surrogate.transform(c) for c in copies)
    begun = solver.step(begun, surrogate, P, np.stack(others, 1), y)
    return Rounds(begun, *solver.finish(begun), solver.report(begun, surrogate))


def feature_rounds(
    solver: OnlineKernel,
    features: RandomFeatures,
    bound: float,
    state: Any,
    copies: list[Floats],
    y: Floats,
    factor: Floats | None,
) -> Rounds:
    """One round for each row, on random features of its copies.

    Parameters
    ----------
    solver : OnlineKernel
        Its step, ball and average; budget and tol do not matter here.
    features : RandomFeatures
    bound : float
        Largest norm of a row's features.
    state : LinearState or None
        Of the rounds before; it is not changed.
    copies : list of arrays of shape (n, d)
    y : array of shape (n,)
    factor : array of shape (n,) or None
        On the noise's covariance in each row.
    """
    options = solver.get_params()
    linear = OnlineLinear(
        **{k: v for k, v in options.items() if k not in ("budget", "tol")}
    ).set_params(feature_bound=bound)
    begun = (
        linear.init(features.n_components) if state is None else copy.deepcopy(state)
    )
    for start in range(0, len(y), BLOCK):
        part = slice(start, start + BLOCK)
        own = None if factor is None else factor[part]
        psi = np.stack([features.noisy(c[part], own) for c in copies])
        rows = corrected_rows(psi, Replicates())
        linear.step(begun, rows, y[part], squared_norms(psi, rows))
    return Rounds(begun, None, linear.finish(begun), linear.report(begun, pairs=True))


def bound_is_proven(
    noise: Noise, solver: OnlineKernel, *, correction: float, chosen: bool, exact: bool
) -> bool:
    """Whether the rounds are what theorem 2 speaks of.

    W rests on 0 ≤ k̂ ≤ R²k, true of Gaussian noise only (under Laplace noise k̂ takes
    both signs). A budget drops part of each gradient; random features span a space
    without the comparators; noise corrected in part leaves a bias; a width, a scale or
    a centre taken from the noisy rows depends on their noise.

    Parameters
    ----------
    noise : Noise
        As the surrogate knows it.
    solver : OnlineKernel
    correction : float
        Factor on the noise's covariance.
    chosen : bool
        Whether width, scale or centre were taken from the rows.
    exact : bool
        Whether the surrogate's own space is used, not random features.
    """
    gaussian = isinstance(noise, GaussianNoise) and correction == 1.0 and not chosen
    unbiased = isinstance(noise, Exact) or gaussian
    return unbiased and solver.budget is None and exact
