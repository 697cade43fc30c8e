"""Parts of tensors answer as those of arrays; formulas are tested with the latter."""

import numpy as np
import pytest

from lrisk.losses import Huber, Logistic, Squared, SquaredHinge
from lrisk.partitions.grid import Grid, prices
from lrisk.partitions.part import Part
from lrisk.partitions.rows import BLOCK, ArrayRows
from lrisk.spectra import Extremile

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch.part import SUMS, TorchPart, sums_in_copies  # noqa: E402

LOSSES = [Squared(), Logistic(), Huber(0.7), SquaredHinge()]
D = 3


def both(device, loss, weighted, dtype, seed):
    """The same rows as arrays and as tensors."""
    rng = np.random.default_rng(seed)
    n = 2 * BLOCK + 77
    X = (rng.normal(size=(n, D)) * [1.0, 100.0, 0.01] + 5.0).astype(dtype)
    y = rng.standard_t(3, size=n).round(1)  # with ties
    y = (y > 0).astype(float) if loss.classifies else y
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    tensors = [torch.tensor(values, device=device) for values in (X, y)]
    own = None if weight is None else torch.tensor(weight, device=device)
    return Part(ArrayRows(X), y, weight, loss), TorchPart(*tensors, own, loss)


def same(first, other, rtol=1e-9):
    if isinstance(first, tuple):
        assert type(first) is type(other)
        for one, another in zip(first, other, strict=True):
            same(one, another, rtol)
    elif first is None:
        assert other is None
    else:
        first, other = np.asarray(first), np.asarray(other)
        scale = float(np.abs(first).max()) if first.size else 0.0
        np.testing.assert_allclose(other, first, rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(2))
def test_every_question_has_the_same_answer(device, loss, weighted, dtype, seed):
    parts = both(device, loss, weighted, dtype, seed)
    rng = np.random.default_rng(seed)
    theta, step = rng.normal(size=(2, D + 1)) * [1.0, 0.01, 100.0, 1.0]
    offset = np.full(D, 5.0)
    whiten = rng.normal(size=(2, D + 1))

    def asked(method, *arguments, rtol=1e-9):
        first, other = (getattr(part, method)(*arguments) for part in parts)
        same(first, other, rtol)
        return first

    asked("describe")
    asked("prepare", 0.0 if loss.classifies else 0.25)
    grid = Grid.below(1e6, 6, 1e-4)
    # A loss near the end of a bin may lie in the next one after rounding.
    table, other = (part.at(theta, grid) for part in parts)
    same(tuple(table[2:]), tuple(other[2:]))
    assert table.mass.sum() == other.mass.sum()
    assert np.abs(table.mass - other.mass).sum() <= 1e-3 * table.mass.sum()
    density = np.linspace(0.5, 1.5, grid.bins) / table.mass.sum()
    asked("pull", grid, density, rtol=1e-3)
    lam = np.random.default_rng(seed).uniform(size=parts[0].n) / parts[0].n
    for part in parts:
        part.assign(np.arange(part.n), lam)
    held, other = (part.at_held(0.9 * theta, grid, offset, 16) for part in parts)
    same(tuple(held[1:]), tuple(other[1:]))
    asked("gram_some", offset, 1)
    asked("gram_some", offset, 16)
    asked("longest", offset, 16, whiten)
    asked("dual", step, 0.1)
    asked("take", np.array([0, 5, BLOCK, 2 * BLOCK + 76]))
    for share in (0.801, 0.3):  # few rows, and very many, have another λ then
        low, high = np.quantile(parts[0].losses, [share - 1e-3, share])
        band, other = (part.band(low, high, 0.5 / part.n) for part in parts)
        same(band.mass, other.mass, 1e-3)
        same(band.moved, other.moved, 1e-3)
        assert abs(len(band.inside.ids) - len(other.inside.ids)) <= 2


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_lie_in_the_bins_in_which_they_are_placed(device, weighted):
    """Where losses have the same bits, so do places, also in grids that are cut."""
    arrays, tensors = both(device, Squared(), weighted, np.float64, 0)
    zero = np.zeros(D + 1)  # no products, so no rounding
    plain = Grid.between(1e-3, 10.0, 64)
    table = arrays.at(zero, plain)
    cut = plain.zoomed(prices(Extremile(2.0), plain, table), 1e-9)
    assert len(cut.first) and cut.bins > plain.bins
    for grid in (plain, cut, Grid.below(50.0, 7, 1e-3), Grid(0, 62, 1)):
        first, other = arrays.at(zero, grid), tensors.at(zero, grid)
        np.testing.assert_array_equal(first.mass, other.mass)
        same(first.above, other.above, 1e-12)
        density = np.random.default_rng(0).uniform(size=grid.bins)
        same(arrays.pull(grid, density), tensors.pull(grid, density), 1e-10)
        first, other = (p.at_binned(zero, grid) for p in (arrays, tensors))
        same(first[1], other[1], 1e-10)
        rule = (np.full(D, 5.0), 16, grid, density, density)
        same(arrays.spread(*rule), tensors.spread(*rule), 1e-10)
        arrays.hold(grid, density)
        tensors.hold(grid, density)
        kept = tensors.weights.cpu().numpy()
        np.testing.assert_array_equal(arrays.weights, kept)


def test_features_of_32_bits_are_never_multiplied_in_32(device):
    """A sum of 32 bits would be off by 1e-7 here, a thousand times as much."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 40)).astype(np.float32)
    theta = rng.normal(size=41)
    part = TorchPart(
        torch.tensor(X, device=device),
        torch.zeros(5000, dtype=torch.float64, device=device),
        None,
        Squared(),
    )
    part.at(theta, Grid(0, 62, 1))
    scores = X.astype(np.float64) @ theta[:-1] + theta[-1]
    np.testing.assert_allclose(part.scores.cpu().numpy(), scores, atol=1e-12)


def test_a_sample_is_a_part_of_its_own(device):
    _, part = both(device, Squared(), True, np.float32, 0)
    part.prepare(0.5)
    ids, offset = np.array([3, 4, BLOCK + 1]), np.array([1.0, 2.0, 3.0])
    own = part.sampled(ids, offset)
    taken, whole = own.take(np.arange(3)), part.take(ids)
    np.testing.assert_allclose(taken.X, whole.X - offset)
    np.testing.assert_array_equal(taken.y, whole.y)
    np.testing.assert_array_equal(taken.weight, whole.weight)


@pytest.mark.parametrize("n", [0, 1, 1023, 1024, 5000])
@pytest.mark.parametrize("bins", [1, 7, SUMS // 300, SUMS + 1])
def test_sums_in_copies_are_the_sums(device, n, bins):
    rng = np.random.default_rng(n)
    places = rng.integers(0, bins, n)
    places[: n // 2] = 0
    values = rng.normal(size=n)
    own = torch.tensor(places, device=device)
    found = sums_in_copies(own, torch.tensor(values, device=device), bins)
    expected = np.bincount(places, values, bins)
    np.testing.assert_allclose(found.cpu().numpy(), expected, atol=1e-12)
    ones = torch.ones((), dtype=torch.float64, device=device).expand(n)
    counted = sums_in_copies(own, ones, bins).cpu().numpy()
    np.testing.assert_array_equal(counted, np.bincount(places, minlength=bins))
