"""An audit of a folder of Parquet files that is larger than is read at once."""

import os
from pathlib import Path
from typing import Any

import click

from .auditing import warnings_told
from .errors import check_installed

#: Rows above which a folder is audited by a sample, and every row judged after it.
MANY = 1_000_000
#: Threads that judge rows, at most: each holds a batch.
MOST_THREADS = 4


def large_folder(data: Path) -> Any:
    """The folder, if it is one of very many rows; None otherwise."""
    if not data.is_dir() or not any(data.rglob("*.parquet")):
        return None
    check_installed("reading Parquet files", "pyarrow")
    from ..tables.parquet_folder import ParquetFolder

    folder = ParquetFolder(data)
    return folder if folder.n_rows > MANY else None


def audited_folder(
    folder: Any,
    target: str,
    source: str,
    options: dict[str, Any],
    out: Path,
    redact: bool,
    shown: str = "words",
) -> Any:
    """Audit a sample, judge all rows, write, and print; the result."""
    from ..analysis.audit.sampled import SampledAudit
    from ..report import redacted
    from ..report.judged import write_sampled
    from .printing import plain, print_audit, progress_bar, terminal

    for name in ("estimator", "predictions", "verdicts", "compare"):
        if options.pop(name) is not None:
            raise ValueError(
                f"--{name} is for tables that are read at once, of at most {MANY:,} "
                "rows; audit some of the files"
            )
    told = shown != "nothing"
    with (
        warnings_told(told, redact),
        progress_bar(terminal(stderr=True), told) as progress,
    ):
        options |= {"source": source, "progress": progress}
        audit = SampledAudit(folder, target, **options)
        progress("judging all rows", 1.0)
        threads = min(os.cpu_count() or 1, MOST_THREADS)
        result, written = write_sampled(audit, out, redact, threads)
    if shown == "json":
        click.echo((out / "audit.json").read_text("utf-8"))
    if shown == "words":
        console = terminal()
        print_audit(redacted(result) if redact else result, console)
        console.print("\n" + "\n".join(plain(note) for note in result.notes))
        console.print("\nWritten: " + ", ".join(plain(path) for path in written))
    return result
