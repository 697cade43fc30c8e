"""Order statistics: from losses to a risk and to weights by rank.

Rows carry masses p_i = w_i/W. In ascending order of loss the cumulative mass is P_i and
the row's risk weight is S(P_i) − S(P_{i−1}). A row of weight k is thus the same as k
rows, exactly, and the order of the rows never matters.
"""

import functools

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import check_weights, unmasked
from ._jit import jit
from ._params import refused
from ._sorting import argsort, assign_by_rank, share_by_rank, value_at
from ._typing import Floats, Indices
from .spectra import Spectrum, parse_spectrum

#: Rows from which equal weights are stored as one number.
MANY_ROWS = 100_000


class Ranking:
    """A spectrum over rows of given weights.

    Parameters
    ----------
    spectrum : Spectrum
    n_rows : int
    sample_weight : array of shape (n_rows,) or None
        Positive; None means one each.
    """

    def __init__(
        self, spectrum: Spectrum, n_rows: int, sample_weight: Floats | None = None
    ) -> None:
        self.spectrum = spectrum
        self.n_rows = n_rows
        if sample_weight is not None and np.all(sample_weight == sample_weight[0]):
            # Equal weights of another size than one scale W and nothing else.
            self._common: float | None = float(sample_weight[0])
        else:
            self._common = 1.0 if sample_weight is None else None
        self._sample_weight = sample_weight

    @property
    def equal(self) -> bool:
        """Whether all rows have the same weight."""
        return self._common is not None

    @functools.cached_property
    def row_weight(self) -> Floats:
        """w, one for each row; read only."""
        if self._sample_weight is None:
            return self._repeated(1.0)
        return self._sample_weight

    @functools.cached_property
    def total(self) -> float:
        """W = Σw."""
        if self._common is not None:
            return self._common * self.n_rows
        return float(np.sum(self.row_weight))

    @functools.cached_property
    def mass(self) -> Floats:
        """p = w/W; read only."""
        if self._common is not None:
            return self._repeated(self._common / self.total)
        return self.row_weight / self.total

    def _repeated(self, value: float) -> Floats:
        """One number for each row, stored once if the rows are very many."""
        if self.n_rows < MANY_ROWS:
            return np.full(self.n_rows, value)
        return np.broadcast_to(np.float64(value), self.n_rows)

    @functools.cached_property
    def _equal_sigma(self) -> Floats:
        return self.spectrum.weights(self.n_rows)

    def sigma(self, order: Indices) -> Floats:
        """Weights σ along an ascending order of the rows; do not write into it."""
        if self._common is not None:
            return self._equal_sigma
        mass = self.mass[order]
        # Rounding makes the sum miss one, or reach it early; only the last row
        # completes the mass, and WorstCase gives all weight to the row that does.
        cumulative = np.minimum(np.cumsum(mass), np.nextafter(1.0, 0.0))
        cumulative[-1] = 1.0
        sigma = self.spectrum.increments(cumulative, mass)
        return np.asarray(sigma / sigma.sum())

    def risk(self, losses: Floats) -> float:
        """Σ σ_i ℓ_(i)."""
        if self._common is not None:
            return float(self._equal_sigma @ np.sort(losses))
        order = ascending(losses)
        return float(self.sigma(order) @ losses[order])

    def weights(self, losses: Floats) -> Floats:
        """λ with Σλℓ = Σσ_iℓ_(i), a subgradient of the risk; ties in row order."""
        order = ascending(losses)
        weights = np.empty(self.n_rows)
        weights[order] = self.sigma(order)
        return weights

    @property
    def selects(self) -> bool:
        """Whether a quantile of the losses says it all: superquantiles do."""
        return self.spectrum.selects

    def risk_and_weights(
        self, losses: Floats, *, exact: bool = True, out: Floats | None = None
    ) -> tuple[float, Floats]:
        """The risk and a λ that attains it, without an argsort where one is not needed.

        Losses must not be negative. Tied ones share in no particular way. With
        ``exact=False`` losses that agree in some three digits share their weight under
        a smooth increasing spectrum: λ is in the permutahedron all the same, and the
        risk is λ·ℓ, too small by a share of some 10⁻⁸. λ may be written to `out`, which
        may be the losses: of a million rows new memory costs as much as ranking them.
        """
        if self.spectrum.monotone == "flat":
            return float(self.mass @ losses), self.mass
        if self.selects and self.equal:
            weights = np.empty(self.n_rows) if out is None else out
            return _tail(losses, *self._threshold(losses), weights), weights
        if (
            self.equal
            and not exact
            and self.spectrum.smooth
            and not self.spectrum.trims
        ):
            weights = np.empty(self.n_rows) if out is None else out
            risk = share_by_rank(losses, self._equal_sigma, weights)
            if risk is not None:
                return risk, weights
        elif self.equal:
            weights = np.empty(self.n_rows)
            if assign_by_rank(losses, self._equal_sigma, weights):
                return float(weights @ losses), weights
        weights = self.weights(losses)
        return float(weights @ losses), weights

    def superquantile(self, losses: Floats) -> float:
        """The risk where `selects`, without the weights."""
        if not self.equal:
            return self.risk(losses)
        threshold, length = self._threshold(losses)
        return threshold + float(_above(losses, threshold)) / length

    def superquantile_and_excess(
        self, losses: Floats, weights: Floats
    ) -> tuple[float, float]:
        """The risk where `selects`, of equal rows, and by how much it exceeds λ·ℓ.

        With t the loss where the tail begins and c the largest λ the excess is
        Σ_{ℓ>t} (c − λ)(ℓ − t) + Σ_{ℓ<t} λ(t − ℓ), of non-negative terms.
        """
        threshold, length = self._threshold(losses)
        above, excess = _tail_excess(losses, weights, threshold, 1.0 / length)
        return threshold + above / length, excess

    def quantile(self, losses: Floats) -> float:
        """The loss where the tail of a superquantile begins, were the rows equal."""
        return self._threshold(losses)[0]

    def _threshold(self, losses: Floats) -> tuple[float, float]:
        """The loss at which a superquantile's tail begins; its rows, fractional."""
        start = self.spectrum.support[0]
        place = min(int(self.n_rows * start), self.n_rows - 1)
        return value_at(losses, place), self.n_rows * (1.0 - start)

    def shared_weights(self, losses: Floats, tied: float = 0.0) -> Floats:
        """λ as in `weights`, but tied losses share their block's weight by mass.

        Neighbours tie that differ by no more than the share `tied` of the larger.
        """
        order = ascending(losses)
        sigma, ordered = self.sigma(order), losses[order]
        apart = ordered[1:] - ordered[:-1] > tied * np.abs(ordered[1:])
        starts = np.flatnonzero(np.r_[True, apart])
        block = np.cumsum(np.r_[0, apart])
        mass = self.mass[order]
        density = np.add.reduceat(sigma, starts) / np.add.reduceat(mass, starts)
        weights = np.empty(self.n_rows)
        weights[order] = mass * density[block]
        return weights

    def kept_shares(self, losses: Floats) -> Floats:
        """Share of each row below u* = min{u : S(u) = 1}, where trimming begins.

        One for the rows that count, zero for the trimmed ones, a fraction for the row
        at the boundary; all ones for spectra that trim nothing at the top. Rows may
        have weight zero here.
        """
        end = float(self.spectrum.inverse(1.0))
        shares = np.ones(self.n_rows)
        if end >= 1.0:
            return shares
        order = ascending(losses)
        mass = self.mass[order]
        before = np.cumsum(mass) - mass
        # A whole number of rows must not gain a sliver of the next one by rounding.
        room = end - before
        room[room < 1e-9 * mass + 1e-13] = 0.0
        whole = np.where(mass > 0, mass, np.inf)
        part = np.where(mass > 0, np.minimum(room / whole, 1.0), room > 0)
        part[part > 1.0 - 1e-9] = 1.0
        shares[order] = part
        return shares

    def concentration(self) -> float:
        """Weight relative to mass of the worst thousandth under a rising spectrum."""
        top = np.full(1, 1e-3)
        return float((self.spectrum.increments(np.ones(1), top) / top)[0])

    def taken(self, rows: Indices) -> "Ranking":
        """The same spectrum over some of the rows."""
        if self._common is not None:
            weight = None
            if self._common != 1.0:
                weight = np.full(len(rows), self._common)
            return Ranking(self.spectrum, len(rows), weight)
        return Ranking(self.spectrum, len(rows), self.row_weight[rows])

    def with_spectrum(self, spectrum: Spectrum) -> "Ranking":
        """The same rows under another spectrum."""
        return Ranking(spectrum, self.n_rows, self._sample_weight)


@jit
def _above(losses, threshold):  # type: ignore[no-untyped-def]
    """Σ(ℓ − t)₊."""
    excess = 0.0
    for i in range(losses.shape[0]):
        excess += max(losses[i] - threshold, 0.0)
    return excess


@jit
def _tail_excess(losses, weights, threshold, cap):  # type: ignore[no-untyped-def]
    """Σ(ℓ − t)₊, and the excess of `Ranking.superquantile_and_excess`."""
    above, excess = 0.0, 0.0
    for i in range(losses.shape[0]):
        away = losses[i] - threshold
        if away > 0.0:
            above += away
            excess += max(cap - weights[i], 0.0) * away
        else:
            excess -= weights[i] * away
    return above, excess


@jit(fastmath=False)
def _tail(losses, threshold, length, weights):  # type: ignore[no-untyped-def]
    """Superquantile of equal rows and its weights, ties at the threshold sharing.

    t + Σ(ℓ − t)₊/length for a tail of so many rows, fractional, that begins at t.
    """
    above, tied, excess = 0, 0, 0.0
    for i in range(losses.shape[0]):
        if losses[i] > threshold:
            above += 1
            excess += losses[i] - threshold
        elif losses[i] == threshold:
            tied += 1
    share = max(length - above, 0.0) / (length * tied)
    for i in range(losses.shape[0]):
        if losses[i] > threshold:
            weights[i] = 1.0 / length
        else:
            weights[i] = share if losses[i] == threshold else 0.0
    return threshold + excess / length


def ascending(losses: Floats) -> Indices:
    """Permutation that sorts the losses; ties keep the order of the rows."""
    return argsort(losses)


def check_losses(
    losses: ArrayLike, owner: str = "lrisk", name: str = "losses"
) -> Floats:
    """Losses as a finite, non-empty float array of one dimension."""
    array = np.asarray(unmasked(losses), dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        rule, remedy = "a 1-d array of at least one loss", "pass one loss for each row"
        raise ValueError(refused(owner, name, rule, array.shape, remedy))
    if not np.all(np.isfinite(array)):
        bad = array[~np.isfinite(array)][0]
        raise ValueError(refused(owner, name, "finite", bad, "remove such rows"))
    return array


def check_row_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Weights as finite, non-negative floats with a positive sum; None stays None."""
    if sample_weight is None:
        return None
    array = np.asarray(unmasked(sample_weight), dtype=np.float64)
    name = "sample_weight"
    if array.shape != (n_rows,):
        rule, remedy = f"of shape ({n_rows},)", "pass one weight for each row"
        raise ValueError(refused("lrisk", name, rule, array.shape, remedy))
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong):
        rule, remedy = "finite and ≥ 0", "drop such rows or give them weight 0"
        raise ValueError(refused("lrisk", name, rule, array[wrong][0], remedy))
    if not np.any(array > 0):
        rule, remedy = "positive for some row", "not every weight may be zero"
        raise ValueError(refused("lrisk", name, rule, 0.0, remedy))
    check_weights("lrisk", name, array)
    return array


def risk(
    losses: ArrayLike,
    spectrum: str | Spectrum = "superquantile",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute a spectral risk: a weighted mean of losses, weighted by their rank.

    The mean of the largest half for ``"superquantile:0.5"``, the plain average for
    ``"mean"``; in general Σ σ_i ℓ_(i) over the sorted losses (paper 1, equation 2).

    Parameters
    ----------
    losses : array-like of shape (n,)
        The losses, one for each row, in any order.
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `RiskRegressor`.
    sample_weight : array-like of shape (n,) or None, default=None
        A weight k counts like k rows.

    Returns
    -------
    float
        The risk, in units of the losses.

    See Also
    --------
    risk_weights : What each row contributes to this number.
    lrisk.metrics.risk_score : From targets and predictions.
    lrisk.metrics.risk_interval : With a confidence interval.

    Examples
    --------
    >>> import lrisk
    >>> lrisk.risk([1.0, 2.0, 3.0, 10.0], "superquantile:0.5")
    6.5
    """
    losses = check_losses(losses)
    weight = check_row_weights(sample_weight, losses.size)
    if weight is not None:
        losses, weight = losses[weight > 0], weight[weight > 0]
    return Ranking(parse_spectrum(spectrum), losses.size, weight).risk(losses)
