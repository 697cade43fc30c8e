"""The choice among fits of the user's model."""

import numpy as np
import pytest

from lrisk.procedures.label_noise.final_fit import (
    Chooser,
    Settings,
    calibrated,
)
from lrisk.procedures.label_noise.likelihood import probabilities, uniform_noise
from lrisk.procedures.label_noise.rows import LabelledRows, assign_folds
from lrisk.spaces import Kernel


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_slope_that_was_lost_is_found(n_classes):
    rng = np.random.default_rng(0)
    n, T = 4000, uniform_noise(0.2, n_classes)
    scores = rng.normal(0, 3.0, size=(n, 1 if n_classes == 2 else n_classes))
    p = probabilities(scores) @ T
    codes = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    codes = np.minimum(codes, n_classes - 1)
    value, slope = calibrated(0.01 * scores, codes, np.ones(n), T, True)
    assert slope == pytest.approx(100.0, rel=0.25)
    wrong, _ = calibrated(0.01 * scores, codes, np.ones(n), np.eye(n_classes), True)
    assert wrong < value - 20
    assert calibrated(scores, codes, np.ones(n), T, False)[1] == 1.0


def settings(name="linear", **fixed):
    given = {"gamma": None, "alpha": None, "contamination": None, "intercept": True}
    return Settings(lambda gamma: Kernel(name, gamma=gamma), **(given | fixed))


def rows(seed, share):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(240, 5))
    truth = (Z[:, 0] + Z[:, 1] > 0).astype(int)
    codes = np.where(rng.random(240) < share, 1 - truth, truth)
    folds = assign_folds(codes, 5, rng)
    agreeing = np.array([(folds != f) & (codes == truth) for f in range(5)])
    rows = LabelledRows.of(Z, codes, 2)
    return rows._replace(folds=folds, agreeing=agreeing), rng


def test_clean_rows_get_the_ordinary_fit_and_noisy_ones_another():
    kinds = []
    for seed in range(3):
        table, _ = rows(seed, 0.0)
        chosen = Chooser(settings(), table, None).choose()
        assert chosen.kind == "ordinary" and set(chosen.scores) == {"ordinary"}
        table, _ = rows(seed, 0.3)
        chosen = Chooser(settings(), table, uniform_noise(0.3, 2)).choose()
        assert len(chosen.scores) == 3
        kinds.append(chosen.kind)
    assert "ordinary, noisy labels" not in kinds


def test_what_is_given_stands():
    table, _ = rows(0, 0.2)
    fixed = settings("rbf", gamma=0.3, alpha=2.0)
    chosen = Chooser(fixed, table, uniform_noise(0.2, 2)).choose()
    assert chosen.alpha == pytest.approx(2.0) and chosen.gamma == pytest.approx(0.3)
    assert chosen.slope == 1.0
