"""Probabilities of the classes by models that have not seen a row's label.

Two sets of references, both cross-fitted on all rows. *Plain* ones are fitted to all
labels: they believe that classes overlap as much as labels contradict them. *Hopeful*
ones are fitted only to rows whose labels agree with a prediction, or are trusted: they
believe that every other contradiction is an error. Which belief the labels bear out is
for the likelihood to say (`likelihood`).

Given the folds, changing a label changes no reference at its own x. For hopeful ones
that needs agreement without the fold f that they will judge: it is decided, for the
rows of every other fold g, by models that have seen neither f nor g.
"""

from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...spaces import Kernel
from .likelihood import CONSTANTS, QUICK, fit_logistic, fit_mixture, probabilities
from .rows import LabelledRows, kernel_basis, linear_basis

#: Penalties of logistic references on standardised columns, and on kernel features of
#: norm one; width of the RBF kernel times the number of columns.
LINEAR_ALPHA, KERNEL_ALPHA, WIDTH = 100.0, 1.0, 0.3
#: Landmarks of the kernel, and axes to which more columns are reduced, at most.
LANDMARKS, AXES = 200, 200
#: Trees, rows of the smallest leaf, and rows from which on there are trees: on fewer
#: they see no steps that the kernel does not, and cost more than all else.
TREES, LEAF, TREES_FROM = 60, 5, 1000
#: Rows whose products with landmarks are made at once.
BLOCK = 5_000
#: Rows of each class, those that agree best, that count as agreeing in any case.
SPARED = 5


class Models(Protocol):
    """Makes references of one table."""

    def quick(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """Give p of some rows, each (len(asked), K), by models of other rows."""

    def slow(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """Likewise; those that have no say in which rows agree."""


class FeatureModels:
    """Logistic regression on the columns and on an RBF kernel, and extra trees.

    Of a kernel matrix, that kernel at two penalties. Features are made of rows that are
    `learnt`, from which all `fitted` ones must be; the others are asked in blocks.
    `rng` is for landmarks and trees.
    """

    def __init__(
        self,
        rows: LabelledRows,
        precomputed: bool,
        rng: np.random.Generator,
        learnt: Indices,
    ) -> None:
        self._rows, self._seed = rows, int(rng.integers(2**31))
        self._place = np.full(len(rows.codes), -1)
        self._place[learnt] = np.arange(len(learnt))
        Z, weight = rows.Z, rows.weight[learnt]
        centres = learnt[rng.permutation(len(learnt))[:LANDMARKS]]
        size = (float(np.mean(np.diag(Z))) or 1.0) if precomputed else 1.0
        kernel = Kernel("rbf", gamma=WIDTH / Z.shape[1])

        def columns(at: Indices) -> Floats:
            return np.asarray(Z[at])

        def products(at: Indices) -> Floats:
            if precomputed:
                return np.asarray(Z[np.ix_(at, centres)] / size)
            return kernel(Z[at], Z[centres])

        curved = kernel_basis(products(learnt), products(centres), weight)
        first, plain, alpha = products, curved, 30.0 * KERNEL_ALPHA
        if not precomputed:
            plain, alpha = linear_basis(Z[learnt], weight, most=AXES), LINEAR_ALPHA
            first = columns
        self._views = [(first, plain, alpha), (products, curved, KERNEL_ALPHA)]
        # Steps are along columns; trees of very many are as good along axes.
        self._columns = Z
        if precomputed or Z.shape[1] > AXES:
            self._columns = first(np.arange(len(Z))) @ plain.back

    def quick(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """Logistic ones."""
        found, own = [], self._rows.labels(fitted)
        blocks = np.array_split(asked, 1 + len(asked) // BLOCK)
        for view, basis, alpha in self._views:
            features = basis.features[self._place[fitted]]
            theta = fit_logistic(features, own, alpha, tolerance=QUICK)
            slopes, intercept = basis.coefficients(theta)
            scores = [view(block) @ slopes + intercept for block in blocks]
            found.append(probabilities(np.concatenate(scores)))
        return found

    def slow(self, fitted: Indices, asked: Indices) -> list[Floats]:
        """Trees, of many rows."""
        rows, features = self._rows, self._columns
        if len(rows.codes) < TREES_FROM:
            return []
        # Loads a quarter of scikit-learn: a tenth of what starting the command takes.
        from sklearn.ensemble import ExtraTreesClassifier

        model = ExtraTreesClassifier(
            TREES, min_samples_leaf=LEAF, random_state=self._seed
        )
        model.fit(features[fitted], rows.codes[fitted], rows.weight[fitted])
        p = np.zeros((len(asked), rows.n_classes))
        p[:, model.classes_] = model.predict_proba(features[asked])
        return [p]


class References(NamedTuple):
    """What references say of rows that they have not seen.

    `logs`, shape (m, n, K), is log p, and log 1/K for rows that are never held out;
    `agreeing`, shape (n_folds, n), says for each fold f whether a row not in f agrees
    with models that have seen neither it nor f, and may be learnt from.
    """

    logs: Floats
    agreeing: Bools


def cross_fitted(models: Models, rows: LabelledRows, learnt: Indices) -> References:
    """Fit references to rows that are `learnt`, and ask them of all others.

    Rows of fold −1 are learnt from but never judged.
    """
    agreeing, folds = _agreement(models, rows, learnt), rows.folds
    logs = np.zeros((0, 0, 0))
    for f in range(len(agreeing)):
        asked, found = np.flatnonzero(folds == f), []
        for kept in (learnt[folds[learnt] != f], np.flatnonzero(agreeing[f])):
            found += [*models.quick(kept, asked), *models.slow(kept, asked)]
        if not len(logs):
            logs = _unknown(len(found), len(folds), rows.n_classes)
        logs[:, asked] = reference_logs(np.array(found))
    return References(logs, agreeing)


def confidence_logs(p: Floats) -> Floats:
    """Logarithm of given probabilities as a reference, shape (1, n, K).

    Without the floor of other references: the likelihood finds the slope w of

        q = softmax(w log p + b),

    so that p and pᶜ, normalised, say the same for every c > 0, and over-confidence does
    no harm. Zeros count as half of the least positive probability.
    """
    least = max(0.5 * float(p[p > 0.0].min()), float(np.finfo(np.float64).tiny))
    return np.asarray(np.log(np.maximum(p, least)))[None]


def reference_logs(p: Floats) -> Floats:
    """Logarithm of p, but for the share of labels that may be wrong with nothing said.

    No reference is surer than that: no single one can veto a class.
    """
    share = CONSTANTS.clean_share
    return np.asarray(np.log((1.0 - share) * p + share / p.shape[-1]))


def _unknown(m: int, n: int, n_classes: int) -> Floats:
    return np.full((m, n, n_classes), -np.log(n_classes))


def _agreement(models: Models, rows: LabelledRows, learnt: Indices) -> Bools:
    """Which rows agree with models that have seen neither them nor a fold."""
    own, n_folds = rows.folds[learnt], int(rows.folds.max()) + 1
    tables: dict[int, Floats] = {}
    for f, g in combinations(range(n_folds), 2):
        asked = np.flatnonzero((own == f) | (own == g))
        fitted = learnt[(own != f) & (own != g)]
        found = reference_logs(np.array(models.quick(fitted, learnt[asked])))
        for outer, inner in ((f, g), (g, f)):
            blank = _unknown(len(found), len(own), rows.n_classes)
            part = own[asked] == inner
            tables.setdefault(outer, blank)[:, asked[part]] = found[:, part]
    agreeing = np.zeros((n_folds, len(rows.codes)), dtype=bool)
    for f, table in tables.items():
        kept = np.flatnonzero(own != f)
        seen, logs = rows.codes[learnt[kept]], table[:, kept]
        q = fit_mixture(logs, seen, rows.weight[learnt[kept]]).truth(logs)
        agrees = (q.argmax(axis=1) == seen) | rows.trusted[learnt[kept]]
        for code in np.unique(seen):
            same = np.flatnonzero(seen == code)
            agrees[same[np.argsort(-q[same, code], kind="stable")[:SPARED]]] = True
        agreeing[f, learnt[kept[agrees]]] = True
    return agreeing
