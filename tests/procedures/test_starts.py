"""Where searches begin: tethered models, the heaviest penalty, halves, the middle."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from lrisk.losses import Logistic, Multinomial, Squared
from lrisk.objective import Objective
from lrisk.procedures.starts import (
    class_middles,
    half_starts,
    linear_regression_starts,
    middle_weights,
    near_rows,
    tethered,
)
from lrisk.ranking import Ranking
from lrisk.spaces import LinearSpace
from lrisk.spectra import RankedRange, RiskSeekingExtremile, Subquantile

pytestmark = pytest.mark.numerics

N = 60
FORMS = {
    "dense": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "sparse": lambda X: sp.csr_array(X),
}
SPECTRA = [Subquantile(0.7), RiskSeekingExtremile(3.0), RankedRange(0.1, 0.8)]


def problem(*, form="dense", k=1, intercept=True, spectrum=SPECTRA[0], seed=0):
    rng = np.random.default_rng(seed)
    X = FORMS[form](rng.normal(size=(N, 3)) * [1.0, 5.0, 0.2] + 3.0)
    ranking = Ranking(spectrum, N, rng.uniform(0.5, 2.0, N))
    space = LinearSpace.centred(X, ranking.mass, intercept=intercept, n_scores=k)
    y = rng.integers(0, max(k, 2), N).astype(float)
    return Objective(ranking, Multinomial() if k > 1 else Logistic(), space, y, 0.5)


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_tethered_rows_are_centred_and_the_intercept_is_a_column(form, k, intercept):
    """Of the average spread of the others, far rows left aside."""
    objective = problem(form=form, k=k, intercept=intercept)
    inner = tethered(objective).objective.space
    assert not inner.intercept and inner.size == objective.space.size
    X, mass = dense(objective.space.X), objective.ranking.mass * near_rows(objective)
    mass = mass / mass.sum()
    rows = X - mass @ X
    if intercept:
        width = np.sqrt(np.mean(mass @ rows**2))
        rows = np.column_stack([rows, np.full(N, width)])
    theta = np.random.default_rng(1).normal(size=inner.size)
    scores = (rows @ theta.reshape(-1, k)).reshape(inner.scores(theta).shape)
    np.testing.assert_allclose(inner.scores(theta), scores, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_function_in_the_space_as_it_is(form, k, intercept):
    """But for a constant where there is no intercept to hold it."""
    objective = problem(form=form, k=k, intercept=intercept)
    way = tethered(objective)
    theta = np.random.default_rng(1).normal(size=objective.space.size)
    inside = way.objective.space.scores(theta)
    outside = objective.space.scores(way.free(theta, objective.space))
    apart = outside - inside
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0], apart.shape), atol=1e-5)
    if intercept:
        np.testing.assert_allclose(outside, inside, rtol=1e-5, atol=1e-5)


def test_constant_columns_have_a_column_for_their_intercept():
    objective = problem()
    X = np.full((N, 2), 7.0)
    space = LinearSpace.centred(X, objective.ranking.mass, intercept=True)
    inner = tethered(objective.with_space(space)).objective.space
    np.testing.assert_allclose(inner.scores(np.array([3.0, 4.0, 2.0])), 2.0)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_heaviest_penalty_is_above_all_curvature(spectrum, k, intercept):
    """And not above its trace: with as many directions, by a factor."""
    objective = problem(k=k, intercept=intercept, spectrum=spectrum)
    way = tethered(objective)
    light = way.under(0.0)
    assert light.mu == 0.0
    zero = light.at(np.zeros(light.space.size))
    # S'(0) times the mass, more than any row can have.
    density = {"subquantile": 1 / 0.7, "risk_seeking_extremile": 3.0}
    most = density.get(spectrum.name, 1 / 0.8) * light.ranking.mass
    values = np.linalg.eigvalsh(light.hessian(zero, most))
    assert values[-1] <= way.heaviest * (1 + 1e-6)
    sums = values.sum() if k == 1 else values.sum() * 0.5 / (2 / 3)
    assert way.heaviest == pytest.approx(sums, rel=1e-6)
    assert way.under(way.heaviest).mu == pytest.approx(way.heaviest)


def scattered(X, y, *, spectrum=SPECTRA[0], weight=None):
    """An objective over rows as they are."""
    ranking = Ranking(spectrum, len(y), weight)
    space = LinearSpace(X, intercept=True)
    return Objective(ranking, Logistic(), space, y, 1.0)


def with_far_rows(share, factor, n=200, seed=0):
    """Two classes apart by two standard deviations, the first rows far out."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(float)
    X = rng.normal(size=(n, 6))
    X[:, 0] += 2.0 * y
    X[: int(share * n)] *= factor
    return X, y


@pytest.mark.parametrize("form", FORMS)
def test_middles_are_spatial_medians(form):
    objective = problem(form=form)
    X, y, mass = dense(objective.space.X), objective.y, objective.ranking.mass
    for label, middle in enumerate(class_middles(objective)):
        rows, pull = X[y == label], mass[y == label]

        def total(c, rows=rows, pull=pull):
            return float(pull @ np.linalg.norm(rows - c, axis=1))

        best = scipy.optimize.minimize(total, rows.mean(axis=0), tol=1e-8)
        # The steps end a hundredth of the distances away: a ten-thousandth of the sum.
        assert total(middle) <= total(best.x) * (1 + 1e-3)


@pytest.mark.parametrize("factor", [100.0, 1e9])
@pytest.mark.parametrize("share", [0.2, 0.3, 0.4])
def test_far_rows_are_found_up_to_the_share_that_is_left_out(share, factor):
    for seed in range(5):
        X, y = with_far_rows(share, factor, seed=seed)
        far = ~near_rows(scattered(X, y))
        assert far.sum() == min(int(share * 200), 60)
        assert not far[int(share * 200) :].any()


def test_without_far_rows_all_rows_are_near():
    X, y = with_far_rows(0.0, 1.0)
    objective = scattered(X, y)
    way = tethered(objective)
    assert near_rows(objective).all() and way.near is way.objective


@pytest.mark.parametrize("share", [0.005, 0.2])
def test_far_rows_are_found_where_none_is_left_out(share):
    """They are only left out of the way, on which they would rule the fit."""
    X, y = with_far_rows(share, 1e9)
    far = ~near_rows(scattered(X, y, spectrum=RiskSeekingExtremile(3.0)))
    np.testing.assert_array_equal(np.flatnonzero(far), np.arange(int(share * 200)))


def test_middles_beside_a_row_out_of_all_measure():
    """Rows nearer than 10⁻⁹ of the farthest counted as equally near: a mean."""
    X, y = with_far_rows(0.0, 1.0)
    X[:60, 0] += 8.0  # a median is not moved by how far, a mean is
    usual = class_middles(scattered(X, y))
    X[0] = 1e13
    moved = np.abs(class_middles(scattered(X, y)) - usual).max()
    assert moved < 0.1


def test_weights_are_copies():
    X, y = with_far_rows(0.2, 30.0)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = near_rows(scattered(X, y, weight=weight.astype(float)))
    copies = np.repeat(np.arange(len(y)), weight)
    np.testing.assert_array_equal(
        near_rows(scattered(X[copies], y[copies])), weighted[copies]
    )


def test_a_class_far_from_the_other_is_not_far():
    X, y = with_far_rows(0.0, 1.0)
    y[:] = np.arange(200) % 21 == 0
    X[y == 1, 1] += 50.0
    assert near_rows(scattered(X, y))[y == 1].all()


def test_rows_that_are_mostly_equal():
    X = np.zeros((50, 2))
    X[:5] = np.eye(2)[[0, 1, 0, 1, 0]]
    y = np.r_[np.ones(5), np.zeros(45)]
    assert near_rows(scattered(X, y)).sum() >= 35
    assert near_rows(scattered(np.zeros((50, 2)), y)).all()


def test_the_way_is_over_the_near_rows():
    X, y = with_far_rows(0.2, 100.0)
    objective = scattered(X, y)
    way, near = tethered(objective), near_rows(objective)
    step = way.under(0.25)
    assert step.mu == pytest.approx(0.25)
    np.testing.assert_array_equal(step.y, y[near])
    theta = np.random.default_rng(0).normal(size=step.space.size)
    np.testing.assert_allclose(
        step.space.scores(theta), way.objective.space.scores(theta)[near], atol=1e-9
    )
    losses = way.objective.at(theta).losses
    kept = way.weights(theta) > 0
    assert len(kept) == 200 and losses[kept].max() <= losses[~kept].min()


def test_halves_are_fits_of_the_mean_loss():
    objective = problem()
    starts = list(half_starts(objective, np.random.default_rng(0), 4))
    assert [label for label, _ in starts] == ["half"] * 4
    draws = np.random.default_rng(0)
    for _, theta in starts:
        half = objective.ranking.mass * (draws.random(N) < 0.5)
        gradient = objective.gradient(objective.at(theta), half / half.sum())
        np.testing.assert_allclose(gradient, 0.0, atol=1e-7)


def test_the_middle_is_that_of_the_targets():
    y = np.r_[np.arange(51.0), np.full(10, 1e6)]
    ranking = Ranking(Subquantile(31 / 61), 61)
    space = LinearSpace(np.ones((61, 1)), intercept=False)
    weights = middle_weights(Objective(ranking, Squared(), space, y, 0.0))
    # The median is 30, and the 31 rows nearest to it are within 15 of it.
    np.testing.assert_array_equal(np.flatnonzero(weights > 0), np.arange(15, 46))
    np.testing.assert_allclose(weights[15:46], 1 / 31)


def test_starts_of_numbers_have_their_names_and_minima():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=N)
    space = LinearSpace(X, intercept=True)
    objective = Objective(Ranking(Subquantile(0.8), N), Squared(), space, y, 0.3)
    starts = list(linear_regression_starts(objective, rng, 20))
    labels = [label for label, _ in starts]
    assert labels[:4] == ["zero", "median", "least squares", "huber"]
    assert 1 <= labels.count("elemental") <= 10
    mass = objective.ranking.mass
    for label, theta in starts:
        if label == "least squares":
            gradient = objective.gradient(objective.at(theta), mass)
            np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
