"""Measured regret beside the bounds of theorems 1 and 2: benchmarks.noise_regret.

Prints, for T = 500 … 8000 and 20 repetitions, the mean regret on the clean rows, its
bound and the exponent of its growth; draws docs/img/noisy_features_regret.svg.
"""

import sys
from pathlib import Path

import numpy as np

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.corrections import corrected_rows
from lrisk.noise import GaussianNoise, Replicates
from lrisk.solvers.online import OnlineLinear, squared_norms

ROUNDS = (500, 1000, 2000, 4000, 8000)
REPETITIONS = 20
PICTURE = Path(__file__).parent.parent / "docs" / "img" / "noisy_features_regret.svg"


def best_in_ball(X, y, radius):
    """Smallest squared loss on the clean rows over ‖w‖ ≤ radius."""
    values, vectors = np.linalg.eigh(X.T @ X)
    target = vectors.T @ (X.T @ y)

    def weights(penalty):
        return target / np.maximum(values + penalty, 1e-12)

    low, high = 0.0, 1e6
    if np.linalg.norm(weights(0.0)) > radius:
        for _ in range(200):
            middle = 0.5 * (low + high)
            outside = np.linalg.norm(weights(middle)) > radius
            low, high = (middle, high) if outside else (low, middle)
        low = high
    return np.sum((X @ vectors @ weights(low) - y) ** 2)


def linear(rounds, d, pairs, seed, energy=0.5):
    """One run of algorithm 1: rows on the unit sphere, |w| = 1, noisy targets.

    E‖n‖² = `energy` whatever d is, more of it in some features than in others.
    """
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(rounds, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = X @ w
    noisy_y = y + 0.1 * rng.normal(size=rounds)
    shares = np.arange(1, d + 1) / (d * (d + 1) / 2)
    noise = GaussianNoise(energy * shares)
    copies = np.stack([X + noise.sample(rng, X.shape) for _ in range(1 + pairs)])
    rows = corrected_rows(copies, Replicates() if pairs else noise)
    cov = noise.covariance(d)
    feature = np.sqrt(1.0 + cov.sum())
    if not pairs:  # B_x̃ is to bound E‖x̃‖⁴ = (E‖x̃‖²)² + 4xᵀΣx + 2 tr Σ²
        fourth = feature**4 + 4.0 * cov.max() + 2.0 * (cov**2).sum()
        feature = fourth**0.25
    options = {
        "learning_rate": "theory",
        "radius": 1.0,
        "horizon": rounds,
        "feature_bound": feature,
        "target_bound": np.sqrt(1.01),
    }
    solver, path = OnlineLinear(**options), np.empty((rounds, d))
    state = solver.init(d)
    solver.step(state, rows, noisy_y, squared_norms(copies, rows), path)
    regret = np.sum(((path * X).sum(axis=1) - y) ** 2) - best_in_ball(X, y, 1.0)
    model = NoiseCorrectedRegressor(
        None if pairs else noise, fit_intercept=False, **options
    ).partial_fit(copies[0], noisy_y, X2=copies[1] if pairs else None)
    return regret, model.theory_bound_


def kernel(rounds, seed, sigma=0.4, width=2.0):
    """One run of algorithm 2 against a function of known norm and angle."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1.5, 1.5, size=(4, 2))
    a = np.array([1.0, 1.0, -1.0, -1.0])

    def k(A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / width)

    plus, minus = np.where(a > 0, a, 0.0), np.where(a < 0, -a, 0.0)
    K = k(centres, centres)
    inner = plus @ K @ minus / np.sqrt((plus @ K @ plus) * (minus @ K @ minus))
    norm = np.sqrt(a @ K @ a)
    X = rng.uniform(-2, 2, size=(rounds, 2))
    y = k(X, centres) @ a / norm
    noisy_y = y + 0.1 * rng.normal(size=rounds)
    P, Q = (X + sigma * rng.normal(size=X.shape) for _ in range(2))
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(sigma**2),
        gamma=1.0 / width,
        learning_rate="theory",
        radius=1.0,
        angle=float(np.arccos(inner)),
        horizon=rounds,
        target_bound=float(np.sqrt(1.01)),
        fit_intercept=False,
    ).partial_fit(P, noisy_y, X2=Q)
    state = model._state
    weights = state.coefficients[0, :rounds]
    played = np.empty(rounds)
    for start in range(0, rounds, 500):
        block = slice(start, start + 500)
        before = np.arange(rounds)[None, :] < np.arange(rounds)[block, None]
        played[block] = (
            (k(X[block], P) * before) @ weights * state.scales[:rounds][block]
        )
    return np.sum((played - y) ** 2), model.theory_bound_


SETTINGS = {
    "two copies, d=2": lambda T, seed: linear(T, 2, True, seed),
    "two copies, d=5": lambda T, seed: linear(T, 5, True, seed),
    "two copies, d=10": lambda T, seed: linear(T, 10, True, seed),
    "one copy and Σ, d=2": lambda T, seed: linear(T, 2, False, seed),
    "one copy and Σ, d=5": lambda T, seed: linear(T, 5, False, seed),
    "one copy and Σ, d=10": lambda T, seed: linear(T, 10, False, seed),
    "kernel, d=2": kernel,
}


def measure(repetitions=REPETITIONS):
    table = {}
    for name, run in SETTINGS.items():
        print(f"\n{name}: T, mean regret ± s.e., bound, share")
        regrets, bounds = [], []
        for rounds in ROUNDS:
            runs = np.array([run(rounds, seed) for seed in range(repetitions)])
            regrets.append(runs[:, 0].mean())
            bounds.append(runs[:, 1].mean())
            spread = runs[:, 0].std() / np.sqrt(repetitions)
            share = regrets[-1] / bounds[-1]
            inside = "ok" if np.all(runs[:, 0] <= runs[:, 1]) else "OUTSIDE"
            print(
                f"  {rounds:>5} {regrets[-1]:9.1f} ± {spread:5.1f} {bounds[-1]:10.1f}"
                f" {share:7.3f} {inside}",
                flush=True,
            )
        slope = np.polyfit(np.log(ROUNDS), np.log(regrets), 1)[0]
        print(f"  fitted exponent {slope:.2f}")
        table[name] = (np.array(regrets), np.array(bounds))
    return table


def draw(table):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "lrisk", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.0))
    for index, (name, (regrets, bounds)) in enumerate(table.items()):
        axes.loglog(ROUNDS, regrets, f"C{index}o-", label=name, markersize=4)
        axes.loglog(ROUNDS, bounds, f"C{index}--", linewidth=1)
    axes.set_xlabel("rounds T")
    axes.set_ylabel("expected regret (solid), bound (dashed)")
    axes.set_xticks(ROUNDS, [str(rounds) for rounds in ROUNDS])
    axes.minorticks_off()
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.tight_layout()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})
    print(f"\ndrawn: {PICTURE.name}")


if __name__ == "__main__":
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    draw(measure(repetitions))
