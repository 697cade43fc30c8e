"""Scores by risk, and curves of loss quantiles."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

from ._params import check_choice, check_real, refused
from ._typing import Floats
from ._validation import BaseScorer
from .corrections import corrected_losses, corrected_rows
from .corrections.checks import check_noise_scale, further_copies
from .noise import Noise, Replicates
from .ranking import Ranking, ascending, check_losses, check_row_weights
from .spectra import Spectrum, parse_spectrum

LOSSES = ("squared", "absolute", "log")


def row_losses(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    loss: str = "squared",
    *,
    labels: ArrayLike | None = None,
) -> Floats:
    """Loss of each row.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,), or (n, n_classes) for ``"log"``
        Predictions; probabilities in the order of `labels` for ``"log"``.
    loss : {"squared", "absolute", "log"}, default="squared"
        ½(y − z)² as the estimators minimise it, |y − z|, or −log p_y.
    labels : array-like of shape (n_classes,) or None
        Classes in the order of the columns; by default those of `y_true`, sorted.

    Returns
    -------
    array of shape (n,)
    """
    check_choice("lrisk", "loss", loss, LOSSES)
    if loss != "log":
        y, z = np.asarray(y_true, np.float64), np.asarray(y_pred, np.float64)
        if y.ndim != 1 or y.shape != z.shape:
            rule, remedy = f"of shape {y.shape}, one for each row", "check both arrays"
            raise ValueError(refused("lrisk", "y_pred", rule, z.shape, remedy))
        residual = y - z
        return 0.5 * residual**2 if loss == "squared" else np.abs(residual)
    y, p = np.asarray(y_true), np.asarray(y_pred, np.float64)
    classes = np.unique(y) if labels is None else np.asarray(labels)
    if p.shape != (len(y), len(classes)):
        rule = f"of shape ({len(y)}, {len(classes)}), a column for each class"
        remedy = "pass predict_proba's output, and labels=estimator.classes_"
        raise ValueError(refused("lrisk", "y_pred", rule, p.shape, remedy))
    order = np.argsort(classes)
    places = np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)
    codes = order[places]
    if np.any(classes[codes] != y):
        seen = y[classes[codes] != y][0]
        remedy = "pass every class in labels"
        raise ValueError(refused("lrisk", "y_true", "among labels", seen, remedy))
    tiny = np.finfo(np.float64).tiny
    return np.asarray(-xlogy(1.0, np.maximum(p[np.arange(len(y)), codes], tiny)))


def risk_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    spectrum: str | Spectrum = "superquantile",
    loss: str = "squared",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Spectral risk of a prediction's losses; smaller is better.

    Examples
    --------
    >>> from lrisk.metrics import risk_score
    >>> risk_score([0.0, 0.0], [1.0, 3.0], spectrum="cvar:0.5", loss="absolute")
    3.0
    """
    losses = check_losses(row_losses(y_true, y_pred, loss, labels=labels))
    weight = check_row_weights(sample_weight, losses.size)
    if weight is not None:
        losses, weight = losses[weight > 0], weight[weight > 0]
    return Ranking(parse_spectrum(spectrum), losses.size, weight).risk(losses)


class RiskScorer(BaseScorer):
    """Scorer for ``GridSearchCV`` and the like: minus the risk of the losses."""

    def __init__(self, spectrum: str | Spectrum, loss: str) -> None:
        method = "predict_proba" if loss == "log" else "predict"
        options = {"spectrum": spectrum, "loss": loss}
        super().__init__(risk_score, -1, options, method)

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        options = {**self._kwargs, **kwargs}
        if options["loss"] == "log":
            predicted = estimator.predict_proba(X)
            # A class that the training fold lacked has probability zero.
            unseen = np.setdiff1d(y_true, estimator.classes_)
            options["labels"] = np.concatenate([estimator.classes_, unseen])
            nothing = np.zeros((len(predicted), len(unseen)))
            predicted = np.hstack([predicted, nothing])
        else:
            predicted = estimator.predict(X)
        return -risk_score(y_true, predicted, **options)


def make_risk_scorer(
    spectrum: str | Spectrum = "superquantile", loss: str = "squared"
) -> RiskScorer:
    """Scorer that ranks models by the spectral risk of their held-out losses.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
    loss : {"squared", "absolute", "log"}, default="squared"
        ``"log"`` needs `predict_proba`.

    Returns
    -------
    callable
        Larger is better, as scikit-learn wants it: minus the risk.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from lrisk.metrics import make_risk_scorer
    >>> X, y = load_diabetes(return_X_y=True)
    >>> scorer = make_risk_scorer("superquantile:0.9", "absolute")
    >>> cross_val_score(Ridge(), X, y, scoring=scorer).shape
    (5,)
    """
    parse_spectrum(spectrum)
    check_choice("make_risk_scorer", "loss", loss, LOSSES)
    return RiskScorer(spectrum, loss)


def loss_quantiles(
    losses: ArrayLike, levels: ArrayLike, sample_weight: ArrayLike | None = None
) -> Floats:
    """Quantiles of losses: the smallest loss with at least a mass u at or below it.

    Parameters
    ----------
    losses : array-like of shape (n,)
    levels : array-like of numbers u in [0, 1]
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    array of the shape of `levels`

    Examples
    --------
    >>> from lrisk.metrics import loss_quantiles
    >>> loss_quantiles([4.0, 1.0, 3.0, 2.0], [0.5, 1.0])
    array([2., 4.])
    """
    losses = check_losses(losses)
    u = np.asarray(levels, dtype=np.float64)
    if not np.all((u >= 0) & (u <= 1)):
        remedy = "pass fractions of the rows"
        raise ValueError(refused("lrisk", "levels", "within [0, 1]", levels, remedy))
    weight = check_row_weights(sample_weight, losses.size)
    if weight is None:
        weight = np.ones(losses.size)
    losses, weight = losses[weight > 0], weight[weight > 0]
    order = ascending(losses)
    cumulative = np.cumsum(weight[order])
    # A level meant as k/n must not miss row k by rounding.
    places = np.searchsorted(cumulative, u * cumulative[-1] * (1.0 - 1e-12))
    return np.asarray(losses[order][np.minimum(places, losses.size - 1)])


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
    """Mean squared error that a regressor would have on the clean rows.

    Estimated without bias from noisy ones: mean (y − w·x̃)² − wᵀΣw for a linear model
    (anything with `coef_`), and the mean of (f̂(x̃) − y)(f̂(x̃′) − y) over two copies for
    anything with `predict_from_noisy`. The noise of the targets is part of it, as in an
    ordinary error.

    Parameters
    ----------
    estimator : fitted regressor, or a pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
        Noisy rows.
    y : array-like of shape (n_samples,)
    X2 : array-like of shape (n_samples, n_features) or None
        A second copy of the rows; shape (n_samples, m, n_features) for m of them.
    noise : Noise or None
        By default the estimator's own, as it is after the steps of a pipeline. Pass it
        to compare estimators that state different noises.
    noise_scale : array-like or None
        As in the estimators; for linear models.
    floor : float, default=0.0
        The estimate may fall below any possible error; it is raised to this share of
        the variance of y.

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
    rows, target = np.asarray(X, np.float64), np.asarray(y, np.float64)
    if rows.ndim != 2 or len(rows) == 0 or not np.all(np.isfinite(rows)):
        rule, remedy = "a finite table of shape (n, d)", "pass numbers, no NaN"
        raise ValueError(refused(owner, "X", rule, f"shape {rows.shape}", remedy))
    if target.shape != (len(rows),) or not np.all(np.isfinite(target)):
        rule, remedy = f"finite and of shape ({len(rows)},)", "pass one per row"
        raise ValueError(refused(owner, "y", rule, f"shape {target.shape}", remedy))
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
    rows = corrected_rows(arrays, noise, scale)
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
    """Scorer that ranks models by their error on clean rows, seeing only noisy ones.

    Parameters
    ----------
    noise : Noise or None
        By default each estimator's own. **Pass it when the search is over the noise
        itself** (``noise__cov`` and the like): otherwise each candidate is judged by
        what it states itself, and the one that states most noise wins.
    floor : float, default=0.0
        Smallest score as a share of the variance of y (see `corrected_risk`).

    Returns
    -------
    callable
        Larger is better. ``scorer.set_score_request(X2=True)`` routes a second copy.

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


def clustering_accuracy(
    y_true: ArrayLike, labels: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows in the right cluster, under the best matching of names.

    Clusters have no names of their own, so each is first matched with one class, and
    each class with one cluster, such that the most rows agree (paper 1, appendix
    F.6.1). Rows of clusters without a class, or labelled −1 as trimmed, count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes.
    labels : array-like of whole numbers of shape (n,)
        Clusters.
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    float
        Between 0 and 1; larger is better.

    Examples
    --------
    >>> from lrisk.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    classes, clusters = np.asarray(y_true), np.asarray(labels)
    if classes.ndim != 1 or classes.size == 0:
        rule, remedy = "a 1-d array of at least one class", "pass one for each row"
        raise ValueError(refused("lrisk", "y_true", rule, classes.shape, remedy))
    if clusters.shape != classes.shape:
        rule, remedy = f"of shape {classes.shape}", "pass one for each row"
        raise ValueError(refused("lrisk", "labels", rule, clusters.shape, remedy))
    if clusters.dtype.kind not in "iu":
        rule, remedy = "whole numbers, −1 for trimmed rows", "pass labels_ or predict's"
        raise TypeError(refused("lrisk", "labels", rule, clusters.dtype.name, remedy))
    weight = check_row_weights(sample_weight, classes.size)
    weight = np.ones(classes.size) if weight is None else weight
    found = clusters >= 0
    _, rows = np.unique(classes[found], return_inverse=True)
    _, columns = np.unique(clusters[found], return_inverse=True)
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1))
    np.add.at(table, (rows, columns), weight[found])
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(matched / weight.sum())
