"""Where a fit of rows in parts begins: at the fit of a sample, with its metric.

A sample is fetched into memory or, where to ask parts costs next to nothing, as on a
GPU, is parts itself, and is fitted by the descent that fits the whole.
"""

from collections.abc import Callable, Iterator

import numpy as np

from .._typing import Floats, Indices
from ..objective import Objective
from ..partitions.at import At
from ..partitions.objective import PartitionedObjective
from ..spectra import Mean
from ._linalg import Factor
from .certified.whitening import ACCURACY, Descent, Memory, Sample, sample_from

#: Steps of the descent over a sample, and those in a row that bring little.
STEPS, MOST_IDLE = 40, 5
#: Differences that it keeps.
PAIRS = 20


def samples_of(
    objective: PartitionedObjective, rows: Indices
) -> Iterator[Objective | PartitionedObjective]:
    """The same objective over some rows, where they are if that can be.

    One that is parts ranks its losses by bins, and where one loss is nearly all of F it
    may be far off; then there is another, in memory.
    """
    apart = objective.sampled_apart(rows)
    if apart is not None:
        yield apart
    yield objective.sampled(rows)


def begun(
    sample: Objective | PartitionedObjective, rows: Indices, theta: Floats | None
) -> tuple[Sample, Floats]:
    """A sample with its metric, and θ: the given one or the sample's own minimiser."""
    if isinstance(sample, Objective):
        return sample_from(sample, rows, theta)
    if theta is None:
        theta = _minimiser(sample)
    metric = Factor(sample.curvature(sample.begin(theta)))
    return Sample(rows, metric), theta


def _minimiser(sample: PartitionedObjective) -> Floats:
    """Minimiser to within a part of the error that sampling has made anyway.

    By way of that of the mean: without features very many losses may tie.
    """
    theta, even = sample.constant_fit(), sample
    if sample.ranking.spectrum.monotone != "flat":
        even = sample.with_spectrum(Mean())
    now = even.begin(theta)
    # One huge loss may be nearly all of F, and hide that the rest is to fall.
    theta = _descended(even, now, lambda fall, value: min(fall, value))
    if even is sample:
        return theta
    return _descended(sample, sample.begin(theta), lambda fall, value: value)


def _descended(
    sample: PartitionedObjective, now: At, scale: Callable[[float, float], float]
) -> Floats:
    """Where a descent settles, on a scale made of its first decrement and of F.

    The metric of a point far off is no good near by, and is made anew where it is not.
    """
    metric = Factor(sample.curvature(now))
    descent = Descent(sample, now.theta, metric, PAIRS, now)
    # Of the rows of a sample those of a tail count.
    counting = sample.n_rows / max(sample.ranking.concentration(), 1.0)
    goal = ACCURACY * sample.size / counting
    best, since, first = np.inf, 0, descent.decrement
    for _ in range(STEPS):
        decrement = descent.decrement
        since = 0 if decrement < 0.5 * best else since + 1
        settled = decrement <= goal * scale(first, descent.now.value)
        if settled or since >= MOST_IDLE:
            break
        if since:
            descent.memory = Memory(Factor(sample.curvature(descent.now)), PAIRS)
        best = min(best, decrement)
        if not descent.step():
            break
    return descent.now.theta
