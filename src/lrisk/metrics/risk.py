"""Scores by risk, and curves of loss quantiles."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from .._arrays import check_targets, unmasked
from .._params import check_choice, refused
from .._typing import Floats
from .._validation import BaseScorer
from ..ranking import Ranking, ascending, check_losses, check_row_weights
from ..spectra import Spectrum, parse_spectrum

LOSSES = ("squared", "absolute", "log")


def row_losses(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    loss: str = "squared",
    *,
    labels: ArrayLike | None = None,
) -> Floats:
    """Compute the loss of each row from its target and its prediction.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The true targets or classes.
    y_pred : array-like of shape (n,), or (n, n_classes) for ``"log"``
        Predictions; probabilities in the order of `labels` for ``"log"``.
    loss : {"squared", "absolute", "log"}, default="squared"
        ½(y − z)² as the estimators minimise it, ``|y − z|``, or −log p_y.
    labels : array-like of shape (n_classes,) or None, default=None
        Classes in the order of the columns; by default those of `y_true`, sorted.

    Returns
    -------
    array of shape (n,)
        The losses, in the order of the rows.

    See Also
    --------
    risk_score : Sums the losses up in one number.
    risk_interval : Takes these losses, and says how sure that number is.

    Examples
    --------
    >>> from lrisk.metrics import row_losses
    >>> row_losses([0.0, 0.0], [1.0, 3.0])
    array([0.5, 4.5])
    """
    check_choice("lrisk", "loss", loss, LOSSES)
    if loss != "log":
        y = np.asarray(unmasked(y_true), np.float64)
        z = np.asarray(unmasked(y_pred), np.float64)
        if y.ndim != 1 or y.shape != z.shape:
            rule, remedy = f"of shape {y.shape}, one for each row", "check both arrays"
            raise ValueError(refused("lrisk", "y_pred", rule, z.shape, remedy))
        for name, values in (("y_true", y), ("y_pred", z)):
            check_targets("lrisk", name, values, fitted=True)
        residual = y - z
        return 0.5 * residual**2 if loss == "squared" else np.abs(residual)
    y, p = np.asarray(unmasked(y_true)), np.asarray(unmasked(y_pred), np.float64)
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
    """Score predictions by a weighted mean of their sorted losses; smaller is better.

    This is the spectral risk: the mean of the largest half of the losses for
    ``"superquantile:0.5"``, the plain average for ``"mean"``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The true targets or classes.
    y_pred : array-like of shape (n,), or (n, n_classes) for ``"log"``
        Predictions; probabilities in the order of `labels` for ``"log"``.
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`.
    loss : {"squared", "absolute", "log"}, default="squared"
        ½(y − z)² as the estimators minimise it, ``|y − z|``, or −log p_y.
    labels : array-like of shape (n_classes,) or None, default=None
        Classes in the order of the columns; by default those of `y_true`, sorted.
    sample_weight : array-like of shape (n,) or None, default=None
        A weight k counts like k rows.

    Returns
    -------
    float
        The risk, in units of the loss.

    See Also
    --------
    make_risk_scorer : The same as a scorer for ``GridSearchCV``.
    loss_quantiles : The losses themselves, at any level.

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
    """Make a scorer that ranks models by their worst held-out losses, or by others.

    The score is minus the spectral risk: a weighted mean of the sorted losses, such as
    the mean of the largest tenth for ``"superquantile:0.9"``.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`.
    loss : {"squared", "absolute", "log"}, default="squared"
        ``"log"`` needs `predict_proba`.

    Returns
    -------
    callable
        Larger is better, as scikit-learn wants it: minus the risk.

    See Also
    --------
    risk_score : The number itself, from targets and predictions.
    make_corrected_scorer : For models of noisy features.

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
    """Compute quantiles: the smallest loss that at least a share u does not exceed.

    Parameters
    ----------
    losses : array-like of shape (n,)
        The losses, in any order.
    levels : array-like of numbers u in [0, 1]
        Shares of the rows: 0.5 for the median, 0.9 for what a tenth exceeds.
    sample_weight : array-like of shape (n,) or None, default=None
        A weight k counts like k rows.

    Returns
    -------
    array of the shape of `levels`
        One of the losses for each level.

    See Also
    --------
    risk_score : Sums a part of the losses up in one number.
    lrisk.displays.LossQuantileDisplay : Draws all levels.

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
