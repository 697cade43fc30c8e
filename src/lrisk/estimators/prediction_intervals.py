"""Intervals for new targets of a robust fit, calibrated on the rows that are right."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import check_real
from .._typing import Floats
from .._validation import FIT_DEPTH
from ..procedures.outliers import Detection, RobustFit
from .row_facts import rows_of_any_size


class Calibration(NamedTuple):
    """Sizes of residuals of rows that a fit has not seen, ascending.

    sizes : |y − f₋ᵢ(xᵢ)| in local noise scales, or in units of y without any
    mass : how much each row counts: its weight times the chance that it is right
    local : whether there are local scales
    """

    sizes: Floats
    mass: Floats
    local: bool

    @classmethod
    def of(
        cls,
        found: RobustFit,
        detection: Detection,
        y: Floats,
        fitted: Floats,
        weights: Floats,
    ) -> Self:
        """From the residuals left out of the fit; those of other rows it has not seen.

        A flagged row counts by the chance that it is right after all, or the tails of
        the noise would be cut off.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = y - fitted
        kept = slice(None) if found.kept is None else found.kept
        residuals[kept] = found.fit.left_out
        local = detection.detector is not None
        with np.errstate(over="ignore"):
            sizes = np.abs(residuals) / (detection.scale if local else 1.0)
        if detection.source == "told":  # chances are ranks there
            right = np.where(detection.flagged, 0.0, 1.0)
        else:
            right = 1.0 - np.clip(detection.chance, 0.0, 1.0)
        mass = right * weights / weights.mean()
        order = np.argsort(sizes, kind="stable")
        return cls(sizes[order], mass[order], local)

    def quantile(self, confidence: float) -> float:
        """The size that a new row stays below with at least this chance.

        The new row counts as one more, of unknown size: infinite if the others are too
        few to say.
        """
        cumulative = np.cumsum(self.mass)
        goal = confidence * (cumulative[-1] + 1.0)
        place = int(np.searchsorted(cumulative, goal * (1.0 - 1e-12)))
        return float(self.sizes[place]) if place < len(self.sizes) else np.inf


class PredictionIntervals:
    """What gives `RobustRegressor` its intervals."""

    _calibration_: Calibration

    def predict_interval(
        self, X: Any, confidence: float = 0.9
    ) -> tuple[Floats, Floats]:
        """Interval that the target of a new row is in, if that row is not wrong.

        As wide as residuals of training rows that the fit has not seen (left out one by
        one), in local noise scales, the rows by their chance to be right: wrong rows do
        not widen it, nor is the tail of the noise cut off. Of all new rows like the
        right ones at least the share `confidence` is inside, up to what the choice of
        penalty and of wrong rows owes to the training rows (as for the jackknife).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        confidence : float in (0, 1), default=0.9

        Returns
        -------
        low, high : arrays of shape (n_samples,)
            Infinite, with a warning, where the rows are too few:
            confidence/(1 − confidence) are needed.

        Examples
        --------
        >>> import numpy as np
        >>> from lrisk import RobustRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 2))
        >>> y = X[:, 0] + rng.normal(size=400)
        >>> y[:40] += 30.0
        >>> low, high = RobustRegressor().fit(X, y).predict_interval(X)
        >>> inside = (low < y) & (y < high)
        >>> bool(0.87 < inside[40:].mean() < 0.94)
        True
        """
        check_is_fitted(self)
        remedy = "0.9 is usual"
        check_real(self, "confidence", confidence, low=0, high=1, low_open=True,
                   high_open=True, remedy=remedy)  # fmt: skip
        own: Any = self
        X = rows_of_any_size(own, X, reset=False)
        calibration = self._calibration_
        reach = calibration.quantile(float(confidence))
        if not np.isfinite(reach):
            message = (
                f"{type(self).__name__}: {calibration.mass.sum():.3g} rows are too few "
                f"for intervals of confidence {confidence:g}, which are infinite; "
                f"{confidence / (1.0 - confidence):.3g} are needed."
            )
            warnings.warn(message, UserWarning, stacklevel=FIT_DEPTH - 1)
        predicted = own._values(X)
        scale = own._expect(X)[1] if calibration.local else np.ones(len(X))
        return predicted - reach * scale, predicted + reach * scale
