"""Kernel fits of `benchmarks.gpu`: exact and with centres, and against memory."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import lrisk
from lrisk.solvers import Concentration
from lrisk.torch import KernelRiskRegressor

#: Goals in seconds, of 5·10⁴ rows exactly and of 10⁶ rows with 10⁴ centres.
EXACT, CENTRES = 3.5, 2.5
PATH = Concentration(starts=0, swaps=0)
#: Fits that are timed after a first one.
TIMES = 2


def smooth(n: int, d: int, device: str, seed: int = 0) -> tuple[Any, Any]:
    """Features, and a smooth relation with a fifth of its labels N(5, 5)."""
    rng = torch.Generator(device).manual_seed(seed)
    X = torch.randn(n, d, generator=rng, device=device, dtype=torch.float64)
    noise = torch.randn(n, generator=rng, device=device, dtype=torch.float64)
    y = torch.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * noise
    wrong = torch.rand(n, generator=rng, device=device) < 0.2
    return X, torch.where(wrong, 5.0 + 5.0 * noise, y)


def clock(run: Callable[[], object]) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    began = time.perf_counter()
    run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def against_memory(model: Any, n: int, d: int, device: str) -> None:
    """The same fit in memory, its objective and predictions."""
    X, y = smooth(n, d, device, seed=1)
    model.fit(X, y)
    plain = lrisk.KernelRiskRegressor(**model.get_params(deep=False))
    plain.fit(X.cpu().numpy(), y.cpu().numpy())
    away = model.predict(X).cpu().numpy() - plain.predict(X.cpu().numpy())
    kept = int((model.inlier_mask_.cpu().numpy() != plain.inlier_mask_).sum())
    print(
        f"  against memory, n={n}: objective {model.objective_:.10g}, "
        f"{model.objective_ / plain.objective_ - 1.0:+.1e}; predictions apart by "
        f"{np.abs(away).max():.1e}; {kept} rows kept otherwise",
        flush=True,
    )


def timed(model: Any, n: int, d: int, goal: float, device: str) -> float:
    X, y = smooth(n, d, device)
    cuda = device == "cuda"
    first = clock(lambda: model.fit(X, y))
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    took = statistics.median(clock(lambda: model.fit(X, y)) for _ in range(TIMES))
    memory = torch.cuda.max_memory_allocated() / 1e9 if cuda else float("nan")
    word = "met" if took <= goal else "missed"
    marks = " ".join(f"{entry['seconds']:.2f}" for entry in model.history_)
    print(
        f"n={n}, d={d}, centres {model.n_components}: {took:.2f} s (first {first:.2f}; "
        f"goal {goal:g}: {word}), peak {memory:.1f} GB, F {model.objective_:.10g}, "
        f"{len(model.history_)} fits recorded after [{marks}] s, R² of the kept rows "
        f"{model.score(X, y, model.inlier_mask_.double()):.4f}",
        flush=True,
    )
    return took


def products(device: str, size: int) -> None:
    """What the device does: a product, a factorisation, a pass over a matrix."""
    A = torch.randn(size, size, device=device, dtype=torch.float64)
    v = A[0].clone()
    (A @ A).sum()
    multiplied = clock(lambda: A @ A)
    P = A @ A.T
    P.diagonal().add_(1.0)
    torch.linalg.cholesky_ex(P[:64, :64])
    factored = clock(lambda: torch.linalg.cholesky_ex(P))
    torch.mv(P, v)
    passed = clock(lambda: torch.mv(P, v))
    print(
        f"float64, n={size}: product {2e-12 * size**3 / multiplied:.1f} TFLOP/s, "
        f"Cholesky {size**3 / 3e12 / factored:.1f} TFLOP/s, matrix times vector "
        f"{8e-12 * size**2 / passed:.2f} TB/s",
        flush=True,
    )


def kernels(
    device: str = "cuda",
    exact: int = 50_000,
    many: int = 1_000_000,
    centres: int = 10_000,
    small: tuple[int, int, int] = (2_000, 20_000, 300),
) -> None:
    """Both goals, and smaller fits of the same kinds against those in memory."""
    rows, more, few = small
    spectrum = "subquantile:0.8"
    path = KernelRiskRegressor(spectrum, solver=PATH)
    found = KernelRiskRegressor(spectrum, n_components=few, random_state=0)
    against_memory(path, rows, 8, device)
    against_memory(found, more, 9, device)
    products(device, min(exact, 20_000))
    timed(path, exact, 8, EXACT, device)
    if device == "cuda":
        torch.cuda.empty_cache()
    timed(found.set_params(n_components=centres), many, 9, CENTRES, device)
