"""`partial_fit` as steps of SGD on batches as they come: the formulas, by hand."""

import pickle

import numpy as np
import pytest
from problems import build, data

from lrisk.solvers import SGD
from lrisk.solvers.stochastic import Stream


def batches(count=4, *, weighted=False, spectrum="extremile:2", alpha=3.0):
    """Batches of different sizes, the objectives over them and their arrays."""
    rng = np.random.default_rng(0)
    for number in range(count):
        X, y = data(n=5 + 2 * number, seed=number)
        weight = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
        objective = build(
            X * (1.0 + number), y, spectrum=spectrum, alpha=alpha,
            weight=weight if weighted else None,
        )  # fmt: skip
        yield objective, X * (1.0 + number), y, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", ["auto", "theory", 0.01])
def test_steps(rate, weighted):
    """θ ← θ − η(Σλ_i∇ℓ_i + (α/W)θ), W the weight so far; λ by rank in the batch."""
    start = np.random.default_rng(1).normal(size=4)
    solver, stream = SGD(learning_rate=rate), Stream.begin(start)
    theta, total, curvature = start.copy(), 0.0, 0.0
    iterates = []
    for t, (objective, X, y, weight) in enumerate(batches(weighted=weighted)):
        total += weight.sum()
        norms = (X**2).sum(axis=1)
        curvature += weight @ norms
        mu, residual = 3.0 / total, X @ theta - y
        weights = objective.ranking.weights(0.5 * residual**2)
        steepest = max(curvature / total, weights @ norms)
        eta = {
            "auto": 1.0 / (4.0 * steepest + mu),
            "theory": 1.0 / (mu * (t + 1) + norms.max()),
            0.01: 0.01,
        }[rate]
        theta = theta - eta * (X.T @ (weights * residual) + mu * theta)
        iterates.append(theta)
        stream.step(solver, objective)
        np.testing.assert_allclose(stream.theta, theta, rtol=1e-11)
    assert stream.steps == 4 and stream.weight == pytest.approx(total)
    mean = np.average(iterates, axis=0, weights=[1, 2, 3, 4])
    np.testing.assert_allclose(stream.finish(solver), mean, rtol=1e-11)
    last = SGD(average=False)
    np.testing.assert_array_equal(stream.finish(last), stream.theta)


def test_the_penalty_spares_the_intercept():
    X, y = data(n=8)
    objective = build(X, y, spectrum="mean", intercept=True, alpha=1e3)
    stream = Stream.begin(np.array([0.0, 0.0, 0.0, 0.0, 7.0]))
    stream.step(SGD(learning_rate=0.01), objective)
    expected = 7.0 - 0.01 * (7.0 - y.mean())
    assert stream.theta[4] == pytest.approx(expected, rel=1e-12)


def test_a_fit_before_it_counts_by_its_weight():
    """μ = α/W of all rows, while the curvature is that of the stream's own."""
    (objective, X, y, _), *_ = batches(1, spectrum="mean", alpha=5.0)
    start = np.ones(4)
    stream = Stream.begin(start, weight=95.0)
    stream.step(SGD(), objective)
    mu = 5.0 / 100.0
    eta = 1.0 / (4.0 * (X**2).sum(axis=1).mean() + mu)
    gradient = X.T @ (X @ start - y) / 5 + mu * start
    np.testing.assert_allclose(stream.theta, start - eta * gradient, rtol=1e-12)
    assert stream.weight == 100.0 and stream.measured == 5.0
    # a gentle batch after it: the steepness is the mean over both
    gentle = build(0.1 * X, y, spectrum="mean", alpha=5.0)
    before, mu = stream.theta, 5.0 / 105.0
    stream.step(SGD(), gentle)
    eta = 1.0 / (4.0 * 1.01 * (X**2).sum() / 10 + mu)
    gradient = 0.1 * X.T @ (0.1 * X @ before - y) / 5 + mu * before
    np.testing.assert_allclose(stream.theta, before - eta * gradient, rtol=1e-12)


def test_begin_and_finish_hand_out_copies():
    start = np.zeros(4)
    stream = Stream.begin(start)
    ((objective, *_),) = batches(1)
    stream.step(SGD(), objective)
    assert not start.any()
    assert stream.finish(SGD()) is not stream.mean
    assert stream.finish(SGD(average=False)) is not stream.theta


def test_pickled_in_the_middle_it_goes_on_the_same():
    stream, solver = Stream.begin(np.zeros(4)), SGD()
    for number, (objective, *_) in enumerate(batches()):
        if number == 2:
            copied = pickle.loads(pickle.dumps(stream))
        if number >= 2:
            copied.step(solver, objective)
        stream.step(solver, objective)
    np.testing.assert_array_equal(stream.theta, copied.theta)
    np.testing.assert_array_equal(stream.mean, copied.mean)


def test_rows_of_zeros():
    """Nothing to learn from, and no division by zero."""
    stream = Stream.begin(np.zeros(2))
    stream.step(SGD(), build(np.zeros((3, 2)), np.ones(3), alpha=0.0))
    np.testing.assert_array_equal(stream.theta, np.zeros(2))
