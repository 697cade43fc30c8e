"""Rounds per second of the noise-corrected learners: python -m benchmarks.noise.

One core, processor time; every learner sees the same stream, read in blocks, beside
river's and scikit-learn's uncorrected regressors.
"""

import pickle
import time

import numpy as np
from sklearn.linear_model import SGDRegressor

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.noise import GaussianNoise, KnownCovariance


def stream(rounds, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d))
    y = X @ np.full(d, d**-0.5) + 0.1 * rng.normal(size=rounds)
    P, Q = (X + 0.5 * rng.normal(size=X.shape) for _ in range(2))
    return y, P, Q


def seconds(learn):
    start = time.process_time()
    learn()
    return time.process_time() - start


def report(name, rounds, spent, target=None, note=""):
    rate = rounds / spent
    goal = "" if target is None else f"  (target {target:,})"
    print(f"{name:<46}{rate:>12,.0f} rounds/s{goal}{note}")


def linear(rounds=400_000, d=20):
    y, P, Q = stream(rounds, d)
    print(f"\nLinear (NoiseCorrectedRegressor), d={d}, {rounds:,} rounds")
    full = 0.25 * np.eye(d)
    cases = {
        "variances, five steps at once": ("auto", KnownCovariance(0.25), None),
        "variances, one step": (0.005, KnownCovariance(0.25), None),
        "full covariance, five steps": ("auto", KnownCovariance(full), None),
        "two copies, five steps": ("auto", None, Q),
    }
    for name, (rate, noise, X2) in cases.items():
        model = NoiseCorrectedRegressor(noise, learning_rate=rate)
        model.partial_fit(P[:100], y[:100], X2=None if X2 is None else X2[:100])
        spent = seconds(lambda m=model, other=X2: m.partial_fit(P, y, X2=other))
        report(name, rounds, spent, 50_000)
    sgd = SGDRegressor(learning_rate="constant", eta0=0.005)
    report("scikit-learn SGDRegressor", rounds, seconds(lambda: sgd.partial_fit(P, y)))
    few = 20_000
    try:
        from river import linear_model
    except ImportError:
        print("river is not installed")
        return
    rows = [dict(enumerate(row)) for row in P[:few].tolist()]
    theirs = linear_model.LinearRegression()

    def learn():
        for x, target in zip(rows, y[:few].tolist()):
            theirs.learn_one(x, target)

    report("river LinearRegression, row by row", few, seconds(learn))
    from lrisk.river import LinearRegressor

    ours = LinearRegressor(KnownCovariance(0.25))

    def learn_ours():
        for x, target in zip(rows, y[:few].tolist()):
            ours.learn_one(x, target)

    learn_ours()
    report("lrisk.river LinearRegressor, row by row", few, seconds(learn_ours))


def kernels(rounds=40_000, d=5):
    y, P, Q = stream(rounds, d)
    noise = GaussianNoise(0.25)
    print(f"\nNoiseCorrectedKernelRegressor, d={d}, {rounds:,} rounds, five steps")
    forms = {
        "random features, n_components=500": ({"n_components": 500}, 15_000),
        "random features, n_components=1000": ({"n_components": 1000}, None),
        "budget=100": ({"budget": 100}, 5_000),
    }
    for name, (options, target) in forms.items():
        drawn = "n_components" in options
        model = NoiseCorrectedKernelRegressor(
            noise, gamma=1.0 / d, random_features=drawn, random_state=0, **options
        )
        model.partial_fit(P[:200], y[:200], X2=Q[:200])
        early = len(pickle.dumps(model))
        spent = seconds(lambda m=model: m.partial_fit(P, y, X2=Q))
        late = len(pickle.dumps(model))
        note = f"  {len(model.dual_coef_)} coefficients, state {early:,} -> {late:,} B"
        report(name, rounds, spent, target, note)
    few = 4_000
    model = NoiseCorrectedKernelRegressor(noise, gamma=1.0 / d)
    model.partial_fit(P[:50], y[:50], X2=Q[:50])
    spent = seconds(lambda: model.partial_fit(P[:few], y[:few], X2=Q[:few]))
    report(f"exact, O(t), first {few:,} rounds", few, spent)


def memory(d=20):
    """Pickled state of the bounded forms after many rounds."""
    y, P, _ = stream(40_000, d)
    model = NoiseCorrectedRegressor(KnownCovariance(0.25))
    sizes = []
    for _ in range(3):
        model.partial_fit(P, y)
        sizes.append(len(pickle.dumps(model)))
    print("\nLinear state after 40,000, 80,000 and 120,000 rounds:", sizes, "bytes")


if __name__ == "__main__":
    linear()
    kernels()
    memory()
