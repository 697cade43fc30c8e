"""Regression with an unknown share of wrong rows: judge, leave out, hold back, fit."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...spaces import Kernel
from .._robust.scales import half_scale
from .constants import CONSTANTS as C
from .detection import Detection
from .kernel_fit import Components, KernelFit, fit_kernel
from .leverage import find_leverage_rows
from .line import majority_line
from .linear_fit import LinearFit, fit_linear, standard_errors
from .reference import capped_error

#: Source of a detection under which no row may be left out.
NOT_ASKED = "not asked"


class Model(NamedTuple):
    """What is fitted in the end: "linear" or a kernel, penalties given or searched.

    intercept : whether f may be other than 0 at the origin of X, or where no kernel is
    """

    kernel: Kernel
    alpha: float | None
    search_gamma: bool
    components: Components | None = None
    intercept: bool = True

    @property
    def linear(self) -> bool:
        """Whether the coefficients are of columns."""
        return self.kernel.name == "linear"

    def parameters_of(self, fit: LinearFit | KernelFit) -> "Model":
        """The same with the penalty, and the width, that a fit has."""
        if isinstance(fit, LinearFit):
            return self._replace(alpha=fit.alpha)
        return self._replace(alpha=fit.alpha, kernel=fit.kernel, search_gamma=False)

    def fit(
        self,
        X: Floats,
        y: Floats,
        weights: Floats,
        factors: Floats | None = None,
        places: Indices | None = None,
    ) -> LinearFit | KernelFit:
        """The fit of weighted rows, some of them held back by factors.

        Rows of one of the `places` are left out of a kernel fit together.
        """
        if self.linear:
            origin = None if self.intercept else np.zeros(X.shape[1])
            return fit_linear(X, y, weights, self.alpha, factors, origin=origin)
        return fit_kernel(
            X,
            y,
            weights,
            self.kernel,
            alpha=self.alpha,
            search_gamma=self.search_gamma,
            components=self.components,
            factors=factors,
            intercept=self.intercept,
            places=places,
        )


class RobustFit(NamedTuple):
    """The fit, and which rows it rests on.

    leverage_rows : rows left out only because they do not fit the line of the majority
    belong : rows that were judged wrong where only the line knows better, and it fits
        them
    chosen : "ordinary", "held back", "robust" or "without leverage"
    errors : capped leave-one-out errors on the rows kept, by the name of the fit
    coef_se : standard errors of the coefficients of a line
    kept : rows of the fit; None for all
    """

    fit: LinearFit | KernelFit
    leverage_rows: Bools
    belong: Bools
    chosen: str
    errors: dict[str, float]
    coef_se: Floats | None = None
    kept: Bools | None = None


class RowWeights(NamedTuple):
    """How much each row counts in a fit.

    factors : 1 for an ordinary row, 0 for none
    final : the same once width and penalty are chosen
    dropped : rows that were judged wrong
    belong, leverage_rows : see `RobustFit`
    ruling : rows that must not choose the penalty
    doubtful : rows left out that a line may let in again
    """

    factors: Floats
    final: Floats
    dropped: Bools
    belong: Bools
    leverage_rows: Bools
    ruling: Bools
    doubtful: Bools


def fit_judged(
    model: Model,
    X: Floats,
    y: Floats,
    weights: Floats,
    detection: Detection,
    rng: np.random.Generator,
    places: Indices | None = None,
) -> RobustFit:
    """The fit of the rows that belong, none of which can pull it far.

    Rows that probably do not belong are left out, and residuals are held within three
    scales of a fit that a minority cannot move: the line of the majority, or for other
    kernels the reference by which rows were judged. Where nobody is left out or held
    back this is the ordinary fit. The errors compare both on the rows kept, with one
    cap.
    """

    def fit_of(model: Model, rows: Bools, factors: Floats) -> LinearFit | KernelFit:
        own = None if places is None else places[rows]
        return model.fit(X[rows], y[rows], weights[rows], factors[rows], own)

    no_rows = np.zeros(len(y), dtype=bool)
    if detection.source == NOT_ASKED:
        ordinary = model.fit(X, y, weights, places=places)
        se = _errors_of(ordinary, X, weights)
        return RobustFit(ordinary, no_rows, no_rows, "ordinary", {}, se)
    with np.errstate(over="ignore", invalid="ignore"):  # of targets soon left out
        ordinary = model.fit(X, y, weights, places=places)
    if model.linear:
        found = _weights_by_line(model, X, y, weights, detection, rng)
    else:
        found = _weights_by_reference(y, detection)
    factors, final, dropped, belong, leverage_rows, ruling, doubtful = found
    if np.all(factors == 1.0) and not ruling.any():
        se = _errors_of(ordinary, X, weights)
        return RobustFit(ordinary, leverage_rows, belong, "ordinary", {}, se)
    kept = factors > 0.0
    sure = kept & ~ruling
    fit = fit_of(model, sure, factors)
    if np.any(final[kept] != np.where(sure, factors, 0.0)[kept]):
        model = model.parameters_of(fit)
        fit = fit_of(model, kept, final)
    if isinstance(fit, LinearFit) and doubtful.any():
        back = doubtful & _foreseen(fit, X, y, detection)
        final, kept = np.where(back, 1.0, final), kept | back
        model = model.parameters_of(fit)
        fit = fit_of(model, kept, final)
    chosen = "robust" if dropped.any() else "without leverage"
    if kept.all():
        chosen = "held back"
    cap = 3.0 * max(half_scale(fit.left_out), 1e-300)
    errors = {
        chosen: capped_error(fit.left_out, cap),
        "ordinary": capped_error(ordinary.left_out[kept], cap),
    }
    se = _errors_of(fit, X[kept], weights[kept], final[kept])
    return RobustFit(fit, leverage_rows, belong, chosen, errors, se, kept)


def _errors_of(
    fit: LinearFit | KernelFit,
    X: Floats,
    weights: Floats,
    factors: Floats | None = None,
) -> Floats | None:
    """Standard errors of the coefficients, if there are some."""
    if isinstance(fit, KernelFit):
        return None
    return standard_errors(
        fit, X, weights, np.ones(len(X)) if factors is None else factors
    )


def _foreseen(fit: LinearFit, X: Floats, y: Floats, detection: Detection) -> Bools:
    """Rows of usual leverage that a line foresees within the noise.

    Three scales, of its own residuals or of the noise about the reference, whichever is
    less: where the line is right, the reference, fitted to fewer rows, is the one that
    errs, and cutting the noise about it would pull the line there; where the relation
    is curved, a row so near to the line can do it no harm.
    """
    noise = float(np.median(detection.scale)) * detection.core_scale
    noise = min(noise, half_scale(fit.left_out))
    with np.errstate(over="ignore"):
        near = np.abs(y - fit.predict(X)) <= C.held_beyond * noise
    usual = C.usual_leverage * (X.shape[1] + 1) / fit.mass
    near[near] = fit.leverage(X[near]) <= usual
    return near


def _weights_by_reference(y: Floats, detection: Detection) -> RowWeights:
    """How much rows count, by the reference by which they were judged.

    A row also counts by the chance that it belongs, but not where width and penalty are
    chosen: the doubtful rows of a reference are those of the peaks that it has
    smoothed.
    """
    no_rows = np.zeros(len(y), dtype=bool)
    dropped = detection.misfit > C.dropped_above
    u = np.abs(detection.in_core_scales(y))
    factors = C.held_beyond / np.maximum(u, C.held_beyond)
    factors[dropped] = 0.0
    final = factors * (1.0 - detection.misfit)
    return RowWeights(factors, final, dropped, no_rows, no_rows, no_rows, no_rows)


def _weights_by_line(
    model: Model,
    X: Floats,
    y: Floats,
    weights: Floats,
    detection: Detection,
    rng: np.random.Generator,
) -> RowWeights:
    """How much rows count, by the line of the majority.

    Rows judged wrong do not count, but those far from all others, where the flexible
    reference only guesses, are left to the line. Nor do rows as far out as wrong ones
    on the other side: the noise is cut at both ends, or its mean would move.
    """
    dropped = detection.misfit > C.dropped_above
    asked = ~dropped | detection.apart
    usual = ~dropped
    usual[usual] = ~find_leverage_rows(
        X[usual],
        y[usual],
        weights[usual],
        detection.group[usual],
        model.alpha,
        model.intercept,
    )
    asked &= usual | dropped
    known = np.abs(detection.in_core_scales(y)) <= C.held_beyond
    part = slice(None) if asked.all() else asked  # no copy of a large table
    line = majority_line(
        X[part],
        y[part],
        weights[part],
        usual[part],
        known[part],
        model.alpha,
        rng,
        model.intercept,
    )
    factors = np.zeros(len(y))
    factors[asked] = line.factors
    ruling = np.zeros(len(y), dtype=bool)
    ruling[asked] = line.ruling
    belong = dropped & (factors == 1.0)
    dropped = dropped & ~belong
    factors[dropped] = 0.0
    leverage_rows = ~((factors > 0.0) | dropped)
    tails = detection.mirrored & ~leverage_rows
    factors[tails] = 0.0
    doubtful = tails if detection.source == "told" else dropped | tails
    return RowWeights(
        factors, factors, dropped, belong, leverage_rows, ruling, doubtful
    )
