"""Judges any row as those of a reference were judged."""

from typing import NamedTuple

import numpy as np

from ..._typing import Floats
from .._robust.scales import compress
from .assessment import Assessment
from .constants import CONSTANTS as C
from .gaps import apart_from
from .reference import GivenReference, seen_from

#: Scales within which targets are held while they are judged.
FARTHEST = 1e9


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
        return expected_values(self.assessment, self.units, X)

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


def expected_values(
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
