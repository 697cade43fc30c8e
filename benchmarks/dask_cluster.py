"""Fits on a Dask cluster: against one core, by round trip, and with workers killed.

    python -m benchmarks.dask_cluster [trips] [uneven] [kills] [speed] [--rows N]
        [--pairs N] [--kills N] [--workers N]

Speed is the median of ratios of wall times of interleaved pairs, so the machine should
be idle; its load is printed, and each pair once it is known. A fit with a killed worker
must give the same bits as one without, and its bound must hold by Newton's method in
memory.
"""

import argparse
import os
import signal
import statistics
import threading
import time
from typing import Any

import numpy as np

import lrisk
from benchmarks._dask_rows import cluster, engine_on, together
from lrisk.dask.base import MOST_BINNED
from lrisk.losses import Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local, call
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum

SPECTRA = ("esrm:1", "superquantile:0.9")
PARTS = ("trips", "uneven", "kills", "speed")
D, CHUNK, TOL = 50, 62_500, 1e-6


def fit(engine: Any, spectrum: str, tol: float = TOL, **options: Any) -> Any:
    """One certified fit over parts."""
    own = parse_spectrum(spectrum)
    parted = PartitionedObjective(engine, own, Squared(), 1.0, True, **options)
    return minimise_in_parts(parted, tol=tol)


def timed(run: Any) -> tuple[float, Any]:
    """Seconds, and what was found."""
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


def speed(client: Any, workers: int, n: int, pairs: int) -> None:
    """The same rows on one core of this process and on the workers."""
    chunks = n // CHUNK
    engine = engine_on(client, chunks, CHUNK, D)
    X, y = together(chunks, CHUNK, D)
    alone = Local([Part(ArrayRows(X), y, None, Squared())])
    load = os.getloadavg()[0]
    print(f"n={n:.1e}, d={D}, {workers} workers, load {load:.1f}", flush=True)
    for spectrum in SPECTRA:
        ratios, times = [], []
        fit(engine, spectrum, most_binned=MOST_BINNED), fit(alone, spectrum)
        for _ in range(pairs):
            one, a = timed(lambda s=spectrum: fit(alone, s))
            many, b = timed(lambda s=spectrum: fit(engine, s, most_binned=MOST_BINNED))
            ratios.append(one / many)
            times.append((one, many))
            print(
                f"    {spectrum} {one:.2f} s {many:.2f} s {ratios[-1]:.2f}", flush=True
            )
        one, many = np.median(times, axis=0)
        print(
            f"  {spectrum}: one core {one:.2f} s, {workers} workers {many:.2f} s, "
            f"{statistics.median(ratios):.2f} times as fast "
            f"({min(ratios):.2f} to {max(ratios):.2f}); gaps {a.gap:.1e} {b.gap:.1e}",
            flush=True,
        )
    engine.close()


def trips(client: Any) -> None:
    """What a call costs that asks next to nothing."""
    engine = engine_on(client, 8, 1000, D)
    seconds = [timed(lambda: call(engine, "describe"))[0] for _ in range(200)]
    engine.close()
    taken = 1e3 * statistics.median(seconds)
    print(f"  one call of all parts: {taken:.1f} ms", flush=True)


def whole_engine(client: Any, workers: int, n: int, d: int) -> Any:
    """Parts on all workers, once those killed are back: bits depend on the cut."""
    while True:
        client.wait_for_workers(workers)
        engine = engine_on(client, 12, n, d)
        if engine.n_parts == workers:
            return engine
        engine.close()
        time.sleep(1.0)


def killed(client: Any, workers: int, kills: int, spectra: Any = SPECTRA) -> None:
    """Workers killed at random moments of fits."""
    rng = np.random.default_rng(0)
    n, d = 5000, 10
    X, y = together(12, n, d)
    space = LinearSpace(X - X.mean(axis=0), intercept=True)
    for spectrum in spectra:
        ranking = Ranking(parse_spectrum(spectrum), len(y))
        whole = Objective(ranking, Squared(), space, y - y.mean(), 1.0)
        engine = whole_engine(client, workers, n, d)
        seconds, first = timed(lambda s=spectrum, e=engine: fit(e, s, 1e-8))
        engine.close()
        best = Newton(tol=1e-10).solve(whole)
        same = good = errors = revived = 0
        for k in range(kills):
            engine = whole_engine(client, workers, n, d)
            pids = list(client.run(os.getpid).values())
            victim = int(rng.choice(pids))
            timer = threading.Timer(
                rng.uniform(0.0, seconds), os.kill, (victim, signal.SIGKILL)
            )
            timer.start()
            try:
                found = fit(engine, spectrum, 1e-8)
            except Exception as error:
                errors += 1
                print(f"    error: {error}")
                continue
            finally:
                timer.join()
                revived += engine.revived
                engine.close()
            same += np.array_equal(found.theta, first.theta)
            good += (
                found.dual <= best.objective * (1 + 1e-12)
                and found.objective <= best.objective * (1 + 1e-8)
                and found.objective >= best.dual * (1 - 1e-12)
            )
            print(f"    {k + 1}: {good} hold, {same} same, {revived} anew", flush=True)
        print(
            f"  {spectrum}: {kills} fits with a worker killed: the bound of {good} "
            f"holds, {same} have the same bits, {errors} errors; parts made anew "
            f"{revived} times",
            flush=True,
        )


def uneven(client: Any) -> None:
    """Two hundred partitions, most of them empty or tiny, twice."""
    import dask.array as da

    from lrisk.dask import RiskRegressor

    rng = np.random.default_rng(1)
    X, y = together(1, 50_000, 10)
    ends = np.sort(np.r_[np.zeros(60, int), rng.integers(0, 300, 80),
                         rng.integers(0, len(y), 59)])  # fmt: skip
    chunks = tuple(np.diff([0, *ends, len(y)]).tolist())
    rows = da.from_array(X, chunks=(chunks, 10)), da.from_array(y, chunks=(chunks,))
    for spectrum in SPECTRA:
        models = [RiskRegressor(spectrum).fit(*rows) for _ in range(2)]
        plain = lrisk.RiskRegressor(spectrum).fit(X, y)
        off = abs(models[0].objective_ / plain.objective_ - 1.0)
        bits = np.array_equal(models[0].coef_, models[1].coef_)
        print(
            f"  {spectrum}: {len(chunks)} partitions, {chunks.count(0)} empty: "
            f"|ΔF|/F {off:.1e}, gap {models[0].dual_gap_:.1e}, same bits again: {bits}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", metavar="|".join(PARTS))
    parser.add_argument("--rows", type=float, default=4e6)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    chosen, _ = parser.parse_known_args()
    with cluster(chosen.workers) as client:
        asked = chosen.parts or PARTS
        if "trips" in asked:
            trips(client)
        if "uneven" in asked:
            uneven(client)
        if "kills" in asked:
            killed(client, chosen.workers, chosen.kills)
        if "speed" in asked:
            client.wait_for_workers(chosen.workers)
            speed(client, chosen.workers, int(chosen.rows), chosen.pairs)


if __name__ == "__main__":
    main()
