"""Superquantiles and quantiles from tables, zoomed to the last bits."""

import numpy as np
import pytest

from lrisk.partitions.grid import Grid, Table
from lrisk.partitions.tail import between, superquantile, tail_values
from lrisk.ranking import Ranking
from lrisk.spectra import Superquantile


class Rows:
    """Losses that are asked for tables; asks are counted."""

    def __init__(self, losses, weight):
        self.losses, self.weight, self.asks = losses, weight, 0

    def __call__(self, grid):
        self.asks += 1
        places = grid.places(self.losses)
        above = self.weight * (self.losses - grid.floors[places])
        return Table(
            np.bincount(places, self.weight, minlength=grid.bins),
            np.bincount(places, above, minlength=grid.bins),
            self.losses.min(),
            self.losses.max(),
        )


def drawn(seed, weighted, ties):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 2000))
    losses = rng.exponential(size=n) ** rng.uniform(0.5, 4.0)
    if ties:
        losses = np.round(losses, 1)
    return Rows(losses, rng.uniform(0.1, 3.0, n) if weighted else np.ones(n))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("q", [0.0, 0.5, 0.9, 0.999])
def test_the_bound_is_one_and_as_near_as_asked(q, ties, weighted):
    for seed in range(15):
        rows = drawn(seed, weighted, ties)
        exact = Ranking(Superquantile(q), len(rows.losses), rows.weight).risk(
            rows.losses
        )
        unit = 1.0 / (rows.weight.sum() * (1.0 - q))
        grid = Grid.below(max(rows.losses.max(), 1e-3), 3, 0.01)
        table = rows(grid)
        for room in (1.0, 1e-3 * exact, 1e-11 * exact):
            found = superquantile(rows, grid, table, unit, room)
            assert -1e-12 * exact <= found - exact <= room + 1e-12 * exact
        assert rows.asks <= 20  # three bounds, some zooms each


def test_the_bound_at_every_edge_is_that_of_all_rows():
    rows = drawn(3, True, False)
    grid = Grid.below(rows.losses.max(), 4, 0.01)
    unit = 1.0 / (0.2 * rows.weight.sum())
    values, edges = tail_values(grid, rows(grid), unit)
    excess = np.maximum(rows.losses - edges[:, None], 0.0) @ rows.weight
    np.testing.assert_allclose(values, edges + unit * excess, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_losses_about_a_quantile(ties, weighted):
    for seed in range(20):
        rows = drawn(seed, weighted, ties)
        total = rows.weight.sum()
        grid = Grid.below(max(rows.losses.max(), 1e-3), 2, 0.1)
        place, width = 0.7 * total, 0.05 * total
        near = between(rows, grid, rows(grid), place, width)
        inside = (near.low <= rows.losses) & (rows.losses <= near.high)
        assert rows.weight[inside].sum() == pytest.approx(near.mass, abs=1e-9 * total)
        below = rows.weight[rows.losses < near.low].sum()
        above = rows.weight[rows.losses > near.high].sum()
        # The quantile is inside, and most of what was asked for about it.
        assert below <= place * (1 + 1e-9) and above <= (total - place) * (1 + 1e-9)
        heaviest = max(rows.weight[rows.losses == v].sum() for v in set(rows.losses))
        assert near.mass <= 1.3 * width + 2 * heaviest
        if not ties:
            assert near.mass >= 0.7 * width - 2 * rows.weight.max()
