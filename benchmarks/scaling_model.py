"""What a fit would take on clusters larger than any here, from what is measured here.

    T(n, P) = driver + n·share(P) Σ_m k_m c_m + Σ_m k_m (trip(P) + b_m/bandwidth)

for methods m of the parts: k_m calls, c_m seconds for each row on one core, b_m bytes
of what is sent: P times as many as of one part, but of rows that are gathered, which
are as many however they lie. k, c and the driver's own time come from one fit in one
process; the time of an empty call trip(P) = a + bP and the bandwidth from clusters of
this machine. share(P) is what one pass over all rows takes P workers, in units of what
it takes one process: 1/P, but for memory and cores that they share.
Docs: docs/scaling.md says what is assumed. Then the model is compared with fits on
1, 2, 4 and 8 worker processes.

``python -m benchmarks.scaling_model [--rows N] [--repeats N]``

Other processes on the machine stretch wall times and nothing else, so that fits are
compared twice: by wall time, and by the busy time of the critical path, CPU seconds of
the driver and of the workers, the latter divided by the cores that they share.
"""

import argparse
import collections
import os
import pickle
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks._dask_rows import cluster, engine_on, together
from benchmarks.dask_cluster import CHUNK, SPECTRA, D, fit
from lrisk.dask.base import MOST_BINNED
from lrisk.losses import Squared
from lrisk.partitions.engine import Local, call
from lrisk.partitions.grid import Grid
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows

#: Numbers of worker processes that are measured, and of those that are predicted.
MEASURED, WORKERS = (1, 2, 4, 8), (8, 64, 256, 1000)
#: Rows that are predicted; bytes of memory of a worker; bytes a second of a network.
ROWS, MEMORY, NETWORK = (1e9, 1e10, 1e11), 64e9, 1.25e9
#: Methods that send rows, of all parts together as many as of one.
GATHERING = ("take", "band", "assign")
#: Of a network between machines: milliseconds that are added to each call.
LATENCY = 0.0005


class Counted:
    """An engine of parts in this process that takes note of what they are asked."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.n_parts = engine.n_parts
        self.calls: Any = collections.Counter()
        self.seconds: Any = collections.Counter()
        self.bytes: Any = collections.Counter()

    def call_each(self, method: str, arguments: Any) -> Any:
        """As `Engine.call_each`."""
        began = time.process_time()
        answers = self._engine.call_each(method, arguments)
        self.seconds[method] += time.process_time() - began
        self.calls[method] += 1
        sent = len(pickle.dumps(answers)) + len(pickle.dumps(arguments))
        self.bytes[method] += sent // self.n_parts
        return answers


class Fit(NamedTuple):
    """What a fit asks for: calls, seconds for each row, bytes of rows and of a part."""

    driver: float
    calls: int
    work: float
    rows: float
    bytes: float
    counts: dict[str, int]


class Model(NamedTuple):
    """A fit, and what a cluster costs: seconds of a call and of a part, bandwidth."""

    fit: Fit
    call: float
    each: float
    band: float

    def seconds(self, n: float, workers: int, share: float) -> float:
        """Of a whole fit, workers needing a share of the time of one for a pass."""
        own = self.fit
        sent = (own.rows + workers * own.bytes) / self.band
        trips = own.calls * (self.call + self.each * workers)
        return own.driver + n * own.work * share + trips + sent


class Cluster(NamedTuple):
    """Seconds of an empty call, of a megabyte more and of a pass; of fits, by name."""

    empty: float
    mega: float
    sweep: float
    fits: dict[str, tuple[float, float]]


def measured_fit(spectrum: str, X: Any, y: Any) -> Fit:
    """One fit in one process, the third."""
    for _ in range(3):
        engine = Counted(Local([Part(ArrayRows(X), y, None, Squared())]))
        began = time.process_time()
        fit(engine, spectrum, most_binned=MOST_BINNED)
        whole = time.process_time() - began
    work = sum(engine.seconds.values())
    counts = dict(engine.calls)
    rows = sum(engine.bytes[name] for name in GATHERING)
    return Fit(
        driver=whole - work,
        calls=sum(counts.values()),
        work=work / len(y),
        rows=float(rows),
        bytes=float(sum(engine.bytes.values()) - rows),
        counts=counts,
    )


def median_of(ask: Any, times: int) -> float:
    """Median seconds of some calls."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def trip_of(engine: Any) -> tuple[float, float]:
    """Seconds of an empty call, and of a megabyte more in the answer of each part."""
    ids = [(np.arange(20_000),)] * engine.n_parts
    empty = median_of(lambda: call(engine, "describe"), 100)
    full = median_of(lambda: engine.call_each("take", ids), 10)
    return empty, (full - empty) / (20_000 * (D + 2) * 8e-6 * engine.n_parts)


def sweep_of(engine: Any) -> float:
    """Seconds of a pass over all rows: losses, their bins, the gradients of these."""
    call(engine, "prepare", 0.0)
    rule = np.zeros(D + 1), Grid.below(50.0, 3, 1e-2)  # few bins, hardly any bytes
    return median_of(lambda: call(engine, "at_binned", *rule), 9)


def busy(client: Any) -> Any:
    """CPU seconds of this process and of each worker."""
    return time.process_time(), np.array(list(client.run(time.process_time).values()))


def cluster_fits(workers: int, n: int, repeats: int) -> Cluster:
    """What calls, passes and fits take: of fits the wall and the busy seconds."""
    cores, found = os.cpu_count() or 1, {}
    with cluster(workers) as client:
        engine = engine_on(client, n // CHUNK, CHUNK, D)
        empty, mega = trip_of(engine)
        sweep = sweep_of(engine) - empty
        for spectrum in SPECTRA:
            wall, used = [], []
            for _ in range(repeats + 1):  # the first one compiles
                before, began = busy(client), time.perf_counter()
                fit(engine, spectrum, most_binned=MOST_BINNED)
                wall.append(time.perf_counter() - began)
                after = busy(client)
                own = after[1] - before[1]
                shared = max(own.max(), own.sum() / cores)
                used.append(after[0] - before[0] + shared)
            found[spectrum] = (statistics.median(wall[1:]), statistics.median(used[1:]))
        engine.close()
    return Cluster(empty, mega, sweep, found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--repeats", type=int, default=5)
    chosen, _ = parser.parse_known_args()
    n = int(chosen.rows) // CHUNK * CHUNK
    cores = os.cpu_count() or 1
    print(f"n={n:.2e}, d={D}, {cores} cores, load {os.getloadavg()[0]:.1f}")
    X, y = together(n // CHUNK, CHUNK, D)
    fits = {spectrum: measured_fit(spectrum, X, y) for spectrum in SPECTRA}
    alone = sweep_of(Local([Part(ArrayRows(X), y, None, Squared())]))
    print(f"  a pass in one process {alone:.3f} s", flush=True)
    del X, y
    for spectrum, own in fits.items():
        print(
            f"  {spectrum}: driver {own.driver:.2f} s, {own.calls} calls, "
            f"{1e9 * own.work:.0f} ns a row, {own.rows / 1e6:.1f} MB of rows and "
            f"{own.bytes / 1e6:.1f} MB a part; "
            + ", ".join(f"{name} {k}" for name, k in sorted(own.counts.items())),
            flush=True,
        )
    runs: dict[int, Cluster] = {}
    for p in MEASURED:
        own = runs[p] = cluster_fits(p, n, chosen.repeats)
        print(
            f"  {p} workers: empty call {1e3 * own.empty:.2f} ms, a megabyte more "
            f"{1e3 * own.mega:.2f} ms, a pass {own.sweep:.3f} s; "
            + ", ".join(
                f"{name} wall {wall:.3f} s, busy {used:.3f} s"
                for name, (wall, used) in own.fits.items()
            ),
            flush=True,
        )
    each, first = np.polyfit(MEASURED, [runs[p].empty for p in MEASURED], 1)
    band = 1e6 / statistics.median(runs[p].mega for p in MEASURED)
    print(
        f"  an empty call {1e3 * first:.1f} + {1e3 * each:.2f}·P ms; "
        f"{band / 1e6:.0f} MB a second"
    )
    errors = []
    for spectrum, own in fits.items():
        model = Model(own, max(first, 0.0), max(each, 0.0), band)
        for p in MEASURED:
            said = model.seconds(n, p, runs[p].sweep / alone)
            wall, used = runs[p].fits[spectrum]
            errors.append((said / wall - 1.0, said / used - 1.0))
            print(
                f"  {spectrum}, {p} workers: model {said:.2f} s, wall {wall:.2f} s "
                f"({errors[-1][0]:+.0%}), busy {used:.2f} s ({errors[-1][1]:+.0%})"
            )
    worst = np.abs(errors).max(axis=0)
    print(f"  largest error {worst[0]:.0%} of wall time, {worst[1]:.0%} of busy time")
    most = max(p for p in MEASURED if p <= cores)
    slower = runs[most].sweep * most / alone
    print(f"  {most} workers on {cores} cores: each {slower:.2f} times as slow as one")
    for spectrum, own in fits.items():
        model = Model(own, max(first, 0.0) + LATENCY, max(each, 0.0), NETWORK)
        print(f"  {spectrum}, one core a worker, network of {NETWORK / 1e9:g} GB/s:")
        for rows in ROWS:
            told = [
                f"{p}: {model.seconds(rows, p, slower / p):.0f} s"
                + (" (too large)" if rows * (D * 4 + 32) / p > MEMORY else "")
                for p in WORKERS
            ]
            print(f"    n={rows:.0e}: " + ", ".join(told))


if __name__ == "__main__":
    main()
