"""Rows far out in their features: wrong, pulling, or neither."""

import numpy as np

from lrisk.procedures.label_noise.far_rows import judge_far_rows
from lrisk.procedures.label_noise.final_fit import Settings
from lrisk.procedures.label_noise.folds import LabelledRows
from lrisk.spaces import Kernel

LINEAR = Settings(lambda gamma: Kernel("linear"), None, None, None, True)


def judged(X, codes):
    rows = LabelledRows.of(X, codes, 2)
    return judge_far_rows(LINEAR, rows, np.random.default_rng(0))


def table(seed, factor):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 5))
    codes = (X[:, 0] + X[:, 1] > 0).astype(int)
    far = rng.random(250) < 0.15
    X[far] *= factor
    return X, codes, far


def test_far_rows_are_wrong_only_if_their_labels_contradict():
    for seed in range(3):
        X, codes, far = table(seed, 100.0)
        found = judged(X, codes)
        assert np.mean(found.far == far) > 0.99 and np.all(found.chance == 0.0)
        found = judged(X, np.where(far, 1 - codes, codes))
        assert np.all(found.chance[found.far] > 0.7)
        assert not found.leverage_rows.any()


def test_usual_rows_are_not_far():
    X, codes, _ = table(0, 1.0)
    found = judged(X, codes)
    assert not (found.far | found.leverage_rows).any() and np.all(found.chance == 0.0)
