"""The batch problem of kernel regression from noisy rows, and its penalty."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._params import refused
from ..._typing import Floats, Indices
from ...corrections import (
    CorrectableKernel,
    Gaussian,
    OneCopy,
    RandomFeatures,
    Surrogate,
    corrected_rows,
    pair_quadratic,
)
from ...corrections.landmarks import (
    Quadratic,
    folds,
    penalised_minimum,
    pooled,
    quadratic,
    whitening,
)
from ...noise import Exact, GaussianNoise, Noise

#: From rows and all targets to the rows' estimate of the risk.
Problem = Callable[[Indices, Floats], Quadratic]

#: Penalties λ tried by "auto"; the last leaves the mean of the targets.
PENALTIES = np.append(np.geomspace(1e-8, 10.0, 28), np.inf)
#: Folds of the cross-validation, and the groups of a fold whose risks are compared:
#: fifty in all give a standard error to a tenth of itself.
FOLDS, GROUPS = 5, 10
#: Standard errors by which a fit must be better than a safer one. At one, fits worse
#: than the mean of the targets slip through; at two, good ones of 3,000 rows are lost.
BETTER_BY = 1.5
#: Standard errors within which two minima of the risk along the penalties are the same.
TIE = 2.0


def feature_problem(
    owner: object,
    features: RandomFeatures,
    copies: Floats,
    factor: Floats | None,
    weights: Floats,
) -> Problem:
    """The risk of weights on random features, from copies of shape (m, n, d).

    Rows count by `weights`, shape (n,).
    """
    exact = len(copies) == 1 and isinstance(features.noise, Exact)
    if len(copies) == 1 and not exact:
        rule = "given with random_features=True, which needs two copies"
        remedy = "pass X2, or leave random_features out"
        raise ValueError(refused(owner, "X2", rule, None, remedy))
    psi = np.stack([features.noisy(c, factor) for c in copies])
    return _quadratics(psi, exact, weights)


def landmark_problem(
    kernel: CorrectableKernel,
    surrogate: Surrogate,
    copies: Floats,
    landmarks: Floats,
    weights: Floats,
) -> Problem:
    """The risk of coefficients on landmarks, from copies of shape (m, n, d).

    Rows count by `weights`, shape (n,). Under Gaussian noise of known covariance the
    mean of a row's copies says all that they say of the clean row. A Gaussian kernel's
    risk is therefore estimated from the mean, one copy of noise Σ/m: of all unbiased
    estimates that is the one of least variance (Lehmann and Scheffé), and it asks for
    M − 2Σ ≻ 0 from two copies, as products of different copies do.
    """
    noise: Noise = surrogate.noise
    exact = len(copies) == 1 and isinstance(noise, Exact)
    sufficient = isinstance(kernel, Gaussian) and isinstance(noise, GaussianNoise)
    if sufficient or (len(copies) == 1 and not exact):
        gaussian: Any = kernel
        m, _, d = copies.shape
        one = OneCopy(gaussian, noise.rescaled(np.ones(d), 1.0 / m), landmarks)
        mean = copies.mean(axis=0)
        return lambda rows, y: one.quadratic(mean[rows], y[rows], weights[rows])
    psi = np.stack([surrogate.matrix(c, landmarks) for c in copies])
    return _quadratics(psi, exact, weights)


def plain_problem(values: Floats, weights: Floats | None = None) -> Problem:
    """The risk of the rows as they are, from their features, shape (n, m)."""
    weights = np.ones(len(values)) if weights is None else weights
    return _quadratics(values[None], True, weights)


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

    @property
    def doubt(self) -> str:
        """What to tell the user of a fit that is not to be trusted."""
        if self.corrected and np.isfinite(self.penalty):
            kept = "the most cautious corrected fit is kept"
        elif np.isfinite(self.penalty):
            kept = "the fit without correction is kept"
        else:
            kept = "the mean of the targets is all that is kept"
        return (
            "the noise is too large to correct for in these rows: no corrected fit is "
            "better than the mean of the targets by more than its uncertainty, or it "
            f"leaves their range; {kept}. Pass more rows, further copies of them (X2), "
            "a larger alpha or a smaller gamma."
        )


def best_fit(
    corrected: Problem,
    values: Floats | None,
    K: Floats,
    y: Floats,
    alpha: float | None,
    weights: Floats | None = None,
) -> BatchFit:
    r"""The corrected fit, or a safe one where the noise leaves nothing to go by.

    Every fit is judged in cross-validation, and the safest one is taken that no other
    is shown to beat. The mean of the targets is the safest; then the fit without
    correction, whose penalty the rows as they are decide; then the corrected fits.
    These are compared with it by the corrected risk r on held-out rows, which is
    unbiased for the risk on clean rows and needs none. But few rows say little of a
    fit that varies much between them: r need not even be positive, as the Gram matrix
    is indefinite. So no risk counts as less than zero, and a corrected fit is taken if

    .. math:: \max(r, 0) + 1.5 s < \max(r_0, 0)

    with r₀ of the fit without correction and s the standard error of r − r₀, and if it
    is better than the mean of the targets in the same sense.

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
    weights : array of shape (n,) or None
        A row of weight k counts as k rows.
    """
    weights = np.ones(len(y)) if weights is None else weights
    whiten, n = whitening(K), float(weights.sum())
    problems = [corrected]
    if values is not None:
        problems.append(plain_problem(values, weights))
    if alpha is None and len(y) >= 2:
        return _judged_fit(problems, values, whiten, y, weights)
    penalty = np.array([1.0 if alpha is None else alpha / n])
    for which, problem in enumerate(problems):
        c = penalised_minimum(problem(np.arange(len(y)), y), whiten, penalty)[0]
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
    problems: list[Problem],
    values: Floats | None,
    whiten: Floats,
    y: Floats,
    counts: Floats,
) -> BatchFit:
    parts = folds(len(y), FOLDS)
    sizes = np.array([counts[rows].sum() for rows in parts])
    own = [[problem(rows, y) for rows in parts] for problem in problems]
    held_out: list[list[Floats]] = [[] for _ in problems]
    shares = []
    for fold, rows in enumerate(parts):
        left = np.where(np.arange(len(parts)) == fold, 0.0, sizes)
        fits = [penalised_minimum(pooled(q, left), whiten, PENALTIES) for q in own]
        for group in folds(len(rows), GROUPS):
            held_out[-1].append(_risk(problems[-1](rows[group], y), fits[-1]))
            if values is not None:
                held_out[0].append(_risk(problems[0](rows[group], y), np.stack(fits)))
            shares.append(counts[rows[group]].sum() / counts.sum())
    weights = np.array(shares)
    safe = safe_penalty(np.stack(held_out[-1]), weights)
    trusted = True
    if values is not None:
        total = float(np.average(y**2, weights=counts))
        better, trusted = better_than_safe(np.stack(held_out[0]), safe, weights, total)
        for at in better:
            c = _whole_fit(own[0], sizes, whiten, at)
            if within_reach(values @ c, y):
                return BatchFit(c, float(PENALTIES[at]), True, trusted)
    c = _whole_fit(own[-1], sizes, whiten, safe)
    return BatchFit(c, float(PENALTIES[safe]), values is None, trusted)


def _whole_fit(
    parts: list[Quadratic], sizes: Floats, whiten: Floats, at: int
) -> Floats:
    penalty = PENALTIES[at : at + 1]
    return np.asarray(penalised_minimum(pooled(parts, sizes), whiten, penalty)[0])


def _risk(problem: Quadratic, c: Floats) -> Floats:
    """Of coefficients (..., m), less the mean square of the targets."""
    return np.asarray(
        np.sum((c @ problem.gram) * c, axis=-1) - 2.0 * c @ problem.linear
    )


def safe_penalty(risks: Floats, weights: Floats) -> int:
    """Where in `PENALTIES` the fit without correction is, from risks (groups, λ).

    Small penalties fit the noise: where the risk has a minimum at a larger one that is
    as good, the fit there is the smoother one between the rows, where none is held out.
    """
    mean, _ = _mean_and_error(risks, weights)
    best = int(np.argmin(mean))
    worse, error = _mean_and_error(risks - risks[:, best, None], weights)
    around = np.pad(mean, 1, constant_values=np.inf)
    minimum = (mean <= around[:-2]) & (mean <= around[2:])
    same = minimum & (worse <= TIE * error)
    same[-1] = worse[-1] <= BETTER_BY * error[-1]  # the mean of the targets
    return int(np.flatnonzero(same)[-1])


def better_than_safe(
    risks: Floats, safe: int, weights: Floats, total: float
) -> tuple[Indices, bool]:
    """Corrected fits better than the safe one, and whether any beats the mean.

    Parameters
    ----------
    risks : array of shape (groups, 2, λ)
        Corrected risks of the corrected fits and of those without correction.
    safe : int
        Place of the safe fit among the latter.
    total : float
        Risk of the mean of the targets.
    """
    mean, error = _mean_and_error(risks[:, 0], weights)
    risk = np.maximum(mean + total, 0.0)
    known = risk + BETTER_BY * error < total
    mean, error = _mean_and_error(risks[:, 0] - risks[:, 1, safe, None], weights)
    against, _ = _mean_and_error(risks[:, 1, safe], weights)
    gain = np.maximum(against + total, 0.0) - risk - BETTER_BY * error
    order = np.argsort(-gain, kind="stable")
    return order[(known & (gain > 0.0))[order]], bool(known.any())


def _mean_and_error(risks: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and standard error from the risks of groups of rows along the first axis."""
    mean = np.tensordot(weights, risks, axes=1)
    away = np.abs(risks - mean)
    size = max(float(np.max(away)), np.finfo(float).tiny)  # squares must not overflow
    error = size * np.sqrt(np.tensordot(weights**2, (away / size) ** 2, axes=1))
    return np.asarray(mean), np.asarray(error)


def _quadratics(psi: Floats, exact: bool, weights: Floats) -> Problem:
    def of_rows(rows: Indices, y: Floats) -> Quadratic:
        own, target, counts = psi[:, rows], y[rows], weights[rows]
        if exact:
            return quadratic(corrected_rows(own, Exact()), target, counts)
        return pair_quadratic(own, target, counts)

    return of_rows
