"""Error on clean rows, judged from noisy ones."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import check_features, check_targets, unmasked
from .._params import check_real, refused
from .._typing import Floats
from .._validation import BaseScorer
from ..corrections import corrected_losses, corrected_rows
from ..corrections.checks import check_noise_scale, further_copies
from ..noise import Noise, Replicates


def corrected_risk(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    X2: ArrayLike | None = None,
    *,
    noise: Noise | None = None,
    noise_scale: ArrayLike | None = None,
    floor: float = 0.0,
) -> float:
    """Estimate the mean squared error that a regressor would have on clean rows.

    Estimated without bias from noisy ones: mean (y − w·x̃)² − wᵀΣw for a linear model
    (anything with `coef_`), and the mean of (f̂(x̃) − y)(f̂(x̃′) − y) over two copies for
    anything with `predict_from_noisy`. The noise of the targets is part of it, as in an
    ordinary error.

    Parameters
    ----------
    estimator : fitted regressor, or a pipeline that ends in one
        The model to judge, with `coef_` or `predict_from_noisy`.
    X : array-like of shape (n_samples, n_features)
        Noisy rows.
    y : array-like of shape (n_samples,)
        Targets of the rows.
    X2 : array-like of shape (n_samples, n_features) or None, default=None
        A second copy of the rows; shape (n_samples, m, n_features) for m of them.
    noise : Noise or None, default=None
        By default the estimator's own, as it is after the steps of a pipeline. Pass it
        to compare estimators that state different noises.
    noise_scale : array-like or None, default=None
        As in the estimators; for linear models.
    floor : float, default=0.0
        The estimate may fall below any possible error; it is raised to this share of
        the variance of y.

    Returns
    -------
    float
        The estimate, in squared units of y; smaller is better.

    See Also
    --------
    make_corrected_scorer : The same as a scorer for ``GridSearchCV``.
    lrisk.NoiseCorrectedRegressor : A fit that allows for the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import NoiseCorrectedRegressor
    >>> from lrisk.metrics import corrected_risk
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(5000, 1))
    >>> noisy, y = x + rng.normal(size=x.shape), x[:, 0]
    >>> model = NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y)
    >>> bool(corrected_risk(model, noisy, y) < 0.1)  # on noisy rows it is 1.0
    True
    """
    check_real("corrected_risk", "floor", floor, low=0, remedy="0 is usual")
    copies, target = _observed(X, y, X2)
    if hasattr(estimator, "steps"):
        *before, (_, estimator) = estimator.steps
        for _, step in before:
            if step is not None and not isinstance(step, str):  # "passthrough"
                copies = [_unnamed(step.transform, copy) for copy in copies]
    if noise is None:
        noise = getattr(estimator, "noise", None)
    if noise is None and X2 is not None:
        noise = Replicates()
    if noise is not None and not isinstance(noise, Noise):
        rule, remedy = "an object of lrisk.noise or None", "see lrisk.noise"
        raise TypeError(refused("corrected_risk", "noise", rule, noise, remedy))
    if noise is not None:
        target = target - noise.target_mean
    coef = getattr(estimator, "coef_", None)
    if coef is not None and np.ndim(coef) == 1 and noise is not None:
        losses = _linear_losses(estimator, copies, target, noise, noise_scale)
    elif X2 is not None and hasattr(estimator, "predict_from_noisy"):
        if noise_scale is not None:
            rule = "left out unless the regressor is linear"
            remedy = "score rows of the stated noise"
            raise ValueError(
                refused("corrected_risk", "noise_scale", rule, "an array", remedy)
            )
        values = [_unnamed(estimator.predict_from_noisy, copy) for copy in copies]
        residuals = np.stack(values) - target
        m = len(residuals)
        # The mean product over all pairs of different copies.
        losses = residuals.sum(axis=0) ** 2 - (residuals**2).sum(axis=0)
        losses = losses / (m * (m - 1))
    else:
        rule = "a linear regressor with a known noise, or one with predict_from_noisy"
        remedy = "pass noise=..., or X2"
        raise ValueError(refused("lrisk", "estimator", rule, estimator, remedy))
    return float(max(losses.mean(), floor * target.var()))


def _observed(X: Any, y: Any, X2: Any) -> tuple[list[Any], Floats]:
    """Every copy of the rows as it was given, checked, and the targets."""
    owner = "corrected_risk"
    X, X2 = unmasked(X), unmasked(X2)
    rows, target = np.asarray(X, np.float64), np.asarray(unmasked(y), np.float64)
    if rows.ndim != 2 or len(rows) == 0 or not np.all(np.isfinite(rows)):
        rule, remedy = "a finite table of shape (n, d)", "pass numbers, no NaN"
        raise ValueError(refused(owner, "X", rule, f"shape {rows.shape}", remedy))
    if target.shape != (len(rows),) or not np.all(np.isfinite(target)):
        rule, remedy = f"finite and of shape ({len(rows)},)", "pass one per row"
        raise ValueError(refused(owner, "y", rule, f"shape {target.shape}", remedy))
    check_features(owner, "X", rows, fitted=True)
    check_targets(owner, "y", target, fitted=True)
    if X2 is None:
        return [X], target
    others = further_copies(owner, X, rows, X2)
    if np.ndim(X2) == 2:
        return [X, X2], target
    return [X, *(others[:, a] for a in range(others.shape[1]))], target


def _unnamed(method: Any, copy: Any) -> Any:
    """Call it with one copy, whose names were checked or which has none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*valid feature names", UserWarning)
        return method(copy)


def _linear_losses(
    estimator: Any, copies: list[Any], target: Floats, noise: Noise, noise_scale: Any
) -> Floats:
    arrays = np.stack([np.asarray(copy, dtype=np.float64) for copy in copies])
    d = len(estimator.coef_)
    if arrays.ndim != 3 or arrays.shape[2] != d:
        rule, remedy = f"of {d} features, as in fit", "pass the same columns"
        seen = f"shape {arrays.shape[1:]}"
        raise ValueError(refused("corrected_risk", "X", rule, seen, remedy))
    shape = (len(target), d)
    scale = check_noise_scale("corrected_risk", noise_scale, noise, shape)
    rows = corrected_rows(arrays - noise.expectation(d), noise.centred(), scale)
    return corrected_losses(rows, target - estimator.intercept_, estimator.coef_)


class CorrectedRiskScorer(BaseScorer):
    """Scorer for ``GridSearchCV`` and the like: minus the corrected risk."""

    def __init__(self, noise: Noise | None, floor: float) -> None:
        super().__init__(
            corrected_risk, -1, {"noise": noise, "floor": floor}, "predict"
        )

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        return -corrected_risk(estimator, X, y_true, **{**self._kwargs, **kwargs})


def make_corrected_scorer(
    noise: Noise | None = None, floor: float = 0.0
) -> CorrectedRiskScorer:
    """Make a scorer that ranks models by their error on clean rows, from noisy ones.

    Parameters
    ----------
    noise : Noise or None, default=None
        By default each estimator's own. **Pass it when the search is over the noise
        itself** (``noise__cov`` and the like): otherwise each candidate is judged by
        what it states itself, and the one that states most noise wins.
    floor : float, default=0.0
        Smallest score as a share of the variance of y (see `corrected_risk`).

    Returns
    -------
    callable
        Larger is better. ``scorer.set_score_request(X2=True)`` routes a second copy.

    See Also
    --------
    corrected_risk : The number behind the score, for one fitted model.
    make_risk_scorer : For features without noise, by any part of the losses.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from lrisk.metrics import make_corrected_scorer
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    >>> scorer = make_corrected_scorer(KnownCovariance(0.1))
    >>> cross_val_score(Ridge(), X, y, scoring=scorer).shape
    (5,)
    """
    check_real("make_corrected_scorer", "floor", floor, low=0, remedy="0 is usual")
    return CorrectedRiskScorer(noise, floor)
