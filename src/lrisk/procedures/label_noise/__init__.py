"""Classification with an unknown share of wrong labels and wrong rows.

1. Rows far out in their features are set aside if their labels contradict the others or
   spoil the fit to them (`far_rows`); the others are standardised (`rows`).
2. References are cross-fitted on all rows, plain and hopeful (`references`).
3. One likelihood joins them and a matrix of label noise (`likelihood`); what the matrix
   gains on rows that it has not seen says whether labels are wrong (`detection`). A
   row's score is the probability that its label is wrong.
4. The user's model is fitted: ordinary, to agreeing rows, or under the noise, whichever
   makes held-out labels likelier (`final_fit`). Where its features grow with x, rows
   count the less there the farther out they are in any column (`rows`).
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.scales import compress
from .detection import Detection, Detector, flag
from .explanation import explained
from .far_rows import WRONG, FarRows, judge_far_rows
from .final_fit import Choice, Settings, choose, fit
from .likelihood import (
    CONSTANTS,
    class_scores,
    label_terms,
    probabilities,
    uniform_noise,
)
from .references import FeatureModels, Models, confidence_logs, cross_fitted
from .rows import (
    FeatureScaling,
    LabelledRows,
    assign_folds,
    bounded_influence,
    column_units,
    plain_scaling,
    sample_rows,
)

__all__ = [
    "Detection",
    "FeatureScaling",
    "LabelNoiseFit",
    "LabelledRows",
    "Settings",
    "assign_folds",
    "class_scores",
    "column_units",
    "confidence_logs",
    "explained",
    "fit_label_noise",
    "flag",
    "judge_labels",
    "label_terms",
    "plain_scaling",
    "probabilities",
    "uniform_noise",
]

#: Distinct rows below which nothing is judged: the ordinary fit is taken.
FEWEST = 50
#: Standard deviations from where on columns of references count by their logarithm.
COMPRESSED = 6.0


class LabelNoiseFit(NamedTuple):
    """The result, over the rows of positive weight.

    `coefficients`, shape (m, k), are over scaled features (linear kernel) or rows that
    are `centres`; shares in `labels` count the far rows that are wrong; `leverage_rows`
    were left out of the fit for pulling it from far out, not for being wrong.
    """

    coefficients: Floats
    intercept: Floats
    centres: Indices | None
    scaling: FeatureScaling
    choice: Choice
    labels: Detection
    flagged: Bools
    leverage_rows: Bools


def fit_label_noise(
    settings: Settings,
    X: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    rng: np.random.Generator,
    *,
    places: Indices | None = None,
    trusted: Bools | None = None,
) -> LabelNoiseFit:
    """Find the wrong rows, choose a fit, and make it.

    X are rows, shape (n, d), or a kernel matrix; weights, shape (n,), are positive and
    of mean 1, for likelihoods of so many rows are compared. Rows of one of the `places`
    share a fold, by default those that are equal; `trusted` labels are right.
    """
    n, d = X.shape
    given, pairwise = settings.contamination, settings.precomputed
    nobody = np.zeros(n, dtype=bool)
    units, scaling = np.ones(d), FeatureScaling(np.zeros(d), np.ones(d))
    rows = LabelledRows.of(X, codes, n_classes, weight, places, trusted)
    far = FarRows(nobody, np.zeros(n), nobody)
    if not pairwise:
        units = column_units(X)
        rows = rows._replace(Z=FeatureScaling(np.zeros(d), units)(X))
        if given != 0.0 and n >= FEWEST:
            far = judge_far_rows(settings, rows, rng)
    gross = (far.chance > WRONG) & ~rows.trusted
    lost = float(weight[gross].sum() / weight.sum())
    rows = rows._replace(voice=np.where(far.far, 0.0, weight))
    kept = np.flatnonzero(~gross & ~far.leverage_rows)
    rows = rows.only(kept, pairwise)
    if not pairwise:
        scaling = plain_scaling(rows.Z, rows.weight)
        if settings.linear and not settings.intercept:
            scaling = scaling._replace(centre=np.zeros(d))
        rows = rows._replace(Z=scaling(rows.Z))
    if given is not None:
        given = max(given - lost, 0.0) / (1.0 - lost)
        given = min(given, 0.9 * (1.0 - 1.0 / n_classes))
    rows, found = judge_labels(rows, given, rng, precomputed=pairwise)
    if settings.growth:
        calm = bounded_influence(rows.Z, rows.weight) ** settings.growth
        rows = rows._replace(weight=rows.weight * calm, voice=rows.voice * calm)
    choice = choose(settings, rows, found.likely, rng)
    if found.answer != "noise" and choice.kind == "ordinary, noisy labels":
        choice = choice._replace(kind="ordinary")
    coefficients, intercept, centres = fit(
        settings, rows, choice, found.likely, found.suggestion == rows.codes, rng
    )
    score, suggestion = np.where(gross, far.chance, 0.0), codes.copy()
    score[kept], suggestion[kept] = found.score, found.suggestion
    doubted = np.where(gross | (found.answer == "noise"), score, 0.0)
    flagged = flag(doubted, weight, codes)
    share, *interval = (lost + (1.0 - lost) * s for s in (found.share, *found.interval))
    if settings.contamination is not None:
        share, interval = settings.contamination, [settings.contamination] * 2
        flagged = flag(score, weight, codes, share)
    if trusted is not None:
        flagged &= ~trusted
    low, high = map(float, interval)
    labels = found._replace(
        share=float(share), interval=(low, high), score=score, suggestion=suggestion
    )
    scaling = FeatureScaling(scaling.centre * units, scaling.scale * units)
    centres = None if centres is None else kept[centres]
    return LabelNoiseFit(
        coefficients,
        intercept,
        centres,
        scaling,
        choice,
        labels,
        flagged,
        far.leverage_rows,
    )


def judge_labels(
    rows: LabelledRows,
    given: float | None,
    rng: np.random.Generator,
    *,
    precomputed: bool = False,
    models: Models | None = None,
    stated: Floats | None = None,
) -> tuple[LabelledRows, Detection]:
    """What references say of standardised rows, and the rows with folds and agreement.

    `given` is the share of wrong labels, if known. References are made by `models`, by
    default of the columns; `stated`, shape (m, n, K), is log p of others that have not
    seen the labels either.
    """
    n, share = len(rows.codes), given or 0.0
    folds = assign_folds(rows.codes, CONSTANTS.folds, rng, rows.places)
    rows = rows._replace(folds=folds)
    if n < FEWEST or rows.folds.max() < 2:  # two folds leave none to learn from
        answer = "noise" if share else "cannot tell"
        interval = (0.0, 0.5) if given is None else (share, share)
        noise, right = uniform_noise(share, rows.n_classes), np.eye(rows.n_classes)
        truth = right[rows.codes]
        if stated is not None:
            told = probabilities(np.mean(stated, axis=0))
            truth = np.where(rows.trusted[:, None], truth, told)
        return rows._replace(folds=np.full(n, -1)), Detection(
            answer,
            share,
            interval,
            noise,
            np.clip(1.0 - truth[np.arange(n), rows.codes], 0.0, 1.0),
            np.asarray(truth.argmax(axis=1)),
            noise if share else None,
        )
    learnt = sample_rows(rows.codes, CONSTANTS.trained, rng)
    if models is None:
        Z = rows.Z if precomputed else compress(rows.Z, COMPRESSED)
        models = FeatureModels(rows._replace(Z=Z), precomputed, rng, learnt)
    logs, agreeing = cross_fitted(models, rows, learnt)
    rows = rows._replace(agreeing=agreeing)
    if stated is not None:
        logs = np.concatenate([logs, stated])
    return rows, Detector(logs, rows, learnt).detect(given)
