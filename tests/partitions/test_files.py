"""Rows and vectors in files, against the arrays that were written there."""

import itertools
import tempfile

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.partitions.engine import Local
from lrisk.partitions.files import BadFeature, RowFile, Storage, VectorFile
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import BLOCK, ArrayRows
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.spectra import Extremile, Superquantile


@pytest.fixture
def file():
    with tempfile.TemporaryFile(buffering=0) as opened:
        yield Storage(opened)


def rows_in(file, X, offset=0, **options):
    file.write(np.ascontiguousarray(X), offset)
    return RowFile(file, X.shape, X.dtype, offset=offset, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
@pytest.mark.parametrize("chunk", [1, 1 << 17, 1 << 24])
@pytest.mark.parametrize("columns", [None, [2, 0]])
def test_blocks_are_those_of_an_array(file, dtype, n, chunk, columns):
    X = (100 * np.random.default_rng(n).normal(size=(n, 3))).astype(dtype)
    rows = rows_in(
        file, X, 24, chunk=chunk, columns=None if columns is None else np.array(columns)
    )
    plain = ArrayRows(X if columns is None else X[:, columns])
    assert rows.shape == plain.shape
    for every in (1, 16):
        pairs = itertools.zip_longest(rows.blocks(every), plain.blocks(every))
        for ours, theirs in pairs:
            assert (ours.start, ours.stop) == (theirs.start, theirs.stop)
            assert ours.X.dtype == np.float64 and ours.X.flags.c_contiguous
            np.testing.assert_array_equal(ours.X, theirs.X)
    rng = np.random.default_rng(1)
    for ids in (np.arange(0), np.arange(n)[::3], np.flatnonzero(rng.random(n) < 0.01)):
        np.testing.assert_array_equal(rows.some(ids), plain.some(ids))


def test_windows(file):
    X = np.random.default_rng(0).normal(size=(1000, 2))
    window = rows_in(file, X, 8).window(300, 900).window(5, 50)
    (block,) = window.blocks()
    np.testing.assert_array_equal(block.X, X[305:350])


def test_what_is_no_number_is_named(file):
    X = np.zeros((BLOCK + 7, 3))
    X[BLOCK + 2, 1] = np.nan
    rows = rows_in(file, X).window(10, len(X))
    with pytest.raises(BadFeature, match=f"row {BLOCK + 2} .* nan as feature 1"):
        list(rows.blocks())
    with pytest.raises(BadFeature, match=f"row {BLOCK + 2}"):
        rows.some(np.array([0, BLOCK - 8]))


def test_a_file_that_ends_too_early_is_an_error(file):
    rows = rows_in(file, np.zeros((100, 3)))
    longer = RowFile(file, (101, 3), np.float64)
    assert len(list(rows.blocks())) == 1
    with pytest.raises(OSError, match="too early"):
        list(longer.blocks())


def test_vectors_in_files_are_vectors(file):
    rng = np.random.default_rng(0)
    plain = rng.normal(size=5000)
    vector = VectorFile(file, 5000)
    vector[:] = plain
    ids = np.flatnonzero(rng.random(5000) < 0.1)
    np.testing.assert_array_equal(vector[ids], plain[ids])
    vector[ids], plain[ids] = np.arange(len(ids)), np.arange(len(ids))
    vector[100:200], plain[100:200] = 7.0, 7.0
    window = vector.window(1000, 1100)
    window[:50], plain[1000:1050] = -1.0, -1.0
    np.testing.assert_array_equal(vector[:], plain)
    np.testing.assert_array_equal(window[:], plain[1000:1100])
    assert len(window) == 100 and len(vector[np.arange(0)]) == 0
    with pytest.raises(OSError, match="too early"):
        VectorFile(file, 6000)[:]


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("spectrum", [Extremile(2.0), Superquantile(0.8)], ids=repr)
@pytest.mark.parametrize("spilled", [False, True])
def test_fits_do_not_depend_on_where_rows_lie(file, loss, spectrum, spilled):
    rng = np.random.default_rng(0)
    n = 2 * BLOCK + 100
    X = rng.normal(size=(n, 3)) + 1.0
    y = X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=n)
    if loss.classifies:
        y = (y > np.median(y)).astype(float)
    w = rng.uniform(0.5, 2.0, n)
    found, opened = [], []

    def vector(size):
        opened.append(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
        made = VectorFile(Storage(opened[-1]), size)
        made[:] = 0.0
        return made

    stored_y, stored_w = vector(n), vector(n)
    stored_y[:], stored_w[:] = y, w
    whole = rows_in(file, X)
    for in_files in (False, True):
        parts = []
        for a, b in itertools.pairwise([0, 50, 50, BLOCK + 3, n]):
            if in_files:
                rows = whole.window(a, b, 1 << 16)
                own = (stored_y.window(a, b), stored_w.window(a, b))
                made = vector if spilled else np.zeros
                parts.append(Part(rows, *own, loss, made))
            else:
                parts.append(Part(ArrayRows(X[a:b]), y[a:b], w[a:b], loss))
        objective = PartitionedObjective(Local(parts), spectrum, loss, 1.0, True)
        found.append(minimise_in_parts(objective))
        assert objective.hold(found[-1].weights)
        weights = np.concatenate([part.weights[: part.n] for part in parts])
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_array_equal(found[0].theta, found[1].theta)
    assert found[0].dual == found[1].dual
    for one in opened:
        one.close()
