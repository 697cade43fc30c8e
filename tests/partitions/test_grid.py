"""Bins by bits, weights from their masses, and what sharing them loses at most."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.losses import Squared
from lrisk.partitions.grid import Grid, Ranks, Table, floor_within, joined, prices
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.spectra import ESRM, Extremile, Mean, Superquantile

SPECTRA = [Mean(), Extremile(2.0), Extremile(1.3), ESRM(3.0), Superquantile(0.9)]
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)


def table_of(grid, losses, weight):
    """The plain form."""
    places = grid.places(losses)
    mass = np.bincount(places, weight, minlength=grid.bins)
    above = np.bincount(
        places, weight * (losses - grid.floors[places]), minlength=grid.bins
    )
    return Table(mass, above, losses.min(), losses.max())


@settings(max_examples=100, deadline=None)
@given(
    losses=st.lists(st.floats(0.0, 1e300), min_size=1, max_size=50).map(np.array),
    digits=st.integers(0, 12),
    ratio=st.floats(1e-9, 1.0),
)
def test_bins_are_in_order_and_hold_their_losses(losses, digits, ratio):
    top = losses.max()
    grid = Grid.below(top, digits, ratio * top)
    places = grid.places(losses)
    order = np.argsort(losses)
    assert np.all(np.diff(places[order]) >= 0)
    edges = grid.edges(losses.min(), top)
    assert len(edges) == grid.bins + 1 and np.all(np.diff(edges) >= 0)
    assert np.all(grid.floors[places] <= losses)
    assert np.all((edges[places] <= losses) & (losses <= edges[places + 1]))


@pytest.mark.parametrize("digits", [3, 7])
def test_bins_have_equal_relative_widths(digits):
    edges = Grid.below(1000.0, digits, 1.0).edges(0.0, 1000.0)[1:-1]
    width = np.diff(edges) / edges[:-1]
    assert np.all(width <= 2.0**-digits) and np.all(width >= 0.5 * 2.0**-digits)
    assert edges[0] <= 1.0 + 2.0**-digits and edges[-1] >= 1000.0


@settings(max_examples=100, deadline=None)
@given(
    low=st.floats(1e-200, 1e200),
    factor=st.floats(1.0, 1e6),
    bins=st.integers(3, 5000),
)
def test_a_zoom_parts_its_interval(low, factor, bins):
    high = low * factor
    grid = Grid.between(low, high, bins)
    assert grid.bins == bins
    inside = grid.places(np.array([low, high]))
    assert inside[0] >= 1 and inside[1] <= bins - 2 + (low == high)
    narrower = Grid(grid.least, grid.shift - 1, bins)
    if grid.shift:  # it could not be narrower
        span = np.float64(high).view(np.int64) - np.float64(low).view(np.int64)
        assert span >> narrower.shift >= bins - 2


@settings(max_examples=100, deadline=None)
@given(
    low=st.floats(1e-3, 1.0),
    factor=st.floats(1.0, 1e6),
    bins=st.integers(3, 300),
    seed=st.integers(0, 10**6),
)
def test_cut_bins_are_bins(low, factor, bins, seed):
    rng = np.random.default_rng(seed)
    grid = Grid.between(low, low * factor, bins)
    losses = low * factor ** rng.uniform(-0.1, 1.1, 200)
    before = grid.places(losses)
    for _ in range(3):
        price = rng.exponential(size=grid.bins) ** 4
        price *= np.bincount(grid.places(losses), minlength=grid.bins) > 0
        finer = grid.zoomed(price, 0.01 * float(price.sum()))
        places, edges = finer.places(losses), finer.edges(losses.min(), losses.max())
        assert len(edges) == finer.bins + 1
        assert np.all(np.diff(edges) >= 0.0)
        assert np.all(edges[places] <= losses) and np.all(losses <= edges[places + 1])
        np.testing.assert_allclose(finer.floors[1:], edges[1:-1], rtol=0)
        if len(finer.first):
            plain = np.searchsorted(finer.first, places, side="right") - 1
            np.testing.assert_array_equal(plain, before)
        # Compiled loops find the same bins.
        part = Part(ArrayRows(np.zeros((200, 1))), losses, None, Squared())
        part.losses[:] = losses
        counted = np.bincount(places, minlength=finer.bins)
        np.testing.assert_array_equal(part.table(finer).mass, counted)
        grid = finer


def test_a_cluster_is_told_apart_however_narrow():
    rng = np.random.default_rng(0)
    losses = np.where(rng.random(5000) < 0.05, 3.0, 0.05)
    losses *= 1.0 + 1e-9 * rng.normal(size=5000)
    part = Part(ArrayRows(np.zeros((5000, 1))), losses, None, Squared())
    part.losses[:] = losses
    grid, spectrum = Grid.between(0.01, 10.0, 1000), Extremile(2.0)
    for _ in range(6):
        grid = grid.zoomed(prices(spectrum, grid, part.table(grid)), 1e-12)
    assert float(prices(spectrum, grid, part.table(grid)).sum()) <= 1e-12
    assert grid.bins < 1 << 17


@every_spectrum
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 2, 5, 9])
def test_shared_ranks_lose_no_more_than_they_say(spectrum, weighted, digits):
    rng = np.random.default_rng(digits)
    for draw in range(20):
        n = int(rng.integers(1, 300))
        losses = rng.exponential(size=n) ** rng.uniform(0.5, 4.0)
        losses[rng.random(n) < 0.1] = losses[0]  # ties
        weight = rng.uniform(0.1, 3.0, n) if weighted else np.ones(n)
        grid = Grid.below(losses.max(), digits, 1e-3 * losses.mean())
        ranks = Ranks.of(spectrum, grid, table_of(grid, losses, weight))
        exact = Ranking(spectrum, n, weight).risk(losses)
        lam = weight * ranks.density[grid.places(losses)]
        assert lam.sum() == pytest.approx(1.0, abs=1e-12)
        assert float(lam @ losses) == pytest.approx(ranks.value, rel=1e-12)
        room = 1e-12 * exact
        assert -room <= exact - ranks.value <= ranks.missing + room, draw


@every_spectrum
def test_shared_weights_are_in_the_permutahedron(spectrum):
    """λ·v ≤ the risk of any v, whatever the bins."""
    rng = np.random.default_rng(0)
    losses, weight = rng.exponential(size=200), rng.uniform(0.1, 3.0, 200)
    grid = Grid.below(losses.max(), 3, 0.1)
    lam = (
        weight
        * Ranks.of(spectrum, grid, table_of(grid, losses, weight)).density[
            grid.places(losses)
        ]
    )
    ranking = Ranking(spectrum, 200, weight)
    for _ in range(50):
        other = rng.exponential(size=200)
        assert float(lam @ other) <= ranking.risk(other) * (1 + 1e-12)


def test_finer_bins_lose_four_times_less():
    rng = np.random.default_rng(0)
    losses, weight = rng.exponential(size=100_000), np.ones(100_000)
    missing = []
    for digits in (4, 6, 8):
        grid = Grid.below(losses.max(), digits, 1e-8)
        ranks = Ranks.of(Extremile(2.0), grid, table_of(grid, losses, weight))
        missing.append(ranks.missing)
    ratios = np.array(missing[:-1]) / missing[1:]
    np.testing.assert_allclose(ratios, 16.0, rtol=0.1)


def test_one_bin_for_all_is_the_mean_and_says_what_that_loses():
    losses = np.array([1.0, 1.2, 1.4])
    grid = Grid.below(1.0, 0, 1.0)
    ranks = Ranks.of(Superquantile(0.5), grid, table_of(grid, losses, np.ones(3)))
    assert ranks.value == pytest.approx(1.2)
    assert ranks.missing >= Ranking(Superquantile(0.5), 3).risk(losses) - 1.2


def test_parts_without_rows_change_no_table():
    grid = Grid.below(4.0, 3, 0.1)
    one = table_of(grid, np.array([1.0, 4.0]), np.ones(2))
    none = Table(np.zeros(grid.bins), np.zeros(grid.bins), np.inf, 0.0)
    both = joined([none, one, none])
    assert both.lowest == 1.0 and both.highest == 4.0
    np.testing.assert_array_equal(both.mass, one.mass)


def test_sums_of_equal_losses_keep_their_digits():
    """Ten million of .1 added one by one are off in the ninth digit."""
    from lrisk.losses import Squared
    from lrisk.partitions.part import Part
    from lrisk.partitions.rows import ArrayRows

    n = 1_000_000
    y = np.full(n, np.sqrt(0.2))
    part = Part(ArrayRows(np.zeros((n, 1))), y, None, Squared())
    grid = Grid.below(0.1, 7, 1e-4)
    table = part.at(np.zeros(2), grid)
    value = Ranks.of(Mean(), grid, table).value
    assert value == pytest.approx(0.5 * float(y[0]) ** 2, rel=1e-14)


@every_spectrum
@pytest.mark.parametrize("room", [1e-2, 1e-5, 1e-9])
def test_a_floor_costs_no_more_than_its_room(spectrum, room):
    rng = np.random.default_rng(0)
    for power in (0.3, 1.0, 8.0):  # of losses, hardly any or nearly all of them small
        losses, weight = rng.exponential(size=3000) ** power, np.ones(3000)
        rough = Grid.below(losses.max(), 5, 1e-3)
        floor = floor_within(spectrum, rough, table_of(rough, losses, weight), room)
        small = losses < floor
        flat, share = losses.copy(), np.mean(small)
        flat[small] = losses[small].sum() / max(small.sum(), 1)
        s0, s1 = spectrum.density(np.array([0.0, share]))
        assert 0.25 * (s1 - s0) * share * floor <= room * (1 + 1e-9)
        exact = Ranking(spectrum, 3000).risk(losses)
        assert exact - Ranking(spectrum, 3000).risk(flat) <= room * (1 + 1e-9)
