"""Labelled rows, their folds, and samples of them."""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.rows import equal_rows


class LabelledRows(NamedTuple):
    """Rows Z, shape (n, d), or a kernel matrix, with observed classes and weights.

    `voice` are the weights in likelihoods, 0 for rows that are fitted but not asked;
    `agreeing`, shape (n_folds, n), rows that agree with models without a fold. Rows of
    one of the `places` share a fold, by default those that are equal; labels of
    `trusted` rows, by default of none, are known to be right.
    """

    Z: Floats
    codes: Indices
    n_classes: int
    weight: Floats
    voice: Floats
    folds: Indices
    agreeing: Bools
    places: Indices | None = None
    trusted: Bools | None = None

    def sure(self) -> Bools:
        """Which rows are trusted, shape (n,)."""
        nobody = np.zeros(len(self.codes), dtype=bool)
        return nobody if self.trusted is None else self.trusted

    def split(self, n_folds: int, rng: np.random.Generator) -> Indices:
        """Folds that respect the places."""
        places = equal_rows(self.Z) if self.places is None else self.places
        return assign_folds(self.codes, n_folds, rng, places)

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
            places=None if self.places is None else self.places[rows],
            trusted=None if self.trusted is None else self.trusted[rows],
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
