"""How many rows are outliers, and where that share lies."""

import numpy as np

from ..._typing import Bools, Floats
from .assessment import Mixture
from .constants import CONSTANTS as C
from .populations import Histogram, fit_two_populations, is_exact


def estimated_share(
    mixture: Mixture, u: Floats, flagged: Bools, seed: int
) -> tuple[float, tuple[float, float]]:
    """ε and its interval: two shapes of the core, and resampled residuals.

    A core with heavy tails takes outliers for its own, one that is all but Gaussian
    gives them too many of its rows; ε is the mean of both and the interval holds both.
    """
    found, n = mixture.populations, len(u)
    if found is None or mixture.share == 0.0:
        high = 0.03
        if found is not None and mixture.evidence > -10.0:
            high = max(high, found.share + 0.02)
        return 0.0, (0.0, min(max(3.0 / n, high), 0.5))
    rows = Histogram.of(u)
    light = None if is_exact(u) else fit_two_populations(rows, C.nearly_gaussian)
    shapes = [found] if light is None else [found, light]
    draws = np.random.default_rng(seed)
    shares = []
    for _ in range(0 if is_exact(u) else C.resamples):
        again = rows.resampled(draws)
        shares += [
            (fit_two_populations(again, least, shape.parameters) or shape).share
            for least, shape in zip((None, C.nearly_gaussian), shapes, strict=False)
        ]
    low, high = np.quantile(
        shares or [found.share],
        [C.unexpected, 1.0 - C.unexpected],
    )
    low = min(float(low), 0.97 * float(np.mean(flagged)) - 0.005)
    if mixture.evidence < C.weak_evidence:
        low = 0.0
    share = float(np.mean([shape.share for shape in shapes]))
    return share, (max(float(low), 0.0), min(max(float(high), share), 0.5))
