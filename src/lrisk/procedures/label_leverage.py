"""What to do with rows that are far out in their features.

Far is not wrong: tails are heavy, and groups lie apart. Far rows are wrong only if
their labels *contradict* what a linear fit to the others says of them: they agree with
it more rarely than labels drawn at random from the same rows would. A group that lies
all on one side of that fit cannot contradict it, whatever its own rule is.

Far rows that are not wrong stay in the fit, but have no say in how many labels are
wrong: noise that is slight among the others looks like a sure contradiction far out.
They leave the fit only if held-out labels of the others are clearly likelier without
them: then the model cannot follow both.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

from .._typing import Bools, Floats, Indices
from .label_choice import LINEAR_ALPHAS, alphas_of, widths_of
from .label_fits import (
    Basis,
    LabelModel,
    assign_folds,
    held_out_scores,
    kernel_basis,
    linear_basis,
)
from .label_pilot import LabelNoiseSettings, sample_rows
from .label_rows import gross_rows, plain_scaling
from .label_selection import judge

#: Chance of so little agreement by labels drawn at random, at most.
LEVEL = 0.01
#: By how much a linear fit must beat the agreement of wrong labels to be asked at all.
TELLING = 0.2
#: Share of wrong labels among far rows from where on all of them are called wrong.
ALL_WRONG = 0.9
#: Nats by which labels of the other rows must be likelier without the far ones.
GAIN = 5.0
#: Rows on which that is judged, at most.
JUDGED = 500


class FarRows(NamedTuple):
    """What was found of far rows.

    Attributes
    ----------
    far : array of bool of shape (n,)
    chance : array of shape (n,)
        Probability that a far row is wrong; 0 for others.
    pulling : array of bool of shape (n,)
        Far rows that are not known to be wrong, but spoil the fit.
    """

    far: Bools
    chance: Floats
    pulling: Bools


def judge_far_rows(
    settings: LabelNoiseSettings,
    X: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    rng: np.random.Generator,
    *,
    flag: float,
) -> FarRows:
    """Find far rows, and which of them are wrong (chance above `flag`) or pulling."""
    far = gross_rows(X, codes, weight)
    chance, nobody = np.zeros(len(codes)), np.zeros(len(codes), dtype=bool)
    if not far.any():
        return FarRows(far, chance, nobody)
    Z = plain_scaling(X[~far], weight[~far])(X)
    chance[far] = _wrong(Z, codes, n_classes, weight, far, rng)
    others = far & (chance <= flag)
    if others.any() and _spoil(
        settings, Z, codes, n_classes, weight, ~far, others, rng
    ):
        return FarRows(far, chance, others)
    return FarRows(far, chance, nobody)


def _wrong(
    Z: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    far: Bools,
    rng: np.random.Generator,
) -> Floats:
    """Probability that each far row is wrong; zeros unless their labels contradict.

    With a the share of the other rows whose held-out label the linear fit guesses, and
    e = (1 − a)/(K − 1) that of wrong labels, an agreement A = (1 − q)a + qe of the far
    rows says that a share q of them is wrong.
    """
    near = np.flatnonzero(~far)
    near = near[sample_rows(codes[near], JUDGED, rng)]
    basis = linear_basis(Z[near], weight[near] / weight[near].sum(), True)
    folds = assign_folds(codes[near], 5, rng)
    table = held_out_scores(
        basis.features, codes[near], n_classes, weight[near], folds, LINEAR_ALPHAS
    )
    right = [
        np.average(_guess(scores) == codes[near], weights=weight[near])
        for scores in table
    ]
    best = len(right) - 1 - int(np.argmax(right[::-1]))
    model = LabelModel(basis.features, codes[near], n_classes, weight[near])
    coefficients, intercept = basis.coefficients(model.fit(LINEAR_ALPHAS[best]))
    guess = _guess(Z[far] @ coefficients + intercept)
    accuracy = float(right[best])
    by_chance = (1.0 - accuracy) / (n_classes - 1)
    mass, seen = weight[far] / weight[far].sum(), codes[far]
    agreement = float(mass @ (guess == seen))
    random = float(
        np.bincount(guess, mass, n_classes) @ np.bincount(seen, mass, n_classes)
    )
    rare = bdtr(np.floor(agreement * len(seen) + 1e-9), len(seen), min(random, 1.0))
    if accuracy - by_chance < TELLING or rare > LEVEL:
        return np.zeros(len(seen))
    share = min((accuracy - agreement) / (accuracy - by_chance), 1.0)
    if share >= ALL_WRONG:
        return np.ones(len(seen))
    wrong = share * np.where(guess == seen, by_chance, 1.0 - by_chance)
    valid = (1.0 - share) * np.where(guess == seen, accuracy, 1.0 - accuracy)
    return np.asarray(wrong / np.maximum(wrong + valid, 1e-300))


def _guess(scores: Floats) -> Indices:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


def _spoil(
    settings: LabelNoiseSettings,
    Z: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    near: Bools,
    others: Bools,
    rng: np.random.Generator,
) -> bool:
    """Whether held-out labels of near rows are clearly likelier without the others."""
    asked = np.flatnonzero(near)
    asked = asked[sample_rows(codes[asked], JUDGED, rng)]
    added = np.flatnonzero(others)
    added = added[sample_rows(codes[added], JUDGED // 2, rng)]
    folds = assign_folds(codes[asked], 5, rng)
    gamma = widths_of(settings, Z.shape[1])
    width = gamma[len(gamma) // 2]
    alphas = alphas_of(settings)[:: 2 if settings.alpha is None else 1]
    values = []
    for rows in (asked, np.concatenate([asked, added])):
        basis = _basis(settings, Z[rows], weight[rows], width)
        held = np.concatenate([folds, np.full(len(rows) - len(asked), -1)])
        tables = held_out_scores(
            basis.features, codes[rows], n_classes, weight[rows], held, alphas
        )
        judged = [
            judge(
                settings.own,
                width,
                float(alpha),
                0.0,
                table[None, : len(asked)],
                codes[asked],
                n_classes,
                weight[asked],
                recalibrate=settings.alpha is None,
            )
            for alpha, table in zip(alphas, tables)
        ]
        values.append(max(float(np.max(one.likelihood)) for one in judged))
    without, together = values
    return without > together + GAIN


def _basis(
    settings: LabelNoiseSettings, Z: Floats, weight: Floats, gamma: float | None
) -> Basis:
    mass = weight / weight.sum()
    if settings.own == "linear":
        return linear_basis(Z, mass, settings.intercept)
    K = settings.kernel(gamma)(Z, Z)
    return kernel_basis(K, mass, settings.intercept, Z.shape[1])
