"""Nyström space: the kernel's own space where the centres allow it, in blocks."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels

from lrisk.spaces import Kernel, KernelSpace, NystroemSpace, SelectedRows
from lrisk.spaces import nystroem as module
from lrisk.spaces.kernels import KernelColumns
from lrisk.spaces.nystroem import Centres, kernel_scores

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
KERNELS = {
    "rbf": {"gamma": 0.4},
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 0.5},
    "laplacian": {"gamma": 0.3},
    "cosine": {},
}
kernels = pytest.mark.parametrize("name", KERNELS)


@kernels
@pytest.mark.parametrize("held", [False, True])
def test_all_rows_as_centres_are_the_kernel_space(name, held):
    kernel = Kernel(name, **KERNELS[name])
    space = NystroemSpace(Centres(kernel, X), X, held=held)
    K = pairwise_kernels(X, metric=name, **KERNELS[name])
    features = np.column_stack([space.scores(e) for e in np.eye(space.size)])
    np.testing.assert_allclose(features @ features.T, K, atol=1e-10)
    exact = KernelSpace(kernel, X)
    c = rng.normal(size=len(X))
    theta = space.features_of(c)
    np.testing.assert_allclose(space.scores(theta), exact.scores(c), atol=1e-9)
    assert space.inner(theta, theta) == pytest.approx(exact.inner(c, c), rel=1e-8)
    back = space.coefficients(theta)
    np.testing.assert_allclose(exact.scores(back), exact.scores(c), atol=1e-7)


def test_features_span_those_of_scikit_learn():
    other = Nystroem(gamma=0.4, n_components=20, random_state=0).fit(X)
    space = NystroemSpace(Centres(Kernel("rbf", gamma=0.4), other.components_), X)
    theirs = other.transform(X)
    ours = space.features[:]
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-9)


def test_blocks_are_small_and_change_nothing(monkeypatch):
    centres = Centres(Kernel("rbf", gamma=0.4), X[:10])
    whole = NystroemSpace(centres, X, held=True)
    c, y = rng.uniform(0, 1, 80) * (rng.random(80) < 0.7), rng.normal(size=80)
    theta = rng.normal(size=whole.size)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 70)
    space = NystroemSpace(centres, X)
    assert space.features.height == 7
    np.testing.assert_allclose(space.scores(theta), whole.scores(theta), rtol=1e-9)
    r = rng.normal(size=80)
    np.testing.assert_allclose(space.pullback(theta, r), whole.pullback(theta, r))
    for mine, theirs in zip(space.moments(c, y), whole.moments(c, y), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


@pytest.mark.parametrize("weight", [0.3, None])
def test_rows_far_from_all_centres_cost_nothing(weight):
    far = X.copy()
    far[::2] *= 1e4
    centres = Centres(Kernel("rbf"), X[1::2])
    c = rng.uniform(0.1, 1.0, 80) if weight is None else np.full(80, weight)
    whole = NystroemSpace(centres, far, held=True).moments(c, c)
    lazy = NystroemSpace(centres, far).moments(c, c)
    np.testing.assert_allclose(lazy[0], whole[0], atol=1e-7)
    np.testing.assert_allclose(lazy[1], whole[1], atol=1e-8)
    assert NystroemSpace(centres, far[::2]).moments(c[:40], c[:40])[0].max() < 1e-300


def test_dependent_centres_are_left_out():
    doubled = np.vstack([X[:5], X[:5], X[:1] + 1e-9])
    centres = Centres(Kernel("rbf"), doubled)
    assert centres.count == 5
    table = centres.coefficients(np.ones((5, 1)))
    assert table.shape == (11, 1) and np.count_nonzero(table) == 5
    # With a penalty, also what would drown in the rounding of a Gram matrix.
    near = np.linspace(0.0, 1.0, 30)[:, None]
    loose, tight = (Centres(Kernel("rbf"), near, mu).count for mu in (1e-6, None))
    assert 1 < loose < tight


@kernels
def test_columns_are_the_kernel(name):
    kernel = Kernel(name, **KERNELS[name])
    columns = KernelColumns(kernel, X[:9], 40)
    expected = pairwise_kernels(X, X[:9], metric=name, **KERNELS[name])
    for rows in (slice(0, 40), slice(40, 80), slice(0, 3)):
        got = columns(X[rows].astype(np.float64))
        np.testing.assert_allclose(got, expected[rows], rtol=1e-11, atol=1e-14)
    table = rng.normal(size=(9, 2))
    table[3] = 0.0
    np.testing.assert_allclose(
        kernel_scores(kernel, X[:9], X, table), expected @ table, atol=1e-11
    )


def test_selected_rows():
    chosen = SelectedRows(X, np.array([5, 2, 70]))
    twice = SelectedRows(chosen, np.array([2, 0]))
    np.testing.assert_array_equal(twice[:], X[[70, 5]])
    assert twice.shape == (2, 3) and twice.dtype == X.dtype
    assert twice.X is X


def test_row_access_needs_held_features():
    centres = Centres(Kernel("rbf"), X[:5])
    assert not hasattr(NystroemSpace(centres, X), "rows")
    held = NystroemSpace(centres, X, held=True)
    np.testing.assert_allclose(held.rows().X, held.features[:], rtol=1e-9)
