"""Folds."""

import numpy as np

from lrisk.procedures.label_noise.folds import assign_folds, sample_rows
from lrisk.procedures.outliers import joined_places


def test_folds_hold_every_class_and_never_a_lone_row():
    codes = np.repeat([0, 1, 2, 3], [50, 7, 2, 1])
    folds = assign_folds(codes, 5, np.random.default_rng(0))
    assert folds[-1] == -1 and np.all(folds[:-1] >= 0)
    for fold in range(5):
        assert set(codes[folds != fold]) == {0, 1, 2, 3}


def test_rows_of_one_place_share_a_fold():
    rng = np.random.default_rng(0)
    places, codes = rng.integers(0, 20, 100), rng.integers(0, 2, 100)
    folds = assign_folds(codes, 5, rng, places)
    for place in range(20):
        assert len(set(folds[places == place])) == 1
    assert set(folds) == set(range(5))


def test_samples_keep_rare_classes():
    codes = np.repeat([0, 1, 2], [9000, 90, 3])
    rows = sample_rows(codes, 100, np.random.default_rng(0))
    assert len(rows) <= 103 and len(set(rows)) == len(rows)
    assert np.all(np.bincount(codes[rows]) >= 2)
    assert len(sample_rows(codes[:50], 100, np.random.default_rng(0))) == 50


def test_groups_and_equal_rows_are_one_place():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [3.0]])
    places = joined_places(X, np.array([0, 1, 1, 2, 2]))
    assert len(set(places[:3])) == 1 and len(set(places[3:])) == 1
    assert places[0] != places[4]
