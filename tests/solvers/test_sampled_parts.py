"""Samples that stay in parts, against samples in memory."""

import numpy as np
import pytest

from lrisk.losses import Huber, Logistic, Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.solvers import Newton
from lrisk.solvers.certified.sampling import spectral_hessian, stratified
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.solvers.sampled_parts import begun, samples_of
from lrisk.solvers.solution import Status
from lrisk.solvers.ties import nearly_tied
from lrisk.spectra import ESRM, Extremile, Mean, Superquantile

pytestmark = pytest.mark.numerics

SPECTRA = [Mean(), Extremile(2.0), ESRM(1.0), Superquantile(0.5), Superquantile(0.9)]
LOSSES = [Squared(), Logistic(), Huber(0.7)]
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def drawn(loss, n, seed=0, signal=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -3.0]
    score = signal * (X - [0.0, 5.0, 0.0, -3.0]) @ [1.0, 0.1, 10.0, -1.0]
    y = score + rng.standard_t(4, size=n)
    if loss.classifies:
        y = (score + 0.3 * rng.logistic(size=n) > 0.0).astype(float)
    return X, y, rng.uniform(0.5, 2.0, n)


def parted(spectrum, loss, X, y, weight, *, apart=True):
    part = Part(ArrayRows(X), y, weight, loss)

    def sampler(rows, offset):
        own = None if weight is None else weight[rows]
        return Local([Part(ArrayRows(X[rows] - offset), part.y[rows], own, loss)])

    return PartitionedObjective(
        Local([part]),
        spectrum,
        loss,
        1.0,
        True,
        most_binned=0,
        sampler=sampler if apart else None,
    )


@every_loss
@every_spectrum
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_apart_is_the_same_objective(loss, spectrum, weighted):
    X, y, weight = drawn(loss, 30_000)
    whole = parted(spectrum, loss, X, y, weight if weighted else None)
    rows = stratified(30_000, 10_000)
    apart, gathered = samples_of(whole, rows)
    assert isinstance(apart, PartitionedObjective) and isinstance(gathered, Objective)
    assert apart.mu == pytest.approx(gathered.mu, rel=1e-12)
    theta = np.array([0.5, -0.01, 3.0, 0.1, 0.2])
    exact = gathered.value_at(theta)
    assert apart.value_at(theta) == pytest.approx(exact, rel=1e-8)
    only = parted(spectrum, loss, X, y, None, apart=False)
    assert [type(sample) for sample in samples_of(only, rows)] == [Objective]


@every_loss
@every_spectrum
@pytest.mark.parametrize("seed", range(3))
def test_minimiser_and_metric_are_those_in_memory(loss, spectrum, seed):
    X, y, _ = drawn(loss, 30_000, seed)
    whole = parted(spectrum, loss, X, y, None)
    rows = stratified(30_000, 20_000)
    apart, gathered = samples_of(whole, rows)
    sample, theta = begun(apart, rows, None)
    best = Newton(tol=1e-9).solve(gathered)
    # A part of the error of the sample: 5/20,000 of F, or ten times that in a tail.
    error = 5 / 20_000 * min(apart.ranking.concentration(), 10.0)
    assert gathered.value_at(theta) <= best.objective * (1.0 + 0.1 * error)
    at = gathered.evaluate(theta, gathered.space.scores(theta))
    expected = spectral_hessian(gathered, at)
    solved = np.column_stack([sample.metric.solve(column) for column in expected.T])
    ratios = np.linalg.eigvals(solved).real
    assert ratios.min() >= 0.9 and ratios.max() <= 1.1
    given = 0.5 * theta
    again, kept = begun(apart, rows, given)
    assert kept is given and again.rows is rows


@pytest.mark.parametrize("spectrum", SPECTRA[1:], ids=repr)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_ties_are_seen_alike(spectrum, seed, signal):
    X, y, _ = drawn(Logistic(), 20_000, seed, signal)
    whole = parted(spectrum, Logistic(), X, y, None)
    rows = stratified(20_000, 10_000)
    apart, gathered = samples_of(whole, rows)
    _, theta = begun(apart, rows, None)
    tied = nearly_tied(gathered, theta)
    assert nearly_tied(apart, theta) == tied
    assert apart.nu == 0.0
    assert tied or signal > 0.0


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_where_one_loss_is_nearly_all_of_the_risk(spectrum, seed):
    X, y, _ = drawn(Huber(0.7), 12_000, seed)
    y[6000] = 1e12
    found = minimise_in_parts(parted(spectrum, Huber(0.7), X, y, None))
    assert found.status is Status.CONVERGED and found.gap <= 1e-6
