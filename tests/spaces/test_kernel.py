"""Kernel space: scikit-learn's kernels, its own inner product, blocks, factors."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from lrisk.spaces import Kernel, KernelSpace
from lrisk.spaces.kernels import KernelColumns

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(23, 4)), rng.normal(size=(9, 4))
NAMED = {
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 0.7},
    "rbf": {"gamma": 0.4},
    "laplacian": {"gamma": 0.2},
    "cosine": {},
}
named = pytest.mark.parametrize("name", NAMED)


@named
@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_are_those_of_scikit_learn(name, sparse):
    kernel = Kernel(name, **NAMED[name])
    left, right = (sp.csr_array(X), sp.csr_array(Z)) if sparse else (X, Z)
    expected = pairwise_kernels(X, Z, metric=name, **NAMED[name])
    np.testing.assert_allclose(kernel(left, right), expected, rtol=1e-12, atol=1e-14)
    expected = pairwise_kernels(X, metric=name, **NAMED[name])
    np.testing.assert_allclose(kernel(left, left), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian"])
def test_gamma_none_is_one_over_features(name):
    np.testing.assert_allclose(
        Kernel(name)(X, Z), pairwise_kernels(X, Z, metric=name), rtol=1e-12
    )


def test_callable_kernel_gets_its_parameters():
    def bump(a, b, width):
        return float(np.exp(-np.sum((a - b) ** 2) / width))

    kernel = Kernel(bump, params={"width": 2.0})
    for other in (X, Z):
        np.testing.assert_allclose(
            kernel(X, other), Kernel("rbf", gamma=0.5)(X, other), rtol=1e-12
        )


@named
@pytest.mark.parametrize("k", [1, 3])
def test_space_is_the_span_of_the_kernel(name, k):
    space = KernelSpace(Kernel(name, **NAMED[name]), X, n_scores=k)
    K = pairwise_kernels(X, metric=name, **NAMED[name])
    a, b = rng.normal(size=(2, space.size))
    scores = K @ a.reshape(-1, k)
    scores = scores[:, 0] if k == 1 else scores
    np.testing.assert_allclose(space.scores(a), scores, rtol=1e-11, atol=1e-12)
    inner = np.sum(a.reshape(-1, k) * (K @ b.reshape(-1, k)))
    assert space.inner(a, b) == pytest.approx(inner, rel=1e-10)
    # The pullback is adjoint to the scores in the space's own inner product.
    r = rng.normal(size=scores.shape)
    assert space.inner(space.pullback(a, r), b) == pytest.approx(
        float(np.sum(r * space.scores(b))), rel=1e-10
    )
    mass = rng.dirichlet(np.ones(len(K)))
    largest = np.linalg.eigvals(K * mass).real.max()
    bound = space.largest_curvature(mass)
    assert largest <= bound * (1 + 1e-10) <= largest * (1 + 1e-6)


@named
@pytest.mark.parametrize("block", [1, 40, 10**6])
def test_new_rows_in_blocks(name, block):
    kernel = Kernel(name, **NAMED[name])
    space = KernelSpace(kernel, X, n_scores=2)
    theta = rng.normal(size=space.size)
    theta[:10] = 0.0  # rows without coefficients are skipped
    K = pairwise_kernels(Z, X, metric=name, **NAMED[name])
    expected = K @ theta.reshape(-1, 2)
    ready = KernelSpace(Kernel("precomputed"), kernel(X, X), n_scores=2)
    for rows in (space.at(Z), ready.at(K)):
        rows.block_entries = block
        np.testing.assert_allclose(rows.scores(theta), expected, rtol=1e-10)
    np.testing.assert_allclose(ready.scores(theta), space.scores(theta), rtol=1e-10)


def test_blocks_never_hold_the_whole_matrix():
    seen = []

    class Spy(Kernel):
        def __call__(self, A, B):
            seen.append(A.shape[0] * B.shape[0])
            return super().__call__(A, B)

    space = KernelSpace(Spy("rbf"), X)
    rows = space.at(np.repeat(Z, 20, axis=0))
    rows.block_entries = 60
    rows.scores(np.ones(23))
    assert len(seen) == 90 and max(seen) <= 60


@named
@pytest.mark.parametrize("k", [1, 2])
def test_factors(name, k):
    doubled = np.vstack([X, X[:5]])  # a rank below the number of rows
    space = KernelSpace(Kernel(name, **NAMED[name]), doubled, n_scores=k)
    factored = space.factored()
    features = factored.X
    np.testing.assert_allclose(features @ features.T, space.matrix(), atol=1e-12)
    assert features.shape[1] <= 23
    theta = rng.normal(size=factored.size)
    w = factored.coefficients(theta)
    np.testing.assert_allclose(factored.features_of(w), theta, atol=1e-9)
    np.testing.assert_allclose(space.scores(w), factored.scores(theta), atol=1e-9)
    assert space.inner(w, w) == pytest.approx(float(theta @ theta), rel=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "rfb"}, "did you mean 'rbf'"),
        ({"name": "sigmoid"}, "kernel must be one of"),
        ({"name": "rbf", "gamma": 0.0}, "gamma must be"),
        ({"name": "rbf", "gamma": np.nan}, "gamma must be"),
        ({"name": "poly", "degree": 0}, "degree must be"),
        ({"name": "poly", "coef0": -1.0}, "positive definite"),
    ],
)
def test_bad_kernels(options, message):
    with pytest.raises(ValueError, match=message):
        Kernel(options.pop("name"), **options).validate()


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((3, 4)), r"square .*\(3, 4\)"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric .*apart by 2"),
        (np.diag([1.0, 1.0, -0.1]), "positive semi-definite, got 'eigenvalue -0.1'"),
    ],
)
def test_matrices_that_are_no_kernel(K, message):
    with pytest.raises(ValueError, match=message):
        KernelSpace(Kernel("precomputed"), K)


def test_indefinite_callable_is_refused():
    with pytest.raises(ValueError, match="positive semi-definite"):
        KernelSpace(Kernel(lambda a, b: -float(a @ b)), X)
    KernelSpace(Kernel("precomputed"), X @ X.T)  # singular is fine


def test_distances_far_from_zero():
    """Rows as near to each other as before, to the digits that their offset leaves."""
    far, new = X + 1e8, Z + 1e8
    kernel = Kernel("rbf", gamma=0.4)
    squares = ((far[:, None] - new) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel(far, new), np.exp(-0.4 * squares), rtol=1e-12)
    whole = kernel(far, far)
    np.testing.assert_allclose(kernel(far[:5], far.copy()), whole[:5], rtol=1e-12)
    single = X.astype(np.float32) + np.float32(1e4)
    exact = ((single[:, None].astype(float) - single.astype(float)) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel(single, single), np.exp(-0.4 * exact), rtol=1e-10)


@pytest.mark.parametrize("size", [1e5, 1e20, 2.0**159])
@pytest.mark.parametrize("share", [1, 5])
def test_rows_far_out_leave_the_others_alone_and_equal_rows_equal(size, share):
    """Of products alone an exponent of 1e40 would keep no digit, nor a sign."""
    data = np.r_[X, X[:share] * size]
    kernel = Kernel("rbf", gamma=0.4)
    near = len(X)
    for values in (
        kernel(data, data),
        kernel(data.copy(), data),
        KernelColumns(kernel, data, len(data))(data),
    ):
        np.testing.assert_allclose(values[:near, :near], kernel(X, X), rtol=1e-10)
        np.testing.assert_allclose(values[near:, near:], np.eye(share), atol=1e-12)
        assert not np.any(values[:near, near:])


@pytest.mark.parametrize("name", ["linear", "poly"])
def test_values_that_leave_the_floats_are_refused(name):
    with pytest.raises(ValueError, match="kernel values are at most"):
        Kernel(name, degree=7)(1e99 * X, 1e99 * Z)


@pytest.mark.parametrize("n", [10, 60])
def test_curvature(n):
    data = np.random.default_rng(1).normal(size=(n, 3))
    mass = np.random.default_rng(2).dirichlet(np.ones(n))
    space = KernelSpace(Kernel("rbf"), data)
    scaled = np.sqrt(mass)[:, None] * space.matrix() * np.sqrt(mass)
    largest = np.linalg.norm(scaled, 2)
    assert space.largest_curvature(mass) == pytest.approx(largest, rel=1e-6)
    nothing = KernelSpace(Kernel("linear"), np.zeros((n, 3)))
    assert nothing.largest_curvature(mass) == 0.0
