"""Which labels x contradicts, how many, and whether that is noise or overlap.

`Detector` joins cross-fitted references by one likelihood (`likelihood`), twice: with
labels right but for very few (T₀: a share of `clean_share`, or one row), and with free
noise T. Both are fitted without a fold and compared on it. Under T₀ the gain

    G = Σ_i log P_T(y_i | x_i) − log P_T₀(y_i | x_i)

has a known mean and variance, for nothing was fitted to the labels of the fold (but how
freely pairs of classes move under both, which is as T₀ prefers). Noise is found where G
is positive and beyond them (Cox's test), and the profile of the likelihood over shares
of noise excludes none. Clean data whose classes overlap exactly as noise would make
them (P(y | x) is .1 or .9 everywhere) have the law of noise: what x contradicts is
wrong, or chance. Trusted labels, known to be right, can tell: they have T₀ under both
likelihoods. If x contradicts them like the others, they are likelier under the null,
whose classes overlap, and noise is not found.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, softmax

from ..._typing import Bools, Floats, Indices
from .likelihood import CONSTANTS, Mixture, fit_mixture, label_terms, uniform_noise
from .rows import LabelledRows

#: Shares at which the likelihood is profiled, and from which on they matter to a fit.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.44, 0.47)
MATTERS = 0.05
#: Nats from the highest profile at which a share is not excluded at level 0.9: half the
#: quantile of χ² with one degree of freedom.
SUPPORT = float(chdtri(1, 0.1) / 2.0)
#: Nats that a one in the matrix B costs: what held-out labels prefer of these under the
#: null, which so gets every chance. With .1 throughout a mixture of 31 classes fits its
#: own rows too well, and clean tables have an evidence of 10, if no share. Of two
#: classes B is 0: it would be one more slope.
DEAR = (10.0, 1.0, 0.1)
#: Rows per class by which the prior of T counts: uniform flips, or each pair its own.
STRENGTHS = (np.inf, 1.0)


class Detection(NamedTuple):
    """What was found of labels.

    Attributes
    ----------
    answer : {"noise", "none", "cannot tell"}
        "cannot tell": overlap of the classes explains the labels as well as noise does.
    share, interval
        Of wrong labels, 0 unless noise was found, and shares that the profile of the
        likelihood does not exclude, at level 0.9.
    noise : array of shape (K, K)
        T[k, j] = P(labelled j | true class k); I unless noise was found.
    score, suggestion : arrays of shape (n,)
        Probability that a label is wrong, and the likeliest class. Without noise an
        average over the shares that are not excluded: it ranks.
    likely : array of shape (K, K) or None
        T to fit under. Where noise was not found: uniform flips of the share to be
        expected if there are enough to matter, or None if no such share is likelier
        than none.
    """

    answer: str
    share: float
    interval: tuple[float, float]
    noise: Floats
    score: Floats
    suggestion: Indices
    likely: Floats | None


class Detector:
    """Judges labels by references that have not seen them (`logs`, shape (m, n, K)).

    Rows of fold −1 are not judged, those without voice have no say; the likelihood is
    fitted to the rows that are `used`.
    """

    def __init__(self, logs: Floats, rows: LabelledRows, used: Indices) -> None:
        logs = logs - logs.mean(axis=2, keepdims=True)
        size = np.sqrt(np.mean(logs**2, axis=(1, 2), keepdims=True))
        self._logs = logs / np.where(size > 0.0, size, 1.0)
        self._codes, self._folds, self._K = rows.codes, rows.folds, rows.n_classes
        self._weight = np.where(rows.folds >= 0, rows.voice, 0.0)
        self._used = used = used[self._weight[used] > 0.0]
        own = rows.folds[used]
        self._parts = [(used[own == f], used[own != f]) for f in np.unique(own)]
        self._dear: float | None = None
        total = float(self._weight[self._used].sum())
        self._clean_share = max(CONSTANTS.clean_share, 1.0 / max(total, 2.0))
        self._clean = uniform_noise(self._clean_share, self._K)
        self._trusted = rows.trusted
        self._doubtful = float(np.average(~self._trusted, weights=rows.weight))

    def detect(self, given: float | None = None) -> Detection:
        """Judge all labels; under a given share T is likely and of that share."""
        if self._doubtful == 0.0:  # all are known to be right
            given = 0.0
        strength, gain, evidence, told = self._compared(self._nulls())
        null = self._fit(self._used, self._clean)
        free = self._fits(self._used, null, (strength,))[0]
        truth = free.truth(self._logs[:, self._used])
        usual = np.average(truth, axis=0, weights=self._weight[self._used])
        share = float(1.0 - usual @ np.diag(free.noise))
        uniform = uniform_noise(0.5, self._K)
        above = share > self._clean_share
        found = bool(above and gain > 0.0 and evidence > CONSTANTS.evidence)
        found &= told >= 0.0
        near = tuple(share * np.array([0.9, 1.0, 1.1])) if found else ()
        flips = free.noise if found else uniform
        shares, fits, values = self._profile(null, flips, usual, near)
        low, high = _supported(shares, values)
        if found and low == 0.0:  # all rows together are not so sure
            found, (shares, fits, values) = False, self._profile(null, uniform, usual)
            high = _supported(shares, values)[1]
        chance = softmax(values)
        if given is not None:
            given = given / (self._doubtful or 1.0)  # of the labels not trusted
            found, share, low, high = given > 0.0, given, given, given
            noise = _flipped(free.noise if above else uniform, given, usual)
            free = self._fit(self._used, noise, null)
        likely: Floats | None = None
        if found:
            fits, chance, likely = [free], np.ones(1), free.noise
        else:
            share = low = 0.0
            many = shares >= min(MATTERS, shares[-1])
            if given != 0.0 and values[many].max() > values[0]:
                expected = float(softmax(values[many]) @ shares[many])
                likely = uniform_noise(expected, self._K)
        score, suggestion = self._posterior(fits, chance)
        judged = (self._folds >= 0) & ~self._trusted
        share, low, high = (
            min(s * self._doubtful, 1.0)
            for s in (share, min(low, share), max(high, share))
        )
        return Detection(
            "noise" if found else "cannot tell" if high >= MATTERS else "none",
            share,
            (low, high),
            free.noise if found else np.eye(self._K),
            np.where(judged, score, 0.0),
            np.where(judged, suggestion, self._codes),
            likely,
        )

    def _fit(
        self,
        rows: Indices,
        noise: Floats,
        start: Mixture | None = None,
        strength: float | None = None,
    ) -> Mixture:
        codes = self._codes[rows] + self._K * self._trusted[rows]
        return fit_mixture(
            self._logs[:, rows],
            codes,
            self._weight[rows],
            noise,
            start=start,
            dear=self._dear,
            strength=strength,
            sure=self._clean,
        )

    def _nulls(self) -> list[Mixture]:
        """Fits without noise to all but each fold, with B as held-out labels prefer."""
        tried = []
        starts: list[Mixture | None] = [None] * len(self._parts)
        for dear in DEAR if self._K > 2 else (None,):
            self._dear, value = dear, 0.0
            fits = [
                self._fit(kept, self._clean, start)
                for (_, kept), start in zip(self._parts, starts)
            ]
            for (out, _), one in zip(self._parts, fits):
                seen = self._labels(one, out)[np.arange(len(out)), self._codes[out]]
                value += float(self._weight[out] @ np.log(seen))
            tried.append((value, dear, fits))
            starts = [*fits]
        _, self._dear, found = max(tried, key=lambda one: one[0])
        return found

    def _fits(
        self, rows: Indices, null: Mixture, strengths: tuple[float, ...]
    ) -> list[Mixture]:
        """With T under priors of those strengths.

        The likelihood of T has several peaks: uniform flips start from few and many,
        others from uniform ones.
        """
        starts = (uniform_noise(share, self._K) for share in (0.05, 0.3))
        flipped = [self._fit(rows, start, null, np.inf) for start in starts]
        tied = max(flipped, key=lambda one: one.value)
        centre = uniform_noise(max(1.0 - tied.noise[0, 0], 0.1), self._K)
        return [
            tied if strength == np.inf else self._fit(rows, centre, null, strength)
            for strength in strengths
        ]

    def _compared(self, nulls: list[Mixture]) -> tuple[float, float, float, float]:
        """Strength that held-out labels prefer, G, its evidence, G of trusted ones."""
        totals = np.zeros((len(STRENGTHS), 4))
        for (rows, kept), null in zip(self._parts, nulls):
            p0 = self._labels(null, rows)
            for total, one in zip(totals, self._fits(kept, null, STRENGTHS)):
                ratio = np.log(self._labels(one, rows)) - np.log(p0)
                seen = ratio[np.arange(len(rows)), self._codes[rows]]
                mean = np.sum(p0 * ratio, axis=1)
                variance = np.sum(p0 * ratio**2, axis=1) - mean**2
                parts = np.array([seen, mean, variance, seen * self._trusted[rows]])
                total += parts @ self._weight[rows]
        best = int(np.argmax(totals[:, 0]))
        gain, mean, variance, told = map(float, totals[best])
        return STRENGTHS[best], gain, (gain - mean) / max(variance, 1e-12) ** 0.5, told

    def _labels(self, fitted: Mixture, rows: Indices) -> Floats:
        """P(y | x) of all labels that rows could have, shape (len(rows), K)."""
        q = fitted.truth(self._logs[:, rows])
        sure = self._trusted[rows, None]
        return np.where(sure, q @ self._clean, q @ fitted.noise)

    def _profile(
        self,
        null: Mixture,
        flips: Floats,
        usual: Floats,
        near: tuple[float, ...] = (),
    ) -> tuple[Floats, list[Mixture], Floats]:
        """The likelihood along shares of such flips; the first is that of no noise."""
        shares, fits = [0.0], [null]
        for share in sorted({*SHARES, *near}):
            noise = _flipped(flips, share, usual)
            if np.array_equal(noise, _flipped(flips, 0.99 * share, usual)):
                break  # more flips of that kind are not possible
            fits.append(self._fit(self._used, noise, fits[-1]))
            shares.append(share)
        return np.array(shares), fits, np.array([one.value for one in fits])

    def _posterior(self, fits: list[Mixture], chance: Floats) -> tuple[Floats, Indices]:
        """P(true ≠ y | x, y) and the likeliest class, averaged over fits."""
        truth = np.zeros((len(self._codes), self._K))
        for one, part in zip(fits, chance):
            if part > 1e-4:
                scores = one.scores(self._logs)
                truth += part * label_terms(scores, self._codes, one.noise)[2]
        own = truth[np.arange(len(truth)), self._codes]
        return np.clip(1.0 - own, 0.0, 1.0), np.asarray(truth.argmax(axis=1))


def _flipped(flips: Floats, share: float, usual: Floats) -> Floats:
    """T of a share of wrong labels, with flips in proportion to those given.

    `usual`, shape (K,), is how usual the true classes are.
    """
    table = np.where(np.eye(len(flips), dtype=bool), 0.0, flips)
    table *= share / max(float(usual @ table.sum(axis=1)), 1e-300)
    most = 0.95 * (1.0 - 1.0 / len(flips))
    table *= np.minimum(1.0, most / np.maximum(table.sum(axis=1), most))[:, None]
    np.fill_diagonal(table, 1.0 - table.sum(axis=1))
    return table


def _supported(shares: Floats, values: Floats) -> tuple[float, float]:
    """Ends of the shares whose profile is within SUPPORT of the highest.

    Between shares the root of what a profile lacks is interpolated: it is linear for a
    parabola, and profiles are parabolas near their peak.
    """
    best = int(np.argmax(values))
    peak, top = float(shares[best]), float(values[best])
    if 0 < best < len(shares) - 1:
        around = slice(best - 1, best + 2)
        curve = np.polyfit(shares[around] - peak, values[around] - top, 2)
        if curve[0] < 0.0:
            off = float(-0.5 * curve[1] / curve[0])
            peak, top = peak + off, top + float(np.polyval(curve, off))
    nodes = np.append(shares, peak)
    roots = np.append(np.sqrt(np.maximum(top - values, 0.0)), 0.0)
    order = np.argsort(nodes, kind="stable")
    fine = np.linspace(0.0, float(shares[-1]), 1000)
    inside = np.interp(fine, nodes[order], roots[order]) <= np.sqrt(SUPPORT)
    ends = fine[inside] if inside.any() else np.array([peak])
    return float(ends[0]), float(ends[-1])


def flag(
    score: Floats, weight: Floats, codes: Indices, share: float | None = None
) -> Bools:
    """The rows of highest score, but never all rows of a class.

    Those above ½ while few false ones are expected; or up to a given share, but nobody
    of whom nothing is known (score 0).
    """
    order = np.argsort(-score, kind="stable")
    ends = np.cumsum(weight[order])
    false = np.cumsum((weight * (1.0 - score))[order]) / ends
    chosen = (score[order] > 0.5) & (false <= CONSTANTS.false_flags)
    if share is not None:
        chosen = (score[order] > 0.0) & (ends <= share * ends[-1] + 1e-9)
    flagged, left = np.zeros(len(codes), dtype=bool), np.bincount(codes)
    for i in order[chosen]:
        if left[codes[i]] > 1:
            flagged[i] = True
            left[codes[i]] -= 1
    return flagged
