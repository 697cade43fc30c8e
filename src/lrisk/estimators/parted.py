"""What estimators keep of a fit of rows in parts, wherever these lie, and warn of."""

import warnings
from typing import Any

import numpy as np

from .._params import refused
from .._typing import Floats
from ..partitions.objective import PartitionedObjective
from ..solvers.solution import Solution, Status
from .complaints import collapsed, unfinished

#: What another fit may have left behind, and this one does not find.
STALE = ("losses_", "inlier_mask_", "risk_weights_", "feature_names_in_", "_stream")


def start_of(estimator: Any, parted: PartitionedObjective) -> Floats | None:
    """θ of the last fit of an estimator of arrays, where it fits and is wanted."""
    last = np.atleast_2d(getattr(estimator, "coef_", np.empty(0)))
    if not estimator.warm_start or last.shape != (1, len(parted.offset)):
        return None
    coef, intercept = estimator._linear_coefficients()
    return parted.space.join(coef, intercept - parted.shift)


def store_parted(
    estimator: Any,
    parted: PartitionedObjective,
    solution: Solution,
    names: Any = None,
    source: str = "X or y",
) -> None:
    """Set the fitted attributes, all but `risk_weights_`.

    Parameters
    ----------
    estimator : RiskRegressor or RiskClassifier
        Of rows in memory.
    parted : PartitionedObjective
    solution : Solution
        Of it.
    names : sequence of str or None
        Of the features.
    source : str
        What rows are called in the complaint that they are too large.
    """
    if not np.isfinite(solution.objective):
        rule, remedy = "small enough for its squares", "rescale the data"
        raise ValueError(refused(estimator, source, rule, "overflow", remedy))
    for name in STALE:
        vars(estimator).pop(name, None)
    raw = parted.raw(solution.theta)
    estimator.n_features_in_ = len(raw) - 1
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._store_coefficients(raw[:-1, None], raw[-1:] + parted.shift)
    estimator.objective_, estimator.dual_gap_ = solution.objective, solution.gap
    estimator.n_iter_, estimator.history_ = solution.n_iter, solution.history
    estimator.weight_sum_ = parted.total
    estimator.solver_ = "band" if parted.ranking.selects else "lbfgs"


def warn_of_parted(
    estimator: Any, parted: PartitionedObjective, solution: Solution, depth: int
) -> None:
    """Say that a fit gave up or collapsed, and end one that was interrupted.

    Parameters
    ----------
    estimator : estimator
        Fitted; whose name, spectrum and `tol` the messages show.
    parted : PartitionedObjective
    solution : Solution
    depth : int
        As `stacklevel` of `warnings.warn` where this is called.
    """
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt(solution.status.value)
    found = unfinished(estimator, solution, estimator.tol)
    bent = parted.loss.classifies and parted.ranking.spectrum.monotone != "flat"
    if not found and bent and not np.any(estimator.coef_):
        found = [collapsed(estimator)]
    for message, kind in found:
        warnings.warn(message, kind, stacklevel=depth + 1)
