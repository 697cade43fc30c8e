"""Labelled rows, their folds, and samples of them."""

from typing import NamedTuple, Self

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.rows import equal_rows


class LabelledRows(NamedTuple):
    """Rows Z, shape (n, d), or a kernel matrix, with observed classes and weights.

    `voice` are the weights in likelihoods, 0 for rows that are fitted but not asked;
    `folds` are −1 where a row is never held out; `agreeing`, shape (n_folds, n), rows
    that agree with models without a fold. Rows of one of the `places` share a fold;
    labels of `trusted` rows are known to be right.
    """

    Z: Floats
    codes: Indices
    n_classes: int
    weight: Floats
    voice: Floats
    folds: Indices
    agreeing: Bools
    places: Indices
    trusted: Bools

    @classmethod
    def of(
        cls,
        Z: Floats,
        codes: Indices,
        n_classes: int,
        weight: Floats | None = None,
        places: Indices | None = None,
        trusted: Bools | None = None,
    ) -> Self:
        """Rows before anything is known of them.

        By default they weigh alike, equal rows are of one place, and none is trusted.
        """
        n = len(codes)
        weight = np.ones(n) if weight is None else weight
        places = equal_rows(Z) if places is None else places
        nobody, unknown = np.zeros(n, dtype=bool), np.full(n, -1)
        trusted = nobody if trusted is None else trusted
        return cls(
            Z, codes, n_classes, weight, weight, unknown, nobody[None], places, trusted
        )

    def labels(self, rows: Indices) -> "LabelledRows":
        """Some of them, for fits in features that are at hand."""
        return self._replace(codes=self.codes[rows], weight=self.weight[rows])

    def only(self, rows: Indices, precomputed: bool = False) -> "LabelledRows":
        """Some of them."""
        return self._replace(
            Z=self.Z[np.ix_(rows, rows)] if precomputed else self.Z[rows],
            codes=self.codes[rows],
            weight=self.weight[rows],
            voice=self.voice[rows],
            folds=self.folds[rows],
            agreeing=self.agreeing[:, rows],
            places=self.places[rows],
            trusted=self.trusted[rows],
        )


def assign_folds(
    codes: Indices,
    n_folds: int,
    rng: np.random.Generator,
    places: Indices | None = None,
) -> Indices:
    """Fold of each row, classes spread evenly; −1 (never held out) for lone rows.

    Rows of the same place (equal features, one group) share a fold: a row must not be
    held out to a fit that has seen another label at the very same x.
    """
    places = np.arange(len(codes)) if places is None else places
    _, leaders, group = np.unique(places, return_index=True, return_inverse=True)
    folds = np.full(len(leaders), -1)
    begin = 0
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes[leaders] == code))
        if len(rows) > 1:
            folds[rows] = (begin + np.arange(len(rows))) % n_folds
            begin += len(rows)
    result = folds[group]
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if np.all(result[rows] == result[rows[0]]):
            result[rows] = -1
    return result


def sample_rows(codes: Indices, size: int, rng: np.random.Generator) -> Indices:
    """At most so many rows, in the classes' proportions, two of each if there are."""
    if len(codes) <= size:
        return np.arange(len(codes))
    parts = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        count = min(len(rows), max(2, round(size * len(rows) / len(codes))))
        parts.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(parts))
