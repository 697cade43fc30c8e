"""The level of the noise, row by row: what a residual is compared with."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .kernel_ridge import squared_distances
from .robust_scale import MAD_FACTOR, half_scale

#: Share of rows in a window over fitted values, the least rows in it, and its stops.
WINDOW_SHARE, WINDOW_LEAST, STOPS = 0.15, 30, 25
#: Power of the correction by neighbours, and the largest factor on the common level.
NEIGHBOUR_POWER, LARGEST_FACTOR = 0.7, 10.0
#: Noise below this share of the relation's own spread is taken as model error.
FLOOR_SHARE = 0.1
#: (q90 − q10) of a standard Gaussian.
MIDDLE_WIDTH = 2.563103
#: Rows of neighbours looked up at once, times rows to look among.
BLOCK_ENTRIES = 4_000_000


class NoiseLevel(NamedTuple):
    """Scale of the noise as a function of the fitted value and of the place in X.

    level(f, x) = common · exp(over fitted values + .7 · over neighbours), within a
    factor 10 of the common level, and a floor in quadrature.
    """

    common: float
    floor: float
    stops: Floats
    logs: Floats
    rows: Floats
    excess: Floats
    n_neighbours: int

    @classmethod
    def of(
        cls, residuals: Floats, fitted: Floats, rows: Floats, kept: Bools | None = None
    ) -> "NoiseLevel":
        """Running medians of |residuals| over fitted values, then over neighbours."""
        size = np.abs(residuals) if kept is None else np.abs(residuals[kept])
        low, high = np.quantile(fitted, [0.1, 0.9])
        floor = FLOOR_SHARE * float(high - low) / MIDDLE_WIDTH
        floor = max(floor, 1e-6 * float(np.std(fitted)), 1e-12 * float(np.max(size)))
        if kept is not None:
            fitted, rows = fitted[kept], rows[kept]
        common = max(half_scale(size), 1e-12 * float(np.max(size)), 1e-300)
        none = np.zeros(1)
        if len(size) < 2 * WINDOW_LEAST:
            return cls(common, floor, none, none, rows[:0], none[:0], 0)
        stops, logs = _over_fitted(size / common, fitted)
        own = common * np.exp(_within(np.interp(fitted, stops, logs)))
        count = min(max(20, int(0.05 * len(size))), len(size) - 1)
        level = cls(common, floor, stops, logs, rows, size / own, count)
        return level._replace(excess=level.excess / _typical(level))

    def at(self, fitted: Floats, rows: Floats, own: bool = False) -> Floats:
        """The level at other rows, or (`own`) at the rows it was made of."""
        logs = np.interp(fitted, self.stops, self.logs)
        if self.n_neighbours:
            local = self._neighbours(rows, own)
            logs = logs + NEIGHBOUR_POWER * np.log(np.maximum(local, 1e-3))
        return np.hypot(self.common * np.exp(_within(logs)), self.floor)

    def _neighbours(self, rows: Floats, own: bool) -> Floats:
        """Median of what is left of |residuals| over the nearest rows."""
        k, out = self.n_neighbours, np.empty(len(rows))
        step = max(1, BLOCK_ENTRIES // len(self.rows))
        for start in range(0, len(rows), step):
            squares = squared_distances(rows[start : start + step], self.rows)
            if own:
                here = np.arange(len(squares))
                squares[here, start + here] = np.inf
            near = np.argpartition(squares, k - 1, axis=1)[:, :k]
            out[start : start + step] = np.median(self.excess[near], axis=1)
        return MAD_FACTOR * out


def _typical(level: NoiseLevel) -> float:
    return max(float(np.median(level._neighbours(level.rows, True))), 1e-3)


def _within(logs: Floats) -> Floats:
    reach = np.log(LARGEST_FACTOR)
    return np.clip(logs, -reach, reach)


def _over_fitted(size: Floats, fitted: Floats) -> tuple[Floats, Floats]:
    """Logarithms of running medians at some fitted values, smoothed once."""
    n = len(size)
    order = np.argsort(fitted, kind="stable")
    ordered = size[order]
    width = max(WINDOW_LEAST, int(WINDOW_SHARE * n))
    places = np.unique(np.linspace(0, n - 1, STOPS).astype(int))
    first = np.clip(places - width // 2, 0, n - width)
    medians = np.array([np.median(ordered[i : i + width]) for i in first])
    logs = np.log(np.maximum(MAD_FACTOR * medians, 1e-3))
    padded = np.concatenate([logs[:1], logs, logs[-1:]])
    logs = np.convolve(padded, [0.25, 0.5, 0.25], "valid")
    stops, index = np.unique(fitted[order][places], return_index=True)
    return stops, logs[index]
