"""Errors on clean rows after learning from noisy ones: benchmarks.noise_accuracy.

Clean-test error over Var(y), mean of five seeds; steps, penalties and widths are chosen
from noisy data alone.
"""

import numpy as np

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.noise import Exact, GaussianNoise, KnownCovariance

SEEDS = range(5)


def linear_data(n, d, norm, seed, sigma=1.0):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w *= norm / np.linalg.norm(w)

    def draw(size):
        X = rng.normal(size=(size, d))
        return X, X @ w + 0.1 * rng.normal(size=size)

    X, y = draw(n)
    P, Q = (X + sigma * rng.normal(size=X.shape) for _ in range(2))
    return X, y, P, Q, draw(20_000)


def linear(name, n, norm, d=10, alpha="auto"):
    """Every way to learn, by one pass (`partial_fit`) or batch (`fit`)."""
    errors = {}
    for seed in SEEDS:
        X, y, P, Q, (test, target) = linear_data(n, d, norm, seed)
        mean, known = 0.5 * (P + Q), KnownCovariance(1.0)
        ways = {
            "clean": (Exact(), X, None),
            "naive, one copy": (Exact(), P, None),
            "naive, mean of two": (Exact(), mean, None),
            "corrected, one copy": (known, P, None),
            "corrected, mean of two + Σ": (known, P, Q),
            "corrected, two copies, no Σ": (None, P, Q),
        }
        for way, (noise, rows, X2) in ways.items():
            model = NoiseCorrectedRegressor(noise, fit_intercept=False, alpha=alpha)
            getattr(model, name)(rows, y, X2=X2)
            error = np.mean((model.predict(test) - target) ** 2) / target.var()
            errors.setdefault(way, []).append(error)
    print(f"\nLinear {name}, n={n}, d={d}, σ=1, |w|={norm:g}: error/Var(y), times")
    print("clean's, excess over clean's as a share of the naive one's (one copy)")
    clean = np.mean(errors["clean"])
    naive = np.mean(errors["naive, one copy"])
    for way, values in errors.items():
        mean = np.mean(values)
        share = (mean - clean) / (naive - clean)
        print(f"  {way:<30}{mean:8.4f}{mean / clean:8.2f}x{share:8.2f}")


def waves(n, rng, sigma):
    X = rng.uniform(-2, 2, size=(n, 2))
    f = np.sin(2 * X[:, 0]) * np.cos(1.5 * X[:, 1])
    copies = [X + sigma * rng.normal(size=X.shape) for _ in range(2)]
    return X, f, f + 0.1 * rng.normal(size=n), copies


def kernel(rounds=20_000, sigma=0.4, widths=(1.0, 2.0, 3.0, 4.0)):
    errors = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        _, _, y, (P, Q) = waves(rounds, rng, sigma)
        test, f, _, _ = waves(4000, rng, sigma)
        forms = {
            "features": {"n_components": 500, "random_features": True},
            "budget": {"budget": 100},
        }
        for form, options in forms.items():
            ways = {
                "naive, one copy": (Exact(), P, None),
                "naive, mean of two": (Exact(), 0.5 * (P + Q), None),
                "corrected": (GaussianNoise(sigma**2), P, Q),
            }
            for way, (noise, rows, X2) in ways.items():
                # The width of the smallest loss on rows to come, all of them noisy.
                models = [
                    NoiseCorrectedKernelRegressor(
                        noise, gamma=1.0 / width, random_state=seed, **options
                    ).partial_fit(rows, y, X2=X2)
                    for width in widths
                ]
                best = min(models, key=lambda model: model.progressive_loss_)
                error = np.mean((best.predict(test) - f) ** 2) / f.var()
                errors.setdefault(f"{form}: {way}", []).append(
                    (error, 1.0 / best.gamma_)
                )
    print(f"\nsin(2x)cos(1.5x'), σ={sigma}, T={rounds}: error/Var(f), widths chosen")
    for way, values in errors.items():
        mean = np.mean([error for error, _ in values])
        print(f"  {way:<30}{mean:8.4f}   {[width for _, width in values]}")


if __name__ == "__main__":
    for norm in (1.0, 0.7, 0.5):
        linear("partial_fit", 5000, norm)
    print("\nThe same rows in batch, without penalty: what there is to reach")
    linear("fit", 5000, 1.0, alpha=0.0)
    linear("fit", 500, 1.0)
    kernel()
