"""References: what they may not have seen."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from lrisk.procedures.label_noise.references import (
    TREES_FROM,
    FeatureModels,
    cross_fitted,
)
from lrisk.procedures.label_noise.rows import LabelledRows, assign_folds


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    codes = (Z[:, 0] + Z[:, 1] > 0).astype(int) + (Z[:, 2] > 1.0)
    wrong = rng.random(n) < 0.2
    codes = np.where(wrong, rng.integers(0, 3, n), codes)
    return Z, codes, assign_folds(codes, 5, rng)


def references(Z, codes, folds, precomputed=False, learnt=None):
    rng = np.random.default_rng(1)
    rows = LabelledRows.of(Z, codes, 3)._replace(folds=folds)
    learnt = np.arange(len(codes)) if learnt is None else learnt
    return cross_fitted(FeatureModels(rows, precomputed, rng, learnt), rows, learnt)


@pytest.mark.parametrize("kind", ["rows", "kernel", "trees"])
def test_a_label_changes_no_reference_at_its_own_row(kind, monkeypatch):
    """Given the folds, plain and hopeful references alike: agreement is nested."""
    if kind == "trees":
        monkeypatch.setattr("lrisk.procedures.label_noise.references.TREES_FROM", 1)
    Z, codes, folds = table()
    kernel = kind == "kernel"
    given = rbf_kernel(Z) if kernel else Z
    before = references(given, codes, folds, kernel)
    for row in (17,) if kind == "trees" else (0, 17, 101):
        other = codes.copy()
        other[row] = (codes[row] + 1) % 3
        after = references(given, other, folds, kernel)
        same = folds == folds[row]
        assert np.array_equal(before.logs[:, same], after.logs[:, same])
        assert not np.array_equal(before.logs[:, ~same], after.logs[:, ~same])
        own = folds[row]
        assert np.array_equal(before.agreeing[own], after.agreeing[own])


def test_hopeful_references_learn_from_agreeing_rows_of_every_class():
    Z, codes, folds = table(n=300)
    found = references(Z, codes, folds)
    for f in range(5):
        assert not found.agreeing[f, folds == f].any()
        assert set(codes[found.agreeing[f]]) == {0, 1, 2}
    share = np.mean([found.agreeing[f, folds != f].mean() for f in range(5)])
    assert 0.6 < share < 0.95


def test_rows_that_no_fold_holds_out_are_not_judged():
    Z, codes, folds = table()
    folds[:4] = -1
    logs = references(Z, codes, folds).logs
    assert np.all(logs[:, :4] == -np.log(3))
    assert np.all(np.isfinite(logs)) and np.allclose(np.exp(logs).sum(axis=2), 1.0)


def test_all_rows_are_judged_whatever_is_learnt():
    Z, codes, folds = table(n=TREES_FROM + 200)
    learnt = np.arange(0, len(codes), 4)
    found = references(Z, codes, folds, learnt=learnt)
    assert found.logs.shape == (6, len(codes), 3)
    assert not found.agreeing[:, np.setdiff1d(np.arange(len(codes)), learnt)].any()
    right = found.logs.mean(axis=0).argmax(axis=1) == codes
    assert right.mean() > 0.7
