"""Weights of rows: a row of weight k counts as k rows, one of weight 0 as none."""

import numpy as np
import pytest

from lrisk import (
    NoiseCorrectedClassifier,
    NoiseCorrectedKernelRegressor,
    NoiseCorrectedRegressor,
)
from lrisk.noise import Exact, GaussianNoise, LaplaceNoise, Replicates

N = 80


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = X @ [1.0, -0.5] + 0.2 * rng.normal(size=N)
    copies = [X + 0.4 * rng.normal(size=X.shape) for _ in range(2)]
    counts = rng.integers(0, 4, N)
    return y, copies, counts, rng.uniform(0.5, 1.5, N)


ESTIMATORS = {
    "linear": (NoiseCorrectedRegressor, GaussianNoise(0.16), {}),
    "linear, no intercept": (
        NoiseCorrectedRegressor, GaussianNoise([0.1, 0.2]), {"fit_intercept": False},
    ),
    "linear, standardised": (
        NoiseCorrectedRegressor, Replicates(), {"standardize": True},
    ),
    "naive": (NoiseCorrectedRegressor, Exact(), {"alpha": 1.0}),
    "kernel": (
        NoiseCorrectedKernelRegressor, GaussianNoise(0.16), {"alpha": 3.0},
    ),
    "kernel, features": (
        NoiseCorrectedKernelRegressor, GaussianNoise(0.16),
        {"alpha": 3.0, "n_components": 40, "random_features": True,
         "random_state": 0},
    ),
    "kernel, Laplace": (
        NoiseCorrectedKernelRegressor, LaplaceNoise(0.28),
        {"alpha": 3.0, "gamma": 0.1},
    ),
    "classes": (NoiseCorrectedClassifier, GaussianNoise(0.16), {}),
    "three classes": (NoiseCorrectedClassifier, GaussianNoise(0.16), {}),
}  # fmt: skip


def target(name, y):
    if "classes" not in name:
        return y
    return np.digitize(y, [-0.5, 0.5] if name == "three classes" else [0.0])


def shown(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict(X)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_weight_is_a_number_of_repetitions(name, two):
    kind, noise, options = ESTIMATORS[name]
    if not two and (isinstance(noise, Replicates) or "random_features" in options):
        two = True  # needs two copies
    y, (P, Q), counts, _ = rows()
    y = target(name, y)
    again = np.repeat(np.arange(N), counts)
    options = {**options, "n_components": None} if name == "kernel" else options
    once, repeated = kind(noise, **options), kind(noise, **options)
    once.fit(P, y, X2=Q if two else None, sample_weight=counts)
    repeated.fit(P[again], y[again], X2=Q[again] if two else None)
    # Directions are left out that the landmarks' matrix does not resolve, 1e-10 of its
    # largest eigenvalue, which repeated landmarks make larger.
    limit = 1e-3 if name == "kernel" else 1e-6
    np.testing.assert_allclose(shown(once, P), shown(repeated, P), atol=limit)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_that_are_all_one_change_nothing(name):
    kind, noise, options = ESTIMATORS[name]
    y, (P, Q), _, _ = rows()
    y = target(name, y)
    plain = kind(noise, **options).fit(P, y, X2=Q)
    ones = kind(noise, **options).fit(P, y, X2=Q, sample_weight=np.ones(N))
    np.testing.assert_allclose(shown(plain, P), shown(ones, P), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", [NoiseCorrectedRegressor, NoiseCorrectedClassifier])
def test_noises_of_the_rows_go_with_their_weights(kind):
    y, (P, _), counts, factors = rows()
    y = y if kind is NoiseCorrectedRegressor else (y > 0).astype(int)
    again = np.repeat(np.arange(N), counts)
    noise = GaussianNoise(0.16)
    once = kind(noise).fit(P, y, noise_scale=factors, sample_weight=counts)
    rest = kind(noise).fit(P[again], y[again], noise_scale=factors[again])
    np.testing.assert_allclose(once.coef_, rest.coef_, rtol=1e-7)


def test_chosen_penalties_see_the_weights():
    """A row of a large weight decides more than one of a small weight."""
    y, (P, Q), _, _ = rows()
    heavy = np.where(np.arange(N) < N // 2, 10.0, 0.0)
    model = NoiseCorrectedKernelRegressor(Exact(), random_state=0)
    weighted = model.fit(P, y, X2=None, sample_weight=heavy).predict(Q)
    half = model.fit(P[: N // 2], y[: N // 2], sample_weight=heavy[: N // 2])
    np.testing.assert_allclose(weighted, half.predict(Q), rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        (np.full(N, 1.0 / N), "sum 2 or more"),
        (np.zeros(N), "positive for some row"),
        (-np.ones(N), "≥ 0"),
        (np.ones(N - 1), "shape"),
    ],
)
@pytest.mark.parametrize(
    "kind",
    [NoiseCorrectedRegressor, NoiseCorrectedClassifier, NoiseCorrectedKernelRegressor],
)
def test_weights_that_cannot_be(kind, weights, match):
    y, (P, _), _, _ = rows()
    y = (y > 0).astype(int)
    model = kind(Exact())
    with pytest.raises(ValueError, match=match):
        model.fit(P, y, sample_weight=weights)
    assert not hasattr(model, "n_features_in_")
