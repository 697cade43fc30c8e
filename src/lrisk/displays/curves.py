"""Quantile curves of losses, and spectra."""

from typing import Any, Self

from numpy.typing import ArrayLike

from ..analysis.curves import (
    LossQuantiles,
    SpectrumCurve,
    estimator_losses,
    quantile_curve,
    spectrum_curve,
)
from ..metrics.risk import row_losses
from ..spectra import Spectrum, parse_spectrum
from ._axes import BLUE, axes_or_new

#: The line that several spectra in one picture share.
_MEAN = "lrisk-mean"


class LossQuantileDisplay:
    """Draw the loss against the share of rows that stay below it.

    Draw several models into the same axes: one that gives up a little on the left for a
    lower right end is a tail-risk fit.

    Parameters
    ----------
    curve : LossQuantiles
        Of `lrisk.analysis.quantile_curve`.
    name : str, default=""
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.quantile_curve : The numbers alone.
    LossDisplay : A histogram for one model that leaves rows out.
    lrisk.metrics.compare_risks : Whether the difference of two models is chance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lrisk.displays import LossQuantileDisplay
    >>> display = LossQuantileDisplay.from_predictions([1.0, 2.0], [1.0, 4.0])
    >>> float(display.curve.values[-1])
    2.0
    """

    def __init__(self, curve: LossQuantiles, *, name: str = "") -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: str | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the losses of a fitted estimator on rows it should not have seen.

        Parameters
        ----------
        estimator : fitted regressor or classifier
        X, y : rows
        loss : {"squared", "absolute", "log"} or None, default=None
            By default ``|residual|``, or log loss where there is `predict_proba`.
        sample_weight : array-like of shape (n,) or None, default=None
        name : str or None, default=None
            By default the class of the estimator.
        ax : matplotlib Axes or None, default=None
        **kwargs
            For the line.
        """
        losses = estimator_losses(estimator, X, y, loss)
        shown = type(estimator).__name__ if name is None else name
        curve = quantile_curve(losses, sample_weight=sample_weight)
        return cls(curve, name=shown).plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        loss: str = "absolute",
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str = "",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the losses of predictions; see `lrisk.metrics.row_losses`."""
        losses = row_losses(y_true, y_pred, loss, labels=labels)
        curve = quantile_curve(losses, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw into `ax`, or into a new figure."""
        ax = axes_or_new(ax)
        options = ({"label": self.name} if self.name else {}) | kwargs
        (self.line_,) = ax.plot(self.curve.levels, self.curve.values, **options)
        ax.set(xlabel="share of the rows", ylabel="loss")
        if "label" in options:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class SpectrumDisplay:
    """Draw how much each row counts, from the smallest loss to the largest.

    Parameters
    ----------
    curve : SpectrumCurve
        Of `lrisk.analysis.spectrum_curve`.
    name : str, default=""
        For the legend.

    Attributes
    ----------
    line_, mean_ : matplotlib Line2D
        The spectrum, and the plain mean to compare with.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lrisk.analysis.spectrum_curve : The numbers alone.
    lrisk.spectra : All spectra to choose from.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lrisk.displays import SpectrumDisplay
    >>> display = SpectrumDisplay.from_spectrum("extremile:2")
    >>> display.name
    'Extremile(r=2.0)'
    """

    def __init__(self, curve: SpectrumCurve, *, name: str = "") -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the spectrum of an estimator, fitted or not."""
        return cls.from_spectrum(estimator.spectrum, ax=ax, **kwargs)

    @classmethod
    def from_spectrum(
        cls, spectrum: str | Spectrum, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw a spectrum given as an object or as a string."""
        found = parse_spectrum(spectrum)
        return cls(spectrum_curve(found), name=repr(found)).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw into `ax`, or into a new figure."""
        ax = axes_or_new(ax)
        options = {"label": self.name, "color": BLUE} | kwargs
        levels, density = self.curve.levels, self.curve.density
        (self.line_,) = ax.plot(levels, density, drawstyle="steps-mid", **options)
        drawn = [line for line in ax.get_lines() if line.get_gid() == _MEAN]
        mean = {"color": "0.6", "linestyle": ":", "label": "mean", "gid": _MEAN}
        self.mean_ = drawn[0] if drawn else ax.axhline(1.0, **mean)
        ax.set(xlabel="share of the rows, by loss", ylabel="weight against the mean")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
