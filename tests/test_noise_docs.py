"""The claims of docs/noisy_features.md about when correction hurts."""

import numpy as np
from sklearn.linear_model import LinearRegression

from lrisk import NoiseCorrectedRegressor
from lrisk.noise import KnownCovariance


def problem(n, d=10, seed=0):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = X @ w + 0.1 * rng.normal(size=n)
    return X, y, X + rng.normal(size=X.shape), w


def excess(model, w):
    return np.sum((model.coef_ - w) ** 2)


def test_on_noisy_test_rows_the_ordinary_fit_wins():
    _, y, noisy, _ = problem(10_000)
    noisy, test = np.split(noisy, 2)
    y, target = np.split(y, 2)
    naive = LinearRegression().fit(noisy, y)
    ours = NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y)
    errors = [np.mean((m.predict(test) - target) ** 2) for m in (naive, ours)]
    assert errors[0] < 0.8 * errors[1]


def test_overstating_hurts_more_than_understating():
    _, y, noisy, w = problem(5000)
    errors = {
        factor: excess(
            NoiseCorrectedRegressor(KnownCovariance(factor), alpha=0.0).fit(noisy, y), w
        )
        for factor in (0.5, 1.0, 1.5)
    }
    assert errors[1.0] < errors[0.5] < errors[1.5]


def test_few_rows_keep_a_quarter_of_the_naive_excess():
    shares = []
    for seed in range(5):
        _, y, noisy, w = problem(500, seed=seed)
        ours = NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y)
        shares.append(excess(ours, w) / excess(LinearRegression().fit(noisy, y), w))
    assert np.mean(shares) < 0.6


def test_the_penalty_saves_tiny_samples():
    """With n near d the automatic ridge keeps the fit no worse than the naive one."""
    ratios = []
    for seed in range(20):
        _, y, noisy, w = problem(15, seed=seed)
        ours = NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y)
        bare = NoiseCorrectedRegressor(KnownCovariance(1.0), alpha=1e-9).fit(noisy, y)
        ratios.append(excess(ours, w) / excess(bare, w))
    assert np.median(ratios) < 0.5
