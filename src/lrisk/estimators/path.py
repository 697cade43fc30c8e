"""`lrisk.risk_path`: fits over a grid of penalties and of a spectrum's parameter."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._params import check_real, refused
from .._typing import Floats
from ..spectra import parse_spectrum
from .base import RiskEstimator


class RiskPath(NamedTuple):
    """Fits over a grid: m values of the spectrum's parameter, k penalties.

    Attributes
    ----------
    values : array of shape (m,)
        Values of the spectrum's parameter; NaN where it was left as it is.
    alphas : array of shape (k,)
        Penalties, in the order given.
    coefs : array of shape (m, k, *coef_.shape)
    intercepts : array of shape (m, k) or (m, k, n_scores)
    objectives, dual_gaps : arrays of shape (m, k)
    n_iters : array of shape (m, k)
    """

    values: Floats
    alphas: Floats
    coefs: Floats
    intercepts: Floats
    objectives: Floats
    dual_gaps: Floats
    n_iters: Any


def risk_path(
    estimator: RiskEstimator,
    X: Any,
    y: Any,
    *,
    alphas: Sequence[float] | Floats,
    values: Sequence[float] | Floats | None = None,
    sample_weight: Any = None,
) -> RiskPath:
    """Fit for every penalty and every value of the spectrum's parameter, warm-started.

    Penalties are taken from the largest down and values in the order given, each fit
    from the one before; every one is certified like a fit of its own.

    Parameters
    ----------
    estimator : RiskRegressor or RiskClassifier
        Not changed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    alphas : sequence of k floats ≥ 0
        Penalties; with the mean spectrum those of ``Ridge``.
    values : sequence of m floats or None
        Values of the spectrum's only parameter (q, r or rho); None leaves it alone.
    sample_weight : array-like of shape (n_samples,) or None

    Returns
    -------
    RiskPath

    Examples
    --------
    >>> import lrisk
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = lrisk.RiskRegressor("superquantile")
    >>> path = lrisk.risk_path(model, X, y, alphas=[0.1, 1.0], values=[0.5, 0.9])
    >>> path.coefs.shape, bool(path.dual_gaps.max() <= 1e-6)
    ((2, 2, 10), True)
    """
    if not isinstance(estimator, RiskEstimator) or not hasattr(estimator, "alpha"):
        rule, remedy = "a RiskRegressor or RiskClassifier", "pass one, fitted or not"
        raise TypeError(refused("risk_path", "estimator", rule, estimator, remedy))
    grid = check_alphas("risk_path", alphas)
    model = clone(estimator).set_params(warm_start=True)
    settings: list[dict[str, Any]] = [{}]
    if values is not None:
        values = list(values)
        name = _only_parameter(model.spectrum)
        settings = [{f"spectrum__{name}": float(value)} for value in values]
    fits = np.empty((len(settings), len(grid)), dtype=object)
    for i, setting in enumerate(settings):
        for j in np.argsort(-grid, kind="stable"):
            model.set_params(alpha=float(grid[j]), **setting)
            model.fit(X, y, sample_weight=sample_weight)
            fits[i, j] = (
                model.coef_.copy(),
                np.copy(model.intercept_),
                model.objective_,
                model.dual_gap_,
                model.n_iter_,
            )
    columns = [
        np.array([[cell[part] for cell in row] for row in fits]) for part in range(5)
    ]
    shown = np.full(len(settings), np.nan) if values is None else values
    return RiskPath(np.array(shown, dtype=float), grid, *columns)


def check_alphas(owner: object, alphas: Any) -> Floats:
    """Penalties as an array of at least one float ≥ 0."""
    grid = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if grid.ndim != 1 or grid.size == 0:
        rule, remedy = "a sequence of numbers", "pass at least one penalty"
        raise ValueError(refused(owner, "alphas", rule, alphas, remedy))
    for alpha in grid:
        check_real(owner, "alphas", float(alpha), low=0, remedy="0 means no penalty")
    return grid


def _only_parameter(spectrum: Any) -> str:
    """Name of the parameter of a spectrum that has just one."""
    names = list(parse_spectrum(spectrum).get_params())
    if len(names) != 1:
        rule, remedy = "a spectrum with one parameter", "pass values=None"
        raise ValueError(refused("risk_path", "spectrum", rule, spectrum, remedy))
    return names[0]
