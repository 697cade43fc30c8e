"""Runs the cells and keeps each finished one in a file, so that a run can go on."""

import json
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import lrisk
from benchmarks import _robust_data as data
from benchmarks._robust_classifiers import CLASS_METHODS, ClassTrial
from benchmarks._robust_detectors import DETECTORS
from benchmarks._robust_regressors import METHODS, Trial

Record = dict[str, Any]
KERNELS = ("linear", "rbf")
NAMES = {"regression": "RobustRegressor", "classification": "RobustClassifier"}


class Cell(NamedTuple):
    """One data set, corruption, kernel and seed, with the methods to run there."""

    task: str
    data: str
    corruption: str
    kernel: str
    seed: int
    methods: tuple[str, ...]

    def key(self, method: str) -> tuple[Any, ...]:
        return (*self[:5], method)


def cells(
    task: str, seeds: int, only_data: Any = None, only_methods: Any = None
) -> Iterator[Cell]:
    """All cells of a task, seed by seed, so that an early stop has all of them."""
    for seed in range(seeds):
        for name, corruption, kernel, methods in _table(task):
            if only_data is not None and name not in only_data:
                continue
            if only_methods is not None:
                methods = tuple(m for m in methods if m in only_methods)
            if not hasattr(lrisk, NAMES[task]):
                methods = tuple(m for m in methods if m != "robust")
            if methods:
                yield Cell(task, name, corruption, kernel, seed, methods)


def _table(task: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    if task == "classification":
        for name in data.CLASSES:
            for corruption in data.CLASS_CORRUPTIONS:
                for kernel in KERNELS:
                    yield name, corruption, kernel, tuple(CLASS_METHODS)
        return
    for name in data.REGRESSION:
        for corruption in data.REGRESSION_CORRUPTIONS:
            linear = (*METHODS, *DETECTORS)
            yield name, corruption, "linear", linear
            with_kernel = tuple(m for m, (_, able) in METHODS.items() if able)
            yield name, corruption, "rbf", with_kernel
        for corruption in data.HARD_CORRUPTIONS:
            yield (
                name,
                corruption,
                "linear",
                ("ordinary", "robust", "oracle", *DETECTORS),
            )
    for name in data.CLEAN:
        if name not in data.REGRESSION:
            yield name, "clean", "linear", ("ordinary", "robust", "oracle", *DETECTORS)


def run_cell(cell: Cell) -> list[Record]:
    """One record for each method; a method that fails says why."""
    classes = cell.task == "classification"
    rows = data.split(cell.data, cell.corruption, cell.seed, classes=classes)
    trial = (ClassTrial if classes else Trial)(rows, cell.kernel, cell.seed)
    known: dict[str, Any] = {name: run for name, (run, _) in METHODS.items()}
    if classes:
        known = {name: run for name, (run, _) in CLASS_METHODS.items()}
    known |= DETECTORS
    records = []
    for method in cell.methods:
        record: Record = dict(zip((*Cell._fields[:5], "method"), cell.key(method)))
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                outcome = known[method](trial)
            except Exception as problem:  # a rival's failure is a result, too
                record["failed"] = f"{type(problem).__name__}: {problem}"
            else:
                record["cpu"] = outcome.cpu
                record |= outcome.extra
                if outcome.predicted is not None:
                    record["error"] = _error(outcome.predicted, rows.test_y, classes)
        records.append(record)
    return records


def _error(predicted: Any, truth: Any, classes: bool) -> float:
    """RMSE, or accuracy for classes."""
    if classes:
        return float(np.mean(predicted == truth))
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def read(path: Path | None) -> list[Record]:
    """Records of former runs; a line cut off by an interruption is left out."""
    records = []
    if path is not None and path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def run(wanted: Iterable[Cell], path: Path | None, jobs: int) -> list[Record]:
    """Records of all wanted cells; those in the file are not run again."""
    wanted = list(wanted)
    former = read(path)
    done = {(*(r[name] for name in Cell._fields[:5]), r["method"]) for r in former}
    keys = {cell.key(method) for cell in wanted for method in cell.methods}
    records = [
        r
        for r in former
        if (*(r[name] for name in Cell._fields[:5]), r["method"]) in keys
    ]
    todo = []
    for cell in wanted:
        left = tuple(m for m in cell.methods if cell.key(m) not in done)
        if left:
            todo.append(cell._replace(methods=left))
    for count, fresh in enumerate(_finished(todo, jobs), start=1):
        records += fresh
        if path is not None:
            with path.open("a") as file:
                file.writelines(json.dumps(record) + "\n" for record in fresh)
        if count % 50 == 0 or count == len(todo):
            print(f"# {count} of {len(todo)} cells", flush=True)
    return records


def _finished(todo: list[Cell], jobs: int) -> Iterator[list[Record]]:
    if jobs == 1:
        yield from map(run_cell, todo)
        return
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_cell, cell) for cell in todo]
        for future in as_completed(futures):
            yield future.result()
