"""A spectrum of the user's own."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._params import refused
from .._typing import Floats
from .base import Monotone, Spectrum


class CustomSpectrum(Spectrum):
    """Weights of your own for sorted losses, as an array or as a function.

    Parameters
    ----------
    cumulative : callable or None, default=None
        Vectorised S with S(0) = 0, S(1) = 1, non-decreasing: the share of the weight on
        the lowest fraction u of the losses.
    weights : array-like of shape (k,) or None, default=None
        Non-negative weights of k equal slices of the mass, lowest losses first; they
        are divided by their sum. S is then piecewise linear.

    See Also
    --------
    RankedRange : The mean of the losses between two quantiles.
    Superquantile, Extremile, ESRM : Families with a parameter to search over.

    Examples
    --------
    >>> CustomSpectrum(weights=[0, 1, 3]).weights(3)
    array([0.  , 0.25, 0.75])
    """

    name = "custom"
    _GRID: ClassVar[int] = 2048

    def __init__(
        self,
        cumulative: Callable[[Floats], Floats] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        self._cumulative = cumulative
        self._weights = weights
        self.validate()

    @staticmethod
    def _attribute(name: str) -> str:
        return f"_{name}"  # the plain names are methods of every spectrum

    def validate(self) -> None:
        """Exactly one source; S(0) = 0, S(1) = 1, S never falls."""
        if (self._cumulative is None) == (self._weights is None):
            raise ValueError(
                "CustomSpectrum takes either cumulative or weights, not both or none; "
                "pass S as a function, or the weights of equal slices as an array."
            )
        if self._weights is not None:
            w = np.asarray(self._weights, dtype=np.float64)
            if (
                w.ndim != 1
                or w.size == 0
                or not np.all(w >= 0)
                or not 0 < w.sum() < np.inf
            ):
                rule = "a 1-d array of finite weights ≥ 0, not all zero"
                remedy = "pass one weight per slice, lowest losses first"
                raise ValueError(refused(self, "weights", rule, self._weights, remedy))
            return
        if not callable(self._cumulative):
            remedy = "pass a function of an array"
            message = refused(self, "cumulative", "callable", self._cumulative, remedy)
            raise TypeError(message)
        grid = self.cumulative(np.linspace(0.0, 1.0, self._GRID + 1))
        shaped = grid.shape == (self._GRID + 1,)
        ends = shaped and abs(grid[0]) < 1e-12 and abs(grid[-1] - 1.0) < 1e-12
        if not ends or not np.all(np.diff(grid) >= 0):
            rule = "a vectorised, non-decreasing S with S(0)=0 and S(1)=1"
            remedy = "check it on np.linspace(0, 1)"
            raise ValueError(
                refused(self, "cumulative", rule, self._cumulative, remedy)
            )

    def _slices(self) -> Floats:
        """Weights of equal slices: the given ones, or S differenced on a fine grid."""
        if self._weights is None:
            return np.diff(self.cumulative(np.linspace(0.0, 1.0, self._GRID + 1)))
        w = np.asarray(self._weights, dtype=np.float64)
        return np.asarray(w / w.sum())

    @property
    def monotone(self) -> Monotone:
        """Read off the weights (of a fine grid where S is a function)."""
        steps = np.diff(self._slices())
        slack = 0.0 if self._weights is not None else 2e-15
        up, down = bool(np.all(steps >= -slack)), bool(np.all(steps <= slack))
        if up and down:
            return "flat"
        return "up" if up else "down" if down else "none"

    def cumulative(self, u: ArrayLike) -> Floats:
        """S(u) as given, or linear between the slices' ends."""
        u = np.asarray(u, dtype=np.float64)
        if self._cumulative is not None:
            return np.asarray(self._cumulative(u), dtype=np.float64)
        w = self._slices()
        knots = np.linspace(0.0, 1.0, w.size + 1)
        sums = np.concatenate([[0.0], np.cumsum(w)])
        return np.asarray(np.interp(u, knots, sums))

    def density(self, u: ArrayLike) -> Floats:
        """k·w of the slice that u lies in; of a function S, over slices of a grid."""
        w = self._slices()
        place = np.floor(np.asarray(u, dtype=np.float64) * w.size).astype(np.int64)
        return np.asarray(w.size * w[np.clip(place, 0, w.size - 1)])

    def increments(self, P: Floats, mass: Floats) -> Floats:
        """S(P) − S(P − p); exact within a slice, differenced across slices."""
        start = np.clip(P - mass, 0.0, 1.0)
        difference = np.maximum(self.cumulative(P) - self.cumulative(start), 0.0)
        if self._cumulative is not None:
            return np.asarray(difference)
        w = self._slices()
        last = np.ceil(P * w.size - 1e-9).astype(np.int64) - 1
        first = np.floor(start * w.size + 1e-9).astype(np.int64)
        inside = first == last
        slope = w[np.clip(last, 0, w.size - 1)] * w.size
        return np.asarray(np.where(inside, slope * mass, difference))

    def inverse(self, v: ArrayLike) -> Floats:
        """Linear within the slice that v falls into."""
        v = np.asarray(v, dtype=np.float64)
        w = self._slices()
        sums = np.concatenate([[0.0], np.cumsum(w)])
        sums /= sums[-1]  # one is reached where the weights end, not by rounding later
        j = np.searchsorted(sums[1:], v).clip(max=w.size - 1)
        within = np.clip((v - sums[j]) / np.where(w[j] > 0, w[j], 1.0), 0.0, 1.0)
        return np.asarray((j + within) / w.size)

    def kl_divergence(self) -> float:
        """Σ w ln(kw) over the slices."""
        w = self._slices()
        return float(np.sum(w[w > 0] * np.log(w.size * w[w > 0])))

    def chi2_divergence(self) -> float:
        """Mean of (kw − 1)² over the slices."""
        w = self._slices()
        return float(np.mean((w.size * w - 1.0) ** 2))
