"""Rows far out in their features, and the scale of the others."""

import numpy as np
import pytest

from lrisk.procedures.label_noise.rows import (
    FeatureScaling,
    column_units,
    gross_rows,
    plain_scaling,
    weighted_quantiles,
)


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
