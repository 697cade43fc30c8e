"""Runs cells and keeps each finished one, so that an interrupted run goes on."""

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from threadpoolctl import threadpool_limits

from experiments._experiment import Cell, Experiment, Record, all_experiments


def commit() -> str:
    """The commit of the code that runs, with a + if it was changed; "" if unknown.

    ``LRISK_COMMIT`` names it where the files are a copy outside of the repository.
    """
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        name, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True)
            for words in (
                ["rev-parse", "--short", "HEAD"],
                ["status", "--porcelain", "--", "..", ":!../docs"],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("LRISK_COMMIT", "")
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")


def key(cell: Cell) -> str:
    """The same for equal cells, whatever the order of their entries."""
    return json.dumps(cell, sort_keys=True)


def run_cell(name: str, cell: Cell) -> Record:
    """One record: the cell, its CPU seconds, and what was found."""
    experiment = all_experiments()[name]
    with threadpool_limits(1):
        began = time.process_time()
        found = experiment.run(cell)
        cpu = time.process_time() - began
    return {"cell": cell, "cpu": cpu, **found}


def read(path: Path) -> dict[str, Record]:
    """Finished records by key; a line cut off by an interruption is left out."""
    records: dict[str, Record] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            records[key(record["cell"])] = record
    return records


def run(
    experiment: Experiment, cells: Iterable[Cell], path: Path, jobs: int
) -> list[Record]:
    """Records of all cells, in their order; those in the file are not run again."""
    wanted = [json.loads(json.dumps(cell)) for cell in cells]
    done, made_by = read(path), commit()
    todo = [cell for cell in wanted if key(cell) not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with path.open("a") as file, Progress(*columns) as progress:
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            file.write("\n")
        start = len(wanted) - len(todo)
        bar = progress.add_task(experiment.name, total=len(wanted), completed=start)
        for record in _finished(experiment.name, todo, jobs):
            record["commit"] = made_by
            file.write(json.dumps(record) + "\n")
            file.flush()
            done[key(record["cell"])] = record
            progress.advance(bar)
    records = [done[key(cell)] for cell in wanted]
    others = {record.get("commit", "") for record in records} - {made_by}
    if others and made_by:
        names = ", ".join(sorted(name or "unknown" for name in others))
        print(
            f"{experiment.name}: finished cells of other code are used ({names}); "
            "--fresh runs them again"
        )
    return records


def _finished(name: str, todo: list[Cell], jobs: int) -> Iterator[Record]:
    if jobs == 1 or len(todo) < 2:
        for cell in todo:
            yield run_cell(name, cell)
        return
    with ProcessPoolExecutor(jobs) as pool:
        try:
            futures = [pool.submit(run_cell, name, cell) for cell in todo]
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
