"""Command line of the experiments."""

import argparse
import os
import sys
import traceback
from pathlib import Path

from experiments._data import FOLDER, SHIPPED, SOURCES, DataUnavailable, fetch
from experiments._experiment import Experiment, Settings, all_experiments
from experiments._page import Page
from experiments._store import run
from experiments._summary import summary

#: Finished runs (not in version control), and where pages of shorter runs go.
KEPT = Path(".experiments")
RESULTS = Path("docs") / "results"


def arguments(given: list[str] | None) -> argparse.Namespace:
    names = list(all_experiments())
    parser = argparse.ArgumentParser(
        "python -m experiments",
        description="Run the papers' experiments again, beside the printed numbers.",
        epilog=f"experiments: {', '.join(names)}; fetch puts data sets into --data; "
        "summary counts the cells of the tables that were run",
    )
    also = ("all", "list", "fetch", "summary")
    parser.add_argument("name", choices=[*also, *names], metavar="NAME")
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="SET",
        help="of fetch: data sets (default: every one)",
    )
    parser.add_argument("--data", type=Path, help=f"folder of data sets (or {FOLDER})")
    parser.add_argument(
        "--seeds", type=int, help="default: 5, of tables 1 to 4 10, with --quick 2"
    )
    parser.add_argument("--quick", action="store_true", help="minutes instead of hours")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--out", type=Path, help="folder of the pages")
    parser.add_argument("--fresh", action="store_true", help="run finished cells again")
    options = parser.parse_args(given)
    for name in ("seeds", "jobs"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1, not {value}")
    if options.sets and options.name != "fetch":
        parser.error(f"data sets are named after fetch only, not {options.name}")
    unknown = [name for name in options.sets if name not in (*SOURCES, *SHIPPED)]
    if unknown:
        known = ", ".join((*SOURCES, *SHIPPED))
        parser.error(f"no data set {unknown[0]!r}; there are {known}")
    if options.data is not None and options.name != "fetch":
        if not options.data.is_dir():
            parser.error(f"--data must be a folder; {options.data} is none")
        os.environ[FOLDER] = str(options.data.resolve())
    return options


def carry_out(experiment: Experiment, options: argparse.Namespace) -> Path:
    """Run what is left of one experiment and write its page."""
    size = "quick" if options.quick else "full"
    seeds = options.seeds or (2 if options.quick else experiment.seeds)
    folder = options.out or (KEPT / "quick" if options.quick else RESULTS)
    kept = KEPT / size / f"{experiment.name}.jsonl"
    settings = Settings(size, seeds)
    # A fresh run replaces the former one only when it is complete.
    place = kept.with_suffix(".fresh.jsonl") if options.fresh else kept
    records = run(experiment, experiment.cells(settings), place, options.jobs)
    os.replace(place, kept)
    page = Page(folder, experiment.name, experiment.title, size)
    experiment.report(records, page)
    command = f"python -m experiments {experiment.name}"
    command += f" --seeds {seeds}" + (" --quick" if options.quick else "")
    cpu = sum(record["cpu"] for record in records)
    commits = sorted({record["commit"] for record in records if record.get("commit")})
    return page.write(command, cpu, seeds, commits)


def fetched(options: argparse.Namespace) -> int:
    """Fetch every set that is named; say what cannot be had, and from where."""
    given = options.data or (Path(os.environ[FOLDER]) if FOLDER in os.environ else None)
    place, failed = given or KEPT / "data", 0
    for name in options.sets or SOURCES:
        try:
            path = fetch(name, place)
            print(f"{name}: {path or 'scikit-learn ships it'}", flush=True)
        except DataUnavailable as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            failed = 1
    if given is None:
        print(f"use them with --data {place} or {FOLDER}={place}")
    return failed


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    if options.name == "fetch":
        return fetched(options)
    if options.name == "summary":
        size = "quick" if options.quick else "full"
        for line in summary(KEPT / size):
            print(line)
        return 0
    known = all_experiments()
    if options.name == "list":
        for experiment in known.values():
            print(f"{experiment.name:<24} {experiment.title}")
        return 0
    chosen = known.values() if options.name == "all" else [known[options.name]]
    failed = 0
    for experiment in chosen:
        try:
            print(f"wrote {carry_out(experiment, options)}", flush=True)
        except DataUnavailable as problem:
            print(f"{experiment.name}: {problem}", file=sys.stderr)
            failed = 1
        except KeyboardInterrupt:
            print("interrupted: finished cells are kept, the same command goes on")
            return 130
        except Exception:  # the other experiments need not suffer
            print(f"{experiment.name} failed; finished cells are kept", file=sys.stderr)
            traceback.print_exc()
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
