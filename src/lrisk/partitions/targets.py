"""What is known of the targets without looking at rows: constants, and their risk."""

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from ..losses import Loss
from ..spectra import Spectrum
from .answers import Description


class Targets(NamedTuple):
    """Extremes of all targets, the share of the mass at the larger, and a shift.

    shift : what is taken from numbers to bring them near zero
    share : of the mass at `high` if all were at `low` or at `high`, as classes are
    centred : whether they were near zero as they were given
    """

    spectrum: Spectrum
    loss: Loss
    intercept: bool
    shift: float
    low: float
    high: float
    share: float
    centred: bool = False

    @classmethod
    def of(
        cls,
        told: list[Description],
        spectrum: Spectrum,
        loss: Loss,
        intercept: bool,
        centred: bool,
    ) -> "Targets":
        """From the targets of all parts; `centred` ones need no shift."""
        mean = sum(part.weighted for part in told) / sum(part.total for part in told)
        low, high = min(part.low for part in told), max(part.high for part in told)
        share = (mean - low) / (high - low) if high > low else 0.0
        shifted = intercept and not (loss.classifies or centred)
        shift = mean if shifted else 0.0
        return cls(spectrum, loss, intercept, shift, low, high, share, centred)

    @property
    def follows_some(self) -> bool:
        """Whether some rows tell the shift better: one huge target moves the mean."""
        bounded = bool(np.isfinite(self.loss.lipschitz))
        return bounded and self.intercept and not (self.loss.classifies or self.centred)

    def moved_by(self, some: Floats) -> "Targets":
        """With the best constant for some targets, the shift taken from them."""
        mass = np.full(len(some), 1.0 / len(some))
        best = float(self.loss.constant_scores(some, mass, 1))
        return self._replace(shift=self.shift + best)

    @property
    def largest(self) -> float:
        """The largest in absolute value."""
        return max(-self.low, self.high, 0.0)

    @property
    def largest_constant_loss(self) -> float:
        """The largest loss of the best constant for the mean."""
        ends, scores = self._ends, np.full(2, self._mean_score)
        return float(self.loss.value(ends, scores).max())

    @property
    def constant(self) -> float:
        """The best score without features; of numbers that for the mean.

        Rows of a class lose alike. Above zero those of class 0 lose more: with σ₀ their
        weight as the worst rows the best score is that of the mean loss where class 0
        has the share σ₀, if that is above zero.
        """
        if not (self.intercept and self.loss.classifies):
            return self._mean_score
        for sign in (1.0, -1.0):
            weight = self._weight_of_worst(sign)
            if weight < 0.5:
                mass = np.array([weight, 1.0 - weight])[:: int(sign)]
                return float(self.loss.constant_scores(np.array([0.0, 1.0]), mass, 1))
        return 0.0

    @property
    def constant_value(self) -> float | None:
        """F of that constant for classes; None for numbers, which it takes rows for."""
        if not self.loss.classifies:
            return None
        score = self.constant
        sign = 1.0 if score >= 0.0 else -1.0
        weight = self._weight_of_worst(sign)
        losses = self.loss.value(np.array([0.0, 1.0]), np.full(2, score))[:: int(sign)]
        return float(weight * losses[0] + (1.0 - weight) * losses[1])

    @property
    def _ends(self) -> Floats:
        return np.array([self.low, self.high]) - self.shift

    @property
    def _mean_score(self) -> float:
        if not self.intercept:
            return 0.0
        if not self.loss.classifies and np.isfinite(self.loss.lipschitz):
            return 0.0  # what the shift is meant to make the best, or nearly
        mass = np.array([1.0 - self.share, self.share])
        return float(self.loss.constant_scores(self._ends, mass, 1))

    def _weight_of_worst(self, sign: float) -> float:
        """σ of the class that loses more at a constant score of that sign."""
        share = 1.0 - self.share if sign > 0.0 else self.share
        if share in (0.0, 1.0):
            return share
        return float(self.spectrum.increments(np.ones(1), np.array([share]))[0])
