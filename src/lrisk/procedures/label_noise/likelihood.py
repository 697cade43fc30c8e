"""The likelihood of labels of which some are wrong, and logistic fits that maximise it.

A row of class k is labelled j with probability T[k, j], so with p(x) the probabilities
of the true classes

    P(y | x) = Σ_k p_k(x) T[k, y],      P(true = k | x, y) = p_k(x) T[k, y] / P(y | x).

T = I says that all labels are right. "Forward-corrected" fits are those of greatest
likelihood under a given T.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ..._typing import Bools, Floats, Indices
from .folds import LabelledRows

#: Steps of L-BFGS at most, and the largest slope at which it stops; in comparisons,
#: which are to a tenth of a nat, the second.
STEPS, TOLERANCE, QUICK = 200, 1e-5, 1e-3


def uniform_noise(share: float, n_classes: int) -> Floats:
    """T of labels wrong with probability `share`, then any other class alike."""
    table = np.full((n_classes, n_classes), share / (n_classes - 1))
    np.fill_diagonal(table, 1.0 - share)
    return table


def class_scores(scores: Floats) -> Floats:
    """Shape (n, K): two classes have one score, that of the second over the first."""
    table = scores.reshape(len(scores), -1)
    if table.shape[1] > 1:
        return table
    return np.concatenate([np.zeros_like(table), table], axis=1)


def probabilities(scores: Floats) -> Floats:
    """Shape (n, K) from scores (n,) or (n, 1) of two classes or (n, K) of more."""
    return np.asarray(softmax(class_scores(scores), axis=1))


def label_terms(
    scores: Floats, codes: Indices, noise: Floats
) -> tuple[Floats, Floats, Floats]:
    """Logarithm of P(y | x), shape (n,), p(x) and P(true | x, y), shapes (n, K).

    `scores`, shape (n, K), give p = softmax(scores); `noise`, shape (K, K), is T.
    """
    with np.errstate(divide="ignore"):
        flips = np.log(noise.T)
    logs, tables = [], []
    for terms in (scores + flips[codes], scores):
        top = terms.max(axis=1, keepdims=True)
        table = np.exp(terms - top)
        total = table.sum(axis=1, keepdims=True)
        table /= total
        logs.append(top[:, 0] + np.log(total[:, 0]))
        tables.append(table)
    return logs[0] - logs[1], tables[1], tables[0]


def surprise(scores: Floats, codes: Indices) -> Floats:
    """−log p of the labels were all right, accurate where p is tiny; shape (n,)."""
    full = class_scores(scores)
    return -label_terms(full, codes, np.eye(full.shape[1]))[0]


def fit_logistic(
    features: Floats,
    rows: LabelledRows,
    alpha: float,
    noise: Floats | None = None,
    start: Floats | None = None,
    tolerance: float = TOLERANCE,
) -> Floats:
    """θ, shape (r, k), of least −Σ w_i log P(y_i | x_i) + α/2·|θ|².

    The Hessian is at most ¼ (two classes) or ½ of the Gram matrix, and α. Features lie
    nearly along its axes: in its units problems are round, and L-BFGS needs few steps.
    """
    K, weight = rows.n_classes, rows.weight
    k, T = 1 if K == 2 else K, np.eye(K) if noise is None else noise
    curvature = (0.25 if k == 1 else 0.5) * (weight @ features**2) + alpha
    unit = 1.0 / np.sqrt(curvature)[:, None]
    features, penalty = features * unit[:, 0], alpha * unit**2

    def value(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(-1, k)
        scores = class_scores(features @ table)
        logs, truth, posterior = label_terms(scores, rows.codes, T)
        slope = features.T @ (weight[:, None] * (truth - posterior)[:, -k:])
        loss = 0.5 * float(np.sum(penalty * table**2)) - float(weight @ logs)
        return loss, (slope + penalty * table).ravel()

    begin = np.zeros((len(unit), k)) if start is None else start
    found = minimize(
        value,
        (begin / unit).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "gtol": tolerance, "ftol": 1e-12},
    )
    return np.asarray(unit * found.x.reshape(-1, k))


def held_out_scores(
    features: Floats,
    rows: LabelledRows,
    folds: Indices,
    alphas: Floats,
    noise: Floats | None = None,
    learnt: Bools | None = None,
) -> Floats:
    """Scores of each row by fits without its fold, shape (len(alphas), n, k).

    Each fit starts from the one of the penalty before. Rows of fold −1 are always
    learnt from and never scored (0). With `learnt`, shape (n_folds, n), only those rows
    are learnt from.
    """
    k = 1 if rows.n_classes == 2 else rows.n_classes
    scores = np.zeros((len(alphas), len(folds), k))
    for f in range(int(folds.max()) + 1):
        out = folds == f
        kept = np.flatnonzero(~out if learnt is None else learnt[f])
        own, theta = rows.labels(kept), None
        for j, alpha in enumerate(alphas):
            theta = fit_logistic(features[kept], own, alpha, noise, theta, QUICK)
            scores[j, out] = features[out] @ theta
    return scores
