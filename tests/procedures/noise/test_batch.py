"""The choice among corrected fits, uncorrected ones and the mean of the targets."""

import numpy as np
import pytest

from lrisk.corrections.landmarks import Quadratic
from lrisk.procedures.noise.batch import (
    PENALTIES,
    best_fit,
    better_than_safe,
    plain_problem,
    safe_penalty,
    within_reach,
)


def rows_and_targets(seed, n=60):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3))
    return values, values @ [1.0, -1.0, 0.0] + 0.1 * rng.normal(size=n)


def misled(values, size, seed=0):
    """A risk with errors of this size in each row, which make it indefinite."""
    rng = np.random.default_rng(seed + 100)
    square, product = size * rng.normal(size=(2, len(values)))
    square -= square.mean() + 3.0
    plain, last = plain_problem(values), np.array([0.0, 0.0, 1.0])

    def problem(rows, y):
        gram, linear = plain(rows, y)
        gram = gram + square[rows].mean() * np.outer(last, last)
        return Quadratic(gram, linear + product[rows].mean() * last)

    return problem


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [10.0, 1e3])
def test_a_risk_below_zero_is_no_evidence(seed, size):
    values, y = rows_and_targets(seed)
    problem = misled(values, size, seed)
    whole = problem(np.arange(len(y)), y)
    assert np.linalg.eigvalsh(whole.gram)[0] < 0
    best = best_fit(problem, values, np.eye(3), y, alpha=None)
    assert np.mean((values @ best.coefficients - y) ** 2) <= np.mean(y**2)


@pytest.mark.parametrize("seed", range(4))
def test_without_doubt_the_corrected_fit_is_taken(seed):
    """The rows as they are are two thirds noise, of which the other risk is free."""
    clean, y = rows_and_targets(seed, n=200)
    noisy = clean + 1.4 * np.random.default_rng(seed + 9).normal(size=clean.shape)
    best = best_fit(plain_problem(clean), noisy, np.eye(3), y, alpha=None)
    assert best.corrected and best.trusted
    np.testing.assert_allclose(best.coefficients, [1.0, -1.0, 0.0], atol=0.05)


def test_targets_that_no_fit_explains_leave_their_mean():
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    best = best_fit(misled(values, 50.0), values, np.eye(3), y - y.mean(), alpha=None)
    assert best.penalty == np.inf and not best.coefficients.any() and not best.trusted


def path(depths, spread, seed):
    """Risks of 50 groups along the penalties, with minima of these depths."""
    mean = np.zeros(len(PENALTIES))
    for place, depth in depths.items():
        mean[place - 1 : place + 2] = [-0.5 * depth, -depth, -0.5 * depth]
    own = np.random.default_rng(seed).normal(size=(50, len(PENALTIES)))
    own = (own - own.mean(axis=0)) / own.std(axis=0)
    own[:, -1] = 0.0  # the mean of the targets
    return mean + spread * own


@pytest.mark.parametrize("seed", range(5))
def test_the_safest_of_fits_that_cannot_be_told_apart(seed):
    """Standard errors are about .014 for one risk, .02 for a difference of two."""
    weights = np.full(50, 0.02)
    for depths, chosen in (
        ({5: 0.3, 20: 0.3}, 20),
        ({5: 0.32, 20: 0.3}, 20),  # better by less than its doubt
        ({5: 0.4, 20: 0.3}, 5),
        ({20: 0.1}, 20),
        ({20: 0.005}, len(PENALTIES) - 1),
    ):
        assert safe_penalty(path(depths, 0.1, seed), weights) == chosen


@pytest.mark.parametrize("seed", range(5))
def test_a_corrected_fit_must_be_shown_to_be_better(seed):
    weights, total = np.full(50, 0.02), 1.0
    plain = path({20: 0.5}, 0.1, seed + 50)

    def better(depths, spread):
        risks = np.stack([path(depths, spread, seed), plain], axis=1)
        places, trusted = better_than_safe(risks, 20, weights, total)
        return places.tolist(), trusted

    assert better({22: 0.8, 24: 0.7}, 0.1) == ([22, 24], True)
    assert better({22: 0.51}, 0.1) == ([], True)  # than the mean, not than the fit
    assert better({22: 0.9}, 5.0) == ([], False)
    assert better({22: 30.0}, 5.0) == ([], False)  # no risk is less than zero


def test_a_given_penalty_is_kept_within_the_targets_range():
    values, y = rows_and_targets(0)
    tiny, moderate = (
        best_fit(misled(values, 10.0), values, np.eye(3), y, alpha=alpha)
        for alpha in (1e-6, 300.0)
    )
    assert not tiny.corrected and not tiny.trusted and tiny.penalty == 1e-6 / 60
    assert moderate.corrected and moderate.trusted
    none = best_fit(plain_problem(values), None, np.eye(3), y, alpha=0.0)
    expected = np.linalg.lstsq(values, y, rcond=None)[0]
    np.testing.assert_allclose(none.coefficients, expected, atol=1e-10)


def test_reach():
    y = np.array([-1.0, 1.0])
    assert within_reach(np.array([-3.0, 3.0]), y)
    for bad in (-3.1, 3.1, np.nan, np.inf):
        assert not within_reach(np.array([0.0, bad]), y)
