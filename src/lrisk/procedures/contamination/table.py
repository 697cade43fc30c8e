"""The judgement of a whole table: a pilot by all stages, then the other rows."""

from typing import NamedTuple

import numpy as np

from ..._threads import blas_threads_for
from ..._typing import Bools, Floats, Indices
from .feature_errors import CHANCE as WRONG_VALUE
from .feature_errors import contradicted_values
from .judgement import (
    COMPRESSED_BEYOND,
    FEWEST_ROWS,
    FLAGGED_ABOVE,
    PILOT_ROWS,
    Pilot,
    apart_from,
    judge_pilot,
)
from .populations import together
from .robust_scale import compress, spread

#: Least degrees of freedom of a core that is all but Gaussian.
NEARLY_GAUSSIAN = 20.0
#: Resamples behind the interval, and the share of them outside at each end.
RESAMPLES, OUTSIDE = 25, 0.05
#: Evidence below which an interval reaches down to zero.
WEAK_EVIDENCE = 12.0
#: Scales within which targets are held while they are judged.
FARTHEST = 1e9
#: Share of flagged rows that the forest fits: from here the estimate is lowered, from
#: there it is zero.
SOME_FIT, MOST_FIT = 0.2, 0.5


class Judgement(NamedTuple):
    """Which rows do not fit, and how sure that is.

    share, interval : estimated share of outliers, and where it lies
    chance : for each row the chance that it does not belong to the others
    u : residuals in local noise scales
    expected : the reference's value for each row, in units of y
    scale : the noise scale of each row, in units of y; all three are NaN for rows that
        no reference was fitted to, if nothing was found and nobody asked for ranks
    low, high : the core of u, 2.5 scales on either side of its mode
    group : rows that lie apart in X and follow a relation of their own
    source : "robust", "ordinary" (what did not fit was predictable), "group" (or lies
        apart), "too few rows", "constant target"
    evidence : positive where two populations explain the residuals better than one
    """

    share: float
    interval: tuple[float, float]
    chance: Floats
    u: Floats
    expected: Floats
    scale: Floats
    low: float
    high: float
    group: Bools
    source: str
    evidence: float
    judge: "Judge | None"
    threshold: float = FLAGGED_ABOVE

    @property
    def flagged(self) -> Bools:
        """Rows whose chance is above the threshold."""
        return np.asarray(self.chance > self.threshold)

    def winsorised(self, y: Floats) -> Floats:
        """y, where it leaves the core, moved to the core's border."""
        if self.judge is None:
            return y
        u = compress((y - self.expected) / self.scale, COMPRESSED_BEYOND)
        held = self.expected + self.scale * np.clip(u, self.low, self.high)
        return np.where((u < self.low) | (u > self.high), held, y)


class Units(NamedTuple):
    """Targets in robust scales from their median, held within what squares can hold."""

    middle: float
    size: float

    def inward(self, y: Floats) -> Floats:
        """Targets in these units."""
        return np.clip((y - self.middle) / self.size, -FARTHEST, FARTHEST)

    def outward(self, y: Floats) -> Floats:
        """Targets as they were given."""
        return np.asarray(self.middle + self.size * y)


class Judge(NamedTuple):
    """Judges any row as the pilot's were."""

    pilot: Pilot
    silent: bool
    units: "Units"

    @property
    def finds(self) -> bool:
        """Whether outliers were found that are not predictable after all."""
        return not self.silent and self.pilot.look.verdict.share > 0.0

    def expected(self, X: Floats) -> tuple[Floats, Floats]:
        """What the reference expects at new rows, and the scale of the noise there."""
        reference, verdict = self.pilot.look.reference, self.pilot.look.verdict
        fitted, scale = np.empty(len(X)), np.empty(len(X))
        for part, rows, squares in reference.seen_from(X):
            fitted[part] = reference.values(rows, squares)
            scale[part] = verdict.level.at_distances(fitted[part], squares)
        units = self.units
        return units.outward(fitted + verdict.shift), units.size * scale

    def standardised(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Residuals in noise scales, expected values, noise scales of new rows."""
        expected, scale = self.expected(X)
        return compress((y - expected) / scale, COMPRESSED_BEYOND), expected, scale

    def chance(self, X: Floats, y: Floats, u: Floats, certain: bool = False) -> Floats:
        """The chance of new rows to be outliers.

        If it is `certain`, from elsewhere, that there are some, then the populations
        count that the pilot's own evidence was too weak for.
        """
        verdict = self.pilot.look.verdict
        if verdict.populations is None or not (self.finds or certain):
            return np.zeros(len(y))
        chance = verdict.populations.outlier_probability(u)
        y = self.units.inward(y)
        gate, doubtful = self.pilot.gate, np.flatnonzero(chance > 0.5)
        if gate is not None and len(doubtful):
            rows = self.pilot.look.reference.columns.compressed(X[doubtful])
            fitted = gate.forest.predict(rows)
            fits = gate.fits(y[doubtful] - fitted, fitted, rows, own=False)
            known = self.pilot.look.reference.rows[~verdict.flagged]
            fits[fits] = ~apart_from(rows[fits], known)
            chance[doubtful[fits]] = np.minimum(chance[doubtful[fits]], 0.5)
        return chance

    def believing(self, other: "Judge") -> "Judge":
        """The same judge with the other's word on how outliers are spread."""
        theirs = other.pilot.look.verdict
        look = self.pilot.look
        verdict = look.verdict._replace(
            populations=theirs.populations, share=theirs.share
        )
        pilot = self.pilot._replace(look=look._replace(verdict=verdict))
        return Judge(pilot, other.silent, self.units)


def judge_table(
    X: Floats, y: Floats, rng: np.random.Generator, *, ranked: bool = False
) -> Judgement:
    """Judge all rows of a table (distinct rows, in an order of their own).

    With `ranked` every row has its residual, even where nothing is found.
    """
    with blas_threads_for(0):  # hundreds of small systems: more threads only wait
        return _judge_table(X, y, rng, ranked)


def _judge_table(
    X: Floats, y: Floats, rng: np.random.Generator, ranked: bool
) -> Judgement:
    n = len(y)
    if n < FEWEST_ROWS:
        return nothing_judged(y, "too few rows", (0.0, 0.5))
    if np.ptp(y) <= 1e-12 * float(np.max(np.abs(y))):
        return nothing_judged(y, "constant target", (0.0, 0.5))
    forest_seed, sample_seed, resample_seed = rng.integers(2**31, size=3)
    chosen = np.arange(n)
    if n > PILOT_ROWS:
        draw = np.random.default_rng(sample_seed)
        chosen = np.sort(draw.choice(n, PILOT_ROWS, replace=False))
    units = Units(float(np.median(y)), spread(y))
    target = units.inward(y)
    pilot = judge_pilot(X[chosen], target[chosen], int(forest_seed))
    group = np.zeros(n, dtype=bool)
    if pilot.source == "group":
        group = _group_of(pilot, X, chosen)
        chosen = chosen[~pilot.group]
        pilot = judge_pilot(X[chosen], target[chosen], int(forest_seed), groups=False)
        pilot = pilot._replace(source="group")
    judge = Judge(pilot, pilot.gated > MOST_FIT, units)
    return _all_rows(judge, X, y, chosen, group, int(resample_seed), ranked)


def told_share(judgement: Judgement, share: float, weights: Floats) -> Judgement:
    """The judgement where the share of outliers is known: the worst rows are flagged.

    As many as hold no more than that share of the weight. The chance of a row is
    |u|/(|u| + c), c the smallest |u| of those flagged: one half and more for them, less
    for the others. It is a rank, no probability.
    """
    size = np.abs(judgement.u)
    order = np.argsort(-size, kind="stable")
    held = np.cumsum(weights[order])
    count = int(np.sum(held <= (share + 1e-9) * held[-1]))
    worst = order[:count]
    chance = np.zeros(len(size))
    if count:
        cut = float(size[worst[-1]])
        chance = size / np.maximum(size + cut, 1e-300)
        inside = np.ones(len(size), dtype=bool)
        inside[worst] = False
        chance[inside] = np.minimum(chance[inside], 0.5)
        chance[worst] = np.maximum(chance[worst], np.nextafter(0.5, 1.0))
    return judgement._replace(
        share=share,
        interval=(share, share),
        chance=chance,
        source="told",
        threshold=0.5,
    )


def _group_of(pilot: Pilot, X: Floats, chosen: Indices) -> Bools:
    """All rows whose nearest pilot row belongs to its group."""
    reference = pilot.look.reference
    group = np.zeros(len(X), dtype=bool)
    for part, _, squares in reference.seen_from(X):
        group[part] = pilot.group[np.argmin(squares, axis=1)]
    group[chosen] = pilot.group
    return group


def _all_rows(
    judge: Judge,
    X: Floats,
    y: Floats,
    chosen: Indices,
    group: Bools,
    seed: int,
    ranked: bool,
) -> Judgement:
    look = judge.pilot.look
    verdict = look.verdict
    n = len(y)
    u, expected, scale = (np.full(n, np.nan) for _ in range(3))
    chance = np.zeros(n)
    others = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
    units = judge.units
    u[chosen] = verdict.u
    expected[chosen] = units.outward(look.fitted + verdict.shift)
    scale[chosen] = units.size * verdict.scale

    def look_at_others() -> None:
        u[others], expected[others], scale[others] = judge.standardised(
            X[others], y[others]
        )

    asked = ranked or judge.finds
    if asked:
        look_at_others()
    if judge.finds:
        chance[chosen] = judge.pilot.chance
        chance[others] = judge.chance(X[others], y[others], u[others])
    chance[group] = 0.0
    share, interval = _share(judge, chance[chosen] > FLAGGED_ABOVE, seed)
    wrong = contradicted_values(X, units.inward(y), chosen, chance > 0.5)
    if wrong.any() and not asked:
        look_at_others()
    chance[wrong] = WRONG_VALUE
    found = float(np.mean(wrong))
    share = min(share + found, 0.5)
    interval = (interval[0] + 0.8 * found, min(interval[1] + 1.2 * found, 0.5))
    low, high = -np.inf, np.inf
    if verdict.populations is not None:
        mode, left, right = verdict.populations.core[:3]
        low, high = mode - 2.5 * left, mode + 2.5 * right
    return Judgement(
        share,
        interval,
        chance,
        u,
        expected,
        scale,
        low,
        high,
        group,
        judge.pilot.source,
        verdict.evidence,
        judge,
    )


def _share(
    judge: Judge, flagged: Bools, seed: int
) -> tuple[float, tuple[float, float]]:
    """ε and its interval: two shapes of the core, and resampled residuals.

    A core with heavy tails takes outliers for its own, one that is all but Gaussian
    gives them too many of its rows; ε is the mean of both and the interval holds both.
    """
    verdict = judge.pilot.look.verdict
    found, u = verdict.populations, verdict.u
    n = len(u)
    if judge.silent or found is None or verdict.share == 0.0:
        high = 0.03
        if found is not None and verdict.evidence > -10.0:
            high = max(high, found.share + 0.02)
        return 0.0, (0.0, min(max(3.0 / n, high), 0.5))
    light = together(u, NEARLY_GAUSSIAN)
    shapes = [found] if light is None else [found, light]
    gated = judge.pilot.gated
    factor = 1.0 - gated if gated > SOME_FIT else 1.0
    draws = np.random.default_rng(seed)
    shares = []
    for _ in range(RESAMPLES):
        again = u[draws.integers(n, size=n)]
        shares += [
            (together(again, least, shape.parameters) or shape).share
            for least, shape in zip((3.0, NEARLY_GAUSSIAN), shapes, strict=False)
        ]
    low, high = np.quantile(shares, [OUTSIDE, 1.0 - OUTSIDE])
    low = min(low * factor, 0.97 * float(np.mean(flagged)) - 0.005)
    if verdict.evidence < WEAK_EVIDENCE:
        low = 0.0
    share = float(np.mean([shape.share for shape in shapes])) * factor
    return share, (max(float(low), 0.0), min(max(float(high), share) + 0.02, 0.5))


def nothing_judged(y: Floats, source: str, interval: tuple[float, float]) -> Judgement:
    """Nobody is flagged; rows are ordered by the distance of y from its median."""
    n = len(y)
    none = np.zeros(n)
    middle = float(np.median(y))
    scale = spread(y) or 1.0
    return Judgement(
        share=0.0,
        interval=interval,
        chance=none,
        u=(y - middle) / scale,
        expected=np.full(n, middle),
        scale=np.full(n, scale),
        low=-np.inf,
        high=np.inf,
        group=np.zeros(n, dtype=bool),
        source=source,
        evidence=-np.inf,
        judge=None,
    )
