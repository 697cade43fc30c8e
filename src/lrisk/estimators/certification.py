"""`lrisk.certify`: a proof of how good a model is on given data."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._params import refused
from ..certificate import Certificate, bound, relative_gap
from ..compatibility import check_spectrum
from ..permutahedron import project
from ..solvers import Newton, automatic_solver
from ..solvers.certified.coordinates import Coordinates, newton_step
from .base import RiskEstimator
from .robust_base import RobustEstimator


def certify(
    estimator: RiskEstimator, X: Any, y: Any, sample_weight: Any = None
) -> Certificate:
    """Prove how far a fitted model is, at most, from the best possible one.

    The proof is a number below the objective of all coefficients (a duality gap).
    Everything is recomputed from the coefficients and the data. The lower bound comes
    from `risk_weights_` when they belong to these rows, and otherwise, or when that
    bound is loose, from solving the problem anew: a lower bound holds however it was
    found.

    Parameters
    ----------
    estimator : RiskRegressor or RiskClassifier
        Fitted, with an increasing spectrum.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features of the rows the model was fitted to.
    y : array-like of shape (n_samples,)
        Targets or classes of these rows.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights the model was fitted with, if there were any.

    Returns
    -------
    Certificate
        ``primal``, ``dual``, ``gap`` and ``relative_gap``.

    See Also
    --------
    RiskRegressor : Its `dual_gap_` is the gap found while fitting.
    risk_path : Many fits, each with its own gap.

    Examples
    --------
    >>> import lrisk
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = lrisk.RiskRegressor("superquantile:0.9", tol=1e-9).fit(X, y)
    >>> lrisk.certify(model, X, y).relative_gap <= 1e-9
    True
    """
    if not isinstance(estimator, RiskEstimator):
        rule = "a RiskRegressor or RiskClassifier, or a kernel version of these"
        remedy = "pass the fitted estimator"
        if isinstance(estimator, RobustEstimator):
            rule += (
                ": a robust fit leaves rows out, its objective is not convex, and "
                "there is nothing to prove"
            )
            remedy = (
                "certify a RiskRegressor or RiskClassifier with spectrum='mean' that "
                "was fitted to the rows of inlier_mask_"
            )
        elif hasattr(estimator, "best_estimator_"):
            remedy = "pass its best_estimator_"
        kind = type(estimator).__name__
        raise TypeError(refused("certify", "estimator", rule, kind, remedy))
    check_is_fitted(estimator)
    problem = estimator._prepare_again(X, y, sample_weight)
    objective, kept = problem.objective, problem.kept
    known = getattr(estimator, "risk_weights_", np.empty(0))
    known = known[kept] if known.shape == kept.shape else known
    spectrum = objective.ranking.spectrum
    check_spectrum("certify", spectrum, Newton.spectra, "newton")
    point = objective.at(estimator._theta(objective))
    primal, dual = objective.value(point), -np.inf
    # Slopes at a kink say little; there only a solve finds a dual point.
    fits = known.shape == (objective.space.n_rows,) and known.sum() > 0
    if fits and objective.loss.smooth:
        candidate = project(objective.ranking, known / known.sum())
        gradient = objective.gradient(point, candidate)
        scale = Coordinates(objective)
        step = newton_step(objective, point, candidate, gradient, scale, 500)
        dual = bound(objective, point, candidate, step).dual
    if relative_gap(objective, primal, primal - dual) > 1e-9:
        solver: Any = automatic_solver(objective)
        solution = solver(tol=1e-10).solve(objective, point.theta)
        dual = max(dual, solution.dual)
    gap = max(primal - dual, 0.0)
    return Certificate(primal, dual, gap, relative_gap(objective, primal, gap))
