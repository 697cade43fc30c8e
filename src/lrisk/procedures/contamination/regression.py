"""Regression with an unknown share of wrong rows: judge, drop, hold back, fit."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats
from ...spaces import Kernel
from .final_fit import (
    Components,
    KernelFit,
    LinearFit,
    fit_kernel,
    fit_linear,
)
from .leverage import pulling_rows
from .reference import capped_error
from .robust_scale import half_scale
from .table import Judgement

#: Chance above which a row takes no part in the fit.
DROPPED_ABOVE = 0.5
#: Source of a judgement under which no row may be left out.
NOT_ASKED = "not asked"
#: Scales beyond which the final fit holds residuals back, and its reweighting steps.
HUBER_SCALES, HUBER_STEPS = 1.5, 4


class Model(NamedTuple):
    """What is fitted in the end: "linear" or a kernel, penalties given or searched."""

    kernel: Kernel
    alpha: float | None
    search_gamma: bool
    components: Components | None = None

    @property
    def linear(self) -> bool:
        """Whether the coefficients are of columns."""
        return self.kernel.name == "linear"

    def fit(self, X: Floats, y: Floats, weights: Floats) -> LinearFit | KernelFit:
        """The ordinary fit of weighted rows."""
        if self.linear:
            return fit_linear(X, y, weights, self.alpha)
        return fit_kernel(
            X,
            y,
            weights,
            self.kernel,
            alpha=self.alpha,
            search_gamma=self.search_gamma,
            components=self.components,
        )

    def settled(self, fit: LinearFit | KernelFit) -> "Model":
        """The same model with the penalties that a fit has found."""
        kernel = fit.kernel if isinstance(fit, KernelFit) else self.kernel
        return Model(kernel, fit.alpha, False, self.components)


class RobustFit(NamedTuple):
    """The fit, the rows it rests on, and how it compares with the ordinary one.

    pulling : rows left out only for their leverage
    errors : capped leave-one-out errors on the rows kept, by the name of the fit
    """

    fit: LinearFit | KernelFit
    kept: Bools
    pulling: Bools
    chosen: str
    errors: dict[str, float]


def fit_judged(
    model: Model, X: Floats, y: Floats, weights: Floats, judgement: Judgement
) -> RobustFit:
    """The ordinary fit where nothing was found, else Huber's of what belongs.

    Rows that probably do not belong are left out, the others weighted by their chance
    to belong. The start holds targets within the core of the noise round the flexible
    reference; the fit then holds them within 1.5 scales of itself. The errors compare
    the fits on the rows kept, with one cap.
    """
    dropped = judgement.chance > DROPPED_ABOVE
    pulling = np.zeros(len(y), dtype=bool)
    if model.linear and judgement.source != NOT_ASKED:
        free = ~dropped
        pulling[free] = pulling_rows(
            X[free], y[free], weights[free], judgement.group[free], model.alpha
        )
    with np.errstate(over="ignore", invalid="ignore"):  # of targets soon left out
        ordinary = model.fit(X, y, weights)
    kept = ~(dropped | pulling)
    if kept.all():
        return RobustFit(ordinary, kept, pulling, "ordinary", {})
    weights = (weights * (1.0 - judgement.chance))[kept]
    before = ordinary.left_out[kept]
    X, y = X[kept], y[kept]
    if dropped.any():
        chosen = "robust"
        held = judgement._replace(
            expected=judgement.expected[kept], scale=judgement.scale[kept]
        ).winsorised(y)
        start = model.fit(X, held, weights)
        start = start._replace(left_out=start.left_out + (y - held))
        fit = _huber(model.settled(start), X, y, weights, start)
    else:
        chosen, fit = "without leverage", model.fit(X, y, weights)
    cap = 3.0 * max(half_scale(fit.left_out), 1e-300)
    errors = {
        chosen: capped_error(fit.left_out, cap),
        "ordinary": capped_error(before, cap),
    }
    return RobustFit(fit, kept, pulling, chosen, errors)


def _huber(
    model: Model, X: Floats, y: Floats, weights: Floats, start: LinearFit | KernelFit
) -> LinearFit | KernelFit:
    """Huber's M-estimate by reweighting; its scale is the start's."""
    fit = start
    cut = HUBER_SCALES * half_scale(start.left_out)
    for _ in range(HUBER_STEPS if cut > 0.0 else 0):
        factors = np.minimum(1.0, cut / np.maximum(np.abs(fit.left_out), cut))
        fit = model.fit(X, y, weights * factors)
    return fit
