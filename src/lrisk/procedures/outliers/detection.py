"""The judgement of a whole table: rows of a reference first, then all others."""

from typing import NamedTuple

import numpy as np

from ..._threads import blas_threads_for
from ..._typing import Bools, Floats, Indices
from .._robust.scales import compress, spread
from .assessment import (
    Assessment,
    assess,
    assess_predictions,
    dithered,
    tie_width,
    with_veto,
)
from .constants import CONSTANTS as C
from .feature_errors import contradicted_values
from .gaps import apart_from
from .populations import (
    expected_beyond,
    is_exact,
)
from .reference import GivenReference, seen_from
from .share import estimated_share

#: Scales within which targets are held while they are judged.
FARTHEST = 1e9


def ranking_score(chance: Floats, u: Floats) -> Floats:
    """Chances p, ordered where they are equal: p + (1 − p) 10⁻³ |u|/(1 + |u|)."""
    size = np.abs(u)
    part = np.where(np.isfinite(size), size / (1.0 + size), 1.0)
    return np.asarray(chance + (1.0 - chance) * C.order * part)


class Detection(NamedTuple):
    """Which rows do not fit, and how sure that is.

    share, interval : estimated share of outliers, and where it lies
    chance : for each row the chance that it does not belong to the others
    u : residuals in local noise scales
    expected : the reference's value for each row, in units of y
    scale : the noise scale of each row, in units of y
    low, high : the core of u, 2.5 scales on either side of its mode
    apart : rows that do not fit where the reference knows no others
    group : rows that lie apart in X and follow a relation of their own
    source : "robust", "ordinary" (what did not fit was predictable), "group" (or lies
        apart), "too few rows", "constant target"
    evidence : positive where two populations explain the residuals better than one
    mirrored : rows that fit, but lie as far out as wrong rows on the other side
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
    apart: Bools
    source: str
    evidence: float
    mirrored: Bools
    detector: "Detector | None"
    threshold: float = C.flagged_above

    @property
    def flagged(self) -> Bools:
        """Rows whose chance is above the threshold."""
        return np.asarray(self.chance > self.threshold)

    @property
    def score(self) -> Floats:
        """The chance; rows of equal chance are ordered by their residuals."""
        return ranking_score(np.clip(self.chance, 0.0, 1.0), self.u)

    def without(self, rows: Bools) -> "Detection":
        """The same, but these rows belong after all."""
        if not rows.any():
            return self
        less = float(np.mean(rows))
        low, high = (max(end - less, 0.0) for end in self.interval)
        return self._replace(
            chance=np.where(rows, 0.0, self.chance),
            share=max(self.share - less, 0.0),
            interval=(low, high),
        )

    @property
    def core_scale(self) -> float:
        """Scale of the core, in noise scales."""
        if not np.isfinite(self.high):
            return 1.0
        return 0.5 * (self.high - self.low) / C.core_reach

    def in_core_scales(self, y: Floats) -> Floats:
        """Residuals of the targets in scales of the core, about its mode."""
        with np.errstate(over="ignore"):
            away = (y - self.expected) / self.scale
        if not np.isfinite(self.high):
            return np.asarray(away)
        return np.asarray((away - 0.5 * (self.low + self.high)) / self.core_scale)


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


class Detector(NamedTuple):
    """Judges any row as those of the reference were."""

    assessment: Assessment
    silent: bool
    units: "Units"

    @property
    def finds(self) -> bool:
        """Whether outliers were found that are not predictable after all."""
        return not self.silent and self.assessment.mixture.share > 0.0

    def expected(self, X: Floats) -> tuple[Floats, Floats]:
        """What the reference expects at new rows, and the scale of the noise there."""
        return _expected(self.assessment, self.units, X)

    def standardised(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Residuals in noise scales, expected values, noise scales of new rows."""
        expected, scale = self.expected(X)
        return compress((y - expected) / scale, C.far_residual), expected, scale

    def chance(self, X: Floats, y: Floats, u: Floats, certain: bool = False) -> Floats:
        """The chance of new rows to be outliers.

        If it is `certain`, from elsewhere, that there are some, then the populations
        count that the evidence of the table's own was too weak for.
        """
        reference, mixture = self.assessment.reference, self.assessment.mixture
        if mixture.populations is None or not (self.finds or certain):
            return np.zeros(len(y))
        chance = mixture.populations.outlier_probability(u)
        y = self.units.inward(y)
        veto, doubtful = self.assessment.veto, np.flatnonzero(chance > 0.5)
        if veto is not None and len(doubtful):
            rows = reference.columns.compressed(X[doubtful])
            fitted = veto.forest.predict(rows)
            fits = veto.fits(y[doubtful] - fitted, fitted, rows, own=False)
            known = reference.rows[~mixture.flagged]
            fits[fits] = ~apart_from(rows[fits], known)
            chance[doubtful[fits]] = np.minimum(chance[doubtful[fits]], 0.5)
        return chance

    def with_populations_of(self, other: "Detector") -> "Detector":
        """The same detector with the other's word on how outliers are spread."""
        theirs, own = other.assessment.mixture, self.assessment
        mixture = own.mixture._replace(
            populations=theirs.populations, share=theirs.share
        )
        return Detector(own._replace(mixture=mixture), other.silent, self.units)


def detect(X: Floats, y: Floats, rng: np.random.Generator) -> Detection:
    """Judge all rows of a table (distinct rows, in an order of their own)."""
    with blas_threads_for(0):  # hundreds of small systems: more threads only wait
        return _detect(X, y, rng)


def _detect(X: Floats, y: Floats, rng: np.random.Generator) -> Detection:
    n = len(y)
    if np.ptp(y) <= 1e-12 * float(np.max(np.abs(y))):
        return nothing_detected(y, "constant target", (0.0, 0.5))
    units = Units(float(np.median(y)), spread(y))
    target = units.inward(y)
    if n < C.fewest_ranked:
        return nothing_detected(y, "too few rows", (0.0, 0.5))
    chosen, forest_seed, resample_seed = _drawn(n, rng)
    found = assess(X[chosen], target[chosen], forest_seed)
    if n < C.fewest_rows and not is_exact(found.mixture.u):
        return _ranked_only(found, y, units)
    group = np.zeros(n, dtype=bool)
    if found.source == "group":
        group = _group_of(found, X, chosen)
        chosen = chosen[~found.group]
        found = assess(X[chosen], target[chosen], forest_seed, groups=False)
        found = found._replace(source="group")
    return _all_rows(found, units, X, y, chosen, group, forest_seed, resample_seed)


def _drawn(n: int, rng: np.random.Generator) -> tuple[Indices, int, int]:
    """Rows that references are fitted to, and seeds of the forest and of resamples."""
    forest_seed, sample_seed, resample_seed = map(int, rng.integers(2**31, size=3))
    if n <= C.reference_rows:
        return np.arange(n), forest_seed, resample_seed
    chosen = np.random.default_rng(sample_seed).choice(
        n, C.reference_rows, replace=False
    )
    return np.sort(chosen), forest_seed, resample_seed


def detect_by_predictions(
    X: Floats, y: Floats, predicted: Floats, rng: np.random.Generator
) -> Detection:
    """Judge all rows by predictions of models that have not seen them.

    As `detect` does by its own references; the level of the noise and the forest's
    doubt are those of at most a thousand rows.
    """
    n, units = len(y), Units(float(np.median(y)), spread(y) or 1.0)
    if n < C.fewest_ranked:
        return nothing_detected(y, "too few rows", (0.0, 0.5))
    target, fitted = units.inward(y), units.inward(predicted)
    chosen, forest_seed, resample_seed = _drawn(n, rng)
    found = assess_predictions(X[chosen], target[chosen], fitted[chosen])
    if n < C.fewest_rows and not is_exact(found.mixture.u):
        return _ranked_only(found, y, units)
    no_rows = np.zeros(n, dtype=bool)
    seeds = forest_seed, resample_seed
    with blas_threads_for(0):
        return _all_rows(found, units, X, y, chosen, no_rows, *seeds, fitted)


def with_given_share(detection: Detection, share: float, weights: Floats) -> Detection:
    """The judgement where the share of outliers is known: the worst rows are flagged.

    As many as hold no more than that share of the weight. The chance of a row is
    |u|/(|u| + c), c the smallest |u| of those flagged: one half and more for them, less
    for the others. It is a rank, no probability.
    """
    size = np.abs(detection.u)
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
    return detection._replace(
        share=share,
        interval=(share, share),
        chance=chance,
        apart=np.zeros(len(size), dtype=bool),
        mirrored=np.zeros(len(size), dtype=bool),
        source="told",
        threshold=0.5,
    )


def _group_of(found: Assessment, X: Floats, chosen: Indices) -> Bools:
    """All rows whose nearest row of the reference belongs to its group."""
    reference = found.reference
    group = np.zeros(len(X), dtype=bool)
    for part, _, squares in seen_from(reference, X):
        group[part] = found.group[np.argmin(squares, axis=1)]
    group[chosen] = found.group
    return group


def _all_rows(
    found: Assessment,
    units: Units,
    X: Floats,
    y: Floats,
    chosen: Indices,
    group: Bools,
    forest_seed: int,
    resample_seed: int,
    fitted: Floats | None = None,
) -> Detection:
    """What the reference says of all rows, and what they all say of the noise.

    `fitted` are values of all rows, for a reference that cannot be asked.
    """
    mixture, n = found.mixture, len(y)
    u, expected, scale = (np.empty(n) for _ in range(3))
    others = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
    u[chosen] = mixture.u
    expected[chosen] = units.outward(found.fitted + mixture.shift)
    scale[chosen] = units.size * mixture.scale
    if len(others):
        given = None if fitted is None else fitted[others]
        expected[others], scale[others] = _expected(found, units, X[others], given)
        width = units.size * tie_width(units.inward(y[chosen]))
        away = dithered(y[others] - expected[others], width)
        u[others] = compress(away / scale[others], C.far_residual)
        if not found.beside_mass:
            found = found.of_all_rows(u)
    found = with_veto(found, units.inward(y[chosen]), forest_seed)
    detector = Detector(found, found.vetoed > C.most_vetoed, units)
    chance = np.zeros(n)
    if detector.finds:
        chance[chosen] = found.chance
        chance[others] = detector.chance(X[others], y[others], u[others])
    share, interval = estimated_share(
        found, detector.silent, u, chance > C.flagged_above, resample_seed
    )
    with np.errstate(over="ignore"):
        beyond = expected_beyond((y - expected) / scale)
    far = (beyond < C.too_far) & ~group & (chance <= C.flagged_above)
    apart = _apart(found, X, (chance > 0.5) | far)
    far &= ~apart
    chance[far] = 1.0 - beyond[far]
    chance[group] = 0.0
    wrong = contradicted_values(X, units.inward(y), chosen, chance > 0.5)
    chance[wrong] = C.wrong_value_chance
    more = float(np.mean(wrong | far))
    share = min(share + more, 0.5)
    interval = (interval[0] + 0.8 * more, min(interval[1] + 1.2 * more, 0.5))
    low, high, mirrored = -np.inf, np.inf, np.zeros(n, dtype=bool)
    populations = found.mixture.populations
    if populations is not None:
        mode, left, right = populations.core[:3]
        low, high = (
            mode - C.core_reach * left,
            mode + C.core_reach * right,
        )
        if detector.finds:
            mirrored = populations.mirrored(u)
            mirrored &= (chance <= 0.5) & ~group
    return Detection(
        share,
        interval,
        chance,
        u,
        expected,
        scale,
        low,
        high,
        group,
        apart,
        found.source,
        found.mixture.evidence,
        mirrored,
        detector,
    )


def _expected(
    found: Assessment, units: Units, X: Floats, given: Floats | None = None
) -> tuple[Floats, Floats]:
    """What the reference expects at new rows, and the scale of the noise there."""
    reference, mixture = found.reference, found.mixture
    fitted = np.empty(len(X)) if given is None else given
    scale = np.empty(len(X))
    for part, rows, squares in seen_from(reference, X):
        if not isinstance(reference, GivenReference):
            fitted[part] = reference.values(rows, squares)
        scale[part] = mixture.level.at_distances(fitted[part], squares)
    return units.outward(fitted + mixture.shift), units.size * scale


def _apart(found: Assessment, X: Floats, doubtful: Bools) -> Bools:
    """Doubtful rows that lie where the reference knows no others."""
    apart = np.zeros(len(X), dtype=bool)
    rows = np.flatnonzero(doubtful)
    known = found.reference.rows[~found.mixture.flagged]
    if len(rows) and len(known) > 1:
        apart[rows] = apart_from(found.reference.columns.compressed(X[rows]), known)
    return apart


def _ranked_only(found: Assessment, y: Floats, units: Units) -> Detection:
    """Nobody is flagged among so few rows; they are ordered by their residuals."""
    mixture = found.mixture
    return nothing_detected(y, "too few rows", (0.0, 0.5))._replace(
        u=mixture.u,
        expected=units.outward(found.fitted + mixture.shift),
        scale=units.size * mixture.scale,
    )


def nothing_detected(
    y: Floats, source: str, interval: tuple[float, float]
) -> Detection:
    """Nobody is flagged; rows are ordered by the distance of y from its median."""
    n = len(y)
    none = np.zeros(n)
    middle = float(np.median(y))
    scale = spread(y) or 1.0
    return Detection(
        share=0.0,
        interval=interval,
        chance=none,
        u=(y - middle) / scale,
        expected=np.full(n, middle),
        scale=np.full(n, scale),
        low=-np.inf,
        high=np.inf,
        group=np.zeros(n, dtype=bool),
        apart=np.zeros(n, dtype=bool),
        source=source,
        evidence=-np.inf,
        mirrored=np.zeros(n, dtype=bool),
        detector=None,
    )
