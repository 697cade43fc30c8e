"""`lrisk.risk_path`: fits over a grid of penalties and of a spectrum's parameter."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._params import check_real, refused
from .._typing import Floats
from ..losses import Loss, parse_loss
from ..solvers import Solver
from ..spectra import Spectrum, parse_spectrum
from .class_weights import ClassWeight
from .linear import RiskClassifier, RiskRegressor

#: Penalties that are tried by default, weak ones first.
ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)


class RiskPath(NamedTuple):
    """Fits over a grid: m values of the spectrum's parameter, k penalties.

    `risk_path` makes it.

    Parameters
    ----------
    alphas : array of shape (k,)
        Penalties, in the order given.
    coefs : array of shape (m, k, *coef_.shape)
        Coefficients of each fit.
    intercepts : array of shape (m, k) or (m, k, n_scores)
        Constants of each fit.
    objectives, dual_gaps : arrays of shape (m, k)
        What was minimised, and the relative gap to its proven minimum.
    n_iters : array of shape (m, k)
        Iterations.
    values : array of shape (m,)
        Values of the spectrum's parameter; NaN where it was left as it is.

    See Also
    --------
    risk_path : Makes it.

    Examples
    --------
    >>> from lrisk import risk_path
    >>> path = risk_path([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0], alphas=[1.0, 0.1])
    >>> path.coefs.shape
    (1, 2, 1)
    """

    alphas: Floats
    coefs: Floats
    intercepts: Floats
    objectives: Floats
    dual_gaps: Floats
    n_iters: Any
    values: Floats


def risk_path(
    X: Any,
    y: Any,
    *,
    spectrum: str | Spectrum = "superquantile",
    loss: str | Loss = "squared",
    alphas: Sequence[float] | Floats = ALPHAS,
    values: Sequence[float] | Floats | None = None,
    fit_intercept: bool = True,
    class_weight: ClassWeight = None,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
) -> RiskPath:
    """Fit a linear model for every penalty and every weighting of the sorted losses.

    The weightings are values of the spectrum's parameter. Penalties are taken from the
    largest down and values in the order given, each fit from the one before; every one
    is certified like a fit of its own.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers, or classes if `loss` is one of classes.
    spectrum : str or Spectrum, default="superquantile"
        As in `RiskRegressor`.
    loss : str or Loss, default="squared"
        As in `RiskRegressor` or, for classes, as in `RiskClassifier`.
    alphas : sequence of k floats ≥ 0, default=(0.01, 0.1, 1.0, 10.0, 100.0)
        Penalties; with the mean spectrum those of ``Ridge``.
    values : sequence of m floats or None, default=None
        Values of the spectrum's only parameter (q, r or rho); None leaves it alone.
    fit_intercept : bool, default=True
        Fit a constant besides the slopes.
    class_weight : dict, "balanced" or None, default=None
        As in `RiskClassifier`; for classes only.
    solver : str or Solver, default="auto"
        As in `RiskRegressor`.
    tol : float, default=1e-6
        Relative duality gap at which each fit stops.
    max_iter : int or None, default=None
        Limit on the solver's iterations in each fit.
    random_state : int, RandomState instance or None, default=None
        As in `RiskRegressor`, for every fit.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        A weight k counts like k rows.

    Returns
    -------
    RiskPath
        With `alphas` and `coefs` first, as in scikit-learn's ``lasso_path``.

    See Also
    --------
    RiskRegressorCV, RiskClassifierCV : Choose the penalty by the held-out risk.

    Examples
    --------
    >>> import lrisk
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = lrisk.risk_path(X, y, alphas=[0.1, 1.0], values=[0.5, 0.9])
    >>> path.coefs.shape, bool(path.dual_gaps.max() <= 1e-6)
    ((2, 2, 10), True)
    """
    options: dict[str, Any] = {"class_weight": class_weight}
    kind: type[RiskClassifier | RiskRegressor] = RiskClassifier
    if not parse_loss(loss).classifies:
        kind = RiskRegressor
        if options.pop("class_weight") is not None:
            rule, remedy = f"None with loss={loss!r}", "pass sample_weight"
            value = class_weight
            raise ValueError(refused("risk_path", "class_weight", rule, value, remedy))
    grid = check_alphas("risk_path", alphas)
    settings: list[str | Spectrum] = [spectrum]
    if values is not None:
        values = list(values)
        name = _only_parameter(spectrum)
        family: Any = type(parse_spectrum(spectrum))
        settings = [family(**{name: float(value)}) for value in values]
    model = kind(
        spectrum,
        loss=loss,
        fit_intercept=fit_intercept,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        warm_start=True,
        random_state=random_state,
        **options,
    )
    fits = np.empty((len(settings), len(grid)), dtype=object)
    for i, setting in enumerate(settings):
        for j in np.argsort(-grid, kind="stable"):
            model.set_params(alpha=float(grid[j]), spectrum=setting)
            model.fit(X, y, sample_weight=sample_weight)
            fits[i, j] = (
                model.coef_.copy(),
                np.copy(model.intercept_),
                model.objective_,
                model.dual_gap_,
                model.n_iter_,
            )
    coefs, intercepts, objectives, gaps, n_iters = (
        np.array([[cell[part] for cell in row] for row in fits]) for part in range(5)
    )
    shown = np.array(np.full(len(settings), np.nan) if values is None else values)
    return RiskPath(grid, coefs, intercepts, objectives, gaps, n_iters, shown)


def check_alphas(owner: object, alphas: Any) -> Floats:
    """Penalties as an array of at least one float ≥ 0."""
    try:
        grid = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        grid = np.empty(0)
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
