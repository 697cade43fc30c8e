"""What parts answer, against the plain formulas over all of their rows.

Parts of arrays and parts of tensors, on the processor and on a GPU where there is one.
"""

import numpy as np
import pytest

from lrisk.losses import Huber, Logistic, Squared, SquaredHinge
from lrisk.partitions.grid import Grid, Ranks, joined
from lrisk.partitions.part import Part
from lrisk.partitions.rows import BLOCK, ArrayRows
from lrisk.spectra import Extremile

LOSSES = [Squared(), Logistic(), Huber(0.7), SquaredHinge()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
#: Rows below, at and above the ends of a block.
SIZES = [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 3]
every_size = pytest.mark.parametrize("n", SIZES)


def drawn(n, loss, weighted=False, d=3, dtype=np.float64):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)).astype(dtype)
    y = rng.normal(size=n)
    if loss.classifies:
        y = (y > 0).astype(float)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return X, y, weight


@pytest.fixture
def part_of(home):
    """Makes a part of arrays, or of tensors on a device."""
    if home == "arrays":
        return lambda X, y, weight, loss: Part(ArrayRows(X), y, weight, loss)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from lrisk.torch.part import TorchPart

    def made(X, y, weight, loss):
        X, y = (torch.tensor(values, device=home) for values in (X, y))
        if weight is not None:
            weight = torch.tensor(weight, device=home)
        return TorchPart(X, y, weight, loss)

    return made


def array(values):
    """Of a vector that a part keeps."""
    return values.cpu().numpy().copy() if hasattr(values, "cpu") else values.copy()


def plain(X, y, loss, theta):
    z = X.astype(np.float64) @ theta[:-1] + theta[-1]
    rows = np.column_stack([X, np.ones(len(X))])
    return rows, loss.value(y, z), loss.derivative(y, z), loss.curvature(y, z)


THETA = np.array([0.5, -1.0, 0.25, 0.1])
GRID = Grid.below(50.0, 6, 1e-3)


@every_loss
@every_size
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_and_gradients(part_of, loss, n, weighted):
    X, y, weight = drawn(n, loss, weighted)
    part = part_of(X, y, weight, loss)
    rows, losses, slopes, _ = plain(X, y, loss, THETA)
    w = np.ones(n) if weight is None else weight
    table = part.at(THETA, GRID)
    places = GRID.places(losses)
    np.testing.assert_allclose(
        table.mass, np.bincount(places, w, minlength=GRID.bins), rtol=1e-12
    )
    total = table.above.sum() + float(table.mass @ GRID.floors)
    assert total == pytest.approx(float(w @ losses), rel=1e-12)
    if n:
        ends = losses.min(), losses.max()
        assert (table.lowest, table.highest) == pytest.approx(ends, rel=1e-12)
    binned, pulls = part.at_binned(THETA, GRID)
    np.testing.assert_allclose(binned.mass, table.mass, rtol=1e-14)
    np.testing.assert_allclose(
        pulls.sum(axis=0), (w * slopes) @ rows, rtol=1e-9, atol=1e-9
    )
    if not n:
        return
    density = Ranks.of(Extremile(2.0), GRID, table).density
    lam = w * density[places]
    expected = (lam * slopes) @ rows
    np.testing.assert_allclose(part.pull(GRID, density), expected, atol=1e-10)
    np.testing.assert_allclose(density @ pulls, expected, atol=1e-10)


@every_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_held_weights(part_of, loss, weighted):
    X, y, weight = drawn(BLOCK + 50, loss, weighted)
    part = part_of(X, y, weight, loss)
    w = np.ones(len(y)) if weight is None else weight
    table = part.at(THETA, GRID)
    density = Ranks.of(Extremile(2.0), GRID, table).density
    part.hold(GRID, density)
    lam = w * density[GRID.places(array(part.losses))]
    np.testing.assert_allclose(array(part.weights), lam, rtol=1e-14)
    offset, there = X.mean(axis=0), 0.7 * THETA
    held = part.at_held(there, GRID, offset, 1)
    rows, losses, slopes, curvature = plain(X, y, loss, there)
    assert held.value == pytest.approx(float(lam @ losses), rel=1e-12)
    np.testing.assert_allclose(held.gradient, (lam * slopes) @ rows, atol=1e-10)
    centred = np.column_stack([X - offset, np.ones(len(X))])
    matrix = (centred * (lam * curvature)[:, None]).T @ centred
    np.testing.assert_allclose(held.gram.matrix, matrix, atol=1e-10)
    assert held.gram.mass == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(part.gram_some(offset, 1).matrix, matrix, atol=1e-10)
    some = part.gram_some(offset, 16)
    few = np.r_[0 : BLOCK // 16, BLOCK : BLOCK + 50]
    own = (centred[few] * (lam * curvature)[few, None]).T @ centred[few]
    np.testing.assert_allclose(some.matrix, own, atol=1e-10)
    again = part.at_held(there, GRID, offset, 16).gram
    np.testing.assert_allclose(again.matrix, own, atol=1e-10)
    whiten = np.linalg.cholesky(np.linalg.inv(matrix)).T
    longest = np.max(np.sum((centred[few] @ whiten.T) ** 2, axis=1))
    assert part.longest(offset, 16, whiten) == pytest.approx(longest, rel=1e-9)


@every_loss
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("every", [1, 16])
def test_what_curvature_is_made_from(part_of, loss, weighted, every):
    X, y, weight = drawn(BLOCK + 50, loss, weighted)
    part = part_of(X, y, weight, loss)
    w = np.ones(len(y)) if weight is None else weight
    table = part.at(THETA, GRID)
    density = Ranks.of(Extremile(2.0), GRID, table).density
    kappa = np.random.default_rng(0).uniform(size=GRID.bins)
    offset = X.mean(axis=0)
    told = part.spread(offset, every, GRID, density, kappa)
    few = np.arange(len(y)) if every == 1 else np.r_[0 : BLOCK // 16, BLOCK : len(y)]
    rows, losses, slopes, curvature = plain(X, y, loss, THETA)
    places, own = GRID.places(losses)[few], w[few]
    centred = np.column_stack([X - offset, np.ones(len(X))])[few]
    scale = own * density[places] * curvature[few]
    scale += own * kappa[places] * slopes[few] ** 2
    matrix = (centred * scale[:, None]).T @ centred
    np.testing.assert_allclose(told.matrix, matrix, atol=1e-9)
    pulls = np.zeros((GRID.bins, 4))
    np.add.at(pulls, places, (own * slopes[few])[:, None] * rows[few])
    np.testing.assert_allclose(told.pulls, pulls, atol=1e-9)
    mass = np.bincount(places, own, minlength=GRID.bins)
    np.testing.assert_allclose(told.mass, mass, rtol=1e-12)


@every_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_bands(part_of, loss, weighted):
    X, y, weight = drawn(500, loss, weighted)
    part = part_of(X, y, weight, loss)
    w = np.ones(len(y)) if weight is None else weight
    table = part.at(THETA, GRID)
    part.hold(GRID, Ranks.of(Extremile(2.0), GRID, table).density)
    before, rows = array(part.weights), np.column_stack([X, np.ones(len(X))])
    low, high = np.quantile(array(part.losses), [0.8, 0.85])
    for _ in range(2):  # told twice is told once
        band = part.band(low, high, 0.01)
        after = np.where(array(part.losses) > high, 0.01 * w, 0.0)
        np.testing.assert_array_equal(array(part.weights), after)
        scale = (after - before) * array(part.slopes)
        np.testing.assert_allclose(band.moved, scale @ rows, atol=1e-10)
        before = after
    inside = np.flatnonzero((array(part.losses) >= low) & (array(part.losses) <= high))
    np.testing.assert_array_equal(band.inside.ids, inside)
    np.testing.assert_array_equal(band.inside.X, X[inside])
    np.testing.assert_array_equal(band.inside.losses, array(part.losses)[inside])
    assert band.mass == pytest.approx(after.sum(), rel=1e-14)
    part.assign(inside, np.full(len(inside), 0.005))
    assert np.all(array(part.weights)[inside] == 0.005)


def test_a_part_without_rows_answers(part_of):
    loss = Squared()
    part = part_of(np.empty((0, 3)), np.empty(0), None, loss)
    told = part.describe()
    assert (told.rows, told.total, told.low, told.high) == (0, 0.0, np.inf, -np.inf)
    table = part.at(THETA, GRID)
    assert table.mass.sum() == 0.0
    assert joined([table, table]).highest == 0.0
    assert part.band(0.0, 1.0, 1.0).mass == 0.0
    assert part.take(np.empty(0, dtype=int)).X.shape == (0, 3)
    assert part.longest(np.zeros(3), 16, np.eye(4)) == 0.0


def test_a_shift_is_taken_once(part_of):
    X, y, _ = drawn(50, Squared())
    part = part_of(X, y, None, Squared())
    for _ in range(2):
        part.prepare(0.5)
    np.testing.assert_array_equal(array(part.y), y - 0.5)
    assert part.describe().weighted == pytest.approx(y.sum())
    part.prepare(0.0)
    np.testing.assert_array_equal(array(part.y), y)


def test_features_of_32_bits_are_summed_in_64(part_of):
    X, y, _ = drawn(1000, Squared(), dtype=np.float32)
    part = part_of(X, y, None, Squared())
    part.at(THETA, GRID)
    _, losses, _, _ = plain(X, y, Squared(), THETA)
    np.testing.assert_allclose(array(part.losses), losses, rtol=1e-12, atol=1e-14)


def test_reads_are_counted(part_of):
    X, y, _ = drawn(10, Squared())
    part = part_of(X, y, None, Squared())
    table = part.at(THETA, GRID)
    density = Ranks.of(Extremile(2.0), GRID, table).density
    part.pull(GRID, density)
    part.table(GRID)
    part.gram_some(np.zeros(3), 16, GRID, density)
    assert part.reads == 2 + 1 / 16
