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
    """Logarithm of P(y | x), shape (n,), P(true | x) and P(true | x, y), (n, K).

    Parameters
    ----------
    scores : array of shape (n, K)
        p = softmax(scores).
    codes : array of int of shape (n,)
    noise : array of shape (K, K)
        T.
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


class LogisticModel:
    """Logistic models in one basis over rows with observed classes.

    Parameters
    ----------
    features : array of shape (n, r)
        Nearly orthogonal, as those of a `Basis`.
    codes : array of int of shape (n,)
    n_classes : int
    weight : array of shape (n,)
    """

    def __init__(
        self, features: Floats, codes: Indices, n_classes: int, weight: Floats
    ) -> None:
        self.n_classes, self._codes, self._weight = n_classes, codes, weight
        self._features, self._sizes = features, weight @ features**2

    def fit(
        self,
        alpha: float,
        noise: Floats | None = None,
        start: Floats | None = None,
        tolerance: float = TOLERANCE,
    ) -> Floats:
        """θ, shape (r, k), of least −Σ w_i log P(y_i | x_i) + α/2·|θ|².

        The Hessian is at most ¼ (two classes) or ½ of the Gram matrix, and α. Features
        lie along its axes: in its units problems are round, and L-BFGS needs few steps.
        """
        k = 1 if self.n_classes == 2 else self.n_classes
        T = np.eye(self.n_classes) if noise is None else noise
        curvature = (0.25 if k == 1 else 0.5) * self._sizes + alpha
        unit = 1.0 / np.sqrt(curvature)[:, None]
        features, penalty = self._features * unit[:, 0], alpha * unit**2

        def value(flat: Floats) -> tuple[float, Floats]:
            table = flat.reshape(-1, k)
            scores = class_scores(features @ table)
            logs, truth, posterior = label_terms(scores, self._codes, T)
            pull = self._weight[:, None] * (truth - posterior)[:, -k:]
            slope = features.T @ pull + penalty * table
            loss = 0.5 * float(np.sum(penalty * table**2)) - float(self._weight @ logs)
            return loss, slope.ravel()

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
        kept = ~out if learnt is None else learnt[f]
        codes, weight = rows.codes[kept], rows.weight[kept]
        model = LogisticModel(features[kept], codes, rows.n_classes, weight)
        theta: Floats | None = None
        for j, alpha in enumerate(alphas):
            theta = model.fit(float(alpha), noise, theta, QUICK)
            scores[j, out] = features[out] @ theta
    return scores
