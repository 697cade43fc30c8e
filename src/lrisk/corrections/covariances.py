"""The one correction of squared loss: C_i, the noise covariance of row i's mean.

A row observed in m copies enters through their mean x̄_i, whose noise has a covariance
C_i that is either known (Σ_i/m) or estimated, without bias, by the copies' spread:

    C_i = Σ_a (x̃_ia − x̄_i)(x̃_ia − x̄_i)ᵀ / (m(m − 1))

With it everything else is the same for every noise (paper 3, algorithm 1,
both sides, with the factor 2 that the paper's right side lacks):

    loss      (w·x̄ − y)² − wᵀC w + 2 w·c
    gradient  2(w·x̄ − y)x̄ − 2 C w + 2c
    Gram      x̄x̄ᵀ − C

where c = Cov(n, noise of y), zero unless stated. For two copies without any knowledge
this is the symmetrised 2(⟨w,x̃⟩ − y)x̃′.

In compiled loops ``covariance_times(cov, i, w, out)`` sets out = C_i w.
"""

from typing import Any, NamedTuple

import numpy as np

from .._jit import implements
from .._params import refused
from .._typing import Floats
from ..noise import Noise


class SharedDiagonal(NamedTuple):
    """C_i = factor_i · diag(values)."""

    values: Floats
    factor: Floats


class SharedFull(NamedTuple):
    """C_i = factor_i · matrix."""

    matrix: Floats
    factor: Floats


class RowDiagonal(NamedTuple):
    """C_i = diag(values_i)."""

    values: Floats


class RowFull(NamedTuple):
    """C_i = matrices_i."""

    matrices: Floats


class Deviations(NamedTuple):
    """C_i = Σ_a r_ia r_iaᵀ for rows of shape (n, copies, d)."""

    rows: Floats


Covariance = SharedDiagonal | SharedFull | RowDiagonal | RowFull | Deviations


def covariance_times(cov: Any, i: int, w: Floats, out: Floats) -> None:
    """Out = C_i w, in compiled code."""
    raise NotImplementedError("only available in compiled code")


@implements(covariance_times, SharedDiagonal)
def _shared_diagonal(cov: Any, i: Any, w: Any, out: Any) -> Any:
    for j in range(w.shape[0]):
        out[j] = cov.factor[i] * cov.values[j] * w[j]


@implements(covariance_times, SharedFull)
def _shared_full(cov: Any, i: Any, w: Any, out: Any) -> Any:
    for j in range(w.shape[0]):
        total = 0.0
        for k in range(w.shape[0]):
            total += cov.matrix[j, k] * w[k]
        out[j] = cov.factor[i] * total


@implements(covariance_times, RowDiagonal)
def _row_diagonal(cov: Any, i: Any, w: Any, out: Any) -> Any:
    for j in range(w.shape[0]):
        out[j] = cov.values[i, j] * w[j]


@implements(covariance_times, RowFull)
def _row_full(cov: Any, i: Any, w: Any, out: Any) -> Any:
    for j in range(w.shape[0]):
        total = 0.0
        for k in range(w.shape[0]):
            total += cov.matrices[i, j, k] * w[k]
        out[j] = total


@implements(covariance_times, Deviations)
def _deviations(cov: Any, i: Any, w: Any, out: Any) -> Any:
    out[:] = 0.0
    for a in range(cov.rows.shape[1]):
        product = 0.0
        for j in range(w.shape[0]):
            product += cov.rows[i, a, j] * w[j]
        for j in range(w.shape[0]):
            out[j] += product * cov.rows[i, a, j]


def times(cov: Covariance, w: Floats) -> Floats:
    """C_i w for every row, shape (n, d)."""
    match cov:
        case SharedDiagonal(values, factor):
            return np.outer(factor, values * w)
        case SharedFull(matrix, factor):
            return np.outer(factor, matrix @ w)
        case RowDiagonal(values):
            return np.asarray(values * w)
        case RowFull(matrices):
            return np.asarray(matrices @ w)
        case Deviations(rows):
            return np.asarray(np.einsum("naj,na->nj", rows, rows @ w))
    raise TypeError(f"not a covariance: {cov!r}")


def combined(cov: Covariance, weights: Floats) -> Floats:
    """Σ_i weights_i C_i, shape (d, d)."""
    match cov:
        case SharedDiagonal(values, factor):
            return np.diag(values * (weights @ factor))
        case SharedFull(matrix, factor):
            return np.asarray(matrix * (weights @ factor))
        case RowDiagonal(values):
            return np.diag(weights @ values)
        case RowFull(matrices):
            return np.asarray(np.tensordot(weights, matrices, axes=1))
        case Deviations(rows):
            flat = rows.reshape(-1, rows.shape[2])
            own = np.repeat(weights, rows.shape[1])
            return np.asarray((flat * own[:, None]).T @ flat)
    raise TypeError(f"not a covariance: {cov!r}")


def average(cov: Covariance, weights: Floats | None = None) -> Floats:
    """Mean of C_i over the rows, shape (d, d); weights of shape (n,) sum to one."""
    if weights is None:
        n = len(cov.factor if isinstance(cov, SharedDiagonal | SharedFull) else cov[0])
        weights = np.full(n, 1.0 / n)
    return combined(cov, weights)


def matrix_of(cov: Covariance, i: int) -> Floats:
    """C_i of one row as a matrix, shape (d, d)."""
    return average(rows_of(cov, slice(i, i + 1)))


def scaled(cov: Covariance, factor: float) -> Covariance:
    """Multiply every C_i by `factor`."""
    match cov:
        case SharedDiagonal(values, own):
            return SharedDiagonal(values, factor * own)
        case SharedFull(matrix, own):
            return SharedFull(matrix, factor * own)
        case RowDiagonal(values):
            return RowDiagonal(factor * values)
        case RowFull(matrices):
            return RowFull(factor * matrices)
    return Deviations(np.sqrt(factor) * cov.rows)


def rows_of(cov: Covariance, rows: Any) -> Covariance:
    """The covariances of some rows (a slice or indices)."""
    match cov:
        case SharedDiagonal(values, factor):
            return SharedDiagonal(values, factor[rows])
        case SharedFull(matrix, factor):
            return SharedFull(matrix, factor[rows])
        case RowDiagonal(values):
            return RowDiagonal(values[rows])
        case RowFull(matrices):
            return RowFull(matrices[rows])
    return Deviations(cov.rows[rows])


class CorrectedRows(NamedTuple):
    """Noisy rows with what is needed to correct them.

    Parameters
    ----------
    mean : array of shape (n, d)
        Mean x̄ of each row's copies.
    covariance : Covariance
        Covariance C_i of the noise of that mean.
    cross : array of shape (d,)
        Covariance c = Cov(n, noise of y).

    See Also
    --------
    corrected_rows : Makes it from copies and a noise.
    corrected_least_squares : Fits a linear model to it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> copies = np.array([[[1.0]], [[3.0]]])  # one row, observed twice
    >>> corrected_rows(copies, KnownCovariance(0.5)).mean
    array([[2.]])
    """

    mean: Floats
    covariance: Covariance
    cross: Floats


def corrected_rows(
    copies: Floats,
    noise: Noise,
    noise_scale: Floats | None = None,
    correction: float = 1.0,
) -> CorrectedRows:
    """Compute means and covariances of rows observed in m copies.

    Parameters
    ----------
    copies : array of shape (m, n, d)
        The rows as observed, copy by copy; m may be 1.
    noise : Noise
        With an unknown covariance at least two copies are needed.
    noise_scale : array of shape (n,), (n, d) or (n, d, d), or None, default=None
        A factor on Σ for each row, or each row's own variances or covariance.
    correction : float in [0, 1], default=1.0
        Factor on the correction.

    Returns
    -------
    CorrectedRows
        Mean of the copies of each row, and covariance of its noise.

    See Also
    --------
    corrected_least_squares : Fits a linear model to them.
    lrisk.noise.from_replicates : Estimates the noise from copies.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import corrected_gram, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rows = corrected_rows(np.ones((1, 5, 2)), KnownCovariance(0.25))
    >>> corrected_gram(rows)
    array([[0.75, 1.  ],
           [1.  , 0.75]])
    """
    noise.check_centred("corrected_rows")
    m, n, d = copies.shape
    mean = copies.mean(axis=0) if m > 1 else copies[0]
    cross = correction * noise.target_covariance(d)
    if not noise.knows_covariance:
        return CorrectedRows(
            mean, _spread_of_copies(copies, mean, noise, correction), cross
        )
    weight = correction / m
    if noise_scale is not None and noise_scale.ndim == 3:
        return CorrectedRows(mean, RowFull(weight * noise_scale), cross)
    if noise_scale is not None and noise_scale.ndim == 2:
        return CorrectedRows(mean, RowDiagonal(weight * noise_scale), cross)
    factor = np.full(n, weight) if noise_scale is None else weight * noise_scale
    shared = np.ascontiguousarray(noise.covariance(d))
    if shared.ndim == 1:
        return CorrectedRows(mean, SharedDiagonal(shared, factor), cross)
    return CorrectedRows(mean, SharedFull(shared, factor), cross)


def centred(rows: CorrectedRows, weights: Floats | None = None) -> CorrectedRows:
    """Less the mean over the rows, which has a share 1/n of the noise: (1 − 1/n)C.

    With weights n is their sum: a row of weight k counts as k rows.
    """
    n = len(rows.mean) if weights is None else float(weights.sum())
    left = 1.0 - 1.0 / n
    mean = rows.mean - np.average(rows.mean, axis=0, weights=weights)
    return CorrectedRows(mean, scaled(rows.covariance, left), left * rows.cross)


def _spread_of_copies(
    copies: Floats, mean: Floats, noise: Noise, correction: float
) -> Deviations:
    """The unbiased estimate of C_i from the copies themselves."""
    m = len(copies)
    if m < 2:
        rule = "given where the noise is unknown (two independent copies of each row)"
        remedy = "pass X2, or a noise of known covariance"
        raise ValueError(refused(noise, "X2", rule, None, remedy))
    if m == 2:  # both deviations are ±(x̃ − x̃′)/2: one row says it all
        rows = 0.5 * np.sqrt(correction) * (copies[0] - copies[1])[:, None]
        return Deviations(np.ascontiguousarray(rows))
    rows = np.sqrt(correction / (m * (m - 1))) * (copies - mean)
    return Deviations(np.ascontiguousarray(rows.transpose(1, 0, 2)))


def with_constant(rows: CorrectedRows) -> CorrectedRows:
    """The rows with a constant feature 1, which carries no noise, as the last one."""
    n = len(rows.mean)
    cov = rows.covariance
    match cov:
        case SharedDiagonal(values, factor):
            cov = SharedDiagonal(np.append(values, 0.0), factor)
        case SharedFull(matrix, factor):
            cov = SharedFull(np.pad(matrix, (0, 1)), factor)
        case RowDiagonal(values):
            cov = RowDiagonal(np.pad(values, ((0, 0), (0, 1))))
        case RowFull(matrices):
            cov = RowFull(np.pad(matrices, ((0, 0), (0, 1), (0, 1))))
        case Deviations(deviations):
            cov = Deviations(np.pad(deviations, ((0, 0), (0, 0), (0, 1))))
    mean = np.hstack([rows.mean, np.ones((n, 1))])
    return CorrectedRows(mean, cov, np.append(rows.cross, 0.0))
