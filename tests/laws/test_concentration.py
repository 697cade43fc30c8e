"""Laws of concentration, for every decreasing spectrum, loss and space."""

import itertools

import numpy as np
import pytest

from lrisk.grouped_ranking import GroupedRanking
from lrisk.losses import LOSSES
from lrisk.objective import Objective
from lrisk.procedures import minimise_trimmed
from lrisk.ranking import Ranking
from lrisk.solvers import Concentration
from lrisk.solvers.trimming.concentration import Descent
from lrisk.solvers.trimming.refits import refit_for
from lrisk.spaces import Kernel, KernelSpace, LinearSpace
from lrisk.spectra import FAMILIES, RankedRange, RiskSeekingExtremile, Subquantile

N = 41
FALLING = [
    Subquantile(0.7),
    Subquantile(0.633),
    RiskSeekingExtremile(3.0),
    RankedRange(0.1, 0.8),
]
falling = pytest.mark.parametrize("spectrum", FALLING, ids=str)
losses = pytest.mark.parametrize("loss", [n for n in LOSSES if LOSSES[n].smooth])
kinds = pytest.mark.parametrize("kind", ["linear", "intercept", "kernel"])


def test_every_decreasing_family_is_here():
    names = {family.name for family in FAMILIES.values()}
    down = {n for n in names if FAMILIES[n]().monotone in ("down", "none")}
    assert down == {spectrum.name for spectrum in FALLING}


def problem(spectrum, loss, kind, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    made = LOSSES[loss]()
    numbers = X[:, 0] + rng.standard_t(1.5, N)
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(float) if made.classifies else numbers
    if made.per_class:
        y = rng.integers(0, 3, N).astype(float)
    k = 3 if made.per_class else 1
    ranking = Ranking(spectrum, N, weight)
    if kind == "kernel":
        kernel = KernelSpace(Kernel("rbf", gamma=0.3), X, n_scores=k)
        exact = loss == "squared" and isinstance(spectrum, Subquantile)
        space = kernel if exact else kernel.factored()
    else:
        space = LinearSpace(X, intercept=kind == "intercept", n_scores=k)
    return Objective(ranking, made, space, y, 0.5)


@falling
@losses
@kinds
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises(spectrum, loss, kind, weighted):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weight = rng.uniform(0.5, 2, N) if weighted else None
        objective = problem(spectrum, loss, kind, seed, weight)
        descent = Descent(objective, 0.0, 60)
        refit = refit_for(objective)
        point = objective.at(rng.normal(size=objective.space.size))
        values = [objective.value(point)]
        for _ in range(12):
            point = refit(descent.weights(point), point)
            values.append(objective.value(objective.at(point.theta)))
        assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))
        assert values[-1] < values[0]


@pytest.mark.numerics
@falling
@losses
@kinds
def test_the_end_is_stationary(spectrum, loss, kind):
    """No λ the ranks allow at the end, and no θ for that λ, is better."""
    objective = problem(spectrum, loss, kind)
    solution = minimise_trimmed(objective, Concentration(tol=1e-12, starts=5))
    point = objective.at(solution.theta)
    assert solution.objective == pytest.approx(objective.value(point), rel=1e-9)
    assert solution.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(
        solution.weights @ point.losses, objective.ranking.risk(point.losses), rtol=1e-9
    )
    if spectrum.monotone == "none":
        # Its λ on the tie is the certified solver's affair: ask that one again.
        again = refit_for(objective)(solution.weights, point)
        assert objective.value(again) >= solution.objective * (1 - 1e-8)
        return
    gradient = objective.gradient(point, solution.weights)
    scale = np.abs(objective.gradient(objective.at(0 * point.theta), solution.weights))
    # Flat pieces go to the certified solver: a gap of 1e-10 is a gradient of 1e-5.
    bound = 1e-4 if objective.loss.flat else 1e-10
    assert np.max(np.abs(gradient)) <= bound * max(scale.max(), 1e-3)


@pytest.mark.numerics
@falling
@pytest.mark.parametrize("weighted", [False, True])
def test_tied_losses_share_whatever_the_order_of_the_rows(spectrum, weighted):
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.5, 2, N) if weighted else None
    objective = problem(spectrum, "squared", "linear", weight=weight)
    descent = Descent(objective, 0.0, 60)
    tied = rng.integers(0, 4, N).astype(float)
    point = objective.at(np.zeros(objective.space.size))._replace(losses=tied)
    share = descent.weights(point) / objective.ranking.mass
    for loss in range(4):
        np.testing.assert_allclose(np.ptp(share[tied == loss]), 0, atol=1e-12)
    rounded = point._replace(losses=tied * (1.0 + 1e-15 * rng.normal(size=N)))
    np.testing.assert_allclose(
        descent.weights(rounded), descent.weights(point), atol=1e-15
    )
    assert descent.weights(point) @ tied == pytest.approx(objective.ranking.risk(tied))


@pytest.mark.numerics
@losses
@kinds
def test_random_searches_find_nothing_lower_near_by(loss, kind):
    objective = problem(Subquantile(0.7), loss, kind)
    solution = minimise_trimmed(objective, Concentration(tol=1e-12))
    rng = np.random.default_rng(1)
    size = max(np.abs(solution.theta).max(), 0.1)
    for scale, _ in itertools.product([1e-5, 1e-7], range(30)):
        moved = solution.theta + scale * size * rng.normal(size=solution.theta.shape)
        assert objective.value(objective.at(moved)) >= solution.objective * (1 - 1e-9)


@pytest.mark.numerics
@kinds
def test_weights_are_copies(kind):
    spectrum = Subquantile(0.63)
    weight = np.random.default_rng(3).integers(1, 4, N).astype(float)
    weighted = problem(spectrum, "squared", kind, weight=weight)
    copies = np.repeat(np.arange(N), weight.astype(int))
    X = weighted.space.X[copies]
    if kind == "kernel":
        space = KernelSpace(weighted.space.kernel, X)
    else:
        space = LinearSpace(X, intercept=kind == "intercept")
    copied = Objective(
        Ranking(spectrum, len(copies)), weighted.loss, space, weighted.y[copies], 0.5
    )
    zero = np.zeros(weighted.space.size), np.zeros(space.size)
    starts = [zero]
    for seed in range(5):
        theta = np.random.default_rng(seed).normal(size=weighted.space.size)
        spread = theta
        if kind == "kernel":  # the copies of a row share its coefficient
            spread = (theta / weight)[copies]
        starts.append((theta, spread))
    solver = Concentration()
    for theta, spread in starts:
        first, second = solver.solve(weighted, theta), solver.solve(copied, spread)
        assert first.objective == pytest.approx(second.objective, rel=1e-9)


def test_trimming_within_groups():
    objective = problem(Subquantile(0.7), "logistic", "intercept")
    ranking = GroupedRanking.by(objective.ranking, objective.y)
    losses = np.random.default_rng(0).exponential(size=N)
    weights = ranking.weights(losses)
    assert ranking.risk(losses) == pytest.approx(float(weights @ losses))
    for label in (0.0, 1.0):
        rows = objective.y == label
        assert weights[rows].sum() == pytest.approx(rows.mean())
        alone = Ranking(Subquantile(0.7), int(rows.sum())).weights(losses[rows])
        np.testing.assert_allclose(weights[rows], rows.mean() * alone)
    solver = Concentration(class_balanced=True)
    solution = minimise_trimmed(objective, solver)
    assert solution.weights[objective.y == 1].sum() == pytest.approx(objective.y.mean())


@pytest.mark.parametrize(
    "options",
    [{"starts": -1}, {"swaps": -1}, {"tol": -1.0}, {"max_iter": 0}],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Concentration(**options)
