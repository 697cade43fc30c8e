"""F, its slope and its curvature over parts, against the same over rows in memory."""

import itertools

import numpy as np
import pytest

from lrisk.certificate import bound, slack_by_gram
from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local
from lrisk.partitions.fineness import MOST_DIGITS, PROOF_DOUBT
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.solvers.certified.progress import Progress
from lrisk.solvers.certified.whitening import minimise_whitened
from lrisk.solvers.solution import Status
from lrisk.spaces import LinearSpace
from lrisk.spectra import ESRM, Extremile, Mean

pytestmark = pytest.mark.numerics

SPECTRA = [Mean(), Extremile(2.0), ESRM(3.0)]
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
every_loss = pytest.mark.parametrize(
    "loss", [Squared(), Logistic()], ids=lambda loss: loss.name
)
#: Cuts of 3000 rows: none, an empty part, single rows, uneven ones.
CUTS = [[], [0, 1000, 1000], [1, 2, 2999], [500, 1000, 2500]]
N, D = 3000, 4


def drawn(loss, n=N, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -3.0]
    y = X @ [1.0, 0.1, 3.0, -1.0] + rng.standard_t(4, size=n)
    if loss.classifies:
        y = (y + rng.logistic(size=n) > np.median(y)).astype(float)
    return X, y, rng.uniform(0.5, 2.0, n) if weighted else None


def cut(X, y, weight, loss, cuts):
    ends = [0, *cuts, len(y)]
    return Local(
        [
            Part(
                ArrayRows(X[a:b]), y[a:b], None if weight is None else weight[a:b], loss
            )
            for a, b in itertools.pairwise(ends)
        ]
    )


def in_memory(parted, X, y, weight):
    """The same objective over rows in memory, in the same coordinates."""
    space = LinearSpace(X, intercept=parted.space.intercept, offset=parted.space.offset)
    ranking = Ranking(parted.ranking.spectrum, len(y), weight)
    return Objective(
        ranking, parted.loss, space, y - parted.shift, parted.alpha, parted.shift
    )


@every_loss
@every_spectrum
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_f_lies_within_what_is_said(loss, spectrum, intercept, weighted):
    X, y, weight = drawn(loss, weighted=weighted)
    for cuts in CUTS:
        engine = cut(X, y, weight, loss, cuts)
        parted = PartitionedObjective(engine, spectrum, loss, 2.0, intercept)
        whole = in_memory(parted, X, y, weight)
        theta = np.random.default_rng(1).normal(size=parted.size) * 0.1
        exact = whole.evaluate(theta, whole.space.scores(theta))
        now = parted.begin(theta)
        for fall in (np.inf, 1e-3 * exact.value, 1e-6 * exact.value):
            now = parted.refined(now, fall)
            room = 1e-12 * exact.value
            assert -room <= exact.value - now.value <= now.missing + room
            assert now.missing <= PROOF_DOUBT * fall or now.digits == MOST_DIGITS
            lam = np.concatenate([part.weights for part in held(engine, now)])
            gradient = whole.gradient(exact.point, lam)
            np.testing.assert_allclose(now.gradient, gradient, atol=1e-10)
        moved = parted.walk(now, np.ones(parted.size), 1e-6).at(0.25)
        np.testing.assert_allclose(moved.theta, theta + 0.25)
        there = whole.value(whole.at(moved.theta))
        assert -1e-12 * there <= there - moved.value <= moved.missing + 1e-12 * there


def held(engine, now):
    for part in engine.parts:
        part.hold(now.ranks.grid, now.ranks.density)
    return engine.parts


@every_loss
def test_gram_matrices_prove_what_rows_in_memory_prove(loss):
    X, y, weight = drawn(loss, weighted=True)
    engine = cut(X, y, weight, loss, [700, 700, 2000])
    parted = PartitionedObjective(engine, Extremile(2.0), loss, 2.0, True)
    whole = in_memory(parted, X, y, weight)
    theta = np.random.default_rng(1).normal(size=parted.size) * 0.1
    now = parted.refined(parted.begin(theta), 1e-9)
    gram = parted.gram_at(now)
    lam = np.concatenate([part.weights for part in held(engine, now)])
    exact = whole.partial_gram(whole.space.scores(theta), lam)
    np.testing.assert_allclose(gram.matrix, exact.matrix, rtol=1e-10, atol=1e-12)
    small = 1e-3 * now.gradient  # a large one is beyond what self-concordance bounds
    ours, theirs = (
        slack_by_gram(parted, gram, small),
        slack_by_gram(whole, exact, small),
    )
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert np.isfinite(ours)


def test_a_gram_matrix_is_made_at_its_own_point():
    X, y, _ = drawn(Logistic())
    parted = PartitionedObjective(
        cut(X, y, None, Logistic(), [9]), ESRM(1.0), Logistic(), 1.0, True
    )
    theta = np.full(parted.size, 0.05)
    now = parted.begin(theta)
    before = parted.gram_at(now).matrix
    parted.begin(np.zeros(parted.size))
    np.testing.assert_array_equal(parted.gram_at(now).matrix, before)
    parted.begin(np.zeros(parted.size))
    fine = parted.refined(now, 1e-6)
    np.testing.assert_array_equal(fine.theta, theta)
    assert now.value <= fine.value + 1e-12 <= now.value + now.missing + 1e-9


@every_loss
def test_rows_are_gathered_in_their_order(loss):
    X, y, weight = drawn(loss, weighted=True)
    engine = cut(X, y, weight, loss, [10, 10, 1234])
    parted = PartitionedObjective(engine, ESRM(1.0), loss, 2.0, True)
    rows = np.array([0, 9, 10, 11, 1233, 1234, 2999])
    some = parted.sampled(rows)
    np.testing.assert_allclose(some.space.X, X[rows] - parted.space.offset)
    np.testing.assert_allclose(some.y + parted.shift, y[rows])
    np.testing.assert_array_equal(some.ranking.row_weight, weight[rows])
    assert some.mu == pytest.approx(parted.mu, rel=1e-14)


@every_loss
@pytest.mark.parametrize("intercept", [True, False])
def test_what_is_known_without_rows(loss, intercept):
    X, y, weight = drawn(loss, weighted=True)
    engine = cut(X, y, weight, loss, [100])
    parted = PartitionedObjective(engine, Mean(), loss, 2.0, intercept)
    whole = in_memory(parted, X, y, weight)
    assert parted.mu == pytest.approx(whole.mu, rel=1e-14)
    assert parted.constant_risk == pytest.approx(whole.constant_risk, rel=1e-9)
    assert parted.largest_constant_loss == pytest.approx(
        whole.largest_constant_loss, rel=1e-9
    )
    constant = whole.constant_fit()
    value = whole.value(whole.at(parted.constant_fit()))
    assert value == pytest.approx(whole.value(whole.at(constant)), rel=1e-9)
    assert parted.value_at(constant) == pytest.approx(value, rel=1e-9)


@every_loss
@pytest.mark.parametrize("spectrum", [Mean(), Extremile(2.0), ESRM(1.0)], ids=repr)
@pytest.mark.parametrize("cuts", [[], [4000, 4000, 9000, 19_999]])
def test_a_descent_over_parts_ends_where_one_in_memory_does(loss, spectrum, cuts):
    n = 20_000
    X, y, weight = drawn(loss, n, weighted=bool(cuts))
    engine = cut(X, y, weight, loss, cuts)
    parted = PartitionedObjective(engine, spectrum, loss, 1.0, True)
    progress = Progress(parted, 1e-7, None)
    status = minimise_whitened(parted, None, progress, pairs=20, max_iter=50)
    assert status is Status.CONVERGED and progress.gap <= 1e-7
    # Proven anew by what shares nothing with parts.
    whole = in_memory(parted, X, y, weight)
    best = Newton(tol=1e-10).solve(whole, progress.theta)
    assert progress.dual <= best.objective * (1 + 1e-12)
    assert whole.value_at(progress.theta) <= progress.primal * (1 + 1e-12)
    assert progress.primal <= best.dual * (1 + 1e-7) * (1 + 1e-12)
    at = whole.evaluate(progress.theta, whole.space.scores(progress.theta))
    step = -np.linalg.solve(whole.hessian(at.point, at.weights), at.gradient)
    assert bound(whole, at.point, at.weights, step).dual <= best.objective


def test_bits_depend_on_the_cut_and_on_nothing_else():
    X, y, _ = drawn(Squared(), 20_000)
    found = []
    for n_threads in (1, 1, 3):
        engine = cut(X, y, None, Squared(), [5000, 11_000])
        engine = Local(engine.parts, n_threads)
        parted = PartitionedObjective(engine, Extremile(2.0), Squared(), 1.0, True)
        progress = Progress(parted, 1e-7, None)
        minimise_whitened(parted, None, progress, pairs=20, max_iter=50)
        found.append(progress.theta)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
