"""The numbers of the loss histogram, and the rows left out."""

import numpy as np
import pytest

import lrisk
from lrisk.analysis import left_out, summarise_losses

rng = np.random.default_rng(0)
LOSSES = np.concatenate([rng.exponential(1.0, 80), rng.exponential(1e3, 20)])
MASK = np.argsort(np.argsort(LOSSES)) < 75


@pytest.mark.parametrize("log", [True, False])
def test_every_row_is_counted_once(log):
    losses = np.r_[LOSSES, np.nan, 0.0]
    mask = np.r_[MASK, False, True]
    summary = summarise_losses(losses, mask, n_bins=17, log=log)
    assert summary.kept.sum() == summary.n_kept == 76
    assert summary.left_out.sum() == summary.n_left_out == 25
    assert len(summary.edges) == 18 and np.all(np.diff(summary.edges) > 0)
    assert summary.cut == np.sort(LOSSES)[74]
    expected = LOSSES[~MASK].mean() / np.r_[LOSSES[MASK], 0.0].mean()
    assert summary.ratio == pytest.approx(expected)
    steps = np.diff(np.log(summary.edges)) if log else np.diff(summary.edges)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_edge_cases():
    none = summarise_losses(np.zeros(3), np.ones(3, bool))
    assert none.cut == 0.0 and none.n_left_out == 0 and np.isnan(none.ratio)
    exact = summarise_losses(np.array([0.0, 0.0, 4.0]), np.array([True, True, False]))
    assert exact.ratio == np.inf and exact.left_out.sum() == 1
    with pytest.raises(ValueError, match="losses must be"):
        summarise_losses(np.full(3, np.nan), np.ones(3, bool))
    with pytest.raises(ValueError, match="losses must be"):
        summarise_losses(np.zeros(3), np.ones(4, bool))


@pytest.mark.parametrize("seed", range(4))
def test_the_rows_of_highest_loss_are_the_planted_ones(seed):
    """Paper 2, section 5: once trained, the n(1 − p) worst rows are the outliers."""
    own = np.random.default_rng(seed)
    X = own.normal(size=(120, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * own.normal(size=120)
    planted = own.choice(120, 24, replace=False)
    y[planted] = own.normal(15.0, 3.0, size=24)
    model = lrisk.RiskRegressor("subquantile:0.8", random_state=0).fit(X, y)
    rows, losses = left_out(model)
    assert set(rows) == set(planted)
    assert losses.min() > model.losses_[model.inlier_mask_].max()


def test_rows_left_out_come_worst_first():
    X = rng.normal(size=(50, 2))
    y = X[:, 0].copy()
    y[[4, 7]] += [10.0, 20.0]
    weight = np.ones(50)
    weight[9] = 0.0
    model = lrisk.RiskRegressor("subquantile:0.9", random_state=0)
    model.fit(X, y, sample_weight=weight)
    rows, losses = left_out(model)
    assert list(rows[:2]) == [7, 4] and 9 not in rows
    assert np.all(np.diff(losses) <= 0)
    with pytest.raises(ValueError, match="leaves rows out"):
        left_out(lrisk.RiskRegressor("mean").fit(X, y))
