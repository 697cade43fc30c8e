"""Trimmed fits are solved to the end: rounding does not show in them.

Shuffling the rows changes the order of every sum, which is what another processor does.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lrisk
from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import Concentration, Status
from lrisk.solvers.trimming.concentration import Descent
from lrisk.solvers.trimming.kept import LowestRows
from lrisk.solvers.trimming.refits import certain, refit_for
from lrisk.spaces import LinearSpace
from lrisk.spectra import RankedRange, RiskSeekingExtremile, Subquantile

MODELS = {
    "two classes": (lrisk.RiskClassifier("subquantile:0.8"), 2),
    "light penalty": (lrisk.RiskClassifier("subquantile:0.8", alpha=1e-4), 2),
    "three classes": (lrisk.RiskClassifier("subquantile:0.8"), 3),
    "extremile": (
        lrisk.RiskClassifier(lrisk.spectra.RiskSeekingExtremile(3.0)),
        2,
    ),
    "squared hinge": (lrisk.RiskClassifier("subquantile:0.8", loss="squared_hinge"), 2),
    "within classes": (
        lrisk.RiskClassifier(
            "subquantile:0.8", solver=Concentration(class_balanced=True)
        ),
        2,
    ),
    "kernel": (lrisk.KernelRiskClassifier("subquantile:0.8", gamma=0.2), 2),
    "huber": (
        lrisk.RiskRegressor(
            "subquantile:0.8", loss="huber", solver=Concentration(starts=0)
        ),
        0,
    ),
}


def data(seed, n_classes, n=60):
    """Three features, half of the labels by chance; n_classes=0 for numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, max(n_classes, 2)))
    if n_classes == 0:
        return X, scores[:, 0] + rng.standard_t(1.5, n)
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return X, np.where(rng.random(n) < 0.5, rng.integers(0, n_classes, n), y)


def objective_of(seed, alpha=0.5, y=None):
    X, labels = data(seed, 2)
    space = LinearSpace(X, intercept=True)
    y = labels.astype(float) if y is None else y
    return Objective(Ranking(Subquantile(0.8), len(y)), Logistic(), space, y, alpha)


def numbers(spectrum, alpha=2.0, space=LinearSpace, n=60):
    X, y = data(5, 0, n)
    space = space(X, intercept=False)
    return Objective(Ranking(spectrum, len(y)), Squared(), space, y, alpha)


def scores_of(model, X):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.numerics
@pytest.mark.parametrize("name", MODELS)
def test_the_order_of_the_rows_does_not_show(name):
    model, n_classes = MODELS[name]
    for seed in range(3):
        X, y = data(seed, n_classes)
        scores = scores_of(model.fit(X, y), X)
        kept = model.inlier_mask_
        order = np.random.default_rng(seed).permutation(len(y))
        model.fit(X[order], y[order])
        size = np.abs(scores).max()
        np.testing.assert_allclose(
            scores_of(model, X), scores, rtol=0, atol=1e-8 * size
        )
        np.testing.assert_array_equal(model.inlier_mask_, kept[order])


@pytest.mark.numerics
@pytest.mark.parametrize("name", ["two classes", "three classes", "extremile", "huber"])
def test_weights_are_copies(name):
    model, n_classes = MODELS[name]
    for seed in range(3):
        X, y = data(seed, n_classes)
        weight = np.random.default_rng(seed).integers(0, 4, len(y))
        scores = scores_of(model.fit(X, y, sample_weight=weight), X)
        model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        size = np.abs(scores).max()
        np.testing.assert_allclose(
            scores_of(model, X), scores, rtol=0, atol=1e-8 * size
        )


def test_another_blas_kernel_gives_the_same_fit():
    """Prescott's is the plainest there is; other libraries than OpenBLAS ignore it."""
    code = (
        "import numpy as np; from test_concentration import *\n"
        "for name in ('two classes', 'light penalty', 'three classes', 'kernel'):\n"
        "    model, k = MODELS[name]\n"
        "    for seed in range(2):\n"
        "        X, y = data(seed, k)\n"
        "        print(*map(float.hex, scores_of(model.fit(X, y), X).ravel()))\n"
    )
    here = str(Path(__file__).parent)
    printed = []
    for kernel in ("Prescott", "Haswell"):
        path = os.pathsep.join([here, str(Path(lrisk.__file__).parents[1])])
        env = {**os.environ, "OPENBLAS_CORETYPE": kernel, "PYTHONPATH": path}
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=env
        )
        assert result.returncode == 0, result.stderr
        lines = result.stdout.splitlines()
        printed.append([np.array([*map(float.fromhex, s.split())]) for s in lines])
    for first, second in zip(*printed):
        size = np.abs(first).max()
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-8 * size)


@pytest.mark.numerics
def test_a_warm_start_changes_nothing():
    for seed in range(3):
        X, y = data(seed, 3)
        model = lrisk.RiskClassifier("subquantile:0.8", warm_start=True).fit(X, y)
        scores = model.decision_function(X)
        again = model.fit(X, y).decision_function(X)
        np.testing.assert_allclose(again, scores, rtol=0, atol=1e-10)


def test_of_equal_floors_the_first_stands():
    objective = objective_of(0)
    descent = Descent(objective, 1e-6, 100)
    point = objective.at(np.zeros(objective.space.size))
    for share, lower in ((1e-15, False), (-1e-15, False), (1e-9, True), (-1e-9, False)):
        other = point._replace(losses=point.losses * (1.0 - share))
        assert descent.lower(other, point) is lower


@pytest.mark.numerics
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_rows_of_one_class_end_in_certainty(alpha):
    """There is no minimum: the intercept goes its way until nothing is in doubt."""
    objective = objective_of(0, alpha, y=np.ones(60))
    descent = Descent(objective, 1e-6, 100)
    point = descent.run(refit_for(objective), objective.at(np.zeros(4)))
    assert objective.value(point) <= certain(objective)
    assert np.all(point.scores < 60.0)
    assert not descent.exhausted


def test_steps_begin_at_the_start_and_end_at_the_limit():
    objective = numbers(Subquantile(0.8))
    point = objective.at(np.array([3.0, -3.0, 3.0]))
    weights = LowestRows(objective.ranking).weights(point.losses)
    found = refit_for(objective)(weights, point)
    once = Concentration(max_iter=1).solve(objective, point.theta)
    np.testing.assert_allclose(once.theta, found.theta, rtol=1e-12)
    assert once.status is Status.MAX_ITER and once.n_iter == 1
    whole = Concentration().solve(objective, point.theta)
    assert whole.status is Status.STATIONARY
    assert whole.objective <= once.objective


def test_the_tolerance_ends_only_steps_that_are_not_exact():
    counts = {}
    for spectrum in (Subquantile(0.8), RankedRange(0.2, 0.8)):
        objective = numbers(spectrum)
        start = np.array([3.0, -3.0, 3.0])
        counts[spectrum.shape] = [
            Concentration(tol=tol).solve(objective, start).n_iter for tol in (0.9, 0.0)
        ]
    assert counts["down"][0] == counts["down"][1] > 1
    assert counts["range"][0] < counts["range"][1]


@pytest.mark.numerics
def test_steps_of_slowly_settling_ranks_go_on_to_the_end():
    """After a third of the steps the fit still moves by a hundredth in each."""
    objective = numbers(RiskSeekingExtremile(3.0), n=300)
    point = objective.at(Concentration(max_iter=1000).solve(objective).theta)
    weights = LowestRows(objective.ranking).weights(point.losses)
    again = refit_for(objective)(weights, point)
    size = np.abs(point.scores).max()
    np.testing.assert_allclose(again.scores, point.scores, rtol=0, atol=1e-10 * size)


def test_certainty_is_a_share_of_the_risk_of_no_scores():
    objective = objective_of(0)
    assert certain(objective) == pytest.approx(1e-16 * np.log(2.0))
    assert certain(numbers(Subquantile(0.8))) == 0.0
    descent = Descent(objective, 1e-6, 100)
    assert not descent.below(0.0, 0.5 * certain(objective))
    assert descent.below(0.0, 2.0 * certain(objective))


def test_a_descent_without_steps_counts_one():
    objective = objective_of(0)
    point = objective.at(np.zeros(4))
    assert Descent(objective, 1e-6, 100).solution(point).n_iter == 1
