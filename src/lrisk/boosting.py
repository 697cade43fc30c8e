"""Spectral risks for LightGBM and XGBoost: objectives, and metrics of the same risk.

Both libraries ask for the gradient and the curvature of the objective in every score.
With λ the weights by rank of the losses ℓ_i(z_i), the risk's gradient is λ_iℓ_i′(z_i);
times the total weight W (n rows of weight one) an ordinary row counts one, as it does
under the mean, so that learning rates, penalties and least curvatures keep their
meaning, and ``spectrum="mean"`` is the built-in objective itself.

Neither library is imported: what is passed to the functions says whose it is.
"""

import copy
from typing import Any

import numpy as np
from scipy.special import expit

from ._params import refused
from ._sorting import value_at
from ._typing import Floats
from .kept import Kept, quantile
from .losses import Logistic, Loss, Multinomial, Squared, parse_loss
from .losses.clipped import ClippedResidual
from .losses.multinomial import softmax
from .ranking import Ranking, check_row_weights
from .spectra import Spectrum, parse_spectrum

__all__ = ["lightgbm_metric", "objective", "probabilities", "xgboost_metric"]

#: Width of the rounded kink of flat losses, in mean |residuals|: rows nearer than that
#: share a curvature, which without a bound a single row of no residual would rule.
KINK = 0.3
#: Rows whose losses are computed at a time: some ten arrays of 256 kB, which stay in a
#: core's cache. Of a million rows that takes half the time for logistic losses.
BLOCK = 1 << 15


def objective(
    spectrum: str | Spectrum = "superquantile", loss: str | Loss = "squared"
) -> "SpectralObjective":
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
) -> "LightGBMMetric":
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
) -> "XGBoostMetric":
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
    z = _scores(scores)
    if z.ndim == 2:
        return softmax(z)
    return np.column_stack([expit(-z), expit(z)])


class _OfLosses:
    """A spectrum and a loss, applied to whatever the libraries pass."""

    def __init__(self, spectrum: Spectrum, loss: Loss) -> None:
        # Both can be changed in place, and what is kept below follows from them.
        self.spectrum = copy.deepcopy(spectrum)
        self.loss = copy.deepcopy(loss)
        # Metrics are recorded by this name: it says what they differ in.
        self.__name__ = "_".join([*_words(loss), *_words(spectrum)])
        # What is the same in every round of a fit, kept with what it was made from.
        self._ranking: Ranking | None = None
        self._constant: tuple[Floats, Floats | None, float] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spectrum!r}, {self.loss!r})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, _OfLosses)
        return self.spectrum == other.spectrum and self.loss == other.loss

    __hash__ = None  # type: ignore[assignment]  # mutable, as spectra are

    def _rows(
        self, first: Any, second: Any, weight: Any
    ) -> tuple[Loss, Floats, Floats, Floats | None]:
        """The loss, targets, scores and weights, from arrays or a data set."""
        y, z = first, second
        if hasattr(second, "get_label"):
            y, z, weight = second.get_label(), first, second.get_weight()
        y, z = np.asarray(y, dtype=np.float64), _scores(z)
        if y.ndim != 1 or not y.size:
            rule, remedy = "(n,), a number for each row", "fit each target by itself"
            raise ValueError(refused("lrisk.boosting", "y_true", rule, y.shape, remedy))
        if len(y) != len(z):
            rule, remedy = f"of as many rows as y_true ({len(y)})", "pass both of a set"
            raise ValueError(refused("lrisk.boosting", "y_pred", rule, len(z), remedy))
        # XGBoost's data sets have an array without entries where there are none.
        weight = check_row_weights(None if np.size(weight) == 0 else weight, len(y))
        if weight is not None and np.all(weight == weight[0]):
            # Equal weights only scale; they are counted in by the total.
            weight = np.broadcast_to(weight[:1], y.shape)
        return self._loss_of(y, z), y, z, weight

    def _loss_of(self, y: Floats, z: Floats) -> Loss:
        """The loss; multinomial for a score of each class, if it is of classes."""
        loss = self.loss
        if not loss.classifies:
            if z.ndim == 2:
                rule, remedy = f"one score a row for {loss!r}", "take loss='logistic'"
                message = refused("lrisk.boosting", "y_pred", rule, z.shape, remedy)
                raise ValueError(message)
            return loss
        n_classes = 2 if z.ndim == 1 else z.shape[1]
        if n_classes == 2:
            wrong = (y != 0.0) & (y != 1.0)
        else:
            wrong = (y < 0) | (y >= n_classes) | (y != np.floor(y))
        if wrong.any():
            rule, remedy = f"0 to {n_classes - 1}, numbers of classes", "encode them"
            seen = float(y[wrong][0])
            raise ValueError(refused("lrisk.boosting", "y_true", rule, seen, remedy))
        if z.ndim == 2:
            return Multinomial()
        if loss.per_class:
            rule, remedy = "(n, n_classes)", "take loss='logistic' for two classes"
            message = refused("lrisk.boosting", "y_pred", rule, z.shape, remedy)
            raise ValueError(message)
        return loss

    def _risk_and_weights(
        self, losses: Floats, weight: Floats | None, out: Floats | None = None
    ) -> tuple[float, Floats]:
        """The risk, and λ in the order of the rows; `out` may be the losses."""
        _check_finite(losses)
        if weight is None or weight.strides == (0,):
            if self._ranking is None or self._ranking.n_rows != losses.size:
                self._ranking = Ranking(self.spectrum, losses.size)
            return self._ranking.risk_and_weights(losses, exact=False, out=out)
        kept = weight > 0.0
        part = Ranking(self.spectrum, int(kept.sum()), weight[kept])
        weights = np.zeros(losses.size)
        risk, weights[kept] = part.risk_and_weights(losses[kept])
        return risk, weights

    def _risk(self, losses: Floats, weight: Floats | None) -> float:
        if self.spectrum.keeps and (weight is None or weight.strides == (0,)):
            _check_finite(losses)
            return Kept.of(losses, self.spectrum.support[1]).risk
        return self._risk_and_weights(losses, weight)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ranking": None, "_constant": None}


class SpectralObjective(_OfLosses):
    """What `objective` returns."""

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[Floats, Floats]:
        """Gradient and curvature of every row, of the shape of the scores."""
        loss, y, z, weight = self._rows(y_true, y_pred, sample_weight)
        losses, slopes = _value_and_derivative(loss, y, z)
        weights = self._weights(loss, y, losses, weight)
        total = float(len(y)) if weight is None else float(weight.sum())
        # Equal weights are those of the ranking, which keeps them.
        shared = self.spectrum.monotone == "flat"
        weights = np.multiply(weights, total, out=None if shared else weights)
        if isinstance(loss, Squared):
            slopes *= weights
            return slopes, weights
        if loss.per_class:
            size, k = np.abs(slopes), z.shape[1]
            curvature = (k / (k - 1.0)) * size * (1.0 - size)
            weights = weights[:, None]
        elif isinstance(loss, Logistic):
            curvature = np.abs(slopes)
            curvature -= curvature**2
        elif loss.flat:
            slopes, curvature = _of_flat(loss, y, z, weight)
        else:
            curvature = loss.curvature(y, z)
        slopes *= weights
        curvature *= weights
        return slopes, curvature

    def _weights(
        self, loss: Loss, y: Floats, losses: Floats, weight: Floats | None
    ) -> Floats:
        """λ; of a trimmed spectrum mixed with the start's in the beginning.

        In the start a row counts like any other, in inverse proportion to its loss
        where that is beyond the cut: one that is right can come back, one that is wrong
        pulls no harder than those at the cut. The losses may be overwritten.
        """
        if not self.spectrum.trims:
            return self._risk_and_weights(losses, weight, out=losses)[1]
        share = self.spectrum.support[1]
        if self.spectrum.keeps and (weight is None or weight.strides == (0,)):
            _check_finite(losses)
            kept = Kept.of(losses, share)
            start = 1.0 - self._explained(kept.risk, loss, y, weight)
            return kept.weights(losses, start, out=losses)
        risk, weights = self._risk_and_weights(losses, weight)
        explained = self._explained(risk, loss, y, weight)
        cut = quantile(losses, share, weight)
        held = np.maximum(losses, cut)
        np.divide(cut, held, out=held, where=held > 0.0)
        held *= 1.0 / len(y) if weight is None else weight / weight.sum()
        held *= 1.0 - explained
        held += explained * weights
        return held

    def _explained(
        self, risk: float, loss: Loss, y: Floats, weight: Floats | None
    ) -> float:
        """By how much of the constant's risk the scores are better; 0 to 1."""
        before = self._risk_of_constant(loss, y, weight)
        return max(1.0 - risk / before, 0.0) if before > 0.0 else 1.0

    def _risk_of_constant(self, loss: Loss, y: Floats, weight: Floats | None) -> float:
        """Risk of the best scores that are the same for all rows."""
        if self._constant is not None:
            targets, weights, risk = self._constant
            if np.array_equal(targets, y) and _same(weights, weight):
                return risk
        if loss.classifies:
            mass = np.full(len(y), 1.0 / len(y))
            if weight is not None:
                mass = weight / weight.sum()
            n_scores = int(y.max()) + 1 if loss.per_class else 1
            constant = loss.constant_scores(y, mass, n_scores)
        else:  # the median: a mean may be that of the wrong rows
            middle = (value_at(y, k) for k in ((len(y) - 1) // 2, len(y) // 2))
            constant = np.asarray(0.5 * sum(middle))
        scores = np.broadcast_to(constant, (len(y), *np.shape(constant)))
        risk = self._risk(loss.value(y, scores), weight)
        # Copies: the next call may find other targets in the same memory.
        self._constant = y.copy(), None if weight is None else weight.copy(), risk
        return risk


class LightGBMMetric(_OfLosses):
    """What `lightgbm_metric` returns."""

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[str, float, bool]:
        """Name, risk, and that larger is not better."""
        loss, y, z, weight = self._rows(y_true, y_pred, sample_weight)
        risk = self._risk(loss.value(y, z), weight)
        return self.__name__, risk, False


class XGBoostMetric(_OfLosses):
    """What `xgboost_metric` returns."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The risk; of a data set with its name."""
        loss, y, z, weight = self._rows(y_true, y_pred, sample_weight)
        risk = self._risk(loss.value(y, z), weight)
        return (self.__name__, risk) if hasattr(y_pred, "get_label") else risk


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _check_finite(losses: Floats) -> None:
    if not np.isfinite(losses.sum()):
        rule, remedy = "of finite losses", "lower the learning rate"
        seen = float(losses[~np.isfinite(losses)][0])
        raise ValueError(refused("lrisk.boosting", "y_pred", rule, seen, remedy))


def _known(loss: str | Loss) -> Loss:
    loss = parse_loss(loss)
    loss.validate()
    return loss


def _scores(scores: Any) -> Floats:
    """One for each row, or for each row and class."""
    z = np.ascontiguousarray(scores, dtype=np.float64)
    if z.ndim == 2 and z.shape[1] == 1:
        z = z[:, 0]
    if z.ndim > 2:
        rule, remedy = "(n,) or (n, n_classes)", "fit each target by itself"
        raise ValueError(refused("lrisk.boosting", "scores", rule, z.shape, remedy))
    return z


def _words(part: Loss | Spectrum) -> list[str]:
    """Name and numbers of a loss or a spectrum."""
    numbers = part.get_params().values()
    return [part.name, *(f"{x:g}" for x in numbers if isinstance(x, int | float))]


def _value_and_derivative(loss: Loss, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Of all rows, block by block."""
    if len(y) <= BLOCK:
        return loss.value_and_derivative(y, z)
    losses, slopes = np.empty(len(y)), np.empty_like(z)
    for start in range(0, len(y), BLOCK):
        rows = slice(start, start + BLOCK)
        losses[rows], slopes[rows] = loss.value_and_derivative(y[rows], z[rows])
    return losses, slopes


def _of_flat(
    loss: Loss, y: Floats, z: Floats, weight: Floats | None
) -> tuple[Floats, Floats]:
    """Slope with the kink rounded, and the curvature of a parabola above the loss.

    Newton's step on the parabola that touches the loss at z and is symmetric about y
    lowers the loss itself, however flat it is there.
    """
    residual = z - y
    width = KINK * float(np.average(np.abs(residual), weights=weight))
    soft = loss.softened(width) if width > 0.0 else loss
    assert isinstance(soft, ClippedResidual)
    slopes, curvature = soft.derivative(y, z), soft.secant(y, z)
    curvature[residual == 0.0] = 1.0 / soft.width if soft.width > 0.0 else 1.0
    return slopes, curvature
