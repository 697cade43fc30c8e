"""Labelled rows: their scale, folds and samples; features and coefficients."""

import numpy as np
import pytest

from lrisk.procedures.label_noise.rows import (
    CLIP,
    FeatureScaling,
    assign_folds,
    bounded_influence,
    column_units,
    kernel_basis,
    linear_basis,
    plain_scaling,
    sample_rows,
    weighted_quantiles,
)
from lrisk.procedures.outliers import joined_places
from lrisk.spaces import Kernel


def test_quantiles_count_weights_as_copies():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)), rng.integers(1, 5, 40)
    copies = np.repeat(X, weight, axis=0)
    levels = [0.1, 0.25, 0.5, 0.75]
    expected = np.quantile(copies, levels, axis=0, method="inverted_cdf")
    found = weighted_quantiles(X, weight.astype(float), levels)
    assert np.array_equal(found, expected)


def test_scaling_is_standardisation_where_nothing_is_far_out():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(200, 4))
    scaling = plain_scaling(X, np.ones(200))
    assert np.allclose(scaling.centre, X.mean(0))
    assert np.allclose(scaling.scale, X.std(0))


def test_rows_count_the_less_the_farther_out_they_are_in_any_column():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(500, 3)), rng.integers(1, 4, 500).astype(float)
    np.testing.assert_array_equal(bounded_influence(X, weight), 1.0)
    quarters = np.quantile(np.repeat(X[:, 1], weight.astype(int)), [0.25, 0.5, 0.75])
    unit = (quarters[2] - quarters[0]) / 1.349
    for far in (8.0, 1e3, 1e30):
        X[7, 1] = quarters[1] - far * unit
        found = bounded_influence(X, weight)
        assert found[7] == pytest.approx((CLIP / far) ** 2, rel=0.02)
        np.testing.assert_array_equal(np.delete(found, 7), 1.0)
        np.testing.assert_allclose(
            bounded_influence(1e9 * X - 5.0, weight), found, rtol=1e-6
        )


def test_rare_values_of_a_column_of_zeros_are_not_far():
    X = np.zeros((400, 2))
    X[:9, 0] = 1.0  # a rare category
    X[50:80, 1] = np.linspace(1.0, 4.0, 30)
    weight = np.ones(400)
    np.testing.assert_array_equal(bounded_influence(X, weight), 1.0)
    before = plain_scaling(X, weight)
    X[60, 1] = 1e6
    assert bounded_influence(X, weight)[60] < 1e-6
    np.testing.assert_allclose(plain_scaling(X, weight).scale, before.scale, rtol=2)
    np.testing.assert_array_equal(bounded_influence(np.ones((5, 2)), np.ones(5)), 1.0)


def test_units_are_exact_and_huge_values_finite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1e-300, 1.0, 1e160, 0.0]
    X[:3, 1] = 1e300
    units = column_units(X)
    assert np.all(np.frexp(units)[0] == 0.5)
    inside = FeatureScaling(np.zeros(4), units)(X)
    assert np.array_equal((inside * units)[:, [0, 2, 3]], X[:, [0, 2, 3]])
    assert np.array_equal((inside * units)[3:], X[3:])
    assert np.all(inside[:3, 1] == 1e30)
    assert np.all(np.abs(np.delete(inside, 1, axis=1)) < 1e3)


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


def test_kernel_basis_spans_the_centred_kernel():
    X = np.random.default_rng(0).normal(size=(60, 6))
    K = Kernel("rbf", gamma=0.3)(X, X)
    basis = kernel_basis(K, K, np.ones(60), True, 6)
    H = np.eye(60) - 1 / 60
    features = basis.features[:, :-1]
    assert np.allclose(features @ features.T, H @ K @ H, atol=1e-7)
    theta = np.random.default_rng(0).normal(size=(basis.features.shape[1], 2))
    coefficients, intercept = basis.coefficients(theta)
    assert np.allclose(K @ coefficients + intercept, basis.features @ theta, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(50, 4), (8, 30)])
def test_linear_basis_gives_back_coefficients_of_the_columns(shape, intercept):
    rng = np.random.default_rng(0)
    Z = rng.normal(2.0, 1.0, size=shape)
    basis = linear_basis(Z, np.ones(len(Z)), intercept)
    theta = rng.normal(size=(basis.features.shape[1], 1))
    coefficients, intercept = basis.coefficients(theta)
    assert coefficients.shape == (shape[1], 1)
    assert np.allclose(Z @ coefficients + intercept, basis.features @ theta)


def test_features_lie_along_their_own_axes():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    weight = rng.uniform(0.5, 2.0, 80)
    features = linear_basis(Z, weight).features
    gram = features.T @ (weight[:, None] * features)
    assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-8 * gram.max())


def test_many_columns_are_reduced_to_leading_axes():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 50))
    basis = linear_basis(Z, np.ones(300), most=10)
    assert basis.features.shape[1] <= 11
    coefficients, intercept = basis.coefficients(basis.features.T @ Z)
    expected = basis.features @ basis.features.T @ Z
    assert np.allclose(Z @ coefficients + intercept, expected)
