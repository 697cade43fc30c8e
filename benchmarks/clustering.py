"""Trimmed k-means beside scikit-learn's Lloyd: time per iteration, and memory."""

import time
import tracemalloc
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from lrisk import RiskKMeans

N, D, K = 100_000, 20, 10
ITERATIONS, REPEATS = 30, 5


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds, a tenth of the rows far away, and a start."""
    rng = np.random.default_rng(0)
    middles = 0.3 * rng.normal(size=(K, D))
    X = middles[rng.integers(0, K, N)] + rng.normal(size=(N, D))
    far = rng.random(N) < 0.1
    X[far] += 10.0 * rng.normal(size=(int(far.sum()), D))
    return X, X[~far][:K].copy()


def per_iteration(model, X) -> float:
    """CPU seconds of a fit for each of its iterations."""
    began = time.process_time()
    model.fit(X)
    return (time.process_time() - began) / model.n_iter_


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, start = rows()
    options = {"init": start, "n_init": 1, "tol": 0.0, "max_iter": ITERATIONS}
    models = {
        "scikit-learn Lloyd": KMeans(K, algorithm="lloyd", **options),
        "mean": RiskKMeans(K, spectrum="mean", **options),
        "subquantile:0.9": RiskKMeans(K, spectrum="subquantile:0.9", **options),
        "risk_seeking_extremile:5": RiskKMeans(
            K, spectrum="risk_seeking_extremile:5", **options
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in models}
    for model in models.values():
        model.fit(X)  # compiles
    for _ in range(REPEATS):  # in turns, so that noise hits all
        for name, model in models.items():
            times[name].append(per_iteration(model, X))
    print(f"n={N}, d={D}, k={K}: CPU time per iteration, whole fit over iterations")
    base = float(np.median(times["scikit-learn Lloyd"]))
    for name, taken in times.items():
        one = float(np.median(taken))
        iterations = models[name].n_iter_
        print(f"{name:<26}{1e3 * one:7.2f} ms {one / base:6.2f}×  ({iterations} it.)")
    tracemalloc.start()
    models["subquantile:0.9"].fit(X)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print(
        f"memory beside X in the fit: {peak:.1f} MB; n·k floats are {N * K * 8e-6} MB"
    )
    began = time.process_time()
    whole = RiskKMeans(K, spectrum="subquantile:0.9", random_state=0).fit(X)
    took = time.process_time() - began
    print(f"default fit, ten starts with seeding: {took:.1f} s ({whole.n_iter_} it.)")


if __name__ == "__main__":
    main()
