"""How many rows are outliers, and where that share lies."""

import numpy as np

from ..._typing import Bools, Floats
from .assessment import Assessment
from .populations import Histogram, fit_two_populations, is_exact

#: Least degrees of freedom of a core that is all but Gaussian.
NEARLY_GAUSSIAN = 20.0
#: Resamples behind the interval, and the share of them outside at each end.
RESAMPLES, OUTSIDE = 25, 0.05
#: Evidence below which an interval reaches down to zero.
WEAK_EVIDENCE = 12.0
#: Share of flagged rows that the forest fits: from here the estimate is lowered, from
#: there it is zero.
SOME_FIT, MOST_FIT = 0.2, 0.5


def estimated_share(
    assessment: Assessment, silent: bool, u: Floats, flagged: Bools, seed: int
) -> tuple[float, tuple[float, float]]:
    """ε and its interval: two shapes of the core, and resampled residuals.

    A core with heavy tails takes outliers for its own, one that is all but Gaussian
    gives them too many of its rows; ε is the mean of both and the interval holds both.
    """
    mixture = assessment.mixture
    found, n = mixture.populations, len(u)
    if silent or found is None or mixture.share == 0.0:
        high = 0.03
        if found is not None and mixture.evidence > -10.0:
            high = max(high, found.share + 0.02)
        return 0.0, (0.0, min(max(3.0 / n, high), 0.5))
    rows = Histogram.of(u)
    light = None if is_exact(u) else fit_two_populations(rows, NEARLY_GAUSSIAN)
    shapes = [found] if light is None else [found, light]
    vetoed = assessment.vetoed
    factor = 1.0 - vetoed if vetoed > SOME_FIT else 1.0
    draws = np.random.default_rng(seed)
    shares = []
    for _ in range(0 if is_exact(u) else RESAMPLES):
        again = rows.resampled(draws)
        shares += [
            (fit_two_populations(again, least, shape.parameters) or shape).share
            for least, shape in zip((3.0, NEARLY_GAUSSIAN), shapes, strict=False)
        ]
    low, high = np.quantile(shares or [found.share], [OUTSIDE, 1.0 - OUTSIDE])
    low = min(low * factor, 0.97 * float(np.mean(flagged)) - 0.005)
    if mixture.evidence < WEAK_EVIDENCE:
        low = 0.0
    share = float(np.mean([shape.share for shape in shapes])) * factor
    return share, (max(float(low), 0.0), min(max(float(high), share) + 0.02, 0.5))
