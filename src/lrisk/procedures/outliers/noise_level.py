"""The level of the noise, row by row: what a residual is compared with."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.scales import MAD_FACTOR, half_scale, spread
from .constants import CONSTANTS as C
from .kernel_ridge import DistancesTo, blocks
from .neighbours import medians_of_nearest


class NoiseLevel(NamedTuple):
    """Scale of the noise as a function of the fitted value and of the place in X.

    level(f, x) = common · exp(over fitted values + .7 · over neighbours), within a
    factor 10 of the common level, and a floor in quadrature. Of `rows`, those at
    `members` have a say; `excess` is theirs.
    """

    common: float
    floor: float
    stops: Floats
    logs: Floats
    rows: Floats
    members: Indices
    excess: Floats
    n_neighbours: int

    @classmethod
    def of(
        cls,
        residuals: Floats,
        fitted: Floats,
        rows: Floats,
        kept: Bools | None = None,
        *,
        approximate: bool = True,
    ) -> "NoiseLevel":
        """Running medians of |residuals| over fitted values, then over neighbours.

        The floor in units of the relation's spread is for models that are only
        `approximate`; for others it is what rounding leaves.
        """
        size = np.abs(residuals) if kept is None else np.abs(residuals[kept])
        least = 1e-12 * spread(size)
        share = C.model_error if approximate else C.least_noise
        floor = max(share * spread(fitted), least)
        members = np.arange(len(rows)) if kept is None else np.flatnonzero(kept)
        fitted = fitted[members]
        common = max(half_scale(size), least, 1e-300)
        none = np.zeros(1)
        if len(size) < 2 * C.least_window:
            return cls(common, floor, none, none, rows, members[:0], none[:0], 0)
        stops, logs = _over_fitted(size / common, fitted)
        own = common * np.exp(_within(np.interp(fitted, stops, logs)))
        count = min(max(20, int(0.05 * len(size))), len(size) - 1)
        level = cls(common, floor, stops, logs, rows, members, size / own, count)
        local = level._over_neighbours(rows[members], own=True)
        typical = max(float(np.median(local)), 1e-3)
        return level._replace(excess=level.excess / typical)

    def among(self, rows: Floats, places: Indices) -> "NoiseLevel":
        """The same level, of which the rows are at these places among others."""
        return self._replace(rows=rows, members=places[self.members])

    def at(self, fitted: Floats, rows: Floats, own: bool = False) -> Floats:
        """The level at other rows, or (`own`) at the rows it was made of."""
        local = self._over_neighbours(rows, own) if self.n_neighbours else None
        return self._level(fitted, local)

    def at_distances(self, fitted: Floats, squares: Floats) -> Floats:
        """The level at rows with these squared distances to all of `rows`."""
        local = self._medians(squares, self.members) if self.n_neighbours else None
        return self._level(fitted, local)

    def _level(self, fitted: Floats, local: Floats | None) -> Floats:
        logs = np.interp(fitted, self.stops, self.logs)
        if local is not None:
            logs = logs + C.neighbour_power * np.log(np.maximum(local, 1e-3))
        return np.hypot(self.common * np.exp(_within(logs)), self.floor)

    def _over_neighbours(self, rows: Floats, own: bool) -> Floats:
        """Median of what is left of |residuals| over the nearest rows."""
        members, out = np.arange(len(self.members)), np.empty(len(rows))
        distances = DistancesTo.rows(self.rows[self.members])
        for part in blocks(len(rows), len(members)):
            squares = distances(rows[part])
            if own:
                here = np.arange(len(squares))
                squares[here, part.start + here] = np.inf
            out[part] = self._medians(squares, members)
        return out

    def _medians(self, squares: Floats, members: Indices) -> Floats:
        nearest = medians_of_nearest(squares, members, self.excess, self.n_neighbours)
        return MAD_FACTOR * nearest


def _within(logs: Floats) -> Floats:
    reach = np.log(C.largest_noise_factor)
    return np.clip(logs, -reach, reach)


def _over_fitted(size: Floats, fitted: Floats) -> tuple[Floats, Floats]:
    """Logarithms of running medians at some fitted values, smoothed once."""
    n = len(size)
    order = np.argsort(fitted, kind="stable")
    ordered = size[order]
    width = max(C.least_window, int(C.window_share * n))
    places = np.unique(np.linspace(0, n - 1, C.window_stops).astype(int))
    first = np.clip(places - width // 2, 0, n - width)
    medians = np.array([np.median(ordered[i : i + width]) for i in first])
    logs = np.log(np.maximum(MAD_FACTOR * medians, 1e-3))
    padded = np.concatenate([logs[:1], logs, logs[-1:]])
    logs = np.convolve(padded, [0.25, 0.5, 0.25], "valid")
    stops, index = np.unique(fitted[order][places], return_index=True)
    return stops, logs[index]
