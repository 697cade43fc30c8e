"""The percentile-t bootstrap of spectral risks: of one model, or of two in pairs.

The risk of n losses, Σσ_iℓ_(i), estimates that of the distribution they come from,
∫F⁻¹(u) dS(u). To first order its error is a mean over rows of the influence

    ψ(ℓ) = ∫_{−∞}^{ℓ} s(F(t)) dt − its mean,          s = S′        (L-statistics:
                                                      Serfling 1980, section 8.2)

so that its standard error is that of a mean. Losses are skewed and their tails few
rows, so the interval is not read off a normal distribution but off the bootstrap's of
the studentised risk (percentile-t: Hall 1992, section 3.2), which is right to second
order: quantiles of resampled risks themselves, BCa's too, cover too rarely in the tail.
Of a difference nothing says to which side it is skewed, only that its tails are heavy:
its interval is symmetric (section 3.6 there).

A resample is a count of every row. Its rows need not be sorted, and those of equal
weight have cumulative masses k/n, at which S and s are known once for all.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._jit import jit
from .._typing import Floats, Indices
from ..ranking import Ranking, ascending
from ..spectra import Spectrum

Statistics = Callable[[Indices], Floats]
#: Rows that are drawn at a time.
CHUNK = 1 << 16


class Sample(NamedTuple):
    """Losses in ascending order, whose risk is added or taken away."""

    sign: float
    order: Indices
    ascending: Floats

    @classmethod
    def of(cls, losses: Floats, sign: float = 1.0) -> "Sample":
        """From losses in the order of the rows."""
        order = ascending(losses)
        return cls(sign, order, losses[order])


def percentile_t(
    samples: list[Sample],
    ranking: Ranking,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
    symmetric: bool = False,
) -> tuple[float, float]:
    """How far the ends lie from the signed sum of the samples' risks.

    As many resamples are beyond either end, or, if symmetric, beyond both together and
    the ends are as far from the middle.
    """
    n = ranking.n_rows
    statistics = (_of_equal_rows if ranking.equal else _of_rows)(samples, ranking)
    error = float(statistics(np.arange(n)[None])[0, 1])
    size = max(CHUNK // n, 1)
    found = [
        statistics(rng.integers(0, n, (min(size, n_resamples - b), n)))
        for b in range(0, n_resamples, size)
    ]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away, errors = np.concatenate(found).T
        t = away / errors
        t[np.isnan(t)] = 0.0  # the very same rows, all alike
        t.sort()
        if symmetric:
            place = int((n_resamples + 1) * confidence + 1e-9) - 1
            least = most = float(np.sort(np.abs(t))[place])
        else:
            place = int((n_resamples + 1) * (1.0 - confidence) / 2.0 + 1e-9) - 1
            least, most = float(t[-1 - place]), -float(t[place])
    # A risk known exactly has no error, however far its resamples went.
    return (-least * error, most * error) if error > 0.0 else (0.0, 0.0)


def _of_rows(samples: list[Sample], ranking: Ranking) -> Statistics:
    """For lines of drawn rows: the risk less that of all rows, and its standard error.

    Of several samples it is the signed sum of their risks.
    """
    n, weight, spectrum = ranking.n_rows, ranking.row_weight, ranking.spectrum
    gaps = [np.diff(sample.ascending) for sample in samples]
    whole = [_between(spectrum, weight[sample.order])[0] for sample in samples]

    def of_draw(drawn: Indices) -> tuple[float, float]:
        mass = weight * np.bincount(drawn, minlength=n)
        away, influence = 0.0, np.zeros(n)
        for (sign, order, _), gap, usual in zip(samples, gaps, whole, strict=True):
            beyond, slopes = _between(spectrum, mass[order])
            # Of gaps that count alike nothing is left, however wide they are.
            away += sign * float((beyond - usual) @ gap)
            influence[order[1:]] += sign * np.cumsum(slopes * gap)
        influence -= float(mass @ influence) / float(mass.sum())
        influence = weight[drawn] * influence[drawn]
        # Squares of what is very large, or small, would be infinite, or nothing.
        largest = float(np.max(np.abs(influence)))
        if largest == 0.0:
            return away, 0.0
        spread = float(np.sum((influence / largest) ** 2))
        return away, largest * float(np.sqrt(spread)) / float(mass.sum())

    return lambda lines: np.array([of_draw(drawn) for drawn in lines])


def _between(spectrum: Spectrum, mass: Floats) -> tuple[Floats, Floats]:
    """1 − S and s at the cumulative masses of all rows but the last.

    Summed from the top, where the weights of a tail are few, and divided last: a share
    of equal rows that ends at a kink of S ends there exactly, and the gap of losses
    beyond it counts. Where all rows lie on one side, nothing has influence.
    """
    P = np.cumsum(mass)
    P, mass = P / P[-1], mass / P[-1]
    sigma, drawn = np.zeros(len(P)), mass > 0.0
    sigma[drawn] = spectrum.increments(P[drawn], mass[drawn])
    beyond, P = np.cumsum(sigma[::-1])[::-1], P[:-1]
    inside = (P > 0.0) & (P < 1.0)
    return beyond[1:] / beyond[0], np.where(inside, spectrum.density(P), 0.0)


def _of_equal_rows(samples: list[Sample], ranking: Ranking) -> Statistics:
    """As `_of_rows`, for rows of one weight, compiled."""
    beyond, slopes = _between(ranking.spectrum, np.ones(ranking.n_rows))
    beyond, slopes = np.r_[1.0, beyond, 0.0], np.r_[0.0, slopes, 0.0]
    signs = np.array([sample.sign for sample in samples])
    orders = np.stack([sample.order for sample in samples])
    sorted_losses = np.stack([sample.ascending for sample in samples])

    def statistics(lines: Indices) -> Floats:
        found = np.empty((len(lines), 2))
        _studentise(lines, signs, orders, sorted_losses, beyond, slopes, found)
        return found

    return statistics


@jit(fastmath=False)
def _studentise(lines, signs, orders, ascending, beyond, slopes, found):  # type: ignore[no-untyped-def]
    """`_of_rows`; 1 − S and s are given at the masses k/n, k = 0, …, n."""
    n = lines.shape[1]
    counts, influence = np.empty(n, np.int64), np.empty(n)
    for b in range(lines.shape[0]):
        counts[:] = 0
        influence[:] = 0.0
        for i in range(n):
            counts[lines[b, i]] += 1
        away = 0.0
        for k in range(signs.shape[0]):
            order, x, sign = orders[k], ascending[k], signs[k]
            own, psi, below = 0.0, 0.0, 0
            for i in range(1, n):
                below += counts[order[i - 1]]
                gap = x[i] - x[i - 1]
                own += (beyond[below] - beyond[i]) * gap
                psi += slopes[below] * gap
                influence[order[i]] += sign * psi
            away += sign * own
        mean = 0.0
        for i in range(n):
            mean += counts[i] * (influence[i] / n)
        largest = 0.0
        for i in range(n):
            influence[i] = abs(influence[i] - mean)
            if counts[i] > 0:
                largest = max(largest, influence[i])
        spread = 0.0
        if largest > 0.0:
            for i in range(n):
                if counts[i] > 0:
                    spread += counts[i] * (influence[i] / largest) ** 2
        found[b, 0] = away
        found[b, 1] = largest * np.sqrt(spread) / n
