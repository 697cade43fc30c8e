"""Runs cells and keeps each finished one, so that an interrupted run goes on."""

import json
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
    done = read(path)
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
            file.write(json.dumps(record) + "\n")
            file.flush()
            done[key(record["cell"])] = record
            progress.advance(bar)
    return [done[key(cell)] for cell in wanted]


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
