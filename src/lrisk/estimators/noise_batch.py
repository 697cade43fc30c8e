"""The batch problem of kernel regression from noisy rows, and its penalty."""

from collections.abc import Callable
from typing import Any, NamedTuple

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
from ..corrections.landmarks import (
    Quadratic,
    folds,
    penalised_minimum,
    pooled,
    whitening,
)
from ..noise import Exact, Noise

#: From rows and all targets to the rows' estimate of the risk.
Problem = Callable[[Indices, Floats], Quadratic]

#: Penalties λ tried by "auto"; the last leaves the mean of the targets.
PENALTIES = np.append(np.geomspace(1e-8, 10.0, 28), np.inf)
#: Folds of the cross-validation, and the groups of a fold whose risks are compared:
#: fifty in all give a standard error to a tenth of itself.
FOLDS, GROUPS = 5, 10


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


def plain_problem(values: Floats) -> Problem:
    """The risk of the rows as they are, from their features, shape (n, m)."""
    return _quadratics(values[None], exact=True)


class BatchFit(NamedTuple):
    """A fit of the batch problem.

    Attributes
    ----------
    coefficients : array of shape (m,)
    penalty : float
        λ; infinite where the mean of the targets is all that is left.
    corrected : bool
        Whether it minimises the corrected risk, not that of the rows as they are.
    trusted : bool
        Whether the correction could be judged: some corrected fit is better than the
        mean of the targets by more than its uncertainty.
    """

    coefficients: Floats
    penalty: float
    corrected: bool
    trusted: bool


def best_fit(
    corrected: Problem, values: Floats | None, K: Floats, y: Floats, alpha: float | None
) -> BatchFit:
    r"""The corrected fit, or a safe one where the noise leaves nothing to go by.

    Every fit (corrected or not, of every penalty, and the mean of the targets) is
    judged in cross-validation by the corrected risk r on held-out rows, which is
    unbiased for the risk on clean rows and needs none. But it need not be positive:
    the Gram matrix of few rows is indefinite, and a wild fit may seem to have any risk
    far below zero. So no risk counts as less than zero, and each counts with its
    standard error s: the choice is of the smallest max(r, 0) + s.

    Parameters
    ----------
    corrected : Problem
    values : array of shape (n, m) or None
        Features of the rows as they are; None if there is no noise to correct.
    K : array of shape (m, m)
        Matrix of the penalty.
    y : array of shape (n,)
    alpha : float or None
        n·λ, to be taken as it is unless the fit leaves the targets' range; None chooses
        it.
    """
    whiten, n = whitening(K), len(y)
    problems = [corrected] if values is None else [corrected, plain_problem(values)]
    if alpha is None and n >= 2:
        return _judged_fit(problems, values, whiten, y)
    penalty = np.array([1.0 if alpha is None else alpha / n])
    for which, problem in enumerate(problems):
        c = penalised_minimum(problem(np.arange(n), y), whiten, penalty)[0]
        # An uncorrected ridge fit is shrunken: it cannot leave the range.
        if which == 1 or values is None or within_reach(values @ c, y):
            break
    return BatchFit(c, float(penalty[0]), which == 0, which == 0)


def within_reach(values: Floats, y: Floats) -> bool:
    """Whether fitted values leave the targets' range by no more than its width.

    A conditional mean never leaves it; a smooth fit of one may, between the rows.
    """
    low, high = min(float(y.min()), 0.0), max(float(y.max()), 0.0)
    width = high - low
    return bool(np.all((values >= low - width) & (values <= high + width)))


def _judged_fit(
    problems: list[Problem], values: Floats | None, whiten: Floats, y: Floats
) -> BatchFit:
    parts = folds(len(y), FOLDS)
    sizes = np.array([len(rows) for rows in parts], dtype=np.float64)
    own = [[problem(rows, y) for rows in parts] for problem in problems]
    shares, risks, plain_risks = [], [], []
    for fold, rows in enumerate(parts):
        left = np.where(np.arange(len(parts)) == fold, 0.0, sizes)
        fits = [penalised_minimum(pooled(q, left), whiten, PENALTIES) for q in own]
        c = np.stack(fits)
        for group in folds(len(rows), GROUPS):
            risks.append(_risk(problems[0](rows[group], y), c))
            plain_risks.append(_risk(problems[-1](rows[group], y), c[-1]))
            shares.append(len(group) / len(y))
    total = float(np.mean(y**2))
    bound = _upper(np.stack(risks), np.array(shares), total)
    trusted = values is None or bool(bound[0].min() < total)
    if values is not None:  # fits that fail on rows like their own are of no use
        plain = _upper(np.stack(plain_risks), np.array(shares), total)
        bound[1, plain >= total] = np.inf
    for place in np.argsort(bound, axis=None, kind="stable"):
        which, at = divmod(int(place), len(PENALTIES))
        penalty = PENALTIES[at : at + 1]
        c = penalised_minimum(pooled(own[which], sizes), whiten, penalty)[0]
        if which == 1 or values is None or within_reach(values @ c, y):
            break
    return BatchFit(c, float(penalty[0]), which == 0, trusted)


def _risk(problem: Quadratic, c: Floats) -> Floats:
    """Of coefficients (..., m), less the mean square of the targets."""
    return np.asarray(
        np.sum((c @ problem.gram) * c, axis=-1) - 2.0 * c @ problem.linear
    )


def _upper(risks: Floats, shares: Floats, total: float) -> Floats:
    """max(r, 0) + s from the risks of groups of rows along the first axis."""
    mean = np.tensordot(shares, risks, axes=1)
    away = np.abs(risks - mean)
    size = max(float(np.max(away)), np.finfo(float).tiny)  # squares must not overflow
    error = size * np.sqrt(np.tensordot(shares**2, (away / size) ** 2, axes=1))
    return np.asarray(np.maximum(mean + total, 0.0) + error)


def _quadratics(psi: Floats, exact: bool) -> Problem:
    def of_rows(rows: Indices, y: Floats) -> Quadratic:
        if not exact:
            return pair_quadratic(psi[:, rows], y[rows])
        own = corrected_rows(psi[:, rows], Exact())
        return Quadratic(corrected_gram(own), own.mean.T @ y[rows] / len(own.mean))

    return of_rows
