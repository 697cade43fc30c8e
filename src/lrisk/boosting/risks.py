"""The risk of a round's losses: its gradient and curvature in the scores, or itself."""

import copy
from typing import Any

import numpy as np

from .._params import refused
from .._sorting import value_at
from .._typing import Floats
from ..kept import Kept, quantile
from ..losses import Logistic, Loss, Squared
from ..losses.clipped import ClippedResidual
from ..ranking import Ranking
from ..spectra import Spectrum
from .given import OWNER, given

#: Width of the rounded kink of flat losses, in mean |residuals|: rows nearer than that
#: share a curvature, which without a bound a single row of no residual would rule.
KINK = 0.3
#: Rows whose losses are computed at a time: some ten arrays of 256 kB, which stay in a
#: core's cache. Of a million rows that takes half the time for logistic losses.
BLOCK = 1 << 15


class OfLosses:
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
        assert isinstance(other, OfLosses)
        return self.spectrum == other.spectrum and self.loss == other.loss

    __hash__ = None  # type: ignore[assignment]  # mutable, as spectra are

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

    def _risk_of_round(self, y_true: Any, y_pred: Any, sample_weight: Any) -> float:
        """The risk of what a library passes."""
        loss, y, z, weight = given(self.loss, y_true, y_pred, sample_weight)
        return self._risk(loss.value(y, z), weight)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ranking": None, "_constant": None}


class SpectralObjective(OfLosses):
    """What `objective` returns."""

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[Floats, Floats]:
        """Gradient and curvature of every row, of the shape of the scores."""
        loss, y, z, weight = given(self.loss, y_true, y_pred, sample_weight)
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


class LightGBMMetric(OfLosses):
    """What `lightgbm_metric` returns."""

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[str, float, bool]:
        """Name, risk, and that larger is not better."""
        risk = self._risk_of_round(y_true, y_pred, sample_weight)
        return self.__name__, risk, False


class XGBoostMetric(OfLosses):
    """What `xgboost_metric` returns."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The risk; of a data set with its name."""
        risk = self._risk_of_round(y_true, y_pred, sample_weight)
        return (self.__name__, risk) if hasattr(y_pred, "get_label") else risk


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _check_finite(losses: Floats) -> None:
    if not np.isfinite(losses.sum()):
        rule, remedy = "of finite losses", "lower the learning rate"
        seen = float(losses[~np.isfinite(losses)][0])
        raise ValueError(refused(OWNER, "y_pred", rule, seen, remedy))


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
