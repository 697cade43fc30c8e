"""The flexible references by which rows are judged, whatever the final model is.

Residuals of a misspecified model cannot tell structure from contamination, so rows are
compared with Gaussian-kernel ridge fits: one that resists contamination, and an
ordinary one that tells whether what the first calls outliers is predictable after all.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Floats, Indices
from .._robust.scales import (
    COMPRESSED_BEYOND,
    Columns,
    half_scale,
    prevailing_value,
    shortest_half,
    spread,
    stretch,
)
from .constants import CONSTANTS as C
from .kernel_ridge import (
    LEAST_WEIGHT,
    SMALLEST_WEIGHT,
    DistancesTo,
    EigenRidge,
    Pairs,
    RidgeFit,
    Together,
    blocks,
    bumps,
    together,
    weighted_ridge,
)
from .line import majority_line
from .linear_fit import LinearFit


class Reference(NamedTuple):
    """A fitted reference.

    residuals : y − f(x) of its own rows, each left out of its fit
    columns, rows, gamma, penalty, coefficients, level : what predicts other rows
    weights, places : of its rows; those of a place are left out together
    """

    residuals: Floats
    columns: Columns
    rows: Floats
    gamma: float
    penalty: float
    coefficients: Floats
    level: float
    weights: Floats
    places: Indices | None

    @property
    def approximate(self) -> bool:
        """Whether noise far below the relation's spread is the model's own error."""
        return True

    def predict(self, X: Floats) -> Floats:
        """Values at new rows."""
        out = np.empty(len(X))
        for part, rows, squares in seen_from(self, X):
            out[part] = self.values(rows, squares)
        return out

    def values(self, rows: Floats, squares: Floats) -> Floats:
        """Values at compressed rows with these squared distances to its own.

        Σ_j c_j k(a, b_j) with the kernel of `Pairs`, whose plane and level are summed
        over j once: a·(Σ c_j b_j)/d + Σ c_j.
        """
        c = self.coefficients
        plane = rows @ (c @ self.rows / rows.shape[1]) + c.sum()
        return np.asarray(bumps(squares, self.gamma) @ c + plane + self.level)

    def error_ratio(self, rows: Floats, own: Indices | None = None) -> Floats:
        """Error of a prediction at compressed rows, in that of a usual one; shape (n,).

        √(1 + v/λ) over its median among the reference's own rows, and at least 1. v is
        the variance of f(x) given the reference's rows, those `own` to x excepted (of
        its rows, shape (n,), if x is one of them), under the Gaussian process with this
        kernel and noise of the variance λ: k(x, x) − k_xS A⁻¹ k_Sx, and of a row left
        out 1/(A⁻¹)_ii − λ/w_i, with A = K_SS + λ diag(1/w).
        """
        S = np.flatnonzero(self.weights > SMALLEST_WEIGHT)
        K = Pairs.of(self.rows[S], self.rows[S]).kernel(self.gamma)
        noise = self.penalty / self.weights[S]
        K.flat[:: len(S) + 1] += noise + 1e-12 * float(K.diagonal().mean())
        root = scipy.linalg.cholesky(K, lower=True, check_finite=False)
        root = scipy.linalg.lapack.dtrtri(root, lower=1, overwrite_c=1)[0]
        among = np.empty(len(self.rows))
        among[S] = 1.0 / np.einsum("ji,ji->i", root, root) - noise
        others = np.setdiff1d(np.arange(len(among)), S)
        among[others] = self._variance(root, S, self.rows[others])
        usual = float(np.median(among))
        v = self._variance(root, S, rows) if own is None else among[own]
        return np.sqrt(np.maximum((self.penalty + v) / (self.penalty + usual), 1.0))

    def _variance(self, root: Floats, S: Indices, rows: Floats) -> Floats:
        """k(x, x) − ‖R k_Sx‖² with R the inverse root of A."""
        out = 2.0 + np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
        for part in blocks(len(rows), len(S)):
            K = Pairs.of(rows[part], self.rows[S]).kernel(self.gamma)
            seen = root @ K.T
            out[part] -= np.einsum("ij,ij->j", seen, seen)
        return np.asarray(np.maximum(out, 0.0))

    def predict_elsewhere(self, X: Floats, places: Indices) -> Floats:
        """Values at new rows by the fit without the rows of their places; shape (n,).

        Without rows G the coefficients are c − M_:G M_GG⁻¹ c_G, with M the inverse of
        K + λ diag(1/w).
        """
        if self.places is None:
            return self.predict(X)
        A = Pairs.of(self.rows, self.rows).kernel(self.gamma)
        A.flat[:: len(A) + 1] += self.penalty / np.maximum(self.weights, LEAST_WEIGHT)
        M, c = scipy.linalg.inv(A, check_finite=False), self.coefficients
        names = np.unique(self.places)
        table = np.tile(c, (len(names) + 1, 1))
        for without, name in zip(table, names, strict=False):
            own = np.flatnonzero(self.places == name)
            without -= M[:, own] @ np.linalg.solve(M[np.ix_(own, own)], c[own])
        at = np.searchsorted(names, places).clip(max=len(names) - 1)
        at = np.where(names[at] == places, at, len(names))
        out = np.empty(len(X))
        for part, rows, squares in seen_from(self, X):
            own = table[at[part]]
            plane = np.einsum("ij,ij->i", rows, own @ self.rows) / rows.shape[1]
            bump = np.einsum("ij,ij->i", bumps(squares, self.gamma), own)
            out[part] = bump + plane + own.sum(axis=1) + self.level
        return out


class LineReference(NamedTuple):
    """The line of the majority as a reference.

    residuals : y − f(x), each left out of its fit, over √(1 + leverage)
    fitted : f(x), which these do not tell
    columns, rows, line : what predicts other rows
    """

    residuals: Floats
    fitted: Floats
    columns: Columns
    rows: Floats
    line: LinearFit

    @property
    def approximate(self) -> bool:
        """A line is exact, or not taken."""
        return False

    def values(self, rows: Floats, squares: Floats) -> Floats:
        """Values at compressed rows."""
        return self.line.predict(stretch(rows, COMPRESSED_BEYOND))


class GivenReference(NamedTuple):
    """Predictions by a model of somebody else's, which has not seen the rows.

    residuals : y − prediction
    columns, rows : what tells which rows are near
    approximate : as `Reference`, unless most rows are predicted exactly
    """

    residuals: Floats
    columns: Columns
    rows: Floats
    approximate: bool

    @classmethod
    def of(cls, X: Floats, y: Floats, predicted: Floats) -> "GivenReference":
        """By predictions of all rows."""
        columns, residuals = Columns.of(X), y - predicted
        approximate = half_scale(residuals) > C.least_noise * spread(predicted)
        return cls(residuals, columns, columns.compressed(X), approximate)


AnyReference = Reference | LineReference | GivenReference


def seen_from(
    reference: AnyReference, X: Floats
) -> Iterator[tuple[slice, Floats, Floats]]:
    """New rows part by part: compressed, and squared distances to the reference's."""
    squares = DistancesTo.rows(reference.rows)
    for part in blocks(len(X), len(reference.rows)):
        rows = reference.columns.compressed(X[part])
        yield part, rows, squares(rows)


def line_reference(
    X: Floats, y: Floats, columns: Columns, seed: int
) -> LineReference | None:
    """The line of the majority, or None of too few rows or of equal targets."""
    few = len(y) < C.rows_a_parameter * (X.shape[1] + 1)
    if few or prevailing_value(y) is not None:
        return None
    all_rows = np.ones(len(y), dtype=bool)
    Z, rng = columns.bounded(X), np.random.default_rng(seed)
    line = majority_line(Z, y, np.ones(len(y)), all_rows, ~all_rows, None, rng)
    rows, fitted = columns.compressed(X), line.fit.predict(Z)
    return LineReference(line.u * line.scale, fitted, columns, rows, line.fit)


def capped_error(residuals: Floats, cap: float) -> float:
    """Mean of min(e², c²): a few gross residuals cannot decide a choice."""
    return float(np.mean(np.minimum(np.abs(residuals), cap) ** 2))


def best_of(fits: list[RidgeFit], y: Floats) -> int:
    """Which fit has the lowest product of two capped errors.

    A cap of the order of y's spread sees the whole relation but, under contamination,
    hardly anything else than outliers; a cap of three residual scales sees how well the
    majority fits but would give up a steep part of the relation for it.
    """
    wide = 2.0 * spread(y)
    narrow = 3.0 * min(half_scale(fit.residuals) for fit in fits)
    tiny = np.finfo(float).tiny
    errors = [
        np.log(max(capped_error(fit.residuals, wide), tiny))
        + np.log(max(capped_error(fit.residuals, narrow), tiny))
        for fit in fits
    ]
    return int(np.argmin(errors))


def robust_reference(
    X: Floats, y: Floats, columns: Columns, places: Indices | None = None
) -> Reference:
    """Gaussian-kernel ridge regression by half-samples, then Tukey's bisquare.

    Each of a few widths and penalties is tried on at most 400 rows from two starts (the
    rows of the shortest half of y, and those nearest to a Huber fit); from the one with
    the lowest capped leave-one-out error the fit to all rows starts.
    """
    rows = columns.compressed(X)
    low, high = shortest_half(y)
    level = 0.5 * (low + high)
    few = np.linspace(0, len(y) - 1, min(len(y), C.reference_search_rows)).astype(int)
    pairs = Pairs.of(rows[few], rows[few])
    unit = pairs.unit
    shared = together(None if places is None else places[few])
    fits: list[RidgeFit] = []
    for width in C.robust_gammas:
        fitter = Fitter(pairs.kernel(width * unit), y[few] - level, shared)
        starts = _starts(fitter, low - level, high - level)
        for penalty in C.robust_penalties:
            fits += [_robust_fit(fitter, penalty, s) for s in starts]
    choice, start = divmod(best_of(fits, y[few]), 2)
    width, penalty = (
        C.robust_gammas[choice // len(C.robust_penalties)],
        C.robust_penalties[choice % len(C.robust_penalties)],
    )
    fit = fits[2 * choice + start]
    if len(few) < len(y):
        K = Pairs.of(rows, rows).kernel(width * unit)
        residuals = y - level - K[:, few] @ fit.coefficients
        residuals[few] = fit.residuals
        fitter = Fitter(K, y - level, together(places))
        fit = _robust_fit(fitter, penalty, _nearest_half(residuals))
    gamma, c = width * unit, fit.coefficients
    return Reference(
        fit.residuals, columns, rows, gamma, penalty, c, level, fit.weights, places
    )


def ordinary_reference(
    X: Floats, y: Floats, columns: Columns, places: Indices | None = None
) -> Reference:
    """Ordinary Gaussian-kernel ridge regression, width and penalty by leave-one-out.

    Targets are held within fifty scales, against overflow only.
    """
    rows = columns.compressed(X)
    low, high = shortest_half(y)
    level, reach = 0.5 * (low + high), 50.0 * max(high - low, spread(y))
    held = np.clip(y - level, -reach, reach)
    gamma, penalty = _least_left_out(rows, held, places)
    K = Pairs.of(rows, rows).kernel(gamma)
    fit = weighted_ridge(K, held, np.ones(len(y)), penalty, together(places))
    residuals, c = y - level - (held - fit.residuals), fit.coefficients
    return Reference(
        residuals, columns, rows, gamma, penalty, c, level, fit.weights, places
    )


def weighted_reference(
    reference: Reference, y: Floats, weights: Floats, *, searched: bool = True
) -> Reference:
    """The ordinary reference of weighted rows, over the columns of another one.

    Width and penalty are `searched`, or those of the other.
    """
    rows, places = reference.rows, reference.places
    level = float(np.average(y, weights=weights))
    gamma, penalty = reference.gamma, reference.penalty
    if searched:
        used = weights > 0.5
        cap = 3.0 * half_scale(reference.residuals[used])
        own = None if places is None else places[used]
        gamma, penalty = _least_left_out(rows[used], y[used] - level, own, cap)
    K = Pairs.of(rows, rows).kernel(gamma)
    fit = weighted_ridge(K, y - level, weights, penalty, together(places))
    return reference._replace(
        residuals=fit.residuals,
        gamma=gamma,
        penalty=penalty,
        coefficients=fit.coefficients,
        level=level,
        weights=fit.weights,
    )


def _least_left_out(
    rows: Floats, y: Floats, places: Indices | None, cap: float = np.inf
) -> tuple[float, float]:
    """γ and λ with the lowest (capped) leave-one-out error on at most 400 rows."""
    few = np.linspace(0, len(y) - 1, min(len(y), C.reference_search_rows)).astype(int)
    pairs = Pairs.of(rows[few], rows[few])
    unit = pairs.unit
    shared = together(None if places is None else places[few])
    best: tuple[float, float, float] | None = None
    for width in C.ordinary_gammas:
        eigen = EigenRidge.of(pairs.kernel(width * unit))
        for penalty in C.ordinary_penalties:
            residuals = eigen.left_out(y[few], penalty, shared).residuals
            error = capped_error(residuals, cap)
            if best is None or error < best[0]:
                best = (error, width * unit, penalty)
    assert best is not None
    return best[1], best[2]


class Fitter(NamedTuple):
    """Ridge fits of one target under one kernel."""

    K: Floats
    y: Floats
    places: Together

    def fit(self, weights: Floats, penalty: float) -> RidgeFit:
        """The fit of weighted rows."""
        return weighted_ridge(self.K, self.y, weights, penalty, self.places)


def _starts(fitter: Fitter, low: float, high: float) -> list[Floats]:
    """Half-samples that start from the shortest half of y, and from a Huber fit.

    They are found under soft penalties, which all penalties of the grid share.
    """
    y = fitter.y
    middle = ((y >= low) & (y <= high)).astype(np.float64)
    weights = np.ones(len(y))
    residuals = y
    for _ in range(4):
        residuals = fitter.fit(weights, 1.0).residuals
        cut = C.huber * half_scale(residuals)
        weights = np.clip(cut / np.maximum(np.abs(residuals), 1e-300), 1e-2, 1.0)
    starts = [middle, _nearest_half(residuals)]
    for penalty in C.soft_penalties:
        starts = [_half_sample(fitter, s, penalty, C.soft_steps)[0] for s in starts]
    return starts


def _nearest_half(residuals: Floats) -> Floats:
    weights = np.zeros(len(residuals))
    order = np.argsort(np.abs(residuals), kind="stable")
    weights[order[: len(residuals) // 2 + 1]] = 1.0
    return weights


def _half_sample(
    fitter: Fitter, weights: Floats, penalty: float, steps: int
) -> tuple[Floats, RidgeFit | None]:
    """C-steps: fit a half, take the half that fits best.

    Also the fit to that half, if the steps ended because it changed no more.
    """
    for _ in range(steps):
        fit = fitter.fit(weights, penalty)
        nearest = _nearest_half(fit.residuals)
        if np.array_equal(nearest, weights):
            return weights, fit
        weights = nearest
    return weights, None


def _robust_fit(fitter: Fitter, penalty: float, weights: Floats) -> RidgeFit:
    """Half-sample C-steps from some weights, then bisquare steps."""
    weights, settled = _half_sample(fitter, weights, penalty, C.half_steps)
    fit = fitter.fit(weights, penalty) if settled is None else settled
    scale = half_scale(fit.residuals)
    for _ in range(8):
        if scale <= 0.0:
            break
        u = fit.residuals / (C.bisquare * scale)
        bisquare = np.where(np.abs(u) < 1.0, (1.0 - u * u) ** 2, 0.0)
        if np.max(np.abs(bisquare - weights)) < 0.02:
            break
        if np.sum(bisquare > SMALLEST_WEIGHT) < len(u) // 2:
            break  # exact data: what rounding leaves has no scale
        weights = bisquare
        fit = fitter.fit(weights, penalty)
        scale = min(scale, half_scale(fit.residuals))
    return fit
