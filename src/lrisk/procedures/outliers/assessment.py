"""Which rows do not come from the population of the others.

The recipe: a reference that resists contamination; its residuals in units of the local
noise level; one population or two; then a doubt: is what it calls outliers predictable
after all?
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.scales import Columns, compress, half_scale, prevailing_value
from .constants import CONSTANTS as C
from .gaps import apart_from
from .noise_level import NoiseLevel
from .populations import Populations, split
from .reference import (
    AnyReference,
    GivenReference,
    LineReference,
    Reference,
    line_reference,
    ordinary_reference,
    robust_reference,
    weighted_reference,
)


class Mixture(NamedTuple):
    """One population of residuals or two, by one reference.

    share : estimated share of outliers, zero where one population is enough
    evidence : 2 log likelihood ratio less its BIC penalty
    chance : posterior of being an outlier
    u, scale : standardised residuals, and what they were divided by
    shift : centre of the kept residuals
    """

    share: float
    evidence: float
    chance: Floats
    u: Floats
    scale: Floats
    shift: float
    level: NoiseLevel
    populations: Populations | None

    @property
    def flagged(self) -> Bools:
        """Rows above the flag's threshold."""
        return np.asarray(self.chance > C.flagged_above)

    def belonging(self) -> Floats:
        """Weights for another fit: (1 − chance) · Tukey's bisquare in core scales."""
        assert self.populations is not None
        mode, left, right = self.populations.core[:3]
        away = self.u - mode
        z = np.abs(away) / (C.bisquare * np.where(away > 0.0, right, left))
        bisquare = np.where(z < 1.0, (1.0 - z * z) ** 2, 0.0)
        return np.asarray((1.0 - self.chance) * bisquare)


def tie_width(y: Floats) -> float:
    """Least distance between frequent values of y; zero where y is not tied.

    Frequent: at least three rows and 2 %; tied: these hold 40 % of the rows.
    """
    values, counts = np.unique(y, return_counts=True)
    frequent = counts >= max(3.0, 0.02 * len(y))
    if frequent.sum() < 2 or counts[frequent].sum() < 0.4 * len(y):
        return 0.0
    return float(np.min(np.diff(values[frequent])))


#: Gaps between targets that are tried as their step: more than a few are other digits
#: of a few wrong rows.
GAPS = 20


def last_digit(y: Floats) -> float:
    """The step of which most targets are multiples apart; zero if there is none.

    In any unit and about any origin: one of the smallest gaps between values.
    """
    values = np.unique(y)
    with np.errstate(over="ignore", invalid="ignore"):
        away, gaps = y - values[len(values) // 2], np.sort(np.diff(values))
        for step in gaps[np.isfinite(gaps)][:GAPS]:
            count = away / step
            whole = np.abs(count - np.round(count)) < C.exact
            if 2 * np.sum(whole) > len(y):
                return float(step)
    return 0.0


def has_point_mass(y: Floats) -> bool:
    """Whether a single value holds a quarter of the rows, and the rest is not tied.

    Then half of the rows may be fitted perfectly by a constant, as in claims, rain and
    all that is cut off at zero.
    """
    return prevailing_value(y) is not None and tie_width(y) == 0.0


def mixture_of(
    residuals: Floats,
    fitted: Floats,
    rows: Floats,
    level_rows: Bools | None = None,
    *,
    approximate: bool = True,
) -> Mixture:
    """One population or two, given residuals and the compressed rows."""
    n = len(residuals)
    level = NoiseLevel.of(
        residuals
        - np.median(residuals if level_rows is None else residuals[level_rows]),
        fitted,
        rows,
        level_rows,
        approximate=approximate,
    )
    scale = level.at(fitted, rows, own=level_rows is None)
    kept = np.ones(n, dtype=bool) if level_rows is None else level_rows
    shift = float(np.median(residuals[kept]))
    none = np.zeros(n)
    for attempt in range(3):
        u = compress((residuals - shift) / scale, C.far_residual)
        found = split(u)
        both, evidence = found.populations, found.evidence
        if both is None:
            return Mixture(0.0, evidence, none, u, scale, shift, level, None)
        chance = both.outlier_probability(u)
        if found.found:
            share = both.share
            result = Mixture(share, evidence, chance, u, scale, shift, level, both)
        else:
            result = Mixture(0.0, evidence, none, u, scale, shift, level, both)
            if attempt > 0 or evidence <= -5.0 or both.equal_halves:
                return result
        now = chance < 0.5
        if np.array_equal(now, kept) or not now.any():
            break
        kept = now
        shift = float(np.median(residuals[kept]))
    return result


class Assessment(NamedTuple):
    """What a reference says of the rows it was fitted to.

    reference, fitted, mixture : the reference, its values, and what its residuals say
    source : "robust", or "ordinary", "group", "given"; see `Detection`
    group : rows apart in X that follow a relation of their own
    width : over which residuals of tied or rounded targets were spread
    beside_mass : whether only rows beside the value of very many were compared
    """

    reference: AnyReference
    fitted: Floats
    mixture: Mixture
    source: str
    group: Bools
    width: float = 0.0
    beside_mass: bool = False

    @classmethod
    def of(
        cls,
        reference: AnyReference,
        fitted: Floats,
        mixture: Mixture,
        source: str,
        width: float = 0.0,
    ) -> "Assessment":
        """Before any doubt."""
        no_rows = np.zeros(len(fitted), dtype=bool)
        return cls(reference, fitted, mixture, source, no_rows, width)

    def of_all_rows(self, u: Floats) -> "Assessment":
        """With the populations of all rows of the table in place of its own."""
        found = split(u)
        both, own = found.populations, self.mixture
        chance = np.zeros(len(own.u))
        if found.found and both is not None:
            chance = both.outlier_probability(own.u)
        share = both.share if found.found and both is not None else 0.0
        mixture = own._replace(
            share=share, evidence=found.evidence, chance=chance, populations=both
        )
        return self._replace(mixture=mixture)


def dithered(residuals: Floats, width: float) -> Floats:
    """Residuals of tied targets, spread evenly over the width of a tie.

    By a sequence of low discrepancy over the (canonical) order of rows: no chance
    enters.
    """
    if width == 0.0:
        return residuals
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    places = np.modf(golden * np.arange(1, len(residuals) + 1))[0] - 0.5
    return np.asarray(residuals + width * places)


class Steps(NamedTuple):
    """How far apart targets are: frequent values of them, and their last digit."""

    tie: float
    digit: float

    @classmethod
    def of(cls, y: Floats) -> "Steps":
        """Of the targets as they were given."""
        return cls(tie_width(y), last_digit(y))

    def in_units(self, size: float) -> "Steps":
        """The same for targets in other units."""
        return Steps(self.tie / size, self.digit / size)

    def rounding(self, residuals: Floats) -> float:
        """The last digit, if most rows that do not fit exactly are off by no more."""
        off = np.abs(residuals - np.median(residuals))
        off = off[off > C.exact * self.digit]
        few = len(off) < C.fewest_alike
        rounded = not few and np.median(off) <= C.rounded_by * self.digit
        return self.digit if rounded else 0.0


def _assessed(
    reference: AnyReference,
    y: Floats,
    steps: Steps,
    level_rows: Bools | None = None,
    source: str = "robust",
) -> Assessment:
    """What residuals say, each spread over the width of a tie or of a last digit."""
    fitted, width = y - reference.residuals, steps.tie
    if isinstance(reference, LineReference):
        fitted = reference.fitted
        width = min(width, half_scale(reference.residuals))  # a line may fit the ties
    width = max(width, steps.rounding(reference.residuals))
    residuals = dithered(reference.residuals, width)
    found = mixture_of(
        residuals, fitted, reference.rows, level_rows, approximate=reference.approximate
    )
    return Assessment.of(reference, fitted, found, source, width)


def assess_predictions(
    X: Floats, y: Floats, predicted: Floats, steps: Steps
) -> Assessment:
    """Compare rows with what somebody else predicts for them."""
    reference = GivenReference.of(X, y, predicted)
    return _assessed(reference, y, steps, source="given")


def _assessed_beside_mass(reference: Reference, y: Floats) -> Assessment:
    """Compare rows beside the value that holds so many; these are never outliers.

    Rows at that value and beside it are two populations by nature.
    """
    values, counts = np.unique(y, return_counts=True)
    beside = y != values[np.argmax(counts)]
    fitted, rows = y - reference.residuals, reference.rows
    if beside.sum() < C.fewest_rows:
        found = _assessed(reference, y, Steps(0.0, 0.0)).mixture
        found = found._replace(share=0.0, chance=np.zeros(len(y)))
        return Assessment.of(reference, fitted, found, "ordinary")
    part = mixture_of(reference.residuals[beside], fitted[beside], rows[beside])
    scale = part.level.at(fitted, rows)
    scale[beside] = part.scale
    u = compress((reference.residuals - part.shift) / scale, C.far_residual)
    chance = np.zeros(len(y))
    chance[beside] = part.chance
    share = part.share * float(np.mean(beside))
    level = part.level.among(rows, np.flatnonzero(beside))
    whole = part._replace(share=share, chance=chance, u=u, scale=scale, level=level)
    return Assessment.of(reference, fitted, whole, "ordinary")


def predictable_ratio(ordinary: Floats, robust: Floats, flagged: Bools) -> float:
    """Error of the ordinary fit on flagged rows, relative to the robust one's."""
    cap = 2.0 * float(np.quantile(np.abs(robust[flagged]), 0.9))
    mine = np.mean(np.minimum(np.abs(ordinary[flagged]), cap) ** 2)
    theirs = np.mean(np.minimum(np.abs(robust[flagged]), cap) ** 2)
    return float(np.sqrt(mine / max(float(theirs), 1e-300)))


def assess(
    X: Floats,
    y: Floats,
    seed: int,
    steps: Steps,
    places: Indices | None = None,
    *,
    groups: bool = True,
) -> Assessment:
    """Compare at most a thousand rows with a reference of their own.

    It is the flexible one, or the line of the majority where rows are nearer to that.

    With `groups` predictable rows apart in X are named and left to the caller; without,
    all that is predictable is structure. Rows of one of the `places` are left out of a
    flexible reference together.
    """
    columns = Columns.of(X)
    if has_point_mass(y):
        found = _assessed_beside_mass(ordinary_reference(X, y, columns, places), y)
        return found._replace(beside_mass=True)
    found = _assessed(_nearer_reference(X, y, columns, seed, places), y, steps)
    if found.mixture.share >= C.large_share and found.reference.approximate:
        # What was found may have widened the columns' scales.
        own = Columns.of(X[~found.mixture.flagged])
        if own.differ(columns):
            columns = own
            again = _assessed(robust_reference(X, y, columns, places), y, steps)
            found = again if again.mixture.share > 0.0 else found
    flagged, share = found.mixture.flagged, found.mixture.share
    if flagged.sum() < 3:
        return found
    ordinary = ordinary_reference(X, y, columns, places)
    ratio = predictable_ratio(ordinary.residuals, found.reference.residuals, flagged)
    if ratio < C.predictable_below:
        rows = found.reference.rows
        apart = flagged & apart_from(rows, rows[~flagged])
        if groups and apart.sum() >= 0.5 * flagged.sum():
            return found._replace(source="group", group=apart)
        return _assessed(ordinary, y, steps, source="ordinary")
    if share >= C.large_share and isinstance(found.reference, Reference):
        return _polished(y, found, found.reference, steps)
    return found


def _nearer_reference(
    X: Floats, y: Floats, columns: Columns, seed: int, places: Indices | None
) -> AnyReference:
    """The flexible reference, or the line if half of the rows are nearer to it."""
    flexible = robust_reference(X, y, columns, places)
    line = line_reference(X, y, columns, seed)
    if line is None or half_scale(line.residuals) > half_scale(flexible.residuals):
        return flexible
    return line


def _polished(
    y: Floats, found: Assessment, reference: Reference, steps: Steps
) -> Assessment:
    """Fit the reference again to what is not an outlier, and judge again, a few times.

    Half-samples lose rows, and a scale of all residuals keeps too many outliers. Where
    nothing is found any more the former assessment stays.
    """
    for step in range(C.polishing_steps):
        weights = found.mixture.belonging()
        reference = weighted_reference(reference, y, weights, searched=step == 0)
        again = _assessed(reference, y, steps, found.mixture.chance < 0.5)
        if again.mixture.share <= 0.0:
            both = again.mixture.populations
            return again if both is not None and both.equal_halves else found
        found = again
    return found
