"""Each corruption does what its paper prints, to the rows it says and to no others."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

from lrisk.datasets import (
    add_leverage_cluster,
    add_second_population,
    corrupt_classes,
    corrupt_features,
    corrupt_labels,
    corrupt_rows,
    corrupt_units,
    make_awkward,
    swap_columns,
)

REGRESSION = [
    corrupt_labels,
    corrupt_rows,
    corrupt_features,
    add_leverage_cluster,
    add_second_population,
    corrupt_units,
    swap_columns,
]


@pytest.fixture
def data():
    X, y = make_awkward("gaussian", 400, random_state=3)
    return X + 2.0, y


@pytest.mark.parametrize("corrupt", REGRESSION)
@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.49])
def test_only_the_rows_of_the_mask_change(corrupt, fraction, data):
    X, y = data
    kept_X, kept_y = X.copy(), y.copy()
    bad = corrupt(X, y, fraction=fraction, random_state=0)
    assert bad.mask.sum() == round(fraction * len(y))
    changed = (bad.X != X).any(axis=1) | (bad.y != y)
    np.testing.assert_array_equal(changed, bad.mask)
    np.testing.assert_array_equal(X, kept_X)
    np.testing.assert_array_equal(y, kept_y)


@pytest.mark.parametrize("corrupt", REGRESSION)
def test_the_seed_decides(corrupt, data):
    X, y = data
    one, two, other = (
        corrupt(X, y, fraction=0.3, random_state=seed)
        for seed in (0, np.random.default_rng(0), 1)
    )
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert (one.mask != other.mask).any()


@pytest.mark.parametrize("corrupt", REGRESSION)
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ({"fraction": 1.2}, ValueError, "fraction must be"),
        ({"fraction": "half"}, TypeError, "fraction must be"),
    ],
)
def test_bad_fractions_are_refused(corrupt, bad, error, message, data):
    with pytest.raises(error, match=message):
        corrupt(*data, **bad)


def test_nan_is_refused(data):
    X, y = data
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        corrupt_labels(X, y, fraction=0.1)


def test_labels_follow_their_normal_law():
    X, y = make_awkward("gaussian", 20_000, random_state=0)
    bad = corrupt_labels(X, y, fraction=0.5, random_state=0)
    assert stats.kstest(bad.y[bad.mask], stats.norm(5, 5).cdf).pvalue > 1e-3


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c", "d"]])
def test_every_wrong_class_is_equally_likely(classes):
    rng = np.random.default_rng(0)
    y = rng.choice(classes, 8000)
    bad = corrupt_classes(rng.normal(size=(8000, 2)), y, fraction=0.5, random_state=0)
    np.testing.assert_array_equal(bad.y != y, bad.mask)
    for one in classes:
        among = bad.y[bad.mask & (y == one)]
        counts = [np.sum(among == other) for other in classes if other != one]
        expected = np.full(len(counts), len(among) / len(counts))
        assert np.sum((counts - expected) ** 2 / expected) < stats.chi2(3).ppf(1 - 1e-4)


def test_one_class_has_no_wrong_one(data):
    with pytest.raises(ValueError, match="at least two classes"):
        corrupt_classes(data[0], np.ones(400), fraction=0.1)


def test_gross_rows_about_zero_and_about_the_mean(data):
    X, y = data
    raw = corrupt_rows(X, y, fraction=0.2, random_state=0)
    np.testing.assert_allclose(raw.X[raw.mask], 100 * X[raw.mask])
    np.testing.assert_allclose(raw.y[raw.mask], 1e4 * y[raw.mask])
    mean = corrupt_rows(X, y, fraction=0.2, about="mean", random_state=0)
    away = X - X.mean(axis=0)
    np.testing.assert_allclose(
        mean.X[mean.mask] - X.mean(axis=0), 100 * away[mean.mask]
    )


def test_gross_rows_can_flip_or_keep_classes(data):
    X = data[0]
    y = np.where(X[:, 0] > 2, "up", "down")
    flipped = corrupt_rows(X, y, fraction=0.2, target="flip", random_state=0)
    np.testing.assert_array_equal(flipped.y != y, flipped.mask)
    kept = corrupt_rows(X, y, fraction=0.2, target="keep", random_state=0)
    np.testing.assert_array_equal(kept.y, y)


@pytest.mark.parametrize(
    ("distribution", "law"),
    [("gaussian", stats.norm), ("laplace", stats.laplace(scale=np.sqrt(0.5)))],
)
def test_feature_noise_has_its_law_and_size(distribution, law, data):
    X, y = data
    X = X * np.arange(1.0, 7.0)
    bad = corrupt_features(
        X, y, fraction=1.0, distribution=distribution, scale=2.0, random_state=0
    )
    noise = ((bad.X - X) / (2.0 * X.std(axis=0))).ravel()
    assert stats.kstest(noise, law.cdf).pvalue > 1e-3
    np.testing.assert_allclose(noise.std(), 1.0, atol=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_leverage_points_are_far_together_and_on_the_wrong_side(seed, data):
    X, y = data
    bad = add_leverage_cluster(X, y, fraction=0.2, random_state=seed)
    Z = (bad.X - X.mean(axis=0)) / X.std(axis=0)
    cluster = Z[bad.mask]
    assert np.linalg.norm(cluster.mean(axis=0)) == pytest.approx(8.0, abs=0.3)
    assert cluster.std(axis=0).max() < 0.5
    line = LinearRegression().fit(bad.X[~bad.mask], bad.y[~bad.mask])
    z = (bad.y - y.mean()) / y.std()
    trend = line.predict(bad.X[bad.mask]).mean() - y.mean()
    np.testing.assert_allclose(z[bad.mask].mean(), -8 * np.sign(trend), atol=0.2)


def test_leverage_points_of_classes_have_the_unlikely_one(data):
    X = data[0]
    y = np.where(X[:, 0] > 2, "up", "down")
    bad = add_leverage_cluster(X, y, fraction=0.2, classification=True, random_state=0)
    clean = LogisticRegression().fit(bad.X[~bad.mask], bad.y[~bad.mask])
    right = clean.predict(bad.X[bad.mask].mean(axis=0)[None])
    assert set(bad.y[bad.mask]) == {"up", "down"} - set(right)


def test_a_cluster_of_all_rows_is_refused(data):
    with pytest.raises(ValueError, match="clean rows must stay"):
        add_leverage_cluster(*data, fraction=1.0)


def test_second_population(data):
    X, y = data
    bad = add_second_population(X, y, fraction=0.2, random_state=0)
    z, new = ((v - y.mean()) / y.std() for v in (y, bad.y))
    np.testing.assert_allclose(new[bad.mask], 3 - 2 * z[bad.mask])
    np.testing.assert_allclose(bad.X[bad.mask, 0] - X[bad.mask, 0], 2 * X[:, 0].std())
    np.testing.assert_array_equal(bad.X[:, 1:], X[:, 1:])


def test_units_of_a_feature_and_of_the_target(data):
    X, y = data
    feature = corrupt_units(X, y, fraction=0.1, factor=1000, column=2, random_state=0)
    assert feature.columns == (2,)
    np.testing.assert_allclose(feature.X[feature.mask, 2], 1000 * X[feature.mask, 2])
    np.testing.assert_array_equal(np.delete(feature.X, 2, 1), np.delete(X, 2, 1))
    target = corrupt_units(X, y, fraction=0.1, column="target", random_state=0)
    assert target.columns == (6,)
    np.testing.assert_allclose(target.y[target.mask], 10 * y[target.mask])
    np.testing.assert_array_equal(target.X, X)


def test_units_leave_zeros_alone(data):
    X, y = data
    X[:, 1] = (X[:, 1] > 2).astype(float)
    bad = corrupt_units(X, y, fraction=0.3, column=1, random_state=0)
    assert (X[bad.mask, 1] == 1).all()
    with pytest.raises(ValueError, match="share of rows it would change"):
        corrupt_units(X, y, fraction=0.9, column=1)
    X[:] = 0.0
    with pytest.raises(ValueError, match="column that varies"):
        corrupt_units(X, y, fraction=0.1)


@pytest.mark.parametrize("column", [-1, 6, 1.5, "first", True])
def test_unknown_columns_are_refused(column, data):
    with pytest.raises(ValueError, match="column must be"):
        corrupt_units(*data, fraction=0.1, column=column)


def test_swapped_columns(data):
    X, y = data
    bad = swap_columns(X, y, fraction=0.2, random_state=0)
    j, k = bad.columns
    np.testing.assert_array_equal(bad.X[bad.mask, j], X[bad.mask, k])
    np.testing.assert_array_equal(bad.X[bad.mask, k], X[bad.mask, j])
    with pytest.raises(ValueError, match="at least two columns"):
        swap_columns(X[:, :1], y, fraction=0.1)


def test_a_column_is_not_swapped_with_itself(data):
    with pytest.raises(ValueError, match=r"two different columns, got \(0, 0\)"):
        swap_columns(*data, fraction=0.2, columns=(0, 0))


def test_columns_to_swap_are_drawn_among_those_that_differ(data):
    X, y = data
    X[:, 1:] = X[:, :1]
    X[:, 4] += 1.0
    for seed in range(10):
        bad = swap_columns(X, y, fraction=0.2, random_state=seed)
        assert 4 in bad.columns and bad.columns[0] < bad.columns[1]
    X[:, 4] -= 1.0
    X[:, 4] = X[:, 0]
    with pytest.raises(ValueError, match="columns that differ"):
        swap_columns(X, y, fraction=0.2)


def test_wide_tables_need_no_list_of_pairs():
    X = np.random.default_rng(0).normal(size=(10, 20_000))
    bad = swap_columns(X, np.arange(10.0), fraction=0.2, random_state=0)
    assert np.count_nonzero(bad.X != X) == 4
