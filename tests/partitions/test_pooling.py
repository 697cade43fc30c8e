"""The smoothed risk by tables, against that of the rows themselves."""

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.partitions.grid import Grid
from lrisk.partitions.objective import one_part
from lrisk.partitions.part import Part
from lrisk.partitions.pooling import Bends, Pooled
from lrisk.partitions.rows import ArrayRows
from lrisk.permutahedron import project, proximal_weights, proximity
from lrisk.ranking import Ranking
from lrisk.spaces import LinearSpace
from lrisk.spectra import ESRM, Extremile, Mean, Superquantile

pytestmark = pytest.mark.numerics

SPECTRA = [Extremile(2.0), ESRM(3.0), Superquantile(0.7)]
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)


def tied(n, weighted, seed=0):
    """Two groups of losses that nearly tie, and a few others."""
    rng = np.random.default_rng(seed)
    losses = np.where(rng.random(n) < 0.3, 2.0, 0.5) * (1 + 1e-3 * rng.normal(size=n))
    some = rng.random(n) < 0.1
    losses[some] = rng.uniform(0.1, 3.0, some.sum())
    losses[::7] = losses[0]
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return losses, weight


def part_at(losses, weight):
    part = Part(ArrayRows(np.zeros((len(losses), 1))), losses, weight, Squared())
    part.losses[:] = losses
    return part


@every_spectrum
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [1e-4, 1e-2, 1.0])
def test_pooled_bins_are_pooled_rows(spectrum, weighted, nu):
    losses, weight = tied(2000, weighted)
    ranking = Ranking(spectrum, 2000, weight)
    part = part_at(losses, weight)
    exact = proximal_weights(ranking, losses, ranking.mass, nu * ranking.total)
    away = proximity(exact.weights, ranking.mass, ranking.row_weight)
    value = float(exact.weights @ losses) - nu * ranking.total * away
    before = np.inf
    for bins in (50, 1000, 100_000):
        grid = Grid.between(losses.min(), losses.max(), bins)
        pooled = Pooled.of(spectrum, grid, part.table(grid), nu)
        part.hold(grid, pooled.ranks.density)
        # In the permutahedron, whatever the bins are.
        np.testing.assert_allclose(
            project(ranking, part.weights), part.weights, atol=1e-12
        )
        short = value - pooled.ranks.value
        assert -1e-12 <= short <= min(before, pooled.doubt) + 1e-12
        risk = ranking.risk(losses)
        assert risk <= pooled.ranks.value + pooled.ranks.missing + 1e-12
        before = short
    assert before <= 1e-7
    # Within a bin λ is shared, where that of rows rises by width/ν.
    room = (2e-4 + 1e-4 / nu) * exact.weights.max()
    np.testing.assert_allclose(part.weights, exact.weights, atol=room)


@every_spectrum
def test_weights_bend_as_they_say(spectrum):
    losses, weight = tied(2000, True)
    grid = Grid.between(losses.min(), losses.max(), 4000)
    table = part_at(losses, weight).table(grid)
    nu = 1e-2
    pooled = Pooled.of(spectrum, grid, table, nu)
    bends = Bends.of(pooled, table, nu, 40.0)
    used = np.flatnonzero(table.mass)
    assert np.all(np.diff(bends.group[used]) >= 0)
    steep = 1.0 / (nu * table.mass.sum())
    assert np.all((bends.kappa >= 0.0) & (bends.kappa <= steep * (1 + 1e-12)))
    blocks = np.repeat(np.arange(len(pooled.starts) - 1), np.diff(pooled.starts))
    many = np.diff(pooled.starts)[blocks] > 1
    # Pooled bins bend at 1/ν and are a group each.
    np.testing.assert_allclose(bends.kappa[used][many], steep)
    for block in np.unique(blocks[many]):
        own = bends.group[used][blocks == block]
        assert np.all(own == own[0]) and np.count_nonzero(
            bends.group[used] == own[0]
        ) == len(own)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@every_spectrum
@pytest.mark.parametrize("intercept", [True, False])
def test_curvature_is_that_of_the_smoothed_risk(loss, spectrum, intercept):
    rng = np.random.default_rng(0)
    n = 4000
    X = rng.normal(size=(n, 3))
    y = (rng.random(n) < 0.4).astype(float)
    space = LinearSpace(X, intercept=intercept)
    sample = Objective(Ranking(spectrum, n), loss, space, y, 5.0)
    objective = one_part(sample)
    objective.nu = 0.05
    theta = 0.01 * rng.normal(size=objective.size)
    now = objective.begin(theta)
    matrix = objective.curvature(now)
    step = 3e-3  # well above a bin, well below ν
    columns = []
    for unit in np.eye(objective.size):
        ends = [
            objective.evaluate(theta + side * step * unit, 0, 0.0, now).gradient
            for side in (1.0, -1.0)
        ]
        columns.append((ends[0] - ends[1]) / (2 * step))
    np.testing.assert_allclose(
        matrix, np.array(columns), atol=0.3 * np.abs(matrix).max()
    )
    slope = (
        objective.evaluate(theta + step, 0, 0.0, now).value
        - objective.evaluate(theta - step, 0, 0.0, now).value
    ) / (2 * step)
    assert slope == pytest.approx(float(now.gradient.sum()), abs=5e-3)


@every_spectrum
@pytest.mark.parametrize("seed", range(3))
def test_windows_of_a_risk_that_is_not_smoothed(spectrum, seed):
    rng = np.random.default_rng(seed)
    losses, weight = rng.standard_t(3, 5000) ** 2, rng.uniform(0.5, 2.0, 5000)
    grid = Grid.between(1e-9, losses.max(), 4000)
    table = part_at(losses, weight).table(grid)
    least = 100.0
    bends = Bends.by_rank(spectrum, grid, table, least)
    used, total = np.flatnonzero(table.mass), weight.sum()
    group, mass = bends.group[used], table.mass[used]
    assert np.all(np.diff(group) >= 0) and np.all(bends.kappa >= 0.0)
    sizes = np.bincount(group, mass)
    assert np.all(sizes[1:-1] >= least - mass.max())
    places = grid.places(losses)
    kappa, own = bends.kappa[places], bends.group[places]
    if spectrum.selects:  # all of it at one place, in the middle of a window
        (only,) = np.unique(own[kappa > 0.0])
        below = weight[own < only].sum() / total
        inside = weight[own == only].sum() / total
        assert below < spectrum.support[0] < below + inside
        near = losses[own == only]
        rise = 1.0 / (total * (1.0 - spectrum.support[0]))
        assert kappa.max() == pytest.approx(rise / np.ptp(near), rel=0.1)
        return
    # As λ per weight rises with the losses themselves, between distant quantiles.
    order = np.argsort(losses)
    shares = np.cumsum(weight[order]) / total
    for low, high in ((0.2, 0.4), (0.5, 0.7), (0.8, 0.95)):
        a, b = np.searchsorted(shares, [low, high])
        rise = float(np.diff(spectrum.density(shares[[a, b]]))[0]) / total
        between = kappa[order[a:b]] * np.diff(losses[order[a : b + 1]])
        assert between.sum() == pytest.approx(rise, rel=0.1)


def test_a_mean_does_not_bend():
    losses, _ = tied(2000, False)
    grid = Grid.between(0.1, 3.0, 100)
    table = part_at(losses, None).table(grid)
    assert not np.any(Bends.by_rank(Mean(), grid, table, 40.0).kappa)
