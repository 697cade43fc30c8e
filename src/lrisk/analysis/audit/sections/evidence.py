"""How much better a slip explains rows far out than any tail of the noise would.

A row y that should be r(y) = a·y + b has, in noise scales u = (y − e)/s about what is
expected of it, the density |a| g((r(y) − e)/s), where g is that of the noise. A slip is
a mixture: with probability ρ a row has slipped, otherwise it is one of a tail, Pareto's
beyond a cut. Averaged over some ρ and tails that is the likelihood of the slip. It is
held against the largest likelihoods without it: of Pareto's tails, one to each side,
with any exponents; and of slips by no factor in particular, another one for each row,
anywhere from the factor in question to one four and a half times as small, or as large.
If either is how the rows came about, the ratio is 1/p or more with a probability of p
at most (universal inference: Wasserman, Ramdas and Balakrishnan, 2020, theorem 3).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import t as student_t

from ...._typing import Bools, Floats
from ..tails import NoiseTail
from .repairs import Repair

#: Parts of the rows that have slipped, and exponents of the tail of the others.
PARTS, EXPONENTS = (0.1, 0.3, 0.5, 0.7, 0.9), (0.5, 1.0, 2.0, 4.0)
#: Other factors, up to four and a half times as small or as large: any small one makes
#: targets fit that lie about zero.
OTHERS = np.exp([np.linspace(-1.5, 0.0, 32), np.linspace(0.0, 1.5, 32)])
#: Distances beyond which squares would overflow.
SQUARED = 1e150


class FarRows(NamedTuple):
    """Rows beyond a cut: values, what is expected of them, scales; the law of noise."""

    y: Floats
    expected: Floats
    scale: Floats
    noise: NoiseTail
    cut: float

    def of(self, rows: Bools) -> "FarRows":
        """Some of them."""
        return self._replace(
            y=self.y[rows], expected=self.expected[rows], scale=self.scale[rows]
        )

    @property
    def away(self) -> Floats:
        """Distances u in noise scales, with their signs."""
        return (self.y - self.expected) / self.scale

    def slipped(self, repair: Repair, factors: Floats) -> Floats:
        """Logarithms of the densities of u after a slip; shape (k, m).

        It is undone by the repair times one of k factors.
        """
        others, (freedom, unit, _) = factors[:, None], self.noise
        with np.errstate(over="ignore"):
            away = (others * repair.of(self.y) - self.expected) / (self.scale * unit)
        away = np.clip(away, -SQUARED, SQUARED)
        own = -0.5 * (freedom + 1.0) * np.log1p(away**2 / freedom)
        own += student_t.logpdf(0.0, freedom)
        return np.asarray(own + np.log(np.abs(repair.factor) * others / unit))

    def tails(self) -> Floats:
        """Logarithms of Pareto's densities; shape (len(EXPONENTS), m)."""
        exponents = np.array(EXPONENTS)[:, None]
        return _pareto(np.abs(self.away), self.cut, exponents)


class Evidence(NamedTuple):
    """gain : the logarithm of the ratio; weights : of ρ and tails, as the rows say."""

    gain: float
    weights: Floats

    @classmethod
    def of(cls, rows: FarRows, repair: Repair) -> "Evidence":
        """Of some rows.

        Examples
        --------
        >>> expected = np.linspace(100.0, 300.0, 8)
        >>> rows = FarRows(10.0 * expected, expected, np.full(8, 5.0),
        ...                NoiseTail(4.0, 1.0, 100.0), 4.0)
        >>> [Evidence.of(rows, Repair(f)).gain > 0.0 for f in (0.1, 0.01)]
        [True, False]
        """
        tails = rows.tails()
        by_slip = _mixed(rows.slipped(repair, np.ones(1))[0], tails)
        without = [_likeliest_tails(rows.away, rows.cut)]
        for others in OTHERS:
            by_others = logsumexp(rows.slipped(repair, others), axis=0)
            without.append(float(_mixed(by_others - np.log(len(others)), tails).max()))
        mean = float(logsumexp(by_slip))
        gain = float(mean - np.log(by_slip.size) - max(without))
        return cls(gain, np.exp(by_slip - mean))

    def chances(self, rows: FarRows, repair: Repair) -> Floats:
        """Each row's chance to have slipped."""
        slip, tail = _parts(rows.slipped(repair, np.ones(1))[0], rows.tails())
        own = np.exp(slip - np.logaddexp(slip, tail))
        return np.asarray(np.tensordot(self.weights, own, axes=2))


def _parts(slip: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Both parts of a mixture, logarithms; shape (len(PARTS), len(EXPONENTS), m)."""
    part = np.array(PARTS)[:, None, None]
    shape = (len(PARTS), *tails.shape)
    return np.broadcast_to(np.log(part) + slip, shape), np.log1p(-part) + tails


def _mixed(slip: Floats, tails: Floats) -> Floats:
    """Log-likelihoods of all rows; shape (len(PARTS), len(EXPONENTS))."""
    return np.asarray(np.logaddexp(*_parts(slip, tails)).sum(axis=-1))


def _pareto(sizes: Floats, cut: float, exponent: Floats | float) -> Floats:
    return np.asarray(np.log(exponent / cut) - (exponent + 1.0) * np.log(sizes / cut))


def _likeliest_tails(away: Floats, cut: float) -> float:
    """The log-likelihood of the likeliest tail of either side."""
    most = 0.0
    for side in (away > 0.0, away < 0.0):
        sizes = np.abs(away[side])
        if len(sizes):
            exponent = 1.0 / max(float(np.mean(np.log(sizes / cut))), 1e-300)
            most += float(_pareto(sizes, cut, exponent).sum())
    return most
