"""The likelihood of labels of which some are wrong, and two fits that maximise it.

A row of class k is labelled j with probability T[k, j], so with p(x) the probabilities
of the true classes

    P(y | x) = Σ_k p_k(x) T[k, y],      P(true = k | x, y) = p_k(x) T[k, y] / P(y | x).

T = I says that all labels are right. p is a *logistic* model of features (the fit to
labels under a given T is "forward-corrected"), or a *mixture* of references that have
not seen the row's label,

    p = softmax(Σ_m w_m L_m + B L̄ + b),     w ≥ 0,

where L_m is the logarithm of what reference m says, L̄ the mean of them, and B moves
each pair of classes by itself. That is matrix scaling, and it is what a free T must be
compared with: with more than two classes that overlap T also describes how classes
border on each other. With B both likelihoods can do that, and T is left with what
only wrong labels do: a floor under all P(y | x), however sure x is.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ..._typing import Bools, Floats, Indices
from .rows import LabelledRows

#: Steps of L-BFGS at most, and the largest slope at which it stops; in comparisons,
#: which are to a tenth of a nat, the second.
STEPS, TOLERANCE, QUICK = 200, 1e-5, 1e-3
#: Limits of log T[k, j]/T[k, k], j ≠ k: any flip is less likely than a right label.
FLIPS = (-12.0, -0.1)


@dataclass(frozen=True)
class Constants:
    """Each with its unit, where it comes from, and what half and twice of it do.

    The first five were halved and doubled while the mixture had no B and the evidence
    the same form: `folds` and `trained` on 16 tables with wrong labels, one seed, the
    others on 100 (breast cancer, a circle, a curved boundary, digits and
    `make_classification`; 20 to 40 % uniform flips and 20 % of one class into another)
    and on 368 clean ones, 320 of them with smooth overlap. Noise was found in 55 of the
    100 with precision .893 and recall .376 over all, and in one of the 368. To repeat
    it on the tables of the benchmark::

        python -m benchmarks.labels noise clean --constant evidence=1.25
    """

    #: Folds of cross-fitting; usual. References are fitted without any two, too. With 3
    #: precision falls from .95 to .92 and recall rises from .59 to .66; with 10 they
    #: are .97 and .59, for about four times as many fits.
    folds: int = 5
    #: Rows that a reference is fitted to, at most; all are judged. Taste: time, which
    #: grows in proportion. At 600, half of these tables, average precision falls from
    #: .91 to .87.
    trained: int = 20_000
    #: Share of labels (or one row) that may be wrong with nothing said; the promise of
    #: clean tables. It bounds what a single row adds to the evidence: no reference is
    #: surer than that, and no null. At half and twice noise was found in 54 and 53 of
    #: 100, with the same precision.
    clean_share: float = 0.005
    #: Standard deviations of the gain above its mean were all labels right; the normal
    #: law's one clean table in 160, and one in 368 that were simulated. At half noise
    #: was found in 74 of 100 (precision .880, recall .530), and in 13 of the 368 clean
    #: tables; at twice in 19 (precision .92, recall .18).
    evidence: float = 2.5
    #: Expected share of false flags among flags, at most; taste. At half precision was
    #: .912 and recall .345; at twice .891 and .378: scores above ½ rarely reach it.
    false_flags: float = 0.2
    #: Nats that a weight of one and an offset of one cost (references have unit size);
    #: little, so that weights are finite where labels allow a step. In place of .25 for
    #: how weights differ and .1 for the rest it changes little: on 63 tables of two
    #: classes noise is found in 45 (44 before) with precision .925 and recall .477, and
    #: in one of 19 clean ones, as before. Half and twice are not measured.
    ridge: float = 0.1


CONSTANTS = Constants()


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


def _along(operation: np.ufunc, table: Floats) -> Floats:
    """The rows of (n, K) reduced to (n, 1); NumPy takes ten times as long for K = 2."""
    if table.shape[1] == 2:
        return np.asarray(operation(table[:, :1], table[:, 1:]))
    return np.asarray(operation.reduce(table, axis=1, keepdims=True))


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
        top = _along(np.maximum, terms)
        table = np.exp(terms - top)
        total = _along(np.add, table)
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
    k, weight = 1 if rows.n_classes == 2 else rows.n_classes, rows.weight
    codes, T = rows.codes, np.eye(rows.n_classes)
    if noise is not None:
        codes, T = rows.seen(noise)
    curvature = (0.25 if k == 1 else 0.5) * (weight @ features**2) + alpha
    unit = 1.0 / np.sqrt(curvature)[:, None]
    features, penalty = features * unit[:, 0], alpha * unit**2

    def value(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(-1, k)
        scores = class_scores(features @ table)
        logs, truth, posterior = label_terms(scores, codes, T)
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


class Mixture(NamedTuple):
    """w, shape (m,), b, shape (K,), B and T, shapes (K, K), and the log likelihood."""

    weights: Floats
    offsets: Floats
    pairs: Floats
    noise: Floats
    value: float

    def scores(self, logs: Floats) -> Floats:
        """Logarithm of p but for a constant, shape (n, K)."""
        scores = np.tensordot(self.weights, logs, 1) + self.offsets
        return np.asarray(scores + logs.mean(axis=0) @ self.pairs)

    def truth(self, logs: Floats) -> Floats:
        """p: probabilities of the true classes, shape (n, K)."""
        return probabilities(self.scores(logs))


def fit_mixture(
    logs: Floats,
    codes: Indices,
    weight: Floats,
    noise: Floats | None = None,
    *,
    start: Mixture | None = None,
    dear: float | None = None,
    strength: float | None = None,
    sure: Floats | None = None,
) -> Mixture:
    """Find w, b and B of greatest likelihood, and T if its prior has a strength.

    The likelihood is less r(|w|² + |b|²) + `dear`·|B|² with r = `ridge`; by default
    B = 0. `logs`, shape (m, n, K), are those of the references. `noise` is T, by
    default I; with a strength T has a Dirichlet prior: so many rows of each class,
    flipped by `noise`, are added to those that are seen, and T starts there. Without
    end (∞) flips are uniform. The rest starts from `start`.

    A label j that is trusted is code K + j: T has K more columns, `sure`, which are
    not fitted. Where trusted labels contradict p, p must give way: then classes
    overlap, and T has less to explain.
    """
    m, n, K = logs.shape
    flat, mean = np.ascontiguousarray(logs).reshape(m, n * K), logs.mean(axis=0)
    centre = np.eye(K) if noise is None else noise
    off, tied = ~np.eye(K, dtype=bool), strength == np.inf
    count = 0 if strength is None else 1 if tied else K * (K - 1)
    sure = np.zeros((K, 0)) if sure is None else sure
    sizes = m + K, 0 if dear is None else K * K
    cost = np.repeat([CONSTANTS.ridge, dear or 0.0], sizes)
    ends = np.array([m, m + K, len(cost)])

    def noise_of(flips: Floats) -> Floats:
        if strength is None:
            return centre
        table = np.ones((K, K))
        table[off] = np.exp(flips)
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    def value(theta: Floats) -> tuple[float, Floats]:
        w, b, B, flips = np.split(theta, ends)
        T = noise_of(flips)
        scores = (w @ flat).reshape(n, K) + b
        if dear is not None:
            scores += mean @ B.reshape(K, K)
        rows, truth, posterior = label_terms(scores, codes, np.hstack([T, sure]))
        pull = weight[:, None] * (truth - posterior)
        own = theta[: len(cost)]
        loss = float((cost * own) @ own - weight @ rows)
        slopes = [flat @ pull.ravel(), pull.sum(axis=0)]
        if dear is not None:
            slopes.append((mean.T @ pull).ravel())
        slopes = [np.concatenate(slopes) + 2.0 * cost * own]
        if strength is not None:
            seen = np.zeros((K, 2 * K))  # expected rows of true class k labelled j
            np.add.at(seen.T, codes, weight[:, None] * posterior)
            seen = seen[:, :K]
            if not tied:
                loss -= strength * float(np.sum(centre * np.log(T)))
                seen += strength * centre
            fall = (seen.sum(axis=1, keepdims=True) * T - seen)[off]
            slopes.append(fall.sum(keepdims=True) if tied else fall)
        return loss, np.concatenate(slopes)

    begin = np.concatenate([np.full(m, 1.0 / m), np.zeros(len(cost) - m)])
    if start is not None:
        begin = np.concatenate([*start[:2], start.pairs.ravel()])[: len(cost)]
    ratio = np.log(np.maximum(centre, 1e-6) / np.diag(centre)[:, None])[off]
    found = minimize(
        value,
        np.concatenate([begin, ratio[:count]]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * m + [(None, None)] * (len(cost) - m) + [FLIPS] * count,
        options={"maxiter": 60, "ftol": 1e-7},
    )
    w, b, B, flips = np.split(found.x, ends)
    pairs = np.zeros((K, K)) if dear is None else B.reshape(K, K)
    return Mixture(w, b, pairs, noise_of(flips), -found.fun)
