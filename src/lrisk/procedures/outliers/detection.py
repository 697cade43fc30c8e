"""Which rows of a table do not fit, and how sure that is."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from .._robust.scales import spread
from .constants import CONSTANTS as C
from .detector import Detector


def ranking_score(chance: Floats, u: Floats) -> Floats:
    """Chances p, ordered where they are equal: p + (1 − p) 10⁻³ |u|/(1 + |u|)."""
    size = np.abs(u)
    part = np.where(np.isfinite(size), size / (1.0 + size), 1.0)
    return np.asarray(chance + (1.0 - chance) * C.order * part)


class Detection(NamedTuple):
    """Which rows do not fit, and how sure that is.

    share, interval : estimated share of outliers, and where it lies
    chance : for each row the chance that it is wrong
    misfit : the same by its residual alone, be it the row's error or the reference's
        own, where that knows few others: what a fit goes by
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
    misfit: Floats
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
    detector: Detector | None
    threshold: float = C.flagged_above

    @property
    def flagged(self) -> Bools:
        """Rows whose chance is above the threshold."""
        return np.asarray(self.chance > self.threshold)

    @property
    def doubted(self) -> Bools:
        """Rows that another fit should do without, flagged or not."""
        return np.asarray(self.misfit > self.threshold)

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
        misfit=chance,
        apart=np.zeros(len(size), dtype=bool),
        mirrored=np.zeros(len(size), dtype=bool),
        source="told",
        threshold=0.5,
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
        misfit=none,
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
