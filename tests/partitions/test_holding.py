"""Rounds of a band over parts, against those over rows in memory."""

import itertools

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.partitions.engine import Local
from lrisk.partitions.holding import HeldParts
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.spectra import Superquantile

N, D = 4000, 3


def parted(loss, cuts, weighted, q=0.8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) + np.array([0.0, 5.0, -1.0])
    y = X @ [1.0, -1.0, 0.5] + rng.standard_t(4, size=N)
    if loss.classifies:
        y = (y > np.median(y)).astype(float)
    weight = rng.uniform(0.5, 2.0, N) if weighted else None
    ends = [0, *cuts, N]
    parts = [
        Part(ArrayRows(X[a:b]), y[a:b], None if weight is None else weight[a:b], loss)
        for a, b in itertools.pairwise(ends)
    ]
    return PartitionedObjective(Local(parts), Superquantile(q), loss, 1.0, True)


def joined(objective, name):
    return np.concatenate([getattr(part, name) for part in objective.engine.parts])


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [[], [0, 7, 2500]])
def test_a_round(loss, weighted, cuts):
    objective = parted(loss, cuts, weighted)
    theta = np.full(objective.size, 0.05)
    now = objective.refined(objective.begin(theta), 1e-9)
    rows = HeldParts(objective, now)
    losses, before = joined(objective, "losses"), joined(objective, "weights")
    split = rows.split(300)
    lam = joined(objective, "weights")
    # The band holds about as many rows as asked for; λ is full above it, zero below.
    count = len(split.rows.y)
    assert 200 <= count <= 400
    weight = joined(objective, "_weight") if weighted else np.ones(N)
    full = lam > 0.0
    np.testing.assert_allclose(lam[full], rows.unit * weight[full], rtol=1e-12)
    assert losses[full].min() >= np.quantile(losses, 0.7)
    assert split.share == pytest.approx(1.0 - lam.sum(), abs=1e-12)
    # Gradient of the others and the penalty, from the change of λ alone.
    X = np.concatenate([part.rows.X for part in objective.engine.parts])
    slopes = joined(objective, "slopes")
    centred = np.column_stack([X - objective.offset, np.ones(N)])
    expected = (lam * slopes) @ centred + objective.mu * objective.space.penalised(
        theta
    )
    np.testing.assert_allclose(split.gradient, expected, atol=1e-9)
    # The band's λ is set, and a walk finds F, λ·ℓ and the gradient there.
    rows.assign(split.share * split.rows.ranking.weights(np.arange(count, dtype=float)))
    lam = joined(objective, "weights")
    assert lam.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.count_nonzero(lam != before) > 0
    walk = rows.walk(np.full(objective.size, 0.01))
    value = walk.value_at(0.5)
    held = rows.arrive(walk)
    np.testing.assert_allclose(held.theta, theta + 0.005)
    z = X @ objective.raw(held.theta)[:-1] + objective.raw(held.theta)[-1]
    y = joined(objective, "y")
    new = loss.value(y, z)
    penalty = 0.5 * objective.mu * objective.space.inner(held.theta, held.theta)
    order = np.argsort(new)
    mass = np.cumsum(weight[order]) / weight.sum()
    share = np.diff(np.maximum(mass - 0.8, 0.0), prepend=0.0) / 0.2
    exact = float(share @ new[order]) + penalty
    assert exact * (1 - 1e-12) <= value <= exact * (1 + 1e-10)
    assert held.primal == value
    assert held.excess == pytest.approx(value - penalty - float(lam @ new), abs=1e-12)
    slopes = loss.derivative(y, z)
    expected = (lam * slopes) @ centred
    expected += objective.mu * objective.space.penalised(held.theta)
    np.testing.assert_allclose(held.gradient, expected, atol=1e-9)
    scale = lam * loss.curvature(y, z)
    matrix = (centred * scale[:, None]).T @ centred
    np.testing.assert_allclose(held.gram.matrix, matrix, atol=1e-9)


def test_very_many_ties_are_not_gathered():
    loss = Squared()
    part = Part(ArrayRows(np.zeros((N, 1))), np.tile([-1.0, 1.0], N // 2), None, loss)
    objective = PartitionedObjective(Local([part]), Superquantile(0.5), loss, 1.0, True)
    now = objective.begin(np.zeros(2))
    taken = []
    part.band = lambda *given: taken.append(given)
    assert HeldParts(objective, now).split(50) is None
    assert not taken
