"""Where a fit of rows in parts begins: at the fit of a sample, with its metric.

A sample is fetched into memory or, where to ask parts costs next to nothing, as on a
GPU, is parts itself, and is fitted by the descent that fits the whole.
"""

from .._typing import Floats, Indices
from ..objective import Objective
from ..partitions.objective import PartitionedObjective
from ._linalg import Factor
from .certified.progress import Progress
from .certified.whitening import ACCURACY, Descent, Sample, sample_from
from .ties import settle

#: Steps of the descent over a sample.
STEPS = 40


def sample_of_parts(
    objective: PartitionedObjective, rows: Indices
) -> Objective | PartitionedObjective:
    """The same objective over some rows, where they are if that can be."""
    apart = objective.sampled_apart(rows)
    return objective.sampled(rows) if apart is None else apart


def begun(
    sample: Objective | PartitionedObjective, rows: Indices, theta: Floats | None
) -> tuple[Sample, Floats]:
    """A sample with its metric, and θ: the given one or the sample's own minimiser."""
    if isinstance(sample, Objective):
        return sample_from(sample, rows, theta)
    if theta is None:
        start = sample.begin(sample.constant_fit())
        metric = Factor(sample.curvature(start))
        descent = Descent(sample, start.theta, metric, 20, start)
        # Nothing is to be proven of a sample.
        progress = Progress(sample, 0.0, None)
        # Of the rows of a sample those of a tail count.
        count = sample.n_rows / max(sample.ranking.concentration(), 1.0)
        enough = ACCURACY * sample.size / count * start.value
        settle(descent, progress, STEPS, enough)
        theta = descent.now.theta
    metric = Factor(sample.curvature(sample.begin(theta)))
    return Sample(rows, metric), theta
