"""Held-out losses of the three fits, their sensitivity, and coefficients."""

import math

import numpy as np

from ..._typing import AnyArray, Bools, Floats
from ...metrics import loss_quantiles, risk_interval
from ...metrics.intervals import FEWEST_IN_TAIL
from ...ranking import risk
from ...spectra import Superquantile, parse_spectrum
from .crossfit import OWN, SHARES, CrossFit
from .facts import BesideConstant, CoefficientShift, LossCurve, Sensitivity
from .models import Recipe

#: Levels of the quantile curve; level of the superquantile if the spectrum has none.
LEVELS = np.linspace(0.0, 1.0, 101)
LEVEL = 0.9
#: Resamples of the tail's interval, and rows above which it is not worth their time.
RESAMPLES, MOST_RESAMPLED = 199, 100_000
#: Most coefficients shown.
MOST_COEFFICIENTS = 40


def tail_level(spectrum: str) -> float:
    """The level of the superquantile that is reported: the spectrum's own or 0.9."""
    parsed = parse_spectrum(spectrum)
    return float(parsed.q) if isinstance(parsed, Superquantile) else LEVEL


def loss_curves(found: CrossFit, recipe: Recipe, kept: Bools) -> list[LossCurve]:
    """Mean, median, tail and quantile curve of every fit's held-out losses.

    Over the rows that are `kept`, of shape (m,); no curves over no rows.
    """
    if not kept.any():
        return []
    level = tail_level(recipe.spectrum)
    used = found.whole.tail_spectrum.replace(":", " ").replace("_", " ")
    labels = {
        "ordinary": "ordinary fit",
        "robust": "robust fit",
        "tail": f"tail-risk fit ({used})",
        **({OWN: found.own_label} if found.own_label else {}),
    }
    return [
        _curve(
            name,
            label,
            found.losses[name][kept],
            level,
            math.nan if recipe.regression else float(found.right[name][kept].mean()),
        )
        for name, label in labels.items()
    ]


def _curve(
    name: str, label: str, losses: Floats, level: float, accuracy: float
) -> LossCurve:
    values = loss_quantiles(losses, LEVELS)
    tail, low, high = f"superquantile:{level}", math.nan, math.nan
    if (1.0 - level) * len(losses) >= FEWEST_IN_TAIL and len(losses) <= MOST_RESAMPLED:
        _, low, high, _ = risk_interval(losses, tail, n_resamples=RESAMPLES)
    return LossCurve(
        name=name,
        label=label,
        mean=float(losses.mean()),
        median=float(np.median(losses)),
        q95=float(loss_quantiles(losses, [0.95])[0]),
        superquantile=float(risk(losses, tail)),
        levels=[float(u) for u in LEVELS],
        values=[float(v) for v in values],
        accuracy=accuracy,
        superquantile_low=max(low, 0.0),
        superquantile_high=high,
        rows=len(losses),
    )


def beside_constant(
    found: CrossFit, y: AnyArray, recipe: Recipe, fine: Bools
) -> BesideConstant | None:
    """The user's own model beside a constant, on rows that nobody doubts.

    Wrong rows would rule the mean of the targets, and what it costs. Errors are not
    squared: a model of medians is as good as one of means.

    Parameters
    ----------
    found : CrossFit
    y : array of shape (m,)
        Targets, or codes of classes.
    recipe : Recipe
    fine : array of bool of shape (m,)
        Rows that are neither flagged nor explained by a finding.
    """
    if not found.own_label:
        return None
    fine = fine if fine.any() else np.ones(len(y), dtype=bool)
    own, rows = y[fine], int(fine.sum())
    if recipe.regression:
        constant = float(np.mean(np.abs(own - own.mean())))
        return BesideConstant(
            found.own_label, "mean", "mean |error|",
            float(found.losses[OWN][fine].mean()), constant, rows,
            found.own_offset, float(np.median(found.scale)),
        )  # fmt: skip
    commonest = float(np.bincount(own.astype(np.int64)).max()) / rows
    right = float(found.right[OWN][fine].mean())
    return BesideConstant(
        found.own_label, "most frequent class", "accuracy", right, commonest, rows
    )


def sensitivity(found: CrossFit) -> list[Sensitivity]:
    """Held-out loss of ordinary fits without shares of the worst training rows."""
    return [
        Sensitivity(share, float(losses.mean()), float(np.median(losses)))
        for share, losses in zip(SHARES, found.trimmed, strict=True)
    ]


def coefficient_shifts(found: CrossFit) -> list[CoefficientShift]:
    """Coefficients of the fits to all rows, those that differ most first.

    Of several classes the root mean square over them is taken.
    """
    whole = found.whole
    fits = (whole.ordinary, whole.robust, whole.tail)
    if not all(hasattr(fit, "coef_") for fit in fits):
        return []
    table = np.column_stack([_flat(np.asarray(fit.coef_)) for fit in fits])
    moved = np.abs(table - table[:, :1]).max(axis=1)
    order = np.argsort(-moved, kind="stable")[:MOST_COEFFICIENTS]
    prepared = whole.preparation
    columns = [prepared.columns[at].name for at in prepared.origin_]
    shown = []
    for j in order:
        ordinary, robust, tail = map(float, table[j])
        name = prepared.names_[j]
        shown.append(CoefficientShift(name, ordinary, robust, tail, columns[j]))
    return shown


def _flat(coefficients: Floats) -> Floats:
    if coefficients.ndim == 2 and len(coefficients) > 1:
        centred = coefficients - coefficients.mean(axis=0)
        return np.asarray(np.sqrt(np.mean(centred**2, axis=0)))
    return coefficients.ravel()
