"""Chunks as workers check them, and parts that are made of them."""

import itertools

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs dask and distributed (lrisk[dask])")

import lrisk
from lrisk.dask.chunks import (
    Chunk,
    ChunkRows,
    Recipe,
    Steps,
    Weighing,
    checked,
    facts_of,
    usual,
)
from lrisk.losses import Logistic, Squared
from lrisk.partitions.grid import Grid
from lrisk.partitions.rows import BLOCK, ArrayRows

rng = np.random.default_rng(0)


def plain(d=3, kind=lrisk.RiskRegressor):
    model = kind()
    model.n_features_in_ = d
    return model


@pytest.mark.parametrize("every", [1, 16])
def test_rows_of_several_arrays_are_those_of_one(every):
    X = rng.normal(size=(2 * BLOCK + 77, 3)).astype(np.float32)
    cuts = [0, 5, 5, BLOCK, len(X)]
    rows = ChunkRows([X[a:b] for a, b in itertools.pairwise(cuts)])
    assert rows.shape == X.shape
    seen = []
    for block in rows.blocks(every):
        np.testing.assert_array_equal(block.X, X[block.start : block.stop])
        assert block.X.dtype == np.float64 and block.X.flags.c_contiguous
        seen += range(block.start, block.stop)
    assert seen == sorted(set(seen))
    assert every > 1 or seen == list(range(len(X)))
    ids = np.array([0, 4, 5, BLOCK - 1, BLOCK, len(X) - 1])
    np.testing.assert_array_equal(rows.some(ids), ArrayRows(X).some(ids))
    assert rows.some(ids[:0]).shape == (0, 3)


def test_a_chunk_may_be_without_rows_or_without_weight():
    X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    empty = checked(plain(), X[:0], y[:0], None, True)
    assert facts_of(empty, True).rows == 0
    zero = checked(plain(), X, y, np.zeros(4), True)
    assert facts_of(zero, True).total == 0.0
    part = Recipe(Squared(), weighted=True).part([zero, empty])
    assert part.n == 0 and part.d == 3


def test_facts_tell_chunks_apart():
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    before = facts_of(Chunk(X, y, None), True)
    assert before.rows == 50 and before.total == 50.0
    np.testing.assert_allclose(before.sizes, np.abs(X).max(axis=0))
    other = X.copy()
    other[17, 2] = np.nextafter(other[17, 2], 9.0)
    assert facts_of(Chunk(other, y, None), True).digest != before.digest
    assert facts_of(Chunk(X.copy(order="F"), y, None), True).digest == before.digest


def test_labels_become_codes_and_classes_have_factors():
    y = np.array(["b", "a", "c", "b"])
    weight = np.array([1.0, 2.0, 3.0, 0.0])
    facts = facts_of(Chunk(np.eye(4)[:, :3], y, weight), False)
    assert facts.labels.tolist() == ["a", "b", "c"]
    assert facts.counts.tolist() == [1, 1, 1] and facts.masses.tolist() == [2, 1, 3]
    recipe = Recipe(Logistic(), True, np.array(["a", "b"]), np.array([1.0, 5.0]))
    own, kept = recipe.prepared(Chunk(np.eye(4)[:, :3], y, weight))
    assert kept.tolist() == [True, True, False, False] and recipe.kept(facts) == 2
    assert own.y.tolist() == [1.0, 0.0] and own.weight.tolist() == [5.0, 2.0]


def test_steps_fill_unused_bins_and_lose_nothing():
    density = np.where(rng.random(1000) < 0.02, rng.random(1000), 0.0)
    steps = Steps.of(density)
    found = steps.by_bin()
    used = np.flatnonzero(density)
    np.testing.assert_array_equal(found[used], density[used])
    assert len(found) == 1000 and len(steps.values) <= len(used) + 1
    np.testing.assert_array_equal(Steps.of(np.ones(5)).by_bin(), np.ones(5))


def test_weights_of_a_chunk_are_those_of_its_part():
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    weight = np.where(np.arange(60) % 5 == 0, 0.0, 1.5)
    recipe = Recipe(Squared(), weighted=True)
    chunks = [
        Chunk(X[a : a + 20], y[a : a + 20], weight[a : a + 20]) for a in (0, 20, 40)
    ]
    part, grid = recipe.part(chunks), Grid.below(30.0, 5, 1e-3)
    calls = [
        ("prepare", (0.1,)),
        ("at", (np.array([1.0, 0.5, 0.2, 0.0]), grid)),
        ("band", (0.1, 0.9, 0.01)),
        ("assign", (np.array([3, 20, 40]), np.array([0.7, 0.8, 0.9]))),
    ]
    for method, arguments in calls:
        getattr(part, method)(*arguments)
    starts = np.cumsum([0, *(recipe.kept(facts_of(c, True)) for c in chunks)])
    found = [
        Weighing(recipe, calls)(chunk, int(start))
        for chunk, start in zip(chunks, starts, strict=False)
    ]
    found = np.concatenate(found)
    np.testing.assert_allclose(found[weight > 0], part.weights, rtol=1e-12)
    assert not found[weight == 0].any()


def test_arrays_from_anywhere_become_usual_ones():
    raw = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:]
    odd = np.ndarray((3,), np.float64, raw)
    found = usual(odd)
    assert found.flags.aligned and found.flags.writeable
    np.testing.assert_array_equal(found, odd)
    own = np.arange(3.0)
    assert usual(own) is own and usual("at") == "at"
