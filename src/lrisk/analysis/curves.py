"""Curves over levels: quantiles of losses, and what a spectrum weighs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._params import check_count
from .._typing import Floats
from ..metrics import loss_quantiles
from ..metrics.risk import row_losses
from ..spectra import Spectrum, parse_spectrum


class LossQuantiles(NamedTuple):
    """Losses by the share of rows that stay below them.

    At most a share 1 − `levels` of the losses exceeds `values`.

    Parameters
    ----------
    levels : array of shape (m,)
        Shares of the rows, from 0 to 1.
    values : array of shape (m,)
        The loss at each of them.

    See Also
    --------
    quantile_curve : Makes it from losses.
    lrisk.displays.LossQuantileDisplay : Draws it.

    Examples
    --------
    >>> from lrisk.analysis import quantile_curve
    >>> curve = quantile_curve([3.0, 1.0, 2.0, 4.0], n_levels=3)
    >>> curve.levels, curve.values
    (array([0. , 0.5, 1. ]), array([1., 2., 4.]))
    """

    levels: Floats
    values: Floats


def quantile_curve(
    losses: ArrayLike, *, sample_weight: ArrayLike | None = None, n_levels: int = 101
) -> LossQuantiles:
    """Compute quantiles of losses at equally spaced levels from 0 to 1.

    Parameters
    ----------
    losses : array-like of shape (n,)
        The losses, in any order.
    sample_weight : array-like of shape (n,) or None, default=None
        A weight k counts like k rows.
    n_levels : int, default=101
        How many levels, both ends included.

    Returns
    -------
    LossQuantiles
        The levels and the loss at each of them.

    See Also
    --------
    lrisk.metrics.loss_quantiles : At levels of your own.
    lrisk.displays.LossQuantileDisplay : Draws it.

    Examples
    --------
    >>> quantile_curve([3.0, 1.0, 2.0, 4.0], n_levels=3).values
    array([1., 2., 4.])
    """
    check_count("quantile_curve", "n_levels", n_levels, low=2)
    levels = np.linspace(0.0, 1.0, n_levels)
    return LossQuantiles(levels, loss_quantiles(losses, levels, sample_weight))


def estimator_losses(estimator: Any, X: Any, y: Any, loss: str | None) -> Floats:
    """Losses of a fitted estimator on rows: |residual|, or log loss of a classifier.

    `loss` is one of those of `lrisk.metrics.row_losses`, or None for that choice.
    """
    if loss is None:
        loss = "log" if hasattr(estimator, "predict_proba") else "absolute"
    if loss == "log":
        return row_losses(
            y, estimator.predict_proba(X), "log", labels=estimator.classes_
        )
    return row_losses(y, estimator.predict(X), loss)


class SpectrumCurve(NamedTuple):
    """How much each row counts, in ascending order of loss.

    Parameters
    ----------
    levels : array of shape (m,)
        Middles of m equal parts of [0, 1].
    density : array of shape (m,)
        Mean of s = S′ over each part: how much more than in a plain mean these rows
        count. Averages 1.
    cumulative : array of shape (m,)
        S at the upper end of each part.

    See Also
    --------
    spectrum_curve : Makes it from the name of a spectrum.
    lrisk.displays.SpectrumDisplay : Draws it.

    Examples
    --------
    >>> from lrisk.analysis import spectrum_curve
    >>> spectrum_curve("subquantile:0.5", n_levels=4).density
    array([2., 2., 0., 0.])
    """

    levels: Floats
    density: Floats
    cumulative: Floats


def spectrum_curve(spectrum: str | Spectrum, *, n_levels: int = 200) -> SpectrumCurve:
    """Compute how much each row counts, from the best-fitted rows to the worst.

    Parameters
    ----------
    spectrum : str or Spectrum
        How sorted losses are weighted, as in `lrisk.RiskRegressor`.
    n_levels : int, default=200
        Equal parts into which the rows are divided.

    Returns
    -------
    SpectrumCurve
        Level, density and cumulative weight of each part.

    See Also
    --------
    lrisk.risk_weights : Weights of given losses.
    lrisk.displays.SpectrumDisplay : Draws it.

    Examples
    --------
    >>> curve = spectrum_curve("superquantile:0.5", n_levels=4)
    >>> curve.levels, curve.density
    (array([0.125, 0.375, 0.625, 0.875]), array([0., 0., 2., 2.]))
    """
    check_count("spectrum_curve", "n_levels", n_levels, low=2)
    found = parse_spectrum(spectrum)
    ends = np.arange(1, n_levels + 1) / n_levels
    density = n_levels * found.weights(n_levels)
    cumulative = np.asarray(found.cumulative(ends))
    return SpectrumCurve(ends - 0.5 / n_levels, density, cumulative)
