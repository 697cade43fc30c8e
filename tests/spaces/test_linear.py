"""Linear space: dense = CSR = blocked, adjointness, offsets, rotation."""

import numpy as np
import pytest
import scipy.sparse as sp

from lrisk._jit import jit
from lrisk.spaces import LinearSpace
from lrisk.spaces.rows import row_access, row_axpy, row_dot

N, D = 37, 5


def matrix(kind):
    X = np.random.default_rng(0).normal(size=(N, D)) + 3.0
    X[np.random.default_rng(1).random((N, D)) < 0.4] = 0.0
    match kind:
        case "dense":
            return X
        case "fortran":
            return np.asfortranarray(X)
        case "float32":
            return X.astype(np.float32)
        case "csr":
            return sp.csr_array(X)
        case "csr32":
            return sp.csr_array(X.astype(np.float32))


KINDS = ["dense", "fortran", "float32", "csr", "csr32"]
shapes = pytest.mark.parametrize(
    ("intercept", "n_scores"), [(True, 1), (False, 1), (True, 3), (False, 3)]
)


def explicit(kind, space):
    """[X − m, 1] written out."""
    X = matrix(kind)
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    X = X.astype(np.float64)
    X = X if space.offset is None else X - space.offset
    return np.column_stack([X, np.ones(N)]) if space.intercept else X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_rows", [7, 4096])
@shapes
def test_operations_are_those_of_the_matrix(kind, block_rows, intercept, n_scores):
    mass = np.full(N, 1 / N)
    space = LinearSpace.centred(
        matrix(kind), mass, intercept=intercept, n_scores=n_scores
    )
    space.block_rows = block_rows
    full = explicit(kind, space)
    rng = np.random.default_rng(2)
    theta = rng.normal(size=space.size)
    table = theta.reshape(-1, n_scores)
    expected = full @ table
    expected = expected[:, 0] if n_scores == 1 else expected
    np.testing.assert_allclose(space.scores(theta), expected, rtol=1e-11, atol=1e-11)
    r = rng.normal(size=expected.shape)
    pulled = (full.T @ r.reshape(N, n_scores)).ravel()
    np.testing.assert_allclose(space.pullback(theta, r), pulled, rtol=1e-11, atol=1e-11)
    assert np.vdot(space.scores(theta), r) == pytest.approx(theta @ pulled)
    rows = np.array([3, 1, 30])
    jacobian = np.einsum("ij,ik->ijk", full[rows], r.reshape(N, n_scores)[rows])
    np.testing.assert_allclose(
        space.gradient_rows(rows, r[rows]), jacobian.reshape(3, -1), atol=1e-11
    )
    if n_scores == 1:
        c = rng.random(N)
        gram = full.T @ (c[:, None] * full)
    else:
        root = rng.normal(size=(N, n_scores, n_scores))
        c = np.einsum("iab,icb->iac", root, root)
        gram = np.einsum("ij,iab,ik->jakb", full, c, full)
        gram = gram.reshape(space.size, space.size)
    np.testing.assert_allclose(space.gram(c), gram, rtol=1e-10, atol=1e-10)


@shapes
def test_intercepts_are_not_penalised_and_offsets_undone(intercept, n_scores):
    X = matrix("dense")
    space = LinearSpace.centred(
        X, np.full(N, 1 / N), intercept=intercept, n_scores=n_scores
    )
    theta = np.random.default_rng(3).normal(size=space.size)
    coef, offset_free = space.uncentred(theta)
    np.testing.assert_allclose(
        (X @ coef + offset_free).ravel(), space.scores(theta).ravel(), atol=1e-12
    )
    np.testing.assert_allclose(space.join(coef, offset_free), theta, atol=1e-12)
    assert space.inner(theta, theta) == pytest.approx(np.sum(coef**2))
    assert space.penalised(theta) @ theta == pytest.approx(np.sum(coef**2))


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rotation_keeps_functions_and_norms(kind):
    X = np.random.default_rng(0).normal(size=(6, 20))
    X = sp.csr_array(X) if kind == "csr" else X
    space = LinearSpace.centred(X, np.full(6, 1 / 6), intercept=True, n_scores=2)
    small, basis = space.rotated()
    theta = np.random.default_rng(1).normal(size=small.size)
    coef, intercept = small.split(theta)
    lifted = np.vstack([basis @ coef, intercept]).ravel()
    np.testing.assert_allclose(space.scores(lifted), small.scores(theta), atol=1e-12)
    assert space.inner(lifted, lifted) == pytest.approx(small.inner(theta, theta))
    assert small.at(small.X).rotated() is None or small.n_rows < small.n_features


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_rotation_leaves_out_what_is_rounding(rank):
    rng = np.random.default_rng(rank)
    X = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 50))
    small, basis = LinearSpace(X, intercept=False).rotated()
    assert small.n_features == rank
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-13)
    np.testing.assert_allclose(small.X @ basis.T, X, atol=1e-12)


def test_rows_of_zeros_keep_one_direction():
    """Of no direction at all nobody could make a Hessian."""
    small, basis = LinearSpace(np.zeros((2, 5)), intercept=False).rotated()
    assert small.size == 1
    assert not small.X.any()
    assert np.linalg.norm(basis) == pytest.approx(1.0)


def test_empty_columns_of_a_sparse_table_are_not_looked_at(monkeypatch):
    """They were fetched one by one, for 100,000 of them half a minute long."""
    X = sp.random_array((30, 500), density=0.01, rng=np.random.default_rng(0))
    X, fetched = sp.csr_array(X), []
    plain = sp.csr_array.__getitem__

    def counted(self, key):
        fetched.append(key)
        return plain(self, key)

    monkeypatch.setattr(sp.csr_array, "__getitem__", counted)
    LinearSpace.centred(X, np.full(30, 1 / 30), intercept=True)
    assert len(fetched) < 20


def test_rotation_has_a_limit():
    space = LinearSpace(np.zeros((2, 5)), intercept=False)
    space.most_rotated = 9
    assert space.rotated() is None


@jit
def _walk(rows, w, out):
    for i in range(out.shape[0]):
        out[i] = row_dot(rows, i, w)
        row_axpy(rows, i, 0.1, w)


@pytest.mark.parametrize("kind", KINDS)
def test_one_loop_serves_dense_and_csr(kind):
    X = matrix(kind)
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    dense = dense.astype(np.float64)
    w, expected_w = np.ones(D), np.ones(D)
    out, expected = np.empty(N), np.empty(N)
    _walk(row_access(X), w, out)
    for i in range(N):
        expected[i] = dense[i] @ expected_w
        expected_w += 0.1 * dense[i]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_allclose(w, expected_w, rtol=1e-12)


def test_row_access_takes_read_only_data():
    X = matrix("dense")
    X.flags.writeable = False
    assert row_access(X).X.flags.writeable


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_offset_is_a_mean_that_no_outlier_moves(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) + 5.0
    mass = np.full(500, 1 / 500)
    plain = LinearSpace.centred(make(X), mass, intercept=True)
    np.testing.assert_allclose(plain.offset, X.mean(axis=0), rtol=1e-12)
    X[7, 1] = 1e12
    robust = LinearSpace.centred(make(X), mass, intercept=True)
    np.testing.assert_allclose(robust.offset, 5.0, atol=0.5)
    assert robust.offset[0] == plain.offset[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("few", [0, 24])
@shapes
def test_a_gradient_and_a_gram_at_once(kind, few, intercept, n_scores, monkeypatch):
    monkeypatch.setattr(LinearSpace, "few_columns", few)
    space = LinearSpace.centred(
        matrix(kind), np.full(N, 1 / N), intercept=intercept, n_scores=n_scores
    )
    rng = np.random.default_rng(2)
    scores = (N, n_scores) if n_scores > 1 else (N,)
    theta, r = rng.normal(size=space.size), rng.normal(size=scores)
    c = rng.uniform(size=N)
    r[::3], c[::3], c[1] = 0.0, 0.0, 0.0  # what both leave out, and what one does
    blocks = c if n_scores == 1 else c[:, None, None] * (np.eye(n_scores) + 0.2)
    gradient, gram = space.pullback_and_gram(theta, r, blocks)
    np.testing.assert_allclose(gradient, space.pullback(theta, r), atol=1e-12)
    np.testing.assert_allclose(gram, space.gram(blocks), atol=1e-12)
