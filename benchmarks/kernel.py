"""Trimmed kernel regression against the paper's algorithm and against KernelRidge.

CPU seconds, medians where a run is short; set OPENBLAS_NUM_THREADS=1 for one core.
"""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from benchmarks._data import available, label_noise, rmse, split, table
from lrisk import KernelRiskRegressor
from lrisk.procedures.trimming import penalties
from lrisk.solvers import SubquantileGradient

STEPS = 30_000


def cpu(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return float(np.median(times)), result


def against_the_paper(alpha: float) -> None:
    print(f"\nconcrete, RBF γ=1/8, labels N(5, 5), alpha={alpha:g}, {STEPS} steps")
    print(
        f"{'ε':>4}{'seed':>5}{'auto':>12}{'paper':>12}{'lower':>7}{'auto ms':>9}"
        f"{'paper ms':>10}{'ratio':>7}{'RMSE auto':>11}{'paper':>8}{'oracle':>8}"
    )
    data = table("concrete")
    for share in (0.2, 0.4):
        for seed in range(5):
            part = split(data, seed, share, label_noise, scale_y=True)
            spectrum = f"subquantile:{1 - share}"
            model = KernelRiskRegressor(spectrum, gamma=1 / 8, alpha=alpha)
            fast, auto = cpu(lambda m=model, p=part: m.fit(p.X, p.y), 3)
            plain = SubquantileGradient(max_iter=STEPS, fast_forward=False)
            other = KernelRiskRegressor(
                spectrum, gamma=1 / 8, alpha=alpha, solver=plain
            )
            slow, paper = cpu(lambda m=other, p=part: m.fit(p.X, p.y))
            oracle = KernelRidge(kernel="rbf", gamma=1 / 8, alpha=alpha)
            oracle.fit(part.X[~part.bad], part.y[~part.bad])
            lower = auto.objective_ <= paper.objective_
            print(
                f"{share:>4}{seed:>5}{auto.objective_:>12.6f}{paper.objective_:>12.6f}"
                f"{'yes' if lower else 'NO':>7}{1e3 * fast:>9.0f}{1e3 * slow:>10.0f}"
                f"{slow / fast:>7.0f}{rmse(auto, part):>11.3f}{rmse(paper, part):>8.3f}"
                f"{rmse(oracle, part):>8.3f}"
            )


def smooth(n: int, share: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    bad = rng.permutation(n)[: int(share * n)]
    y[bad] = rng.normal(5, 5, len(bad))
    return X, y


def against_kernel_ridge() -> None:
    print("\nKernelRiskRegressor(subquantile) against KernelRidge, alpha=1")
    print(
        f"{'n':>6}{'ε':>5}{'ridge s':>9}{'auto s':>8}{'ratio':>7}{'λs':>4}{'per λ':>7}"
    )
    for n in (2000, 4000):
        for share in (0.2, 0.4):
            X, y = smooth(n, share)
            ridge = KernelRidge(kernel="rbf", gamma=1 / 8, alpha=1.0)
            model = KernelRiskRegressor(f"subquantile:{1 - share}", gamma=1 / 8)
            a, _ = cpu(lambda m=ridge, X=X, y=y: m.fit(X, y), 3)
            b, _ = cpu(lambda m=model, X=X, y=y: m.fit(X, y), 2)
            count = len(penalties(1.0 / n))
            print(
                f"{n:>6}{share:>5}{a:>9.2f}{b:>8.2f}{b / a:>7.2f}{count:>4}"
                f"{b / a / count:>7.2f}"
            )


def fast_forward() -> None:
    print("\nAlgorithm 1 and its fast-forward, concrete, ε=.2")
    part = split(table("concrete"), 0, 0.2, label_noise, scale_y=True)
    print(
        f"{'alpha':>6}{'steps':>8}{'plain s':>9}{'fast s':>8}{'ratio':>7}{'apart':>9}"
    )
    for alpha, steps in ((0.0, STEPS), (1.0, STEPS), (0.0, 10 * STEPS)):
        runs = []
        for skip in (False, True):
            solver = SubquantileGradient(max_iter=steps, fast_forward=skip)
            model = KernelRiskRegressor(
                "subquantile:0.8", gamma=1 / 8, alpha=alpha, solver=solver
            )
            runs.append(cpu(lambda m=model: m.fit(part.X, part.y)))
        (plain, first), (fast, second) = runs
        scale = np.abs(first.dual_coef_).max()
        apart = np.abs(first.dual_coef_ - second.dual_coef_).max() / scale
        print(
            f"{alpha:>6g}{steps:>8}{plain:>9.2f}{fast:>8.2f}{plain / fast:>7.1f}"
            f"{apart:>9.0e}"
        )


def memory() -> None:
    print("\nPeak memory of a fit, in n×n arrays of doubles")
    for n, share in ((1000, 0.2), (1000, 0.4), (2000, 0.4)):
        X, y = smooth(n, share)
        model = KernelRiskRegressor(f"subquantile:{1 - share}", gamma=1 / 8)
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"n={n} ε={share}: {peak / (8 * n * n):.2f}")


def main() -> None:
    if available():
        against_the_paper(1.0)
        against_the_paper(0.1)
        fast_forward()
    against_kernel_ridge()
    memory()


if __name__ == "__main__":
    main()
