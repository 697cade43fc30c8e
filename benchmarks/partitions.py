"""Rows in parts: against rows in memory, and files larger than the memory allowed.

    python -m benchmarks.partitions [memory|file] [--rows N] [--pairs K] [--limit MB]

``memory``: CPU times of one part against rows in memory, and of eight parts against
one, as medians of interleaved pairs; one thread. ``file``: a file three times the limit
is fitted in a process of its own, whose data segment the system limits; its peak is
measured, its reads are counted, and its certificate is proven anew by code that shares
nothing with parts. Times there are of a clock on the wall.
"""

import argparse
import functools
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local
from lrisk.partitions.grid import Grid
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.solvers import LBFGS, Band
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.spaces import LinearSpace
from lrisk.spectra import Superquantile, parse_spectrum

from .certified import _status, make

SPECTRA = ("superquantile:0.5", "superquantile:0.9", "extremile:2", "esrm:1")
#: Goals: one part over memory; eight parts over one, by tolerance.
ONE, EIGHT = 1.1, {1e-6: 1.1, 1e-8: 2.0}
#: Reads of a file, and the time over what they take at least.
READS, SUPERQUANTILE_READS, OVERHEAD = 4.0, 9.0, 1.3


def verdict(seen: float, goal: float) -> str:
    return f"{seen:.2f} (goal {goal:g}: {'met' if seen <= goal else 'missed'})"


# -- against rows in memory -----------------------------------------------------------


def in_memory(data: Any, spectrum: Any, loss: Any, tol: float) -> Any:
    n = len(data.y)
    shift = 0.0 if loss.classifies else float(data.y.mean())
    ranking = Ranking(spectrum, n)
    space = LinearSpace.centred(data.X, ranking.mass, intercept=True)
    objective = Objective(ranking, loss, space, data.y - shift, 1.0, shift)
    kind: Any = Band if ranking.selects else LBFGS
    return kind(tol=tol).solve(objective)


def in_parts(data: Any, spectrum: Any, loss: Any, tol: float, count: int) -> Any:
    ends = np.linspace(0, len(data.y), count + 1).astype(int)
    parts = [
        Part(ArrayRows(data.X[a:b]), data.y[a:b], None, loss)
        for a, b in itertools.pairwise(ends)
    ]
    objective = PartitionedObjective(Local(parts), spectrum, loss, 1.0, True)
    found = minimise_in_parts(objective, tol=tol)
    return found, statistics.mean(part.reads for part in parts)


def ratio(first: Any, second: Any, pairs: int) -> tuple[float, Any, Any]:
    """Median ratio of the CPU times of two jobs, and what they return."""
    ratios = []
    a, b = first(), second()  # compile
    for k in range(pairs):
        taken = []
        for job in (first, second) if k % 2 else (second, first):
            began = time.process_time()
            job()
            taken.append(time.process_time() - began)
        one, two = taken if k % 2 else taken[::-1]
        ratios.append(one / two)
    return statistics.median(ratios), a, b


def memory(rows: int, pairs: int) -> None:
    for loss, sharp in ((Squared(), False), (Logistic(), False), (Logistic(), True)):
        data = make(rows, 50, loss.name, ill=False, sharp=sharp)
        print(f"{data.label}; CPU ratios, medians of {pairs} pairs", flush=True)
        for name in SPECTRA:
            spectrum = parse_spectrum(name)
            for tol in (1e-6, 1e-10):
                seen, (found, reads), whole = ratio(
                    functools.partial(in_parts, data, spectrum, loss, tol, 1),
                    functools.partial(in_memory, data, spectrum, loss, tol),
                    pairs,
                )
                fall = found.objective / whole.objective - 1.0
                print(
                    f"  {name:<18} tol {tol:.0e}  one part / memory "
                    f"{verdict(seen, ONE)}  gap {found.gap:.1e} {found.status.name} "
                    f"{reads:.1f} reads; memory gap {whole.gap:.1e}; "
                    f"F/F_memory − 1 = {fall:.0e}",
                    flush=True,
                )
            for tol, goal in EIGHT.items():
                seen, (found, reads), _ = ratio(
                    functools.partial(in_parts, data, spectrum, loss, tol, 8),
                    functools.partial(in_parts, data, spectrum, loss, tol, 1),
                    pairs,
                )
                print(
                    f"  {name:<18} tol {tol:.0e}  eight parts / one  "
                    f"{verdict(seen, goal)}  gap {found.gap:.1e} {reads:.1f} reads",
                    flush=True,
                )


# -- a file larger than memory --------------------------------------------------------


def write(folder: Path, n: int, d: int) -> None:
    """Rows of 32 bits, one after another, and targets; heavy tails."""
    rng = np.random.default_rng(3)
    scale, shift = np.exp(rng.standard_normal(d)), rng.standard_normal(d)
    w = rng.standard_normal(d) / 10
    with (folder / "X.bin").open("wb") as rows, (folder / "y.npy").open("wb") as other:
        header = {"descr": "<f8", "fortran_order": False, "shape": (n,)}
        np.lib.format.write_array_header_1_0(other, header)
        for start in range(0, n, 1 << 18):
            m = min(1 << 18, n - start)
            X = rng.standard_normal((m, d), dtype=np.float32)
            X = (X * scale + shift).astype(np.float32)
            y = X.astype(np.float64) @ w + rng.standard_t(5, m)
            rows.write(X.tobytes())
            other.write(y.tobytes())
        for file in (rows, other):
            file.flush()
            os.fsync(file.fileno())


def child(given: str) -> None:
    """Fit under a limit, in this process, and print what was seen."""
    import resource

    import lrisk
    import lrisk.outofcore

    case = json.loads(given)
    folder, n, d = Path(case["folder"]), case["n"], case["d"]
    limit = int(case["limit"] * 1e6)
    few = np.random.default_rng(0).normal(size=(30_000, d)).astype(np.float32)
    model = lrisk.RiskRegressor(case["spectrum"])
    lrisk.outofcore.fit(model, few, few[:, 0].astype(float), memory="8GB")  # compile
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    began, cpu = time.perf_counter(), time.process_time()
    if case["parquet"]:
        source: Any = folder / "rows"
        target: Any = "y"
    else:
        source = np.memmap(folder / "X.bin", np.float32, mode="r", shape=(n, d))
        target = folder / "y.npy"
    lrisk.outofcore.fit(
        model,
        source,
        target,
        memory=limit,
        scratch=folder,
        n_threads=case["threads"],
        weights_to=folder / "weights.npy",
    )
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    # Not getrusage, which counts what this process was forked from.
    peak = _status("VmHWM")
    last = model.history_[-1]
    told = {
        "seconds": seconds,
        "cpu": cpu,
        "solving": last["seconds"],
        "peak": peak,
        "reads": last["reads"],
        "gap": model.dual_gap_,
        "objective": model.objective_,
        "raw": [*model.coef_.tolist(), model.intercept_],
        "iterations": model.n_iter_,
        "note": last.get("note", ""),
    }
    print(json.dumps(told))


def proven(
    folder: Path, n: int, d: int, spectrum: Any, raw: Any
) -> tuple[float, float]:
    """F at the fit, and a lower bound on its minimum, by sorting and NumPy alone.

    For λ in the permutahedron min F ≥ λ·ℓ + penalty − ½gᵀA⁻¹g with g and A the
    gradient and the Hessian of Φ(·, λ), which is a quadratic for squared loss.
    """
    X = np.memmap(folder / "X.bin", np.float32, mode="r", shape=(n, d))
    y, lam = np.load(folder / "y.npy"), np.load(folder / "weights.npy")
    coef, mu = np.array(raw[:-1]), 1.0 / n
    residuals = np.empty(n)
    gradient, matrix = np.zeros(d + 1), np.zeros((d + 1, d + 1))
    mean = X[:: n // 1000].astype(np.float64).mean(axis=0)
    for a in range(0, n, 1 << 18):
        here = slice(a, a + (1 << 18))
        rows = X[here].astype(np.float64)
        residuals[here] = rows @ coef + raw[-1] - y[here]
        rows = np.column_stack([rows - mean, np.ones(len(rows))])
        gradient += (lam[here] * residuals[here]) @ rows
        matrix += (rows * lam[here, None]).T @ rows
    del y
    losses = np.multiply(residuals, residuals, out=residuals)
    losses *= 0.5
    matrix[np.arange(d), np.arange(d)] += mu
    gradient[:d] += mu * coef
    slack = 0.5 * float(gradient @ np.linalg.solve(matrix, gradient))
    penalty = 0.5 * mu * float(coef @ coef)
    inner = float(lam @ losses)
    # λ must lie in the permutahedron: the smallest k of them sum to S(k/n) at least.
    lam.sort()
    share = np.arange(1, n + 1, dtype=np.float64) / n
    short = float(np.max(spectrum.cumulative(share) - np.cumsum(lam)))
    assert abs(lam.sum() - 1.0) < 1e-9 and short < 1e-9, (lam.sum(), short)
    del lam, share
    losses.sort()
    if isinstance(spectrum, Superquantile):
        start = spectrum.support[0]
        k = int(np.floor(n * start))
        tail = losses[k + 1 :].sum() + (k + 1 - n * start) * losses[k]
        risk = float(tail) / (n * (1.0 - start))
    else:
        risk = float(spectrum.weights(n) @ losses)
    return risk + penalty, inner + penalty - slack


def least_time(
    folder: Path, n: int, d: int, threads: int
) -> tuple[float, float, float]:
    """Seconds of one read of the file, and of one binned pass over a warm buffer."""
    began = time.perf_counter()
    with (folder / "X.bin").open("rb", buffering=0) as file:
        buffer, where = bytearray(1 << 24), 0
        while got := os.preadv(file.fileno(), [buffer], where):
            os.posix_fadvise(file.fileno(), where, got, os.POSIX_FADV_DONTNEED)
            where += got
    read = time.perf_counter() - began
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1 << 18, d), dtype=np.float32)
    y = rng.standard_t(5, len(X))
    engine = Local(
        [Part(ArrayRows(X), y, None, Squared()) for _ in range(threads)], threads
    )
    grid, theta = Grid.below(50.0, 7, 1e-4), np.full(d + 1, 0.01)
    taken, cpu = [], []
    for _ in range(6):
        began, busy = time.perf_counter(), time.process_time()
        engine.call_each("at_binned", [(theta, grid)] * threads)
        taken.append(time.perf_counter() - began)
        cpu.append(time.process_time() - busy)
    engine.close()
    scale = n / (len(X) * threads)
    return (
        read,
        scale * statistics.median(taken[1:]),
        scale * statistics.median(cpu[1:]),
    )


def to_parquet(folder: Path, n: int, d: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "rows").mkdir(exist_ok=True)
    X = np.memmap(folder / "X.bin", np.float32, mode="r", shape=(n, d))
    y = np.load(folder / "y.npy", mmap_mode="r")
    for k, a in enumerate(range(0, n, 2_000_000)):
        here = slice(a, min(a + 2_000_000, n))
        table = {f"x{j}": np.ascontiguousarray(X[here, j]) for j in range(d)}
        table["y"] = np.asarray(y[here])
        path = folder / "rows" / f"part{k:04}.parquet"
        pq.write_table(pa.table(table), path, row_group_size=200_000)


def file(
    limit: float,
    folder: str | None,
    threads: int,
    parquet: bool,
    features: list[int],
    spectra: list[str],
) -> None:
    for d in features:
        n = int(3.0 * limit * 1e6 / (4 * d))
        with tempfile.TemporaryDirectory(dir=folder) as made:
            at = Path(made)
            write(at, n, d)
            if parquet:
                to_parquet(at, n, d)
            read, binned, cpu = least_time(at, n, d, threads)
            print(
                f"n={n:.1e} d={d} float32: {4 * n * d / 1e9:.1f} GB, limit "
                f"{limit / 1e3:g} GB, {threads} threads; one read {read:.1f} s, one "
                f"binned pass {binned:.1f} s, {cpu:.1f} s of CPU",
                flush=True,
            )
            for name in spectra:
                case = {"folder": made, "n": n, "d": d, "limit": limit}
                case |= {"spectrum": name, "threads": threads, "parquet": parquet}
                given = json.dumps(case)
                code = f"from benchmarks.partitions import child; child({given!r})"
                command = [sys.executable, "-c", code]
                ended = subprocess.run(command, capture_output=True, text=True)
                if ended.returncode:
                    print(f"  {name}: {ended.stderr.strip()[-2000:]}")
                    continue
                told = json.loads(ended.stdout.splitlines()[-1])
                again = least_time(at, n, d, threads)
                least = max(read, binned, *again[:2])
                bounds = proven(at, n, d, parse_spectrum(name), told["raw"])
                report(name, told, bounds, limit, least, again[2])


def report(
    name: str,
    told: Any,
    bounds: tuple[float, float],
    limit: float,
    least: float,
    cpu: float,
) -> None:
    goal = SUPERQUANTILE_READS if "super" in name else READS
    primal, dual = bounds
    anew = (primal - dual) / primal
    over = told["solving"] / (told["reads"] * least)
    print(
        f"  {name:<18} gap {told['gap']:.1e}, {told['iterations']} iterations, reads "
        f"{verdict(told['reads'], goal)}, peak "
        f"{verdict(told['peak'] / 1e9, limit / 1e3)} GB, {told['solving']:.0f} s = "
        f"reads · least · {verdict(over, OVERHEAD)}, all in all "
        f"{told['seconds']:.0f} s, CPU = reads · binned passes · "
        f"{told['cpu'] / (told['reads'] * cpu):.2f}; proven anew: F/F_told − 1 = "
        f"{primal / told['objective'] - 1:.0e}, gap {anew:.1e} "
        f"{'met' if anew <= 1e-6 else 'missed'} {told['note']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="memory|file")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--limit", type=float, default=1000.0, help="in MB")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--features", type=int, nargs="*", default=[50, 8])
    names = ["esrm:1", "extremile:2", "superquantile:0.9"]
    parser.add_argument("--spectra", nargs="*", default=names)
    asked = parser.parse_args()
    if not asked.parts or "memory" in asked.parts:
        memory(asked.rows, asked.pairs)
    if not asked.parts or "file" in asked.parts:
        options = (asked.parquet, asked.features, asked.spectra)
        file(asked.limit, asked.folder, asked.threads, *options)


if __name__ == "__main__":
    main()
