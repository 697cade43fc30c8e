"""What every space over features of rows must obey, whatever it is made of."""

import numpy as np
import pytest
import scipy.sparse as sp

from lrisk.spaces import Kernel, KernelSpace, LinearSpace, NystroemSpace
from lrisk.spaces.nystroem import Centres

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Z = rng.normal(size=(7, 4))
KERNELS = {
    "rbf": Kernel("rbf", gamma=0.4),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", gamma=0.3, degree=2, coef0=0.7),
    "laplacian": Kernel("laplacian", gamma=0.2),
    "cosine": Kernel("cosine"),
}


def nystroem(kernel, rows=X, **options):
    def make(k):
        return NystroemSpace(Centres(kernel, X[::3]), rows, n_scores=k, **options)

    return make


SPACES = {
    "linear": lambda k: LinearSpace(X, intercept=False, n_scores=k),
    "linear with intercept": lambda k: LinearSpace(X, intercept=True, n_scores=k),
    "kernel": lambda k: KernelSpace(KERNELS["rbf"], X, n_scores=k),
    **{f"nystroem {name}": nystroem(kernel) for name, kernel in KERNELS.items()},
    "nystroem held": nystroem(KERNELS["rbf"], held=True),
    "nystroem sparse": nystroem(KERNELS["rbf"], sp.csr_array(X)),
    "nystroem float32": nystroem(KERNELS["rbf"], X.astype(np.float32)),
}
spaces = pytest.mark.parametrize("name", SPACES)
scores = pytest.mark.parametrize("k", [1, 3])


def spaces_with(capability):
    """The spaces that have it: a kernel space's parameters are its rows."""
    names = [name for name, make in SPACES.items() if hasattr(make(1), capability)]
    assert names
    return pytest.mark.parametrize("name", names)


@spaces
@scores
def test_pullback_is_adjoint_to_the_scores(name, k):
    space = SPACES[name](k)
    a, b = rng.normal(size=(2, space.size))
    z = space.scores(b)
    assert z.shape == ((60,) if k == 1 else (60, 3))
    r = rng.normal(size=z.shape)
    pulled = space.pullback(a, r)
    product = space.inner(pulled, b)
    if space.intercept:  # which bears no penalty and so is not in the inner product
        product += float(pulled[-k:] @ b[-k:])
    assert product == pytest.approx(float(np.sum(r * z)), rel=1e-8)


@spaces
@scores
def test_scores_are_linear(name, k):
    space = SPACES[name](k)
    a, b = rng.normal(size=(2, space.size))
    both = 2.0 * space.scores(a) - 3.0 * space.scores(b)
    np.testing.assert_allclose(space.scores(2.0 * a - 3.0 * b), both, atol=1e-9)


@spaces
def test_inner_product(name):
    space = SPACES[name](2)
    a, b = rng.normal(size=(2, space.size))
    assert space.inner(a, b) == pytest.approx(space.inner(b, a), rel=1e-10)
    assert space.inner(a, a) > 0
    # The gradient of ½⟨a, a⟩, in the space's own inner product.
    assert space.inner(space.penalised(a), b) == pytest.approx(space.inner(a, b))


@spaces
def test_curvature_bounds_the_scores(name):
    space = SPACES[name](1)
    mass = rng.dirichlet(np.ones(60))
    theta = rng.normal(size=space.size)
    length = space.inner(theta, theta) + (theta[-1] ** 2 if space.intercept else 0.0)
    second = float(mass @ space.scores(theta) ** 2)
    assert second <= space.largest_curvature(mass) * length * (1 + 1e-9)


@spaces_with("gram")
def test_gram_is_the_second_moment_of_the_features(name):
    space = SPACES[name](1)
    c = rng.uniform(0.0, 2.0, 60)
    c[::5] = 0.0
    features = np.column_stack([space.scores(e) for e in np.eye(space.size)])
    expected = features.T @ (c[:, None] * features)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(space.gram(c), expected, atol=1e-7 * scale)
    np.testing.assert_allclose(space.column_gram(c), expected, atol=1e-7 * scale)
    np.testing.assert_allclose(space.diagonal(c), np.diag(expected), atol=1e-7 * scale)


@spaces_with("restricted")
def test_rows_do_not_influence_each_other(name):
    space = SPACES[name](1)
    theta, rows = rng.normal(size=space.size), np.array([3, 4, 40])
    expected = space.scores(theta)[rows]
    np.testing.assert_allclose(space.restricted(rows).scores(theta), expected)
    np.testing.assert_allclose(space.take(rows).scores(theta), expected, rtol=1e-6)
    new = sp.csr_array(Z) if name == "nystroem sparse" else Z
    both = space.at(new).scores(theta)
    np.testing.assert_allclose(space.at(new[2:4]).scores(theta), both[2:4], rtol=1e-9)
