"""Time, memory and size of the page of `lrisk audit` on the command line.

Every audit is a process of its own that reads a Parquet file, after one that has filled
the cache of compiled code.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._audit_report import Goal

#: Bytes of a gigabyte and of a megabyte.
GB, MB = 1e9, 1e6
#: Bytes that the page may have at any size.
PAGE = 1.0 * MB


class Size(NamedTuple):
    """Rows and columns, and the seconds and bytes that an audit may take."""

    rows: int
    columns: int
    seconds: float
    memory: float = float("inf")


SIZES = (Size(400, 8, 3.0), Size(10_000, 20, 15.0), Size(1_000_000, 20, 60.0, 2.0 * GB))


class Took(NamedTuple):
    """Seconds on the clock and of the processor, peak memory, size of the page."""

    seconds: float
    processor: float
    memory: float
    page: int


def write(path: str, rows: int, columns: int, classes: bool) -> None:
    """A table with a category and 2 % wrong targets."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns - 1))
    site = rng.integers(5, size=rows)
    y = 10.0 + X @ rng.normal(size=columns - 1) + site + rng.standard_t(5, size=rows)
    wrong = rng.random(rows) < 0.02
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns - 1)])
    frame["site"] = np.array(["a", "b", "c", "d", "e"], dtype=object)[site]
    if classes:
        frame["y"] = np.where((y > np.median(y)) ^ wrong, "yes", "no")
    else:
        frame["y"] = np.where(wrong, 10.0 * y, y)
    frame.to_parquet(path)


def measured(path: Path, out: Path) -> Took:
    """Audit a file by the command line."""
    call = ["audit", str(path), "--target", "y", "--out", str(out), "--quiet"]
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "lrisk", *call])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)  # nobody waits for it again
    if child.returncode:
        raise RuntimeError(f"lrisk audit ended with status {child.returncode}")
    pages = [page.stat().st_size for page in out.glob("*.html")]
    # Linux counts the peak in kilobytes of 1024 bytes.
    processor = usage.ru_utime + usage.ru_stime
    return Took(seconds, processor, 1024.0 * usage.ru_maxrss, max(pages))


def _written(path: Path, size: Size, classes: bool) -> None:
    # In a process of its own: a child's peak begins at its parent's memory.
    code = f"from benchmarks._audit_speed import write; write({str(path)!r}, "
    code += f"{size.rows}, {size.columns}, {classes})"
    subprocess.run([sys.executable, "-c", code], check=True)


def _in_words(took: Took, size: Size) -> str:
    memory = f"peak {took.memory / GB:.2f} GB"
    if size.memory < float("inf"):
        memory += f" (limit {size.memory / GB:g})"
    return (
        f"{took.seconds:.1f} s (limit {size.seconds:g}), processor "
        f"{took.processor:.1f} s, {memory}, page {took.page / MB:.2f} MB "
        f"(limit {PAGE / MB:g})"
    )


def run_speed() -> Iterator[Goal]:
    """Each size, quantities and classes; the goals."""
    with tempfile.TemporaryDirectory() as folder:
        for classes in (False, True):
            task = "classes" if classes else "quantities"
            small = Path(folder) / "first.parquet"
            _written(small, SIZES[0], classes)
            measured(small, Path(folder) / "first")
            for size in SIZES:
                name = f"{size.rows}×{size.columns}, {task}"
                path = Path(folder) / "table.parquet"
                _written(path, size, classes)
                took = measured(path, Path(folder) / "audit")
                print(f"{name}: {_in_words(took, size)}", flush=True)
                yield Goal(f"{name}, seconds", took.seconds, size.seconds, False)
                if size.memory < float("inf"):
                    yield Goal(f"{name}, bytes", took.memory, size.memory, False)
                yield Goal(f"{name}, bytes of the page", took.page, PAGE, False)
