"""The batch problem of kernel regression from noisy rows, and its penalty."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._params import refused
from .._typing import Floats, Indices
from ..corrections import (
    Kernel,
    OneCopy,
    RandomFeatures,
    Surrogate,
    corrected_gram,
    corrected_rows,
    pair_quadratic,
)
from ..corrections.landmarks import Quadratic, choose_penalty, folds
from ..noise import Exact, Noise

#: From rows and all targets to the rows' estimate of the risk.
Problem = Callable[[Indices, Floats], Quadratic]

#: Penalties λ tried by "auto".
PENALTIES = np.geomspace(1e-8, 10.0, 28)


def feature_problem(
    owner: object, features: RandomFeatures, copies: Floats, factor: Floats | None
) -> Problem:
    """The risk of weights on random features, from copies of shape (m, n, d)."""
    exact = len(copies) == 1 and isinstance(features.noise, Exact)
    if len(copies) == 1 and not exact:
        rule = "given with n_components: random features need two copies"
        remedy = "pass X2, or leave n_components out"
        raise ValueError(refused(owner, "X2", rule, None, remedy))
    return _quadratics(np.stack([features.noisy(c, factor) for c in copies]), exact)


def landmark_problem(
    kernel: Kernel, surrogate: Surrogate, copies: Floats, landmarks: Floats
) -> Problem:
    """The risk of coefficients on landmarks, from copies of shape (m, n, d)."""
    noise: Noise = surrogate.noise
    exact = len(copies) == 1 and isinstance(noise, Exact)
    if len(copies) == 1 and not exact:
        gaussian: Any = kernel
        one = OneCopy(gaussian, noise, landmarks)
        return lambda rows, y: one.quadratic(copies[0][rows], y[rows])
    return _quadratics(
        np.stack([surrogate.matrix(c, landmarks) for c in copies]), exact
    )


def automatic_penalty(problem: Problem, K: Floats, y: Floats) -> float:
    """λ of the smallest corrected risk in five-fold cross-validation."""
    if len(y) < 2:
        return 1.0
    parts = folds(len(y), 5)
    quadratics = [problem(rows, y) for rows in parts]
    return choose_penalty(quadratics, [len(rows) for rows in parts], K, PENALTIES)


def _quadratics(psi: Floats, exact: bool) -> Problem:
    def of_rows(rows: Indices, y: Floats) -> Quadratic:
        if not exact:
            return pair_quadratic(psi[:, rows], y[rows])
        own = corrected_rows(psi[:, rows], Exact())
        return Quadratic(corrected_gram(own), own.mean.T @ y[rows] / len(own.mean))

    return of_rows
