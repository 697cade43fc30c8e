"""Trimmed kernel regression over few centres, from ten thousand to a million rows.

Nine features, of which 15 % of the rows have a wrong label and 15 % features ×100, in a
memory map. Every fit runs in a process of its own, for its peak memory; CPU seconds and
one BLAS thread. The oracle is the same model fitted to the right rows only; at 10⁴ rows
scikit-learn's Nystroem and Ridge stand beside it.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FEATURES, CENTRES, ALPHA = 9, 1000, 1.0
SIZES = (10_000, 100_000, 1_000_000)
CHUNK = 50_000
LABELS, SCALED = 0.15, 0.15


def clean(n: int, seed: int) -> tuple[Any, Any]:
    """Correlated features, a smooth non-linear relation, noise of half its spread."""
    mixing = np.random.default_rng(1).normal(size=(FEATURES, FEATURES))
    mixing += 2.0 * np.eye(FEATURES)
    mixing /= np.linalg.norm(mixing, axis=0)
    rng = np.random.default_rng([2, seed])
    X = rng.normal(size=(n, FEATURES)) @ mixing
    relation = (
        np.sin(1.5 * X[:, 0])
        + 0.5 * X[:, 1] * X[:, 2]
        + np.tanh(X[:, 3] + X[:, 4])
        + 0.3 * X[:, 5] * np.abs(X[:, 6])
        + 0.3 * X[:, 7]
    )
    return X, relation + 0.6 * rng.normal(size=n)


def write(folder: Path, n: int) -> None:
    """A table with wrong rows, chunk by chunk."""
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n, FEATURES))
    y, bad = np.empty(n), np.empty(n, dtype=bool)
    for start in range(0, n, CHUNK):
        rows = slice(start, min(start + CHUNK, n))
        block, target = clean(rows.stop - start, start // CHUNK)
        rng = np.random.default_rng([3, start])
        draw = rng.random(len(target))
        wrong, scaled = draw < LABELS, (draw >= LABELS) & (draw < LABELS + SCALED)
        target[wrong] = rng.normal(5.0, 5.0, int(wrong.sum()))
        block[scaled] *= 100.0
        X[rows], y[rows], bad[rows] = block, target, wrong | scaled
    X.flush()
    np.save(folder / "y.npy", y)
    np.save(folder / "bad.npy", bad)


def run(folder: Path, which: str) -> None:
    """Fit one model, and print what it took."""
    from lrisk import KernelRiskRegressor

    X = np.load(folder / "X.npy", mmap_mode="r")
    y, bad = np.load(folder / "y.npy"), np.load(folder / "bad.npy")
    spectrum = f"subquantile:{1.0 - LABELS - SCALED}"
    weight = None
    model: Any
    if which == "peer":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline

        X, y = X[~bad], y[~bad]
        features = Nystroem(gamma=1 / FEATURES, n_components=CENTRES, random_state=0)
        model = make_pipeline(features, Ridge(ALPHA, fit_intercept=False))
    else:
        if which == "oracle":
            spectrum, weight = "subquantile:1", np.where(bad, 0.0, 1.0)
        model = KernelRiskRegressor(
            spectrum, n_components=CENTRES, alpha=ALPHA, random_state=0
        )
        small, target = clean(300, 10**6)  # what is compiled is compiled before
        small_model = KernelRiskRegressor("subquantile:0.7", n_components=20)
        small_model.fit(small, target)
    before = peak_memory()
    began = time.process_time()
    model.fit(X, y) if which == "peer" else model.fit(X, y, sample_weight=weight)
    took = time.process_time() - began
    memory = peak_memory()
    test_X, test_y = clean(10_000, 10**6 + 1)
    error = float(np.sqrt(np.mean((model.predict(test_X) - test_y) ** 2)))
    figures = {"cpu": took, "memory": memory, "before": before, "rmse": error}
    if which == "trimmed":
        figures["wrong kept"] = float(np.mean(bad[model.inlier_mask_]))
    print(json.dumps(figures))


def peak_memory() -> float:
    """Of this process so far, in GB; the pages of the memory map are in it."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def fitted(folder: str, which: str) -> dict[str, float]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.nystroem", "fit", folder, which],
        env={**os.environ, **threads},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(sizes: tuple[int, ...] = SIZES) -> None:
    print(f"m={CENTRES}, d={FEATURES}, 15 % labels + 15 % features ×100, alpha={ALPHA}")
    print(
        f"{'n':>9}{'model':>9}{'CPU s':>8}{'peak GB':>9}{'at start':>10}{'RMSE':>8}"
        f"{'/ oracle':>10}{'wrong kept':>12}"
    )
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n)
            oracle = fitted(folder, "oracle")
            rows = {"trimmed": fitted(folder, "trimmed"), "oracle": oracle}
            if n <= 10_000:
                rows["sklearn"] = fitted(folder, "peer")
        for name, row in rows.items():
            wrong = f"{row['wrong kept']:.3f}" if "wrong kept" in row else ""
            print(
                f"{n:>9}{name:>9}{row['cpu']:>8.2f}{row['memory']:>9.3f}"
                f"{row['before']:>10.3f}{row['rmse']:>8.4f}"
                f"{row['rmse'] / oracle['rmse']:>10.3f}{wrong:>12}",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        run(Path(sys.argv[2]), sys.argv[3])
    else:
        main(tuple(int(float(n)) for n in sys.argv[1:]) or SIZES)
