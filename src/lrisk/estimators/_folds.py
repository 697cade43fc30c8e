"""Folds that hold every row out once, of the rows that have weight."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from .._params import check_count, refused
from .._typing import Indices
from .._validation import generator

Folds = list[tuple[Indices, Indices]]


def folds_of(
    owner: Any, y: Any, kept: Indices, classifies: bool, X: Any, groups: Any
) -> Folds | None:
    """Places of training and held-out rows among those kept, by fold.

    From the owner's `cv` and `random_state`. A number divides the rows that are kept; a
    splitter all rows, since it may know them by their place.
    """
    cv = owner.cv
    if cv is None:
        return None
    if isinstance(cv, int | np.integer):
        check_count(owner, "cv", cv, low=2)
        if cv > len(kept):
            rule = f"at most n_samples = {len(kept)} (rows of positive weight)"
            remedy = "lower it, or pass None for losses of the training rows"
            raise ValueError(refused(owner, "cv", rule, cv, remedy))
        named = None if groups is None else np.asarray(groups)[kept]
        return _divided(owner, int(cv), y[kept], classifies, named)
    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    folds = [
        tuple(own[own >= 0] for own in (place[train], place[test]))
        for train, test in check_cv(cv, y, classifier=classifies).split(X, y, groups)
    ]
    held_out = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(held_out), np.arange(len(kept))):
        rule, remedy = "folds that hold every row out once", "pass KFold()"
        raise ValueError(refused(owner, "cv", rule, cv, remedy))
    folds = [(train, test) for train, test in folds if len(test)]
    if not all(len(train) for train, _ in folds):
        rule, remedy = (
            "folds that leave rows of positive weight to train on",
            "lower it",
        )
        raise ValueError(refused(owner, "cv", rule, cv, remedy))
    return folds


def _divided(owner: Any, cv: int, y: Any, classifies: bool, groups: Any) -> Folds:
    """Shuffled folds of so many rows, with all classes in each where they suffice."""
    salt = int(generator(owner.random_state).integers(2**31))
    most = int(np.unique(y, return_counts=True)[1].max()) if classifies else 0
    kind = StratifiedKFold if most >= cv else KFold
    with warnings.catch_warnings():
        # That a class has fewer rows than there are folds: they lie in as many as can.
        warnings.filterwarnings("ignore", "The least populated class")
        return list(kind(cv, shuffle=True, random_state=salt).split(y, y, groups))
