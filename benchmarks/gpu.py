"""Fits and risks on a GPU: against the reading of X, and against plain PyTorch.

    python -m benchmarks.gpu [--check] [--rows N] [--columns D] [--fits F] [--profile]
    python -m benchmarks.gpu --kernels

``--check`` compares small fits and risks on the GPU with those on the processor, and
times nothing; ``--kernels`` fits trimmed kernel models alone. Else times are of a clock
on the wall, the GPU waited for: medians of interleaved pairs where two are compared, of
as many runs as ``--fits`` for whole fits.
A *read* is the time in which ``X.sum()`` takes. Every figure is printed once known.
"""

import argparse
import contextlib
import itertools
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import lrisk
from benchmarks._gpu_kernels import kernels
from lrisk.estimators.parted import start_of
from lrisk.losses import Logistic, Squared
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.spectra import ESRM
from lrisk.torch import RiskClassifier, RiskRegressor, RiskTable, SpectralRisk
from lrisk.torch.part import TorchPart
from lrisk.torch.rows import TensorRows

PAIRS = 9
#: Goals: an iteration over two reads, by bits; fits in reads, by kind; a risk of 10⁷
#: losses over one sort of them.
ITERATION = {64: 2.0, 32: 2.5}
SMOOTH, SELECTING, SORTS = 60.0, 100.0, 2.0
CHECKED = ("mean", "extremile:2", "esrm:1", "superquantile:0.5", "superquantile:0.9")


def verdict(seen: float, goal: float, digits: int = 2) -> str:
    word = "met" if seen <= goal else "missed"
    return f"{seen:.{digits}f} (goal {goal:g}: {word})"


def seconds(run: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def pairs(*runs: Callable[[], object], count: int = PAIRS) -> list[float]:
    """Median seconds of each of some runs, taken in turn."""
    for run in runs:
        run()
    times = [[seconds(run) for run in runs] for _ in range(count)]
    return [statistics.median(own) for own in zip(*times, strict=True)]


# -- data ------------------------------------------------------------------------------


def stretches(n: int) -> Iterator[slice]:
    for start in range(0, n, 1 << 22):
        yield slice(start, min(start + (1 << 22), n))


def made(n: int, d: int, dtype: torch.dtype, seed: int = 0) -> tuple[Any, Any, Any]:
    """Rows of features on many scales, targets with uneven noise, and classes."""
    cuda = torch.device("cuda")
    rng = torch.Generator(device=cuda).manual_seed(seed)

    def normal(*shape: int) -> Any:
        return torch.randn(shape, generator=rng, device=cuda, dtype=torch.float64)

    X = torch.empty((n, d), dtype=dtype, device=cuda)
    y = torch.empty(n, dtype=torch.float64, device=cuda)
    classes = torch.empty(n, dtype=torch.bool, device=cuda)
    scale, shift, w = normal(d).exp(), normal(d), normal(d) / 10
    for own in stretches(n):
        rows = own.stop - own.start
        X[own] = (normal(rows, d) * scale + shift).to(dtype)
        score = X[own].double() @ w
        y[own] = score + normal(rows) * (1 + 0.3 * normal(rows).abs()) ** 3
        uniform = torch.rand(rows, generator=rng, device=cuda, dtype=torch.float64)
        classes[own] = 4 * (score - shift @ w) + torch.logit(uniform) > 0
    return X, y, classes


# -- is it right? ----------------------------------------------------------------------


def check() -> None:
    rng = np.random.default_rng(0)
    n, d, wrong = 30_000, 6, 0
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + 3.0
    score = (X - 3.0) @ (rng.normal(size=d) / X.std(axis=0))
    y, classes = score + rng.standard_t(4, n), score + rng.logistic(size=n) > 0
    weight = rng.integers(0, 3, n).astype(float)
    cases = itertools.product(
        ("squared", "huber:0.7", "logistic", "squared_hinge"),
        CHECKED,
        (None, weight),
        (torch.float64, torch.float32),
    )
    for loss, spectrum, w, dtype in cases:
        numeric = loss in ("squared", "huber:0.7")
        kind: Any = RiskRegressor if numeric else RiskClassifier
        rows = torch.tensor(X, dtype=dtype)
        targets = torch.tensor(y if numeric else classes)
        own = None if w is None else torch.tensor(w)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            there = kind(spectrum, loss=loss).fit(
                rows.cuda(), targets.cuda(), None if own is None else own.cuda()
            )
            plain = getattr(lrisk, kind.__name__)(spectrum, loss=loss)
            here = plain.fit(rows.double().numpy(), targets.numpy(), w)
        apart = there.objective_ / here.objective_ - 1.0
        lam = float(
            (there.risk_weights_.cpu() - torch.tensor(here.risk_weights_)).sum()
        )
        right = (
            there.dual_gap_ <= 1e-6
            and apart <= there.dual_gap_ + 1e-12
            and apart >= -here.dual_gap_ - 1e-12
            and abs(lam) <= 1e-9
            and there.coef_.is_cuda
            and abs(
                there.score(rows.cuda(), targets.cuda())
                - there.to_memory().score(rows.double().numpy(), targets.numpy())
            )
            < 1e-9
        )
        wrong += not right
        if not right:
            print(loss, spectrum, w is not None, dtype, apart, there.dual_gap_, lam)
    print(f"fits on the GPU against lrisk in memory: {wrong} of 80 wrong", flush=True)
    check_products()
    check_risks()


def check_products() -> None:
    """Of more entries than 32 bits can count, by rows and by columns."""
    n, d, wrong = 40_000_003, 60, 0
    for order in ("rows", "columns"):
        if order == "rows":
            X = torch.randn(n, d, device="cuda")
        else:
            X = torch.randn(d, n, device="cuda").T
        rows, theta = TensorRows(X), torch.randn(d + 1, device="cuda").double()
        r, scores = torch.randn(n, device="cuda").double(), rows.scores(theta)
        pulled, expected = rows.pull(r), torch.zeros_like(theta)
        for own in stretches(n):
            part = X[own].double()
            away = scores[own] - (part @ theta[:-1] + theta[-1])
            wrong += float(away.abs().max()) > 1e-12
            expected[:-1] += part.T @ r[own]
        expected[-1] = r.sum()
        wrong += float((pulled - expected).abs().max()) > 1e-8
        del X, rows
    print(f"products of {n} rows: {wrong} wrong", flush=True)


def check_risks() -> None:
    rng, wrong = np.random.default_rng(1), 0
    cases = itertools.product(
        (*CHECKED, "subquantile:0.8", "worst_case", "ranked_range:0.2:0.9"),
        (1, 2, 1000, 100_003),
        (torch.float64, torch.float32),
        (False, True),
    )
    for spectrum, n, dtype, weighted in cases:
        values = torch.tensor(rng.standard_t(3, n).round(2) ** 2, dtype=dtype)
        weight = torch.tensor(rng.uniform(0.1, 2.0, n)) if weighted else None
        found = []
        for device in ("cpu", "cuda"):
            losses = values.to(device).clone().requires_grad_()
            own = None if weight is None else weight.to(device)
            risk = SpectralRisk(spectrum)(losses, own)
            risk.backward()
            found.append((float(risk.detach()), losses.grad.cpu()))
        close = 1e-11 if dtype == torch.float64 else 1e-5  # σ are partial sums
        (first, lam), (other, own_lam) = found
        same = abs(first - other) <= close * abs(first)
        same = same and float((lam - own_lam).abs().sum()) <= 10 * close
        plain = lrisk.risk(
            values.double().numpy(),
            spectrum,
            None if weight is None else weight.numpy(),
        )
        same = same and abs(plain - other) <= close * abs(plain)
        wrong += not same
        if not same:
            print("SpectralRisk", spectrum, n, dtype, weighted, first, other, plain)
    print(f"SpectralRisk on the GPU: {wrong} wrong", flush=True)
    wrong = 0
    for spectrum in (*CHECKED, "subquantile:0.8"):
        tables = [RiskTable(5000, spectrum).to(where) for where in ("cpu", "cuda")]
        for _ in range(40):
            rows = torch.tensor(rng.integers(0, 5000, 256))
            values = torch.tensor(rng.standard_t(3, 256) ** 2, dtype=torch.float32)
            values = values[torch.unique(rows, return_inverse=True)[1]]  # one a row
            told = []
            for table, where in zip(tables, ("cpu", "cuda"), strict=True):
                losses = values.to(where).clone().requires_grad_()
                estimate = table(losses, rows.to(where))
                estimate.backward()
                told.append((float(estimate.detach()), losses.grad.cpu(), table.risk()))
            (a, lam, risk), (b, own_lam, own_risk) = told
            same = abs(a - b) <= 1e-5 * abs(a) and abs(risk - own_risk) <= 1e-6 * risk
            wrong += not (same and float((lam - own_lam).abs().max()) <= 1e-5)
    print(f"RiskTable on the GPU: {wrong} of 240 steps wrong", flush=True)


# -- how fast is it? -------------------------------------------------------------------


def ceilings() -> None:
    values = torch.empty(1 << 30, dtype=torch.float32, device="cuda").normal_()
    other = torch.empty_like(values)
    copied, read = pairs(lambda: other.copy_(values), lambda: values.sum())
    size = values.numel() * 4 / 1e12
    print(f"copy {2 * size / copied:.2f} TB/s, sum {size / read:.2f} TB/s", flush=True)


def iterations(X: Any, y: Any, classes: Any) -> float:
    """F and its gradient, as a descent takes them, against two reads; a read's time."""
    bits, read = X.element_size() * 8, 0.0
    cases = ((Squared(), y, RiskRegressor), (Logistic(), classes, RiskClassifier))
    for loss, target, kind in cases:
        part = TorchPart(X, target.double(), None, loss)
        objective = PartitionedObjective(
            Local([part]), ESRM(1.0), loss, 1.0, True, most_binned=0
        )
        model = kind("esrm:1", tol=1e-3).fit(X, target).to_memory()
        theta = start_of(model.set_params(warm_start=True), objective)
        now = objective.begin(theta)
        walk = objective.walk(now, np.ones_like(theta), 1e-3 * now.value)
        shares = itertools.count(1)

        def iteration(walk: Any = walk, shares: Any = shares) -> None:
            walk.at(1e-9 * next(shares))

        read, took = pairs(lambda: X.sum(), iteration)
        ratio = verdict(took / (2 * read), ITERATION[bits])
        print(
            f"float{bits} {loss.name}: iteration {1e3 * took:.2f} ms, a read "
            f"{1e3 * read:.2f} ms; over two reads {ratio}",
            flush=True,
        )
    return read


def fits(
    X: Any, y: Any, classes: Any, read: float, count: int, tol: float, profile: bool
) -> None:
    bits = X.element_size() * 8
    cases: list[tuple[Any, Any, str, float]] = [
        (RiskRegressor, y, "esrm:1", SMOOTH),
        (RiskRegressor, y, "superquantile:0.9", SELECTING),
        (RiskClassifier, classes, "esrm:1", SMOOTH),
        (RiskClassifier, classes, "superquantile:0.3", SELECTING),
    ]
    for kind, target, spectrum, goal in cases:
        model = kind(spectrum, tol=tol)
        times = [seconds(lambda m=model, t=target: m.fit(X, t)) for _ in range(count)]
        took, history = statistics.median(times[1:] or times), model.history_
        marks = " ".join(f"{1e3 * entry['seconds']:.0f}" for entry in history)
        print(
            f"float{bits} {kind.__name__}({spectrum!r}, tol={tol:g}): {took:.3f} s "
            f"(first {times[0]:.2f}) = reads {verdict(took / read, goal, 0)}, "
            f"gap {model.dual_gap_:.1e}, F {model.objective_:.10g}, "
            f"iterations after [{marks}] ms",
            flush=True,
        )
        if profile:
            import cProfile
            import pstats

            watched = cProfile.Profile()
            watched.runcall(model.fit, X, target)
            pstats.Stats(watched).sort_stats("cumulative").print_stats(45)
        if spectrum.startswith("superquantile") and kind is RiskRegressor:
            by_hand(X, target, 0.9, model, took)


def by_hand(X: Any, y: Any, q: float, model: Any, took: float) -> None:
    """What a user would write: L-BFGS on t + mean (ℓ − t)₊/(1 − q) in θ and t."""
    n, d = X.shape
    target, mu = y.to(X.dtype), float(model.alpha) / n
    w = torch.zeros(d, dtype=X.dtype, device=X.device, requires_grad=True)
    start = torch.stack([target.mean(), target.var() / 2])
    rest = start.detach().clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [w, rest], max_iter=500, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )
    seen, began = [], time.perf_counter()

    class Enough(Exception):
        pass

    def closure() -> Any:
        optimiser.zero_grad()
        losses = 0.5 * (X @ w + rest[0] - target) ** 2
        tail = torch.relu(losses - rest[1]).mean() / (1.0 - q)
        value = rest[1] + tail + 0.5 * mu * (w @ w)
        value.backward()
        seen.append((time.perf_counter() - began, float(value.detach())))
        if seen[-1][0] > 20.0:
            raise Enough
        return value

    with contextlib.suppress(Enough):
        optimiser.step(closure)
    best = min(value for _, value in seen)
    at = model.objective_
    when = next((t for t, value in seen if value <= at * (1 + 1e-6)), None)
    said = "never" if when is None else f"{when:.2f} s"
    print(
        f"  plain torch L-BFGS: {seen[-1][0]:.2f} s, {len(seen)} evaluations, best F "
        f"{best / at - 1:+.1e} from the certified one, below +1e-6 after {said}; the "
        f"certified fit took {took:.3f} s",
        flush=True,
    )


def risks() -> None:
    kinds = itertools.product((torch.float64, torch.float32), CHECKED[2::2])
    for dtype, spectrum in kinds:
        values = torch.randn(10_000_000, device="cuda", dtype=dtype).square_()
        losses, risk = values.clone().requires_grad_(), SpectralRisk(spectrum)

        def backward(losses: Any = losses, risk: Any = risk) -> None:
            losses.grad = None
            risk(losses).backward()

        def sort(values: Any = values) -> None:
            values.sort()

        sorting, took = pairs(sort, backward)
        print(
            f"SpectralRisk({spectrum!r}) of 1e7 losses, {dtype}, and its gradient: "
            f"{1e3 * took:.2f} ms, a sort {1e3 * sorting:.2f} ms; ratio "
            f"{verdict(took / sorting, SORTS)}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--rows", type=float, default=5e7)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("benchmarks.gpu: there is no GPU")
        return
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", flush=True)
    if options.check or options.kernels:
        check() if options.check else kernels()
        return
    ceilings()
    risks()
    for dtype in (torch.float64, torch.float32):
        X, y, classes = made(int(options.rows), options.columns, dtype)
        read = iterations(X, y, classes)
        fits(X, y, classes, read, options.fits, 1e-6, options.profile)
        del X, y, classes
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
