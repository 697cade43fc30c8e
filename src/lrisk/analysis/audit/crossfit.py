"""Cross-fitting: every row is judged by models that have not seen it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._params import refused
from ..._typing import AnyArray, Bools, Floats, Indices
from ...procedures.label_noise import assign_folds
from ...procedures.outliers.constants import CONSTANTS
from ...procedures.outliers.feature_errors import contradicted_values
from ...tables import Preparation, Table
from .models import (
    LEAST_PROBABILITY,
    LabelJudge,
    Recipe,
    expect,
    fitted,
    rounding,
    tail_fit,
)

#: The fits that are compared, and the name of the user's own beside them.
FITS, OWN = ("ordinary", "robust", "tail"), "own"
#: Folds; least rows of an audit; most training rows of linear and of kernel fits.
FOLDS, FEWEST = 5, 10
MOST_LINEAR, MOST_KERNEL = 20_000, 2_000
#: Training rows of classes from which on there are two folds: half of them are enough.
MANY_OF_CLASSES = 5000
#: How often a fold that contradicts all rows together is fitted anew.
ATTEMPTS = 2
#: Rows judged at once.
BLOCK = 20_000
#: Rows by which wrong feature values are judged.
PILOT = 1000
#: Folds that must agree that rows are wrong if all rows together say so, and otherwise.
SECONDED, OVERRULED = 2, 4
#: Share of wrong rows that scores are asked under, at most.
MOST = 0.49
#: Shares of the worst rows left out of training for the sensitivity curve.
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)

Progress = Callable[[str, float], None]


class Fits(NamedTuple):
    """Fits to all training rows, or models that have not seen the rows of one fold.

    matrix, targets : the training rows of the robust fit
    """

    preparation: Preparation
    ordinary: Any
    robust: Any
    tail: Any
    tail_spectrum: str
    matrix: Floats
    targets: AnyArray


class CrossFit(NamedTuple):
    """What cross-fitting found, per used row.

    Attributes
    ----------
    rows : array of shape (m,)
        Used rows, as positions in the table.
    fold : array of shape (m,)
    certain : bool
        Whether the table has rows that do not fit, by agreement of the fits.
    share : float
    interval : tuple of float
    scores : array of shape (m,)
    expected, scale : arrays of shape (m,)
        Regression: what was expected and the noise scale. Classification: the label's
        probability, and ones.
    losses : dict of arrays of shape (m,)
    right : dict of arrays of bool of shape (m,)
        Whether a fit predicts the row's class; of quantities never.
    trimmed : array of shape (len(SHARES), k)
        Losses at some held-out rows without the worst rows in training.
    least_scale : float
        Noise scales are no less: `rounding` of the targets.
    likeliest : array of int of shape (m,)
        Class that is predicted for each row; of quantities zeros.
    suggested : array of int of shape (m,)
        The likeliest true class of each row, label and columns together.
    noise : array of shape (n_classes, n_classes)
        noise[k, j]: probability that a row of class k is labelled j.
    own_label : str
        What the user's own model is called, if rows were judged by one.
    own_offset : float
        What was added to all of its predictions of a quantity before rows were judged.
    """

    rows: Indices
    fold: Indices
    certain: bool
    share: float
    interval: tuple[float, float]
    scores: Floats
    expected: Floats
    scale: Floats
    losses: dict[str, Floats]
    right: dict[str, Bools]
    trimmed: Floats
    folds: list[Fits]
    whole: Fits
    n_training: int
    least_scale: float
    likeliest: Indices
    suggested: Indices
    noise: Floats
    own_label: str = ""
    own_offset: float = 0.0


def cross_fit(table: Table, recipe: Recipe, progress: Progress) -> CrossFit:
    """Fit on all but one fold, judge the fold, for every fold.

    Parameters
    ----------
    table : Table
    recipe : Recipe
    progress : callable
        Told the name of a step and the share of the work that it ends.
    """
    rng, rows = np.random.default_rng(recipe.random_state), np.flatnonzero(table.used)
    if len(rows) < FEWEST:
        rule, remedy = f"known in at least {FEWEST} rows", "audit a larger table"
        raise ValueError(refused("audit", "target", rule, len(rows), remedy))
    if not table.features:
        rule = "of at least one column that varies and is no identifier"
        raise ValueError(refused("audit", "data", rule, "none", "add features"))
    y = table.y[rows]
    fold = _folds(recipe, y, rng)
    columns = table.features
    some = rng.permutation(len(y))[:MOST_KERNEL]
    X = Preparation(columns).fit(rows[some]).transform(rows[some])
    recipe = recipe.judging(X, y[some], fold[some])
    training = _training(recipe, y, rng)
    if not recipe.regression and len(training) >= MANY_OF_CLASSES:
        fold = assign_folds(y.astype(np.int64), 2, rng)
    n_folds = int(fold.max()) + 1
    whole = _whole(columns, recipe, rows[training], y[training])
    recipe = recipe._replace(spectrum=whole.tail_spectrum)
    progress("all rows together", 1.0 / (n_folds + 2))
    own = _by_own_model(table, recipe, rows, fold, whole)
    folds, trimmed = [], []
    for k in range(n_folds):
        others = fold[training] != k
        at, held = training[others], training[~others]
        fine = whole.robust.inlier_mask_[others]
        fits, models = _fold(columns, recipe, rows[at], y[at], fine, whole)
        X = fits.preparation.transform(rows[held])
        folds.append(fits)
        trimmed.append([recipe.losses(model, X, y[held]) for model in models])
        progress(f"without fold {k + 1} of {n_folds}", (k + 2) / (n_folds + 2))
    judge = None
    if own is not None:
        certain, share, interval = _stated(recipe, own[1])
    else:
        judge = _judge_of_labels(recipe, rows, y, training, whole)
        certain, share, interval = _agreement(recipe, judge or whole.robust, folds)
    m = len(rows)
    found = CrossFit(
        rows, fold, certain, share, interval,
        np.zeros(m), np.zeros(m), np.ones(m),
        {name: np.zeros(m) for name in FITS},
        {name: np.zeros(m, dtype=bool) for name in FITS},
        np.concatenate(trimmed, axis=1), folds, whole, len(training), rounding(y),
        np.zeros(m, dtype=np.int64), *_labels(judge if own is None else own[1]),
    )  # fmt: skip
    for k, fits in enumerate(folds):
        held = np.flatnonzero(fold == k)
        for start in range(0, len(held), BLOCK):
            at = held[start : start + BLOCK]
            _judge(found, recipe, fits, at, y[at], judge)
        progress("judging rows", (n_folds + 1 + (k + 1) / n_folds) / (n_folds + 2))
    return found if own is None else _with_own(found, recipe, y, *own)


def _labels(judge: Any) -> tuple[Indices, Floats]:
    """The likeliest true classes and the label noise, as far as a judge knows them."""
    suggested = getattr(judge, "label_suggestion_", np.zeros(0))
    noise = getattr(judge, "noise_matrix_", np.zeros((0, 0)))
    return np.asarray(suggested, dtype=np.int64), np.asarray(noise, dtype=np.float64)


def _by_own_model(
    table: Table, recipe: Recipe, rows: Indices, fold: Indices, whole: Fits
) -> tuple[Floats, Any] | None:
    """Predictions of the user's own model, if there is one, and who judged by them."""
    if recipe.own is None:
        return None
    X, drawn = whole.preparation.transform(rows), recipe.random_state
    return recipe.own.judge(table, rows, fold, X, recipe.contamination, drawn)


def _with_own(
    found: CrossFit, recipe: Recipe, y: AnyArray, predicted: Floats, judge: Any
) -> CrossFit:
    """What the user's own model expects of rows, in place of the robust fit."""
    assert recipe.own is not None
    if recipe.regression:
        losses, right = np.abs(y - predicted), np.zeros(len(y), dtype=bool)
        scale = np.maximum(judge.noise_scale_, found.least_scale)
        # Scores are of residuals about the judge's own centre: what is shown is, too.
        offset = float(np.median(judge.expected_ - predicted))
        found = found._replace(
            expected=predicted + offset, scale=scale, own_offset=offset
        )
    else:
        chance = predicted[np.arange(len(y)), y]
        losses = -np.log(np.maximum(chance, LEAST_PROBABILITY))
        likeliest = np.argmax(predicted, axis=1)
        right = likeliest == y
        found = found._replace(expected=chance, likeliest=likeliest)
    sure = recipe.regression or found.certain
    return found._replace(
        scores=judge.outlier_score_ if sure else 0.5 * judge.outlier_score_,
        losses={**found.losses, OWN: losses},
        right={**found.right, OWN: right},
        own_label=recipe.own.label,
    )


def _stated(recipe: Recipe, judge: Any) -> tuple[bool, float, tuple[float, float]]:
    """Whether there are wrong rows, how many, and where that share lies: one judge's.

    A share that was given is taken at its word.
    """
    low, high = (float(end) for end in judge.contamination_interval_)
    if recipe.contamination != "auto":
        return True, float(recipe.contamination), (low, high)
    share = float(judge.contamination_)
    return share > 0.0, share, (low, high)


def _folds(recipe: Recipe, y: AnyArray, rng: np.random.Generator) -> Indices:
    if recipe.regression:
        return np.asarray(rng.permutation(len(y)) % FOLDS)
    return assign_folds(y.astype(np.int64), FOLDS, rng)


def _training(recipe: Recipe, y: AnyArray, rng: np.random.Generator) -> Indices:
    """Positions of training rows, a random sample of large tables."""
    most = MOST_LINEAR if recipe.judging_kernel == "linear" else MOST_KERNEL
    if len(y) <= most:
        return np.arange(len(y))
    chosen = rng.choice(len(y), most, replace=False)
    if not recipe.regression:
        few = [np.flatnonzero(y == code)[: 2 * FOLDS] for code in np.unique(y)]
        chosen = np.concatenate([chosen, *few])
    return np.unique(chosen)


def _whole(columns: Any, recipe: Recipe, rows: Indices, y: AnyArray) -> Fits:
    preparation = Preparation(columns).fit(rows)
    X = preparation.transform(rows)
    spectrum, tail = tail_fit(recipe, X, y)
    ordinary = fitted(recipe.under("mean"), X, y)[0]
    robust = fitted(recipe.robust(), X, y)[0]
    return Fits(preparation, ordinary, robust, tail, spectrum, X, y)


def _judge_of_labels(
    recipe: Recipe, rows: Indices, y: AnyArray, training: Indices, whole: Fits
) -> Any:
    """The robust fit whose detector judges the labels of all rows; None of quantities.

    Its references have not seen a row's label, and are the same whatever its kernel. Of
    very many rows those that it was not fitted to are judged by the fit itself.
    """
    if recipe.regression or len(training) == len(rows):
        return None if recipe.regression else whole.robust
    if len(rows) <= MOST_LINEAR:
        plain = recipe._replace(kernel="linear", flexible=None)
        return fitted(plain.robust(), whole.preparation.transform(rows), y)[0]
    return LabelJudge.of(whole.robust, whole.preparation, rows, y, training, BLOCK)


def _fold(
    columns: Any, recipe: Recipe, rows: Indices, y: AnyArray, fine: Bools, whole: Fits
) -> tuple[Fits, list[Any]]:
    """The fits, and ordinary ones without the worst rows."""
    preparation = Preparation(columns).fit(rows)
    X = preparation.transform(rows)
    robust, kept = _agreeing(recipe, X, y, fine, whole.robust)
    ordinary = fitted(recipe.under("mean"), X, y)[0]
    tail = fitted(recipe.under(recipe.spectrum), X, y)[0]
    fits = Fits(preparation, ordinary, robust, tail, recipe.spectrum, X[kept], y[kept])
    return fits, [ordinary, *_trimmed(recipe, robust, X, y)]


def _agreeing(
    recipe: Recipe, X: Floats, y: AnyArray, fine: Bools, whole: Any
) -> tuple[Any, Indices]:
    """The robust fit and its rows; made anew where it contradicts all rows together.

    On few rows a fold now and then takes wrong rows for structure, or the larger half
    of a relation for wrong. Then it is fitted to some of its rows. Where that does not
    help, it is fitted to those rows that the fit to all rows did not flag, and takes
    from that fit only how far out wrong rows lie. Still no model is fitted to the
    fold's rows; but which of the other rows it is fitted to was then decided by a fit
    that has seen them. (So was the spectrum of the tail fits, if the one that was asked
    for collapsed on all rows.)
    """
    robust, kept = fitted(recipe.robust(), X, y)[0], np.arange(len(y))
    share = whole.contamination_
    if not recipe.regression or share == 0.0 or recipe.contamination != "auto":
        return robust, kept
    for attempt in range(ATTEMPTS):
        if share / 3.0 <= robust.contamination_ <= 2.0 * share + 0.1:
            return robust, kept
        rng = np.random.default_rng([recipe.random_state, attempt])
        kept = np.sort(rng.permutation(len(y))[: int(0.9 * len(y))])
        robust = fitted(recipe.robust(), X[kept], y[kept])[0]
    if whole._detector_ is not None:
        kept = np.flatnonzero(fine)
        robust = fitted(recipe.robust(), X[kept], y[kept])[0]
        if robust._detector_ is not None:
            robust._detector_ = robust._detector_.with_populations_of(whole._detector_)
    return robust, kept


def _trimmed(recipe: Recipe, robust: Any, X: Floats, y: AnyArray) -> list[Any]:
    """Ordinary fits without the worst shares of rows, as the robust fit sees them."""
    losses = recipe.losses(robust, X, y)
    order = np.argsort(losses, kind="stable")
    models = []
    for share in SHARES[1:]:  # without none, it is the ordinary fit
        kept = np.sort(order[: max(len(y) - int(share * len(y)), 2)])
        if not recipe.regression:
            lone = [np.flatnonzero(y == code)[:1] for code in np.unique(y)]
            kept = np.unique(np.concatenate([kept, *lone]))
        models.append(fitted(recipe.under("mean"), X[kept], y[kept])[0])
    return models


def _agreement(
    recipe: Recipe, whole: Any, folds: list[Fits]
) -> tuple[bool, float, tuple[float, float]]:
    """Whether there are wrong rows, how many, and where that share lies.

    All rows together decide of classes: their references are cross-fitted. Of
    quantities they do if two folds say so too; four folds overrule them.
    """
    if recipe.contamination != "auto" or not recipe.regression:
        return _stated(recipe, whole)
    low, high = whole.contamination_interval_
    shares = np.array([fold.robust.contamination_ for fold in folds])
    votes = int(np.sum(shares > 0.0))
    if whole.contamination_ > 0.0 and votes >= SECONDED:
        return True, float(whole.contamination_), (float(low), float(high))
    if votes >= OVERRULED:
        middle = float(np.median(shares))
        return True, middle, (0.0, max(float(high), middle))
    return False, 0.0, (0.0, float(high))


def _judge(
    found: CrossFit, recipe: Recipe, fold: Fits, at: Indices, y: AnyArray, judge: Any
) -> None:
    """Fill in what models say of rows whose labels they have not seen."""
    X = fold.preparation.transform(found.rows[at])
    for name in FITS:
        model = getattr(fold, name)
        found.losses[name][at] = recipe.losses(model, X, y)
        found.right[name][at] = recipe.right(model, X, y)
    if recipe.own is not None:
        return
    robust = fold.robust
    if not recipe.regression:
        found.expected[at] = np.exp(-found.losses["robust"][at])
        found.likeliest[at] = robust.predict(X)
        # Without noise an order, below any threshold.
        found.scores[at] = (1.0 if found.certain else 0.5) * judge.outlier_score_[at]
        return
    found.expected[at], found.scale[at] = expect(robust, X, found.least_scale)
    if not found.certain:
        return
    share = min(found.share, MOST)
    scores = robust.score_outliers(X, y, contamination=share)
    if recipe.contamination == "auto":
        scores[contradicted(fold, robust, X, y, scores)] = CONSTANTS.wrong_value_chance
    found.scores[at] = scores


def contradicted(
    fold: Fits, robust: Any, X: Floats, y: AnyArray, scores: Floats
) -> Bools:
    """Held-out rows with a value in another unit, as the training rows see it."""
    n = len(fold.targets)
    both = np.concatenate([fold.matrix, X])
    targets = np.concatenate([fold.targets, y])
    outliers = np.concatenate([robust.outlier_score_ > 0.5, scores > 0.5])
    pilot = np.arange(n) if n <= PILOT else np.arange(0, n, -(-n // PILOT))
    return contradicted_values(both, targets, pilot, outliers)[n:]
