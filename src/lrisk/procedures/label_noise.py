"""Classification with an unknown share of wrong labels and wrong rows.

1. Rows far out in their features (`label_rows`) are set aside if their labels
   contradict the others or spoil the fit to them (`label_leverage`); the others are
   standardised.
2. On a pilot of some hundred rows, ordinary (kernel) logistic fits over penalties and
   widths are judged by cross-validation (`label_selection`). Whatever the model's own
   kernel, a linear and an RBF model are judged too: labels that only the model's kernel
   cannot explain are not wrong.
3. The share ρ of wrong labels is where the held-out likelihood is highest; zero unless
   that is clearly beaten.
4. If labels are wrong, fits of the mixture (`label_fits`) compete with the ordinary
   ones (`label_choice`). The winner is fitted to all rows.
5. A row's score is the probability, by fits that have not seen it, that its label is
   wrong.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from .._typing import Bools, Floats, Indices
from ..spaces import KernelSpace
from .label_choice import Choice, choose
from .label_fits import Basis, LabelModel, completed, linear_basis, wrong_label
from .label_leverage import FarRows, judge_far_rows
from .label_pilot import LabelNoiseSettings, Pilot, sample_rows
from .label_rows import FeatureScaling, column_units, in_units, plain_scaling
from .label_selection import SHARES, observed_probabilities

#: Rows on which penalties, widths and noise are judged, at most; rows below which
#: nothing is: the ordinary fit is taken.
PILOT, FEWEST = 500, 50
#: Centres of a kernel fit, at most.
CENTRES = 1000
#: Probability above which a label is flagged as wrong.
FLAG = 0.7


class LabelNoiseFit(NamedTuple):
    """The result, over the rows of positive weight.

    Attributes
    ----------
    coefficients : array of shape (m, k)
        Over scaled features (linear kernel) or over centres.
    intercept : array of shape (k,)
    centres : array of int or None
        Rows that are centres.
    scaling : FeatureScaling
    choice : Choice
    contamination : float
    interval : tuple of float
    score : array of shape (n,)
        Probability that a row is wrong.
    flagged : array of bool of shape (n,)
    pulling : array of bool of shape (n,)
        Rows left out of the fit for pulling it from far out, not for being wrong.
    """

    coefficients: Floats
    intercept: Floats
    centres: Indices | None
    scaling: FeatureScaling
    choice: Choice
    contamination: float
    interval: tuple[float, float]
    score: Floats
    flagged: Bools
    pulling: Bools


def fit_label_noise(
    settings: LabelNoiseSettings,
    X: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    rng: np.random.Generator,
) -> LabelNoiseFit:
    """Find the wrong rows, choose a fit, and make it.

    Parameters
    ----------
    settings : LabelNoiseSettings
    X : array of shape (n, d)
        Rows; K of shape (n, n) if the kernel is precomputed.
    codes : array of int of shape (n,)
        Observed classes 0, …, K − 1.
    n_classes : int
    weight : array of shape (n,)
        Positive, of mean 1: likelihoods of so many rows are compared.
    rng : Generator
    """
    few = len(codes) < FEWEST
    units = np.ones(X.shape[1])
    if not settings.precomputed:
        units = column_units(X)
        X = in_units(X, units)
    nobody = np.zeros(len(codes), dtype=bool)
    far = FarRows(nobody, np.zeros(len(codes)), nobody)
    if settings.contamination != 0.0 and not settings.precomputed and not few:
        far = judge_far_rows(settings, X, codes, n_classes, weight, rng, flag=FLAG)
    gross = far.chance > FLAG
    gross_share = float(weight[gross].sum() / weight.sum())
    share = settings.contamination
    if share is not None:
        share = max(share - gross_share, 0.0) / (1.0 - gross_share)
        share = min(share, float(SHARES[-1]), 0.95 * (1.0 - 1.0 / n_classes))
    kept = np.flatnonzero(~gross & ~far.pulling)
    scaling = _scaling(settings, X[kept], weight[kept])
    Z = X if settings.precomputed else scaling(X)
    drawn = kept[sample_rows(codes[kept], PILOT, rng)]
    pilot = Pilot(
        settings,
        _rows(settings, Z, drawn),
        codes[drawn],
        n_classes,
        weight[drawn],
        np.where(far.far, 0.0, weight)[drawn],
        rng,
    )
    choice = _default(settings, X.shape[1], share) if few else choose(pilot, share, rng)
    p, slope = _observed(pilot, settings, choice, Z, drawn, codes, few)
    coefficients, intercept, centres = _final(
        settings, Z, codes, n_classes, weight, kept, choice, rng
    )
    score = wrong_label(p, choice.share, n_classes)
    score[gross] = far.chance[gross]
    score[far.pulling] = 0.0
    contamination = gross_share + (1.0 - gross_share) * choice.share
    low, high = (gross_share + (1.0 - gross_share) * end for end in choice.interval)
    flagged = score > FLAG
    if settings.contamination is not None:
        contamination = low = high = settings.contamination
        flagged = _highest(score, weight, codes, settings.contamination)
    return LabelNoiseFit(
        slope * coefficients,
        slope * intercept,
        centres,
        FeatureScaling(scaling.centre * units, scaling.scale * units),
        choice,
        float(contamination),
        (float(low), float(high)),
        score,
        flagged,
        far.pulling,
    )


def _scaling(settings: LabelNoiseSettings, X: Floats, weight: Floats) -> FeatureScaling:
    d = X.shape[1]
    if settings.precomputed:
        return FeatureScaling(np.zeros(d), np.ones(d))
    scaling = plain_scaling(X, weight)
    if settings.own == "linear" and not settings.intercept:
        return FeatureScaling(np.zeros(d), scaling.scale)
    return scaling


def _rows(settings: LabelNoiseSettings, Z: Floats, rows: Indices) -> Floats:
    return Z[np.ix_(rows, rows)] if settings.precomputed else Z[rows]


def _default(
    settings: LabelNoiseSettings, n_columns: int, share: float | None
) -> Choice:
    """For few rows: the ordinary fit, or the mixture of a given share."""
    alpha = 1.0 if settings.alpha is None else settings.alpha
    gamma = settings.gamma
    takes = settings.kernel(None).name in ("rbf", "laplacian", "poly", "polynomial")
    if gamma is None and takes:
        gamma = 1.0 / n_columns
    rho = share or 0.0
    name = "label noise" if rho else "ordinary"
    interval = (rho, rho) if share is not None else (0.0, 0.5)
    return Choice(alpha, gamma, rho, rho, interval, name, {})


def _observed(
    pilot: Pilot,
    settings: LabelNoiseSettings,
    choice: Choice,
    Z: Floats,
    drawn: Indices,
    codes: Indices,
    few: bool,
) -> tuple[Floats, float]:
    """Probability of every row's label by fits without it, and the slope of scores."""
    own, gamma = settings.own, choice.gamma
    k = 1 if pilot.n_classes == 2 else pilot.n_classes
    scores, slope = np.zeros((len(codes), k)), 1.0
    table = pilot.scores(own, gamma, np.array([choice.alpha]), choice.rho)[0]
    if not few:
        verdict = pilot.judge(own, gamma, choice.alpha, choice.rho, table)
        at = int(np.argmin(np.abs(SHARES - choice.share)))
        slope = float(verdict.slopes[at])
    scores[drawn] = table.mean(axis=0)
    others = np.setdiff1d(np.arange(len(codes)), drawn)
    if len(others):
        basis = pilot.basis(own, gamma)
        model = LabelModel(basis.features, pilot.codes, pilot.n_classes, pilot.weight)
        coefficients, intercept = basis.coefficients(
            model.fit(choice.alpha, choice.rho)
        )
        scores[others] = _evaluate(
            settings, gamma, Z, others, drawn, coefficients, intercept
        )
    return observed_probabilities(scores, codes, np.array([slope]))[0], slope


def _evaluate(
    settings: LabelNoiseSettings,
    gamma: float | None,
    Z: Floats,
    rows: Indices,
    centres: Indices,
    coefficients: Floats,
    intercept: Floats,
) -> Floats:
    if settings.own == "linear":
        return np.asarray(Z[rows] @ coefficients + intercept)
    if settings.precomputed:
        return np.asarray(Z[np.ix_(rows, centres)] @ coefficients + intercept)
    space = KernelSpace(settings.kernel(gamma), Z[centres], n_scores=len(intercept))
    scores = space.at(Z[rows]).scores(coefficients.ravel())
    return scores.reshape(len(rows), -1) + intercept


def _final(
    settings: LabelNoiseSettings,
    Z: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    kept: Indices,
    choice: Choice,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Indices | None]:
    """Coefficients (m, k), intercepts (k,) and centres of the chosen fit."""
    mass = weight[kept] / weight[kept].sum()
    centres: Indices | None = None
    if settings.own == "linear":
        basis = linear_basis(Z[kept], mass, settings.intercept)
    else:
        centres = kept[sample_rows(codes[kept], CENTRES, rng)]
        basis, centres = _centred_basis(settings, Z, kept, centres, choice.gamma, mass)
    model = LabelModel(basis.features, codes[kept], n_classes, weight[kept])
    start = model.fit(choice.alpha)
    theta = model.fit(choice.alpha, choice.rho, start) if choice.rho else start
    coefficients, intercept = basis.coefficients(theta)
    return coefficients, intercept, centres


def _centred_basis(
    settings: LabelNoiseSettings,
    Z: Floats,
    kept: Indices,
    centres: Indices,
    gamma: float | None,
    mass: Floats,
) -> tuple[Basis, Indices]:
    """Features L⁻¹k(c, x) for centres c with k(c, c′) = LLᵀ, redundant ones left out.

    All functions spanned by the centres: the exact model where every row is one.
    """
    kernel = settings.kernel(gamma)
    factored = KernelSpace(kernel, _rows(settings, Z, centres)).factored()
    pivots = factored.pivots
    if pivots is None:
        pivots = np.arange(len(centres))
    chosen = centres[pivots]
    triangle = np.asarray(factored.X)[pivots]
    if settings.precomputed:
        products = Z[np.ix_(chosen, kept)]
    else:
        products = kernel(Z[chosen], Z[kept])
    features = scipy.linalg.solve_triangular(triangle, products, lower=True).T
    back = scipy.linalg.solve_triangular(
        triangle, np.eye(len(chosen)), lower=True, trans=1
    )
    columns = Z.shape[1]
    return completed(features, back, mass, settings.intercept, columns), chosen


def _highest(score: Floats, weight: Floats, codes: Indices, share: float) -> Bools:
    """The rows of highest score up to a share of the weight, never all of a class."""
    order = np.argsort(-score, kind="stable")
    flagged = np.zeros(len(score), dtype=bool)
    left = np.bincount(codes)
    room = share * float(weight.sum()) + 1e-9
    for i in order:
        if weight[i] > room:
            break
        if left[codes[i]] > 1:
            flagged[i] = True
            left[codes[i]] -= 1
            room -= weight[i]
    return flagged
