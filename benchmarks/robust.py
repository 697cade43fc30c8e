"""Robust fits with unknown contamination beside their rivals.

    python -m benchmarks.robust [--task regression|classification|all] [--seeds 10]
        [--datasets boston diabetes] [--methods robust oracle ordinary] [--jobs 2]
        [--out runs.jsonl] [--page page.md] [--speed]

Prints the clean-test error (RMSE of a standardised target, or accuracy) and the CPU
time of every method over data sets × corruptions × kernels, mean and sd over seeds;
then the bars. With ``--out`` each finished cell is kept, and a run with the same file
goes on where it was interrupted: remove a method's lines to run it again.

Methods are developed on boston, diabetes, breast_cancer and synthetic data only
(``--development``); the others are for the final table.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import _robust_data as data
from benchmarks._data import available
from benchmarks._robust_class_report import print_accuracies
from benchmarks._robust_classifiers import CLASS_METHODS
from benchmarks._robust_detectors import DETECTORS
from benchmarks._robust_page import write_page
from benchmarks._robust_regressors import METHODS
from benchmarks._robust_report import (
    print_calibration,
    print_cells,
    print_contamination,
    print_false_alarms,
    print_flags,
    print_named,
    print_ratios,
)
from benchmarks._robust_runs import cells, run
from benchmarks._robust_speed import print_speed


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("benchmarks.robust", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    tasks = ("regression", "classification", "all")
    parser.add_argument("--task", choices=tasks, default="all")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="file of finished cells (JSON lines)")
    parser.add_argument("--page", type=Path, help="summary to write (Markdown)")
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--speed", action="store_true", help="only the CPU times")
    options = parser.parse_args(given)
    known = {
        "datasets": {*data.REGRESSION, *data.CLASSES, *data.CLEAN},
        "methods": {*METHODS, *CLASS_METHODS, *DETECTORS},
    }
    for name, names in known.items():
        for one in getattr(options, name) or ():
            if one not in names:
                parser.error(f"--{name}: no {one!r}; there are {sorted(names)}")
    return options


def main(given: list[str] | None = None) -> None:
    options = arguments(given or [])
    if options.speed:
        print_speed()
        return
    if not available():
        return
    chosen = options.datasets
    if options.development:
        chosen = [n for n in chosen or data.DEVELOPMENT if n in data.DEVELOPMENT]
    tasks = [options.task]
    if options.task == "all":
        tasks = ["regression", "classification"]
    ran = {}
    for task in tasks:
        wanted = list(cells(task, options.seeds, chosen, options.methods))
        ran[task] = records = run(wanted, options.out, options.jobs)
        if task == "regression":
            print_cells(records, "RMSE on clean test rows")
            print_ratios(records)
            print_contamination(records)
            print_flags(records)
            print_false_alarms(records)
            print_calibration(records)
            print_named(records)
        else:
            print_cells(records, "accuracy on clean test rows")
            print_accuracies(records)
            print_contamination(records, None)
            print_flags(records, None)
            print_calibration(records)
    if options.page is not None:
        write_page(options.page, ran)


if __name__ == "__main__":
    main(sys.argv[1:])
