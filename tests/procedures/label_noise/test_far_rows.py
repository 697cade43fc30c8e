"""Rows far out in their features: wrong, pulling, or neither."""

import numpy as np
import pytest

from lrisk.procedures.label_noise.far_rows import gross_rows, judge_far_rows
from lrisk.procedures.label_noise.final_fit import Settings
from lrisk.procedures.label_noise.rows import LabelledRows
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


@pytest.mark.parametrize("fraction", [0.05, 0.4])
@pytest.mark.parametrize("d", [3, 13])
def test_rows_times_hundred_are_gross(fraction, d):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, d))
    wrong = rng.random(300) < fraction
    X[wrong] *= 100
    found = gross_rows(X, rng.integers(0, 2, 300), np.ones(300))
    assert not found[~wrong].any()
    assert found[wrong].mean() > 0.95


def test_far_rows_do_not_hide_behind_their_own_scale():
    caught = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 5))
        wrong = rng.random(250) < 0.4
        X[wrong] *= 100
        caught.append(gross_rows(X, rng.integers(0, 2, 250), np.ones(250))[wrong])
    assert np.mean(np.concatenate(caught)) > 0.995


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(400, 8)),
        lambda rng: rng.lognormal(0.0, 1.5, size=(400, 8)),
        lambda rng: rng.standard_t(3, size=(400, 8)),
        lambda rng: np.eye(8)[rng.integers(0, 8, 400)],
        lambda rng: (rng.random((400, 8)) < 0.02).astype(float),
        lambda rng: rng.lognormal(0.0, 1.0, size=(400, 1)),
        lambda rng: np.round(rng.exponential(0.3, size=(400, 2))),
        lambda rng: np.ones((400, 2)),
    ],
)
def test_awkward_features_are_not_gross(draw):
    counts = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = gross_rows(draw(rng), rng.integers(0, 2, 400), np.ones(400))
        counts.append(found.mean())
    assert np.mean(counts) <= 0.002


def test_a_class_somewhere_else_is_not_gross():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(200, 5)), np.repeat([0, 1], [160, 40])
    X[codes == 1] *= 100
    assert not gross_rows(X, codes, np.ones(200)).any()
