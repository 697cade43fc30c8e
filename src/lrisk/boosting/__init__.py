"""Spectral risks for LightGBM and XGBoost: objectives, and metrics of the same risk.

Both libraries ask for the gradient and the curvature of the objective in every score.
With λ the weights by rank of the losses ℓ_i(z_i), the risk's gradient is λ_iℓ_i′(z_i);
times the total weight W (n rows of weight one) an ordinary row counts one, as it does
under the mean, so that learning rates, penalties and least curvatures keep their
meaning, and ``spectrum="mean"`` is the built-in objective itself.

Neither library is imported: what is passed to the functions says whose it is.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from .._typing import Floats
from ..losses import Loss, parse_loss
from ..losses.multinomial import softmax
from ..spectra import Spectrum, parse_spectrum
from .given import scores_of
from .risks import LightGBMMetric, SpectralObjective, XGBoostMetric

__all__ = ["lightgbm_metric", "objective", "probabilities", "xgboost_metric"]


def objective(
    spectrum: str | Spectrum = "superquantile", loss: str | Loss = "squared"
) -> SpectralObjective:
    r"""Make an objective for boosted trees that favours the worst rows, or the others.

    It is the spectral risk of the training losses: a weighted mean of the sorted
    losses.

    For ``objective=`` of ``LGBMRegressor``, ``LGBMClassifier``, ``XGBRegressor`` and
    ``XGBClassifier``, ``params["objective"]`` of ``lightgbm.train`` and ``obj=`` of
    ``xgboost.train``. Sample weights are passed to `fit` or the data set as always.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`. Under a
        decreasing spectrum, which leaves the largest losses out, rows are only held
        back at first: before anything is explained, wrong rows and rows far from the
        centre look alike. The spectrum's own weights count by the share of the
        constant's risk that the scores explain. They tell that themselves; nothing is
        remembered between calls.
    loss : str or Loss, default="squared"
        ``"squared"``, ``"huber:1.35"``, ``"absolute"``, ``"pinball:0.9"``, or
        ``"logistic"``, which is ``"multinomial"`` for more than two classes.

    Returns
    -------
    callable
        Of (y_true, y_pred[, sample_weight]) or (scores, data set); gives gradient and
        curvature of every row.

    See Also
    --------
    lightgbm_metric, xgboost_metric : For early stopping on the same risk.
    lrisk.RiskMeta : The same for every estimator that takes weights, by held-out
        losses.

    Notes
    -----
    LightGBM begins at zero under an objective of one's own, and not at the mean of the
    targets: subtract it (where targets may be wrong, the median), or begin with an
    ordinary round (`init_model`). XGBoost takes it as `base_score`. Scores of
    classifiers are log-odds; LightGBM then returns them where it would give
    probabilities, and `probabilities` turns them into such.

    The curvature is that of the loss; for several classes K/(K − 1)·p(1 − p) (Friedman
    2001), for losses with flat pieces ℓ′/r, that of the parabola above them.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.boosting import objective
    >>> worst_half = objective("superquantile:0.5")
    >>> worst_half(np.zeros(4), np.array([1.0, 2.0, 3.0, -4.0]))
    (array([ 0.,  0.,  6., -8.]), array([0., 0., 2., 2.]))
    """
    return SpectralObjective(parse_spectrum(spectrum), _known(loss))


def lightgbm_metric(
    spectrum: str | Spectrum = "superquantile", loss: str | Loss = "squared"
) -> LightGBMMetric:
    """Make the metric by which LightGBM stops early: the risk of an evaluation set.

    For ``eval_metric=`` of `fit` and ``feval=`` of ``lightgbm.train``, beside an
    objective of this module: with a built-in one LightGBM passes probabilities, and
    this takes scores. With ``metric="None"`` it is the only one.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `objective`.
    loss : str or Loss, default="squared"
        As in `objective`.

    Returns
    -------
    callable
        Gives (name, risk, False).

    See Also
    --------
    objective : What LightGBM minimises, for the same risk.
    xgboost_metric : The same for XGBoost.

    Examples
    --------
    >>> import numpy as np
    >>> lightgbm_metric("worst_case")(np.zeros(2), np.array([1.0, 2.0]))
    ('squared_worst_case', 2.0, False)
    """
    return LightGBMMetric(parse_spectrum(spectrum), _known(loss))


def xgboost_metric(
    spectrum: str | Spectrum = "superquantile", loss: str | Loss = "squared"
) -> XGBoostMetric:
    """Make the metric by which XGBoost stops early: the risk of an evaluation set.

    For ``eval_metric=`` of the estimators and ``custom_metric=`` of ``xgboost.train``,
    beside an objective of this module.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `objective`.
    loss : str or Loss, default="squared"
        As in `objective`.

    Returns
    -------
    callable
        Gives the risk, or (name, risk) if it is called with a data set.

    See Also
    --------
    objective : What XGBoost minimises, for the same risk.
    lightgbm_metric : The same for LightGBM.

    Examples
    --------
    >>> import numpy as np
    >>> xgboost_metric("worst_case")(np.zeros(2), np.array([1.0, 2.0]))
    2.0
    """
    return XGBoostMetric(parse_spectrum(spectrum), _known(loss))


def probabilities(scores: Any) -> Floats:
    """Turn scores of boosted trees into probabilities of classes.

    Parameters
    ----------
    scores : array-like of shape (n,), (n, 1) or (n, n_classes)
        Log-odds of the second of two classes, or a score for each class.

    Returns
    -------
    array of shape (n, n_classes)
        Probabilities; those of a row sum to one.

    See Also
    --------
    objective : Under it LightGBM returns scores where it would give probabilities.

    Examples
    --------
    >>> from lrisk.boosting import probabilities
    >>> probabilities([0.0]).tolist()
    [[0.5, 0.5]]
    """
    z = scores_of(scores)
    if z.ndim == 2:
        return softmax(z)
    return np.column_stack([expit(-z), expit(z)])


def _known(loss: str | Loss) -> Loss:
    loss = parse_loss(loss)
    loss.validate()
    return loss
