"""Certified fits over parts, proven anew by what shares nothing with parts."""

import itertools

import numpy as np
import pytest

from lrisk.losses import Absolute, Huber, Logistic, Multinomial, Squared, SquaredHinge
from lrisk.objective import Objective
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.solvers.solution import Status
from lrisk.spaces import LinearSpace
from lrisk.spectra import (
    ESRM,
    Extremile,
    Mean,
    RiskSeekingExtremile,
    Subquantile,
    Superquantile,
    WorstCase,
)

pytestmark = pytest.mark.numerics

D = 4
SPECTRA = [Mean(), Extremile(2.0), ESRM(1.0), Superquantile(0.5), Superquantile(0.9)]
LOSSES = [Squared(), Logistic(), Huber(0.5), SquaredHinge()]


def drawn(loss, n, weighted, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -3.0]
    score = X @ [1.0, 0.1, 3.0, -1.0]
    y = score + rng.standard_t(4, size=n)
    if loss.classifies:
        y = (score + 0.3 * rng.logistic(size=n) > np.median(score)).astype(float)
    return X, y, rng.uniform(0.5, 2.0, n) if weighted else None


def parts_of(X, y, weight, loss, cuts):
    return [
        Part(ArrayRows(X[a:b]), y[a:b], None if weight is None else weight[a:b], loss)
        for a, b in itertools.pairwise([0, *cuts, len(y)])
    ]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
@pytest.mark.parametrize("cuts", [[], [4000, 4000, 9000, 19_999]])
def test_fits_over_parts_are_as_good_as_they_say(loss, spectrum, cuts):
    X, y, weight = drawn(loss, 20_000, weighted=bool(cuts))
    engine = Local(parts_of(X, y, weight, loss, cuts))
    parted = PartitionedObjective(engine, spectrum, loss, 1.0, True)
    seen = []
    found = minimise_in_parts(parted, tol=1e-6, monitor=seen.append)
    offset = X.mean(axis=0)
    whole = Objective(
        Ranking(spectrum, len(y), weight),
        loss,
        LinearSpace(X - offset, intercept=True),
        y - parted.shift,
        1.0,
    )
    raw = parted.raw(found.theta)
    theta = np.append(raw[:-1], raw[-1] + offset @ raw[:-1])
    best = Newton(tol=1e-9).solve(whole, theta)
    assert found.status is Status.CONVERGED and found.gap <= 1e-6
    assert whole.value_at(theta) <= best.dual * (1 + 1e-6) * (1 + 1e-12)
    assert found.dual <= best.objective * (1 + 1e-12)
    assert whole.value_at(theta) <= found.objective * (1 + 1e-12)
    assert len(seen) == len(found.history) == found.n_iter


def test_bits_depend_on_the_cut_and_on_nothing_else():
    X, y, _ = drawn(Squared(), 20_000, False)
    found = []
    for n_threads in (1, 1, 3):
        engine = Local(parts_of(X, y, None, Squared(), [5000, 11_000]), n_threads)
        for spectrum in (Extremile(2.0), Superquantile(0.9)):
            parted = PartitionedObjective(engine, spectrum, Squared(), 1.0, True)
            found.append(minimise_in_parts(parted).theta)
    for first, again in zip(found[:2] * 2, found[2:], strict=True):
        np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("spectrum", [Mean(), Superquantile(0.7)], ids=repr)
def test_few_rows(spectrum):
    X, y, _ = drawn(Squared(), 50, False)
    engine = Local(parts_of(X, y, None, Squared(), [20]))
    parted = PartitionedObjective(engine, spectrum, Squared(), 1.0, True)
    found = minimise_in_parts(parted)
    whole = Objective(
        Ranking(spectrum, 50), Squared(), LinearSpace(X, intercept=True), y, 1.0
    )
    best = Newton(tol=1e-9).solve(whole)
    assert found.dual <= best.objective * (1 + 1e-12)
    assert best.dual <= found.objective * (1 + 1e-12)


def refused_parts(loss, spectrum):
    X, y, _ = drawn(Squared(), 100, False)
    engine = Local(parts_of(X, np.abs(np.sign(y)), None, loss, [50]))
    return PartitionedObjective(engine, spectrum, loss, 1.0, True)


@pytest.mark.parametrize(
    "spectrum",
    [WorstCase(), Subquantile(0.8), RiskSeekingExtremile(2.0)],
    ids=repr,
)
def test_spectra_that_need_all_rows_together_are_refused(spectrum):
    with pytest.raises(ValueError, match=r"spectrum.*in memory"):
        minimise_in_parts(refused_parts(Squared(), spectrum))


@pytest.mark.parametrize(
    "loss", [Absolute(), Multinomial()], ids=lambda loss: loss.name
)
def test_losses_that_need_all_rows_together_are_refused(loss):
    with pytest.raises(ValueError, match=r"loss.*in memory"):
        minimise_in_parts(refused_parts(loss, Mean()))


@pytest.mark.parametrize("spectrum", [Mean(), Extremile(2.0), Superquantile(0.9)])
@pytest.mark.parametrize("case", ["huge", "constant", "tied"])
def test_huber_loss_of_targets_of_all_kinds(spectrum, case):
    X, y, _ = drawn(Squared(), 10_001, False)  # one row more than are gathered
    loss = Huber(0.5)
    if case == "huge":
        y[17] = 1e12
    elif case == "constant":
        y[:] = 7.0
    else:
        X, y = X.round(), y.round()
    engine = Local(parts_of(X, y, None, loss, [5000]))
    parted = PartitionedObjective(engine, spectrum, loss, 1.0, True)
    found = minimise_in_parts(parted, tol=1e-6)
    # A tail of rows that tie on flat pieces leaves nothing to tell dual points by.
    hard = case == "tied" and spectrum.shape == "up" and not spectrum.smooth
    assert hard or found.status is Status.CONVERGED
    assert abs(parted.shift) < 100.0
    offset = X.mean(axis=0)
    space = LinearSpace(X - offset, intercept=True)
    whole = Objective(Ranking(spectrum, len(y)), loss, space, y - parted.shift, 1.0)
    raw = parted.raw(found.theta)
    theta = np.append(raw[:-1], raw[-1] + offset @ raw[:-1])
    best = Newton(tol=1e-9).solve(whole, theta)
    assert found.dual <= best.objective * (1 + 1e-12)
    above = max(found.gap, 1e-6)
    assert found.objective <= best.dual * (1 + above) * (1 + 1e-12) + 1e-20


def awkward(kind, loss):
    """Rows at which passes over bins stall, each in its own way."""
    rng = np.random.default_rng(0)
    n = 11_000  # rows up to 10,000 are gathered at once
    place = np.arange(n)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_t(4, n)
    if kind == "few distinct rows":
        X, y = X[place % 10], y[place % 10]
    elif kind == "three distinct rows":
        X, y = X[place % 3], y[place % 3]
    elif kind == "one target for nearly all":
        y = (rng.random(n) < 0.01).astype(float)
    elif kind == "one row far out":
        X[n // 3], y[n // 3] = 1e6, 6e6
    elif kind == "nothing but an intercept":
        X, y = 0.0 * X, np.where(place % 2, 1.0, -1.0)
    if loss.classifies:
        y = (rng.random(n) < 0.01).astype(float)
        if kind == "one row far out":
            y = rng.integers(0, 2, n).astype(float)
    return X, y


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize(
    "spectrum", [ESRM(1.0), Extremile(3.0), Superquantile(0.9)], ids=repr
)
@pytest.mark.parametrize(
    "kind",
    [
        "few distinct rows",
        "three distinct rows",
        "one target for nearly all",
        "one row far out",
        "nothing but an intercept",
    ],
)
def test_few_rows_are_gathered_where_passes_stall(monkeypatch, kind, spectrum, loss):
    X, y = awkward(kind, loss)
    offset = X.mean(axis=0)
    parted = PartitionedObjective(
        Local(parts_of(X, y, None, loss, [7000])), spectrum, loss, 1.0, True
    )
    space = LinearSpace(X - offset, intercept=True)
    whole = Objective(
        Ranking(spectrum, len(y)), loss, space, y - parted.shift, 1.0, parted.shift
    )
    best = Newton(tol=1e-10).solve(whole)
    seen = []
    found = minimise_in_parts(parted, tol=1e-6, monitor=seen.append)
    assert found.status is Status.CONVERGED and found.gap <= 1e-6
    assert found.objective <= best.objective * (1 + 1.1e-6)
    assert found.dual <= best.objective * (1 + 1e-11)
    counted = [record["iteration"] for record in found.history]
    assert counted == [record["iteration"] for record in seen]
    assert counted == sorted(counted)
    weights = found.weights
    assert parted.hold(weights, read=True)
    lam = np.concatenate([part.weights for part in parted.engine.parts])
    assert lam.sum() == pytest.approx(1.0, abs=1e-9)
    # Of very many rows what was proven is kept, and it is true.
    monkeypatch.setattr("lrisk.solvers.partitioned.MOST_ROWS", 10_000)
    left = minimise_in_parts(parted, tol=1e-6)
    assert left.dual <= best.objective * (1 + 1e-11)
    assert left.objective >= best.dual * (1 - 1e-11)
    assert (left.status is Status.CONVERGED) == (left.gap <= 1e-6)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_units_of_targets_make_no_difference(spectrum, size):
    X, y, _ = drawn(Squared(), 15_000, weighted=False)
    fits = []
    for targets in (y, y * size):
        engine = Local(parts_of(X, targets, None, Squared(), [7000]))
        parted = PartitionedObjective(engine, spectrum, Squared(), 1.0, True)
        fits.append(minimise_in_parts(parted, tol=1e-6))
    plain, other = fits
    assert other.gap <= 1e-6
    assert other.objective / size**2 == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
@pytest.mark.parametrize("n", [20_000, 60_000])
@pytest.mark.parametrize("seed", [0, 5])
def test_points_far_off_prove_nothing_false(spectrum, n, seed):
    # Where F is 1e31 a bound is rounding, and was above the minimum of 30.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_t(4, n)
    X[n // 3] = 1e9
    engine = Local(parts_of(X, y, None, Squared(), [n // 2]))
    parted = PartitionedObjective(engine, spectrum, Squared(), 1.0, True)
    found = minimise_in_parts(parted, tol=1e-6)
    space = LinearSpace(X - X.mean(axis=0), intercept=True)
    whole = Objective(Ranking(spectrum, n), Squared(), space, y - y.mean(), 1.0)
    best = Newton(tol=1e-8).solve(whole)
    assert best.gap <= 1e-6
    assert found.dual <= best.objective * (1 + 1e-7)
    assert found.objective <= best.objective * (1 + 1.1e-6)
    assert found.gap <= 1e-6
