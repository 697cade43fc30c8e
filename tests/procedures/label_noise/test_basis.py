"""Features of a model and its coefficients."""

import numpy as np
import pytest

from lrisk.procedures.label_noise.basis import kernel_basis, linear_basis
from lrisk.spaces import Kernel


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
