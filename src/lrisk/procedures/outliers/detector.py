"""Judges any row as those of a reference were judged."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.scales import compress
from .assessment import Assessment
from .constants import CONSTANTS as C
from .false_discovery import FalseDiscovery
from .gaps import apart_from
from .reference import GivenReference, Reference, seen_from
from .tails import Tails

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
    """Judges any row as those of the reference were.

    tails : of the residuals of all rows, in noise scales
    known : rows of the reference that fit, and tell what it knows of a place
    discovery : which of the rows far out are right after all; None if nobody is out
    mass : the value of very many targets, which none that has it contradicts
    before : the assessment in which a group apart was found, which is none of the
        reference's
    """

    assessment: Assessment
    units: Units
    tails: Tails
    known: Bools
    discovery: FalseDiscovery | None = None
    mass: float | None = None
    before: Assessment | None = None

    @property
    def finds(self) -> bool:
        """Whether outliers were found."""
        return self.assessment.mixture.share > 0.0

    def expected(self, X: Floats) -> tuple[Floats, Floats]:
        """What the reference expects at new rows, and the scale of the noise there."""
        return expected_values(self.assessment, self.units, X)

    def judged(
        self, X: Floats, y: Floats, share: float | None = None
    ) -> tuple[Floats, Floats]:
        """Residuals of new rows in noise scales, and the chance to be outliers.

        Under a `share` of outliers known from elsewhere populations count that the
        evidence of the table's own was too weak for, but not two halves. Rows beyond
        the tails are outliers whatever the share, but where the reference knows no
        others.
        """
        expected, scale = self.expected(X)
        with np.errstate(over="ignore"):
            away = (y - expected) / scale
        u, misfit = compress(away, C.far_residual), self.misfit(X, away, share)
        if self.mass is not None:
            misfit[y == self.mass] = 0.0
        if self.before is not None:
            misfit[group_of(self.before, X)] = 0.0
        less = self.tempered(X, away, misfit)
        return u, self.certain(compress(less, C.far_residual), less, misfit, share)

    def misfit(self, X: Floats, away: Floats, share: float | None = None) -> Floats:
        """The chance of rows with these residuals, in noise scales, not to belong."""
        chance = self.chance(compress(away, C.far_residual), share)
        beyond = self.tails.expected_beyond(away)
        far = np.flatnonzero((beyond < C.unexpected) & (chance <= C.flagged_above))
        if share != 0.0 and len(far):
            far = far[~self.apart(X[far])]
            chance[far] = 1.0 - beyond[far]
        return chance

    def tempered(
        self, X: Floats, away: Floats, misfit: Floats, own: Indices | None = None
    ) -> Floats:
        """Residuals of misfits in units of the error of a prediction at their place.

        A row where the reference knows few others may misfit by the reference's own
        error. `own` are the places of the rows in the reference, if they are of it.
        """
        reference, out = self.assessment.reference, away.copy()
        doubtful = np.flatnonzero(misfit > 0.5)
        if len(doubtful) and isinstance(reference, Reference):
            rows = reference.columns.compressed(X[doubtful])
            own = None if own is None else own[doubtful]
            out[doubtful] /= reference.error_ratio(rows, own)
        return out

    def certain(
        self, u: Floats, away: Floats, misfit: Floats, share: float | None = None
    ) -> Floats:
        """The chance of rows to be wrong, given that of not to follow the reference.

        By tempered residuals, compressed and as they are: some rows so far out are
        right. How many is known of the table, not under a share from elsewhere.
        """
        chance = self.chance(u, share)
        if self.discovery is not None and share is None:
            chance = np.minimum(chance, 1.0 - self.discovery.at(u))
        beyond = self.tails.expected_beyond(away)
        far = np.where(beyond < C.unexpected, 1.0 - beyond, 0.0)
        return np.minimum(misfit, np.maximum(chance, far))

    def chance(self, u: Floats, share: float | None = None) -> Floats:
        """The chance of rows with these residuals to be of the outlying population."""
        both = self.assessment.mixture.populations
        if share is None:
            share = 0.0 if both is None or not self.finds else both.share
        if both is None or share == 0.0 or (both.equal_halves and not self.finds):
            return np.zeros(len(u))
        return both._replace(share=share).outlier_probability(u)

    def apart(self, X: Floats, asked: Bools | None = None) -> Bools:
        """Which rows, of those asked, lie where the reference knows no others that fit.

        Nobody, if it knows fewer than two.
        """
        out = np.zeros(len(X), dtype=bool)
        rows = np.arange(len(X)) if asked is None else np.flatnonzero(asked)
        reference = self.assessment.reference
        known = reference.rows[self.known]
        if len(rows) and len(known) > 1:
            out[rows] = apart_from(reference.columns.compressed(X[rows]), known)
        return out

    def with_populations_of(self, other: "Detector") -> "Detector":
        """The same detector with the other's word on how outliers are spread."""
        theirs, own = other.assessment.mixture, self.assessment
        mixture = own.mixture._replace(
            populations=theirs.populations, share=theirs.share
        )
        own = own._replace(mixture=mixture)
        return self._replace(
            assessment=own, tails=other.tails, discovery=other.discovery
        )


def group_of(found: Assessment, X: Floats) -> Bools:
    """Rows whose nearest row of the reference belongs to its group; shape (n,)."""
    group = np.zeros(len(X), dtype=bool)
    for part, _, squares in seen_from(found.reference, X):
        group[part] = found.group[np.argmin(squares, axis=1)]
    return group


def expected_values(
    found: Assessment, units: Units, X: Floats, given: Floats | None = None
) -> tuple[Floats, Floats]:
    """What the reference expects at new rows, and the scale of the noise there."""
    reference, mixture = found.reference, found.mixture
    fitted = np.empty(len(X)) if given is None else given
    scale = np.empty(len(X))
    for part, rows, squares in seen_from(reference, X):
        if given is None:
            assert not isinstance(reference, GivenReference)
            fitted[part] = reference.values(rows, squares)
        scale[part] = mixture.level.at_distances(fitted[part], squares)
    return units.outward(fitted + mixture.shift), units.size * scale
