"""Fits at which very many losses tie, proven anew over rows in memory."""

import itertools

import numpy as np
import pytest

from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.solvers.solution import Status
from lrisk.solvers.ties import nearly_tied
from lrisk.spaces import LinearSpace
from lrisk.spectra import ESRM, Extremile, Mean, Superquantile

pytestmark = pytest.mark.numerics

SPECTRA = [Extremile(2.0), ESRM(3.0), Superquantile(0.5), Superquantile(0.9)]
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)


def fitted(spectrum, loss, X, y, weight=None, *, intercept=True, tol=1e-6):
    """The fit over four parts, one of them empty, and the whole in memory."""
    n = len(y)
    parts = [
        Part(ArrayRows(X[a:b]), y[a:b], None if weight is None else weight[a:b], loss)
        for a, b in itertools.pairwise([0, n // 3, n // 3, n // 2, n])
    ]
    parted = PartitionedObjective(Local(parts), spectrum, loss, 1.0, intercept)
    found = minimise_in_parts(parted, tol=tol)
    space = LinearSpace(X, intercept=intercept, offset=parted.space.offset)
    ranking = Ranking(spectrum, n, weight)
    whole = Objective(ranking, loss, space, y - parted.shift, 1.0, parted.shift)
    # Never a false proof: nothing here is shared with parts.
    best = Newton(tol=1e-9).solve(whole, found.theta)
    assert found.dual <= best.objective * (1 + 1e-12)
    assert whole.value_at(found.theta) <= found.objective * (1 + 1e-12)
    return found, parts, best


def classes(n, signal, share, seed=0, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.0
    score = signal * (X - 1.0) @ rng.normal(size=d) / np.sqrt(d)
    y = (score + rng.logistic(size=n) > np.log(1.0 / share - 1.0)).astype(float)
    return X, y


@every_spectrum
@pytest.mark.parametrize(("signal", "share"), [(0.0, 0.5), (0.7, 0.5), (0.3, 0.1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_collapsed_fits_converge_in_few_reads(spectrum, signal, share, weighted):
    X, y = classes(20_000, signal, share)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    found, parts, best = fitted(spectrum, Logistic(), X, y, weight)
    assert found.status is Status.CONVERGED and found.gap <= 1e-6
    assert found.objective <= best.objective * (1 + 1e-6)
    # Each step is a read, and at so few rows a proof may be two.
    assert max(part.reads for part in parts) <= 30
    if signal == 0.0:  # nothing is to be learnt, and so much is said
        assert not np.any(found.theta[:-1])


@pytest.mark.parametrize("spectrum", [Extremile(2.0), Superquantile(0.9)], ids=repr)
def test_a_collapse_is_proven_to_the_last_digits(spectrum):
    X, y = classes(20_000, 0.3, 0.5)
    found, _, _ = fitted(spectrum, Logistic(), X, y, tol=1e-10)
    assert found.status is Status.CONVERGED and found.gap <= 1e-10
    assert not np.any(found.theta[:-1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [True, False])
def test_without_an_intercept_and_with_other_rows(seed, intercept):
    X, y = classes(20_000, 0.5, 0.4, seed)
    found, _, _ = fitted(Extremile(3.0), Logistic(), X, y, intercept=intercept)
    assert found.status is Status.CONVERGED


@every_spectrum
def test_few_kinds_of_numbers_and_features_of_no_use(spectrum):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), rng.integers(0, 3, 20_000).astype(float)
    found, _, _ = fitted(spectrum, Squared(), X, y)
    assert found.status is Status.CONVERGED


@pytest.mark.parametrize("n", [3, 60, 900])
def test_few_rows_end_with_true_bounds(n):
    X, y = classes(n, 0.3, 0.5, seed=n)
    y[:2] = 0.0, 1.0
    for spectrum in SPECTRA:
        found, _, best = fitted(spectrum, Logistic(), X, y)
        assert found.status in (Status.CONVERGED, Status.STALLED)
        assert best.dual <= found.objective * (1 + 1e-12)


def test_what_is_asked_of_a_sample():
    X, y = classes(5000, 0.0, 0.5)
    space = LinearSpace(X, intercept=True)
    zero = np.zeros(space.size)
    for spectrum, expected in [(Extremile(2.0), True), (Mean(), False)]:
        sample = Objective(Ranking(spectrum, 5000), Logistic(), space, y, 1.0)
        assert nearly_tied(sample, zero) is expected
    spread = Objective(Ranking(Extremile(2.0), 5000), Logistic(), space, y, 1.0)
    assert not nearly_tied(spread, 3.0 * np.ones(space.size))


def test_a_collapse_of_other_rows_than_the_sample(monkeypatch):
    """The descent stalls, and the path is taken after it."""
    monkeypatch.setattr("lrisk.solvers.partitioned.nearly_tied", lambda *_: False)
    X, y = classes(20_000, 0.5, 0.5)
    found, _, _ = fitted(Extremile(2.0), Logistic(), X, y)
    assert found.status is Status.CONVERGED
