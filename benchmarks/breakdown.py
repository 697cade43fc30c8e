"""How many wrong rows, where and how wild, a robust regression bears.

    python -m benchmarks.breakdown [bounded] [harmless] [rbf] [clean] [--draws 40]
        [--jobs 2] [--largest 100000] [--seconds S] [--records FOLDER]

E₀ = max(error of the same estimator without the wrong rows, σ√(p/n)); errors are root
mean squares of f̂ − f on the right rows. Promised: *bounded*, at most 6 σ in every draw
and at magnitude 10¹² at most 1.1 times that at 10³; *harmless*, at most 2 E₀ in 95 % of
the draws of a cell and never above 5 E₀; *clean*, at most 1.05 times the ordinary error
in the mean, correct rows far out included. Ends with status 1 if a promise is broken.
With ``--seconds`` draws are made for so long, the first of every cell before the second
of any, and cells are judged by those that were made. With ``--records`` finished draws
are kept in that folder, and a run with the same one goes on.
"""

import argparse
import hashlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import lrisk
from benchmarks._breakdown_data import Draw, draw, linear, smooth
from benchmarks._records import Kept

#: Rows and columns of the cells of linear relations; n ≥ 20 p.
SIZES = ((60, 2), (200, 5), (1000, 10), (1000, 30), (10_000, 20), (100_000, 5))

#: How far off wrong rows are where the error must be bounded, in σ.
MAGNITUDES = (10.0, 1e3, 1e12)


class Cell(NamedTuple):
    """A promise, what it is about, and how one draw of it is made."""

    promise: str
    name: str
    kind: str
    n: int
    d: int
    k: int
    options: tuple[tuple[str, Any], ...] = ()

    def draw(self, seed: int) -> Draw:
        """The table of this seed."""
        options = dict(self.options)
        if self.promise == "rbf":
            options["relation"] = smooth
        return draw(self.kind, self.n, self.d, self.k, seed, **options)


def fitted(table: Draw, kernel: str, contamination: Any = "auto") -> Any:
    """The robust fit, or (contamination 0) the ordinary one."""
    model = lrisk.RobustRegressor(kernel, contamination=contamination, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table.X, table.y, sample_weight=table.weights)


def ratio_to_clean(cell: Cell, seed: int) -> tuple[float, float]:
    """Error in E₀ and in σ."""
    table = cell.draw(seed)
    kernel = "rbf" if cell.promise == "rbf" else "linear"
    error = table.error(fitted(table, kernel))
    least = table.sigma * np.sqrt(table.parameters / len(table.y))
    without = error_without(table.without_bad_rows(), kernel)
    return error / max(without, least), error / table.sigma


#: Errors of tables without bad rows, which several cells share.
_KNOWN: dict[str, float] = {}


def error_without(clean: Draw, kernel: str) -> float:
    """The error of a table without bad rows, fitted once for all cells of a process."""
    digest = hashlib.sha256(kernel.encode())
    for part in (clean.X, clean.y, clean.f, clean.weights):
        digest.update(b"" if part is None else part.tobytes())
    key = digest.hexdigest()
    if key not in _KNOWN:
        _KNOWN[key] = clean.error(fitted(clean, kernel))
    return _KNOWN[key]


def bounded(cell: Cell, seed: int) -> tuple[float, float]:
    """Largest error in σ over all magnitudes, and that at 10¹² over that at 10³."""
    tables = [
        cell._replace(options=(*cell.options, ("size", size))).draw(seed)
        for size in MAGNITUDES
    ]
    errors = [table.error(fitted(table, "linear")) / table.sigma for table in tables]
    return max(errors), errors[2] / max(errors[1], 1e-300)


def clean(cell: Cell, seed: int) -> tuple[float, float]:
    """Errors of the robust and of the ordinary fit, in σ."""
    table = cell.draw(seed)
    if cell.name == "far":
        table = far_but_right(cell, seed)
    robust = table.error(fitted(table, "linear"))
    return robust / table.sigma, table.error(fitted(table, "linear", 0.0)) / table.sigma


def far_but_right(cell: Cell, seed: int) -> Draw:
    """Clean rows, one to 5 % of them far out and on the plane."""
    rng = np.random.default_rng([seed, cell.n])
    rows = linear(rng, cell.n, cell.d, "t5" if seed % 2 else "normal")
    far = rng.choice(cell.n, max(1, cell.n // (20 if seed % 3 else cell.n)))
    X = rows.X.copy()
    X[far] *= 10.0 ** rng.uniform(1, 3)
    f = rows.value(X)
    return Draw(X, f + (rows.y - rows.f), f, np.zeros(cell.n, bool), rows.sigma)


def counts(n: int, most: float) -> list[int]:
    """One row, two, and shares up to the most."""
    shares = [s for s in (0.05, 0.12, 0.3) if s <= most]
    return sorted({1, 2, *(max(1, int(s * n)) for s in shares)})


def cells(promises: list[str], largest: int) -> Iterator[Cell]:
    """All cells of some promises."""
    for n, d in SIZES:
        if n > largest or n < 20 * (d + 1):
            continue
        if "bounded" in promises and n <= 1000:
            for placement in ("anywhere", "one end", "both ends", "ball"):
                name, where = f"targets, {placement}", (("placement", placement),)
                yield Cell("bounded", name, "targets", n, d, int(0.3 * n), where)
            share = 0.3 if d <= 10 else 0.12
            yield Cell("bounded", "far x", "scattered", n, d, int(share * n))
            yield Cell("bounded", "cluster", "cluster", n, d, int(share * n))
        if "harmless" in promises:
            kinds = [("targets", 0.3), ("cluster", 0.12)]
            kinds.append(("scattered", 0.3 if d <= 10 else 0.12))
            for kind, most in kinds:
                for k in counts(n, most):
                    yield Cell("harmless", kind, kind, n, d, k)
        if "clean" in promises:
            yield Cell("clean", "clean", "targets", n, d, 0)
            yield Cell("clean", "far", "targets", n, d, 0)
    if "rbf" in promises:
        for n, d in ((200, 1), (400, 2), (1000, 2)):
            for k in counts(n, 0.3):
                yield Cell("rbf", "targets", "targets", n, d, k)
            for k in (1, 2):
                yield Cell("rbf", "scattered", "scattered", n, d, k)


RUNS: dict[str, Callable[[Cell, int], tuple[float, float]]] = {
    "bounded": bounded,
    "harmless": ratio_to_clean,
    "rbf": ratio_to_clean,
    "clean": clean,
}


def run(job: tuple[Cell, int]) -> tuple[float, float]:
    """One draw of one cell."""
    cell, seed = job
    return RUNS[cell.promise](cell, seed)


def kept(cell: Cell, found: np.ndarray[Any, Any]) -> tuple[bool, str]:
    """Whether a cell keeps its promise, and the line that says so."""
    first, second = found[:, 0], found[:, 1]
    if cell.promise == "bounded":
        good = bool(first.max() <= 6.0 and second.max() <= 1.1)
        return good, f"worst {first.max():.2f} σ, 1e12 over 1e3 {second.max():.3f}"
    if cell.promise == "clean":
        mean = float(np.mean(first) / np.mean(second))
        return mean <= 1.05, f"mean error {mean:.3f} of the ordinary"
    share = float(np.mean(first <= 2.0))
    good = bool(share >= 0.95 and first.max() <= 5.0)
    words = f"≤ 2 E₀ in {share:.0%}, worst {first.max():.2f} E₀ = {second.max():.2f} σ"
    return good, words


def drawn(
    known: list[Cell],
    draws: int,
    jobs: int,
    seconds: float | None,
    records: Path | None = None,
) -> Iterator[tuple[Cell, Any]]:
    """Cells with what their draws gave, each once it has all of them."""
    began = time.monotonic()
    order = [(cell, seed) for cell in known for seed in range(draws)]
    if seconds is not None:
        order.sort(key=lambda job: job[1])
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [(job, pool.submit(Kept(run, records), job)) for job in order]
        found: dict[Cell, list[Any]] = {cell: [] for cell in known}
        for (cell, _), future in waiting:
            left = None
            if seconds is not None:
                left = max(began + seconds - time.monotonic(), 0.0)
            try:
                found[cell].append(future.result(left))
            except TimeoutError:
                continue  # a later one may be there
            if len(found[cell]) == draws:
                yield cell, np.array(found[cell])
        pool.shutdown(wait=False, cancel_futures=True)
        for cell, own in found.items():
            if 0 < len(own) < draws:
                yield cell, np.array(own)


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser("benchmarks.breakdown", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("promises", nargs="*", choices=[*RUNS, []])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--records", type=Path, help="folder of finished draws")
    options = parser.parse_args(given)
    broken = dict.fromkeys(RUNS, 0)
    total = dict.fromkeys(RUNS, 0)
    known = list(cells(options.promises or list(RUNS), options.largest))
    for cell, found in drawn(
        known, options.draws, options.jobs, options.seconds, options.records
    ):
        good, words = kept(cell, found)
        total[cell.promise] += 1
        broken[cell.promise] += not good
        place = f"n={cell.n} d={cell.d} k={cell.k} {cell.name}"
        if len(found) < options.draws:
            words += f" ({len(found)} draws)"
        mark = "" if good else "  BROKEN"
        print(f"{cell.promise:9s} {place:45s} {words}{mark}", flush=True)
    for promise, count in total.items():
        if count:
            print(f"{promise}: {broken[promise]} of {count} cells broken")
    return int(any(broken.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
