"""Kernel ridge regression without some of its rows, from one inverse for all rows.

With kept weights λ_i = w_i/(pW) the fit of the kept rows solves (K_SS + a/w)c = y_S,
a = pα. Let G = (K + a/w)⁻¹ over *all* rows. For a set O of excluded rows solve

    G_OO z = (Gy)_O,      c = Gy − G_:O z.

Then c vanishes on O, the residuals are a·c/w on kept rows and z on excluded ones, and
the objective is (μ/2)(yᵀGy − (Gy)_Oᵀz). A row of which only a part v counts stays in
the system with v·w/(a(1 − v)) added to its diagonal entry of G_OO; its residual is
a·c/(vw). One such fit costs |O|³/3 + n², not n³.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._params import refused
from ..._typing import Floats, Indices
from ...objective import Objective
from ...spaces.capabilities import kernel_matrix
from .kept import FRACTION, LowestRows

#: Likely rows whose columns the greedy elimination brings up to date at once.
PANEL = 48
#: Kept rows that are tried for exchanges at a time.
BLOCK = 256
#: Pairs of rows of unequal weight that are tried one at a time.
SINGLE = 16


class TrimmedFit(NamedTuple):
    """The ridge fit under given weights: c, residuals y − f, and Φ at its minimum."""

    coefficients: Floats
    residuals: Floats
    value: float


class _Cut(NamedTuple):
    """Rows that are left out, those that are in part, both, and what stays of them."""

    gone: Indices
    inner: Indices
    out: Indices
    share: Floats
    factor: Floats


class TrimmedRidge:
    """Ridge fits of the same rows under a subquantile, for any choice of kept rows.

    Parameters
    ----------
    objective : Objective
        Squared loss over a kernel space, alpha > 0.
    kept : float
        p, the fraction of the mass that is kept.
    mu : float or None
        Penalty μ to use in place of the objective's own (for paths).
    """

    def __init__(
        self, objective: Objective, kept: float, mu: float | None = None
    ) -> None:
        ranking = objective.ranking
        self.y = objective.y
        self.mu = objective.mu if mu is None else mu
        self.full = ranking.mass / kept
        self._lowest = None if ranking.equal else LowestRows(ranking)
        #: a/w: what the ridge adds to the diagonal of K for a kept row.
        self.ridge = self.mu / self.full
        self.G = _inverse(kernel_matrix(objective.space).new_matrix(), self.ridge)
        self.Gy = self.G @ self.y
        self.product = float(self.y @ self.Gy)
        #: What rounding leaves of a diagonal entry that should vanish.
        self._tiny = 1e-15 * float(np.diagonal(self.G).min())
        self._last: tuple[Floats, _Cut, TrimmedFit] | None = None

    def fit(self, weights: Floats) -> TrimmedFit:
        """Minimise Σλ_i ½r_i² + (μ/2)‖f‖² for weights of a subquantile."""
        return self._cut_and_fit(weights)[1]

    def _cut_and_fit(self, weights: Floats) -> "tuple[_Cut, TrimmedFit]":
        """The last ones again if asked twice: a C-step that repeats, an exchange."""
        if self._last is None or not np.array_equal(self._last[0], weights):
            cut = self._cut(weights)
            self._last = weights.copy(), cut, self._fit(cut)
        return self._last[1:]

    def _fit(self, cut: "_Cut") -> TrimmedFit:
        gone, inner, out, share, factor = cut
        if out.size == 0:
            return TrimmedFit(self.Gy.copy(), self.ridge * self.Gy, self._value(0.0))
        z = scipy.linalg.cho_solve((factor, True), self.Gy[out], check_finite=False)
        scattered = np.zeros_like(self.y)
        scattered[out] = z
        c = self.Gy - self.G @ scattered
        c[gone] = 0.0
        residuals = self.ridge * c
        residuals[gone] = z[: len(gone)]
        residuals[inner] /= share
        return TrimmedFit(c, residuals, self._value(float(self.Gy[out] @ z)))

    def _cut(self, weights: Floats) -> "_Cut":
        """Rows that are out, and the factor of G_OO with what stays of rows in part."""
        part = weights / self.full
        gone = np.flatnonzero(part < FRACTION)
        inner = np.flatnonzero((part >= FRACTION) & (part < 1.0 - FRACTION))
        out, share = np.concatenate([gone, inner]), part[inner]
        system = self.G[np.ix_(out, out)]
        corner = np.arange(len(gone), len(out))
        system[corner, corner] += share / (self.ridge[inner] * (1.0 - share))
        return _Cut(gone, inner, out, share, _cholesky(system))

    def leave_one_out(self, weights: Floats) -> Floats:
        """Residuals of each row when it is left out of the fit; shape (n,).

        c_i/D_ii for kept rows, with D = G − G_:O G_OO⁻¹ G_O:, and the residuals as they
        are for rows that are already out.
        """
        cut, fitted = self._cut_and_fit(weights)
        diagonal = np.diagonal(self.G).copy()
        if cut.out.size:
            half = scipy.linalg.solve_triangular(
                cut.factor, self.G[cut.out], lower=True, check_finite=False
            )
            diagonal -= np.einsum("ij,ij->j", half, half)
        result = fitted.residuals.copy()
        kept = np.setdiff1d(np.arange(len(self.y)), cut.gone)
        result[kept] = fitted.coefficients[kept] / diagonal[kept]
        return result

    def eliminate(self, mass: Floats, quota: float) -> Floats:
        """Weights after deleting row after row, each time the one that gains most.

        Deleting row i lowers yᵀc by c_i²/D_ii exactly, with the D of the rows deleted
        before it; D is brought down by a Cholesky factor of G in the order of the
        deletions, made for a panel of likely rows at a time. Rows go until `quota` of
        the mass is gone; the last goes in part.
        """
        n = len(self.y)
        c, d = self.Gy.copy(), np.diagonal(self.G).copy()
        alive = np.ones(n, dtype=bool)
        most = int(np.ceil(quota / mass.min() + 1e-9)) + 1
        factor = np.empty((min(n, most), n))
        count, gone = 0, 0.0
        weights = self.full.copy()
        panel: Indices = np.empty(0, dtype=np.int64)
        columns, begun = np.empty((0, n)), 0
        while gone < quota - FRACTION * mass.min():
            np.maximum(d, self._tiny, out=d)
            gain = c * c / (d * mass)
            gain[~alive] = -1.0
            pick = int(np.argmax(gain))
            where = np.flatnonzero(panel == pick)
            if where.size == 0:
                size = min(PANEL, int(alive.sum()))
                panel = np.argpartition(-gain, size - 1)[:size]
                if pick not in panel:  # more rows gain the same than the panel holds
                    panel[0] = pick
                part, begun = factor[:count], count
                columns = self.G[panel] - part[:, panel].T @ part
                where = np.flatnonzero(panel == pick)
            root = float(np.sqrt(d[pick]))
            # What the panel gained since its columns were made is one small product.
            since = factor[begun:count]
            row = (columns[where[0]] - since[:, pick] @ since) / root
            factor[count] = row
            c -= (c[pick] / root) * row
            d -= row * row
            share = min(1.0, (quota - gone) / mass[pick])
            weights[pick] = (1.0 - share) * self.full[pick]
            if 1.0 - share < FRACTION:
                weights[pick] = 0.0
            alive[pick] = False
            gone += share * mass[pick]
            count += 1
        return weights

    def exchange(self, weights: Floats) -> tuple[Floats, TrimmedFit] | None:
        """Exchange kept rows for excluded ones; None if none helps.

        Taking j back and dropping i lowers yᵀc by exactly

            (c_i + B_ij z_j/H_jj)²/(D_ii + B_ij²/H_jj) − z_j²/H_jj,

        H = G_OO⁻¹, B = G_:O H. The best pairs are exchanged together as long as the
        objective falls; the best pair alone always makes it fall. Where no pair is
        left, no exchange of two rows can lower the objective.

        Of rows of unequal weight, the mass that is then missing or too much is priced
        at the largest loss kept, which tells pairs apart but is no proof: each trial is
        fitted again with the weights that its own losses give.
        """
        cut, before = self._cut_and_fit(weights)
        kept = np.setdiff1d(np.arange(len(self.y)), cut.out)
        if cut.gone.size == 0 or kept.size == 0:
            return None
        pairs = self._pairs(before, cut, kept)
        trials = [pairs[: len(pairs) >> k] for k in range(len(pairs).bit_length())]
        if self._lowest is not None:
            trials += [pairs[k : k + 1] for k in range(1, min(SINGLE, len(pairs)))]
        for trial in trials:
            dropped, taken = trial.T
            moved = weights.copy()
            moved[taken] = self.full[taken]
            moved[dropped] = 0.0
            after = self.fit(moved)
            if self._lowest is not None:
                moved = self._lowest.weights(0.5 * after.residuals**2)
                after = self.fit(moved)
            if after.value < before.value * (1.0 - 1e-12):
                return moved, after
        return None

    def _pairs(self, before: TrimmedFit, cut: "_Cut", kept: Indices) -> Indices:
        """Disjoint pairs (kept, excluded) that help on their own, best first."""
        gone, out = cut.gone, cut.out
        inverse = scipy.linalg.lapack.dpotri(cut.factor, lower=1)[0].T
        _mirror(inverse)
        spread = np.diagonal(inverse)[: len(gone)]
        root = np.sqrt(spread)
        # With b = B/√H the gain of taking j back is z²/H, and a pair's the square of
        # c + bz/√H over D + b².
        z = before.residuals[gone] / root
        best = np.full(len(gone), -np.inf)
        partner = np.zeros(len(gone), dtype=np.int64)
        places = np.arange(len(gone))
        stay = np.setdiff1d(np.arange(len(self.y)), gone)
        largest = float(np.max(before.residuals[stay] ** 2))
        for start in range(0, len(kept), BLOCK):
            rows = kept[start : start + BLOCK]
            columns = self.G[np.ix_(out, rows)]
            back = inverse @ columns
            diagonal = np.diagonal(self.G)[rows] - np.einsum("ij,ij->j", columns, back)
            back = back[: len(gone)]
            back /= root[:, None]
            gain = back * z[:, None]
            gain += before.coefficients[rows]
            gain *= gain
            back *= back
            back += np.maximum(diagonal, self._tiny)
            gain /= back
            if self._lowest is not None:
                lost = self.full[rows] - self.full[gone][:, None]
                gain -= largest / self.mu * lost
            column = np.argmax(gain, axis=1)
            value = gain[places, column]
            better = value > best
            best[better] = value[better]
            partner[better] = start + column[better]
        gain = best - z * z
        floor = 1e-10 * abs(self.product)
        used: set[int] = set()
        pairs = []
        for j in np.argsort(-gain):
            if gain[j] <= floor:
                break
            if int(partner[j]) not in used:
                used.add(int(partner[j]))
                pairs.append((kept[partner[j]], gone[j]))
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _value(self, gained: float) -> float:
        return 0.5 * self.mu * (self.product - gained)


def _inverse(K: Floats, ridge: Floats) -> Floats:
    """(K + diag ridge)⁻¹ in the memory of K, by Cholesky: half of a general inverse."""
    K[np.diag_indices_from(K)] += ridge
    # A symmetric matrix is its own transpose: no copy to LAPACK's column order.
    factor, info = scipy.linalg.lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
    if info == 0:
        inverse, info = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0:
        rule = "large enough to make K + alpha·p positive definite"
        remedy = "raise alpha, or check that the kernel is positive definite"
        raise ValueError(refused("lrisk", "alpha", rule, "too small", remedy))
    result = inverse.T
    _mirror(result)
    return np.asarray(result)


def _mirror(matrix: Floats, block: int = 64) -> None:
    """Copy the upper triangle of a row-by-row matrix into the lower one, in place."""
    n = len(matrix)
    for start in range(0, n, block):
        stop = min(start + block, n)
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
        corner = matrix[start:stop, start:stop]
        lower = np.tril_indices(stop - start, -1)
        corner[lower] = corner.T[lower]


def _cholesky(system: Floats) -> Floats:
    """Lower factor of a small positive definite system, which is overwritten."""
    factor, info = scipy.linalg.lapack.dpotrf(system.T, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        rule, remedy = "large enough for a stable fit", "raise alpha"
        raise ValueError(refused("lrisk", "alpha", rule, "too small", remedy))
    return np.asarray(factor)
