"""What to do with rows that are far out in their features.

A row is far if its features *as a whole* lie far beyond the bulk: the mean over columns
of log(1 + |z|), with z in robust units, far above its median. A skewed column, a rare
category or a heavy tail in one or two columns moves that mean little.

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

from ..._typing import Bools, Floats, Indices
from .._robust.scales import mean_log_distance
from .final_fit import LINEAR_ALPHAS, Settings, calibrated
from .likelihood import class_scores, fit_logistic, held_out_scores, uniform_noise
from .rows import LabelledRows, assign_folds, linear_basis, plain_scaling, sample_rows

#: A class of which more than this share is far is itself elsewhere.
WHOLE_CLASS = 0.9
#: Many far rows widen the scale of all, behind which some of them hide: after the first
#: pass it is the scale of the rows not yet found.
PASSES = 2
#: Probability above which a far row is wrong.
WRONG = 0.7
#: Chance of so little agreement by labels drawn at random, at most.
LEVEL = 0.01
#: By how much a linear fit must beat the agreement of wrong labels to be asked at all.
TELLING = 0.2
#: Nats by which labels of the other rows must be likelier without the far ones.
GAIN = 5.0
#: Rows on which that is judged, at most, and shares of wrong labels supposed there.
JUDGED, SUPPOSED = 500, (0.005, 0.1, 0.3)


class FarRows(NamedTuple):
    """Far rows, the chance that they are wrong, and those that spoil the fit; (n,)."""

    far: Bools
    chance: Floats
    leverage_rows: Bools


def gross_rows(X: Floats, codes: Indices, weight: Floats) -> Bools:
    """Which rows are far out in their features as a whole, shape (n,).

    None if that were half of the weight, and none of a class that is almost wholly far
    out: such a class is somewhere else, not wrong.
    """
    gross = np.zeros(len(X), dtype=bool)
    for _ in range(PASSES):
        distance, limit = mean_log_distance(X, weight, ~gross)
        found = gross | (distance > limit)
        if weight @ found >= 0.5 * weight.sum():
            break
        gross = found
    for code in np.unique(codes[gross]):
        rows = codes == code
        if weight[rows] @ gross[rows] > WHOLE_CLASS * weight[rows].sum():
            gross[rows] = False
    return np.asarray(gross, dtype=bool)


def judge_far_rows(
    settings: Settings, rows: LabelledRows, rng: np.random.Generator
) -> FarRows:
    """Find far rows, and which of them are wrong or pulling; rows are not scaled."""
    far = gross_rows(rows.Z, rows.codes, rows.weight)
    chance, nobody = np.zeros(len(far)), np.zeros(len(far), dtype=bool)
    if not far.any():
        return FarRows(far, chance, nobody)
    rows = rows._replace(Z=plain_scaling(rows.Z[~far], rows.weight[~far])(rows.Z))
    near = _sample(rows, ~far, JUDGED, rng)
    chance[far] = _wrong(rows.only(np.flatnonzero(far)), near, rng)
    others = far & (chance <= WRONG)
    if others.any():
        added = _sample(rows, others, JUDGED // 2, rng)
        if _spoil(settings, near, added, rng):
            return FarRows(far, chance, others)
    return FarRows(far, chance, nobody)


def _sample(
    rows: LabelledRows, which: Bools, most: int, rng: np.random.Generator
) -> LabelledRows:
    own = np.flatnonzero(which)
    return rows.only(own[sample_rows(rows.codes[own], most, rng)])


def _guess(scores: Floats) -> Indices:
    return np.asarray(class_scores(scores).argmax(axis=1))


def _wrong(far: LabelledRows, near: LabelledRows, rng: np.random.Generator) -> Floats:
    """Probability that each far row is wrong; zeros unless their labels contradict.

    With a the share of the other rows whose held-out label the linear fit guesses, and
    e = (1 − a)/(K − 1) that of wrong labels, an agreement A = (1 − q)a + qe of the far
    rows says that a share q of them is wrong.
    """
    basis = linear_basis(near.Z, near.weight)
    folds = assign_folds(near.codes, 5, rng)
    tables = held_out_scores(basis.features, near, folds, LINEAR_ALPHAS)
    asked = np.where(folds >= 0, near.weight, 0.0) + 1e-300
    right = [np.average(_guess(t) == near.codes, weights=asked) for t in tables]
    accuracy, alpha = max(zip(map(float, right), -LINEAR_ALPHAS))
    theta = fit_logistic(basis.features, near, -alpha)
    coefficients, intercept = basis.coefficients(theta)
    guess = _guess(far.Z @ coefficients + intercept)
    by_chance = (1.0 - accuracy) / (far.n_classes - 1)
    mass, seen = far.weight / far.weight.sum(), far.codes
    agreement = float(mass @ (guess == seen))
    counts = (np.bincount(codes, mass, far.n_classes) for codes in (guess, seen))
    random = min(float(np.prod(list(counts), axis=0).sum()), 1.0)
    rare = bdtr(np.floor(agreement * len(seen) + 1e-9), len(seen), random)
    if accuracy - by_chance < TELLING or rare > LEVEL:
        return np.zeros(len(seen))
    share = min((accuracy - agreement) / (accuracy - by_chance), 1.0)
    wrong = share * np.where(guess == seen, by_chance, 1.0 - by_chance)
    valid = (1.0 - share) * np.where(guess == seen, accuracy, 1.0 - accuracy)
    return np.asarray(wrong / np.maximum(wrong + valid, 1e-300))


def _spoil(
    settings: Settings,
    near: LabelledRows,
    added: LabelledRows,
    rng: np.random.Generator,
) -> bool:
    """Whether held-out labels of near rows are clearly likelier without the others."""
    widths = settings.widths(near.Z.shape[1])
    folds = assign_folds(near.codes, 5, rng)
    values = []
    for extra in (added.only(np.arange(0)), added):
        rows = near._replace(
            Z=np.concatenate([near.Z, extra.Z]),
            codes=np.concatenate([near.codes, extra.codes]),
            weight=np.concatenate([near.weight, extra.weight]),
            trusted=np.concatenate([near.trusted, extra.trusted]),
        )
        held = np.concatenate([folds, np.full(len(extra.codes), -1)])
        basis = settings.basis(rows.Z, rows.weight, widths[len(widths) // 2])
        tables = held_out_scores(basis.features, rows, held, settings.alphas())
        supposed = [uniform_noise(share, near.n_classes) for share in SUPPOSED]
        free, own = settings.alpha is None, (near.codes, near.weight)
        found = [
            calibrated(table[: len(folds)], *own, noise, free)[0]
            for table in tables
            for noise in supposed
        ]
        values.append(max(found))
    return values[0] > values[1] + GAIN
