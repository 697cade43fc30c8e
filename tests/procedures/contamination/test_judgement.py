"""The verdict on rows: what is found, and above all what is not."""

import numpy as np
import pytest

from lrisk.datasets import corrupt_labels, corrupt_units, make_awkward
from lrisk.procedures.contamination import judge_table, nothing_judged, told_share
from lrisk.procedures.contamination.feature_errors import contradicted_values
from lrisk.procedures.contamination.forest import MedianForest
from lrisk.procedures.contamination.judgement import has_point_mass, tie_width
from lrisk.procedures.contamination.leverage import pulling_rows
from lrisk.procedures.contamination.noise_level import NoiseLevel
from lrisk.procedures.contamination.reference import robust_reference
from lrisk.procedures.contamination.robust_scale import Columns
from lrisk.procedures.contamination.rows import Distinct

AWKWARD = ["gaussian", "lognormal", "t3", "heteroscedastic", "nonlinear", "ties"]


def linear(seed, n=250, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, X @ np.linspace(1, -1, d) + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("kind", AWKWARD)
def test_clean_tables_stay_clean(kind):
    rates = []
    for seed in range(3):
        X, y = make_awkward(kind, n_samples=300, random_state=seed)
        rates.append(judge_table(X, y, np.random.default_rng(0)).flagged.mean())
    assert max(rates) <= 0.01


@pytest.mark.parametrize("shift", [0.0, -1.0])
def test_targets_cut_off_at_zero_stay_clean(shift):
    rng, X, y = linear(0)
    y = np.maximum(y + shift, 0.0)
    assert has_point_mass(y)
    assert judge_table(X, y, rng).flagged.mean() <= 0.01


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_wrong_targets_are_found(share):
    errors, precision, recall, covered = [], [], [], []
    for seed in range(4):
        rng, X, y = linear(seed)
        dirty = corrupt_labels(X, y / y.std(), fraction=share, random_state=seed)
        found = judge_table(dirty.X, dirty.y, rng)
        hits = np.sum(found.flagged & dirty.mask)
        errors.append(found.share - share)
        covered.append(found.interval[0] <= share <= found.interval[1])
        precision.append(hits / found.flagged.sum())
        recall.append(hits / dirty.mask.sum())
    assert np.max(np.abs(errors)) < 0.07
    assert min(precision) > 0.9
    assert np.mean(recall) > 0.65
    assert sum(covered) >= 3


def test_the_pilot_speaks_for_the_other_rows():
    rng, X, y = linear(0, n=3000)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.2, random_state=0)
    found = judge_table(dirty.X, dirty.y, rng)
    hits = np.sum(found.flagged & dirty.mask)
    assert hits / found.flagged.sum() > 0.9
    assert hits / dirty.mask.sum() > 0.65
    assert found.share == pytest.approx(0.2, abs=0.05)


def test_units_of_the_table_do_not_matter():
    _, X, y = linear(3)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.2, random_state=3)
    plain = judge_table(dirty.X, dirty.y, np.random.default_rng(0))
    scaled = judge_table(
        dirty.X * [1e6, 1e-6, 3, 1, 1] + 7, 1e5 * dirty.y - 3, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(plain.flagged, scaled.flagged)
    np.testing.assert_allclose(plain.chance, scaled.chance, atol=1e-3)


def test_a_told_share_flags_just_so_many():
    _, X, y = linear(0)
    found = judge_table(X, y, np.random.default_rng(0))
    for share in (0.0, 0.1, 0.49):
        told = told_share(found, share, np.ones(len(y)))
        assert told.flagged.sum() == int(share * len(y))
        worst = np.sort(np.abs(found.u))[::-1][: int(share * len(y))]
        assert set(np.abs(found.u[told.flagged])) == set(worst)
    nothing = nothing_judged(np.ones(20), "constant target", (0, 0.5))
    tied = told_share(nothing, 0.3, np.ones(20))
    assert tied.flagged.sum() == 6


def test_tie_width():
    assert tie_width(np.round(np.linspace(0, 6, 100))) == 1.0
    assert tie_width(np.linspace(0, 6, 100)) == 0.0
    assert not has_point_mass(np.round(np.linspace(0, 2, 100)))


def test_noise_level_follows_the_noise():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 2))
    fitted, true = rows[:, 0], np.exp(0.8 * rows[:, 0])
    residuals = true * rng.normal(size=1500)
    level = NoiseLevel.of(residuals, fitted, rows)
    ratio = level.at(fitted, rows, own=True) / true
    middle = np.abs(fitted) < 1.5
    assert np.all((ratio[middle] > 0.5) & (ratio[middle] < 2.0))
    halves = NoiseLevel.of(2 * residuals, 2 * fitted, rows).at(
        2 * fitted, rows, own=True
    )
    np.testing.assert_allclose(halves, 2 * level.at(fitted, rows, own=True))


def test_reference_resists_two_fifths():
    _, X, y = linear(0, n=300)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.4, random_state=0)
    reference = robust_reference(dirty.X, dirty.y, Columns.of(dirty.X))
    _, X_new, y_new = linear(1, n=300)
    error = np.sqrt(np.mean((reference.predict(X_new) - y_new / y.std()) ** 2))
    assert error < 1.5 * 0.5 / y.std()


def test_forest_medians_by_brute_force():
    rng, X, y = linear(0, n=60)
    forest = MedianForest(X, y, 0)
    new = rng.normal(size=(5, 5))
    trees = forest._forest
    kept = np.flatnonzero(forest._counts.sum(axis=0) > 0)
    expected = []
    for row in new:
        weight = np.zeros(len(y))
        for tree, count in zip(trees.estimators_, forest._counts, strict=True):
            same = tree.apply(X.astype(np.float32)) == tree.apply(row[None])[0]
            weight += same * count / (same * count).sum()
        order = np.argsort(y)
        total = np.cumsum(weight[order])
        expected.append(y[order][np.searchsorted(total, 0.5 * total[-1] - 1e-9)])
    assert len(kept) > 30
    np.testing.assert_allclose(forest.predict(new), expected)


def test_a_leverage_cluster_pulls_and_a_fitting_one_does_not():
    rng, X, y = linear(0)
    weights, nobody = np.ones(len(y)), np.zeros(len(y), dtype=bool)
    far = np.arange(len(y)) < 40
    X[far] = np.linspace(8, -8, 5) + 0.3 * rng.normal(size=(40, 5))
    y[far] = X[far] @ np.linspace(1, -1, 5) + 0.5 * rng.normal(size=40)
    assert not pulling_rows(X, y, weights, nobody, None).any()
    y[far] = -8 + 0.3 * rng.normal(size=40)
    np.testing.assert_array_equal(pulling_rows(X, y, weights, nobody, None), far)


@pytest.mark.parametrize("factor", [10.0, 1000.0])
def test_values_in_another_unit(factor):
    hits = total = false = 0
    for seed in range(3):
        _, X, y = linear(seed, n=400)
        X = X + 5.0
        dirty = corrupt_units(
            X, y, fraction=0.1, factor=factor, column=0, random_state=seed
        )
        rows = np.arange(400)
        found = contradicted_values(dirty.X, dirty.y, rows, rows < 0)
        hits += np.sum(found & dirty.mask)
        false += np.sum(found & ~dirty.mask)
        total += dirty.mask.sum()
        assert not contradicted_values(X, y, rows, rows < 0).any()
    assert false == 0
    assert hits > 0.25 * total


def test_a_lone_rich_group_is_believed():
    _, X, y = linear(0, n=400)
    X[:20, 0] += 40.0
    y[:20] += 40.0
    rows = np.arange(400)
    assert not contradicted_values(X, y, rows, rows < 0).any()


def test_distinct_rows_do_not_know_order_or_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(50, 3)).astype(float)
    y = rng.integers(0, 2, size=50).astype(float)
    weights = rng.integers(1, 4, size=50).astype(float)
    a = Distinct.of(X, y, weights)
    order = rng.permutation(50)
    b = Distinct.of(X[order], y[order], weights[order])
    np.testing.assert_array_equal(X[a.first], X[order][b.first])
    np.testing.assert_array_equal(a.weights, b.weights)
    np.testing.assert_array_equal(X[a.first][a.number], X)
    np.testing.assert_array_equal(y[a.first][a.number], y)
    table = np.unique(np.column_stack([X, y]), axis=0)
    assert len(a.first) == len(table)
