"""What an audit finds of planted errors, and what it claims of clean tables.

    python -m benchmarks.audit [planted] [sections] [clean] [speed] [--seeds 3]
        [--clean 210] [--jobs 2] [--only "×10" source ...] [--tables boston wine ...]
        [--records FOLDER]

planted: every kind of error in every table, beside cleanlab's Datalab (if installed),
IsolationForest and a rule of three standard deviations. Precision/recall of the rows
named; "visible" counts wrong rows that a good model could tell: targets moved by more
than six standard deviations of what a forest errs by, features beyond their range. The
sections that name what was planted; false claims; rows flagged falsely beside the
number that the audits expected, which should be inside the 95 % interval of Poisson
counts with half to twice that mean. Peculiarities of real tables, listed in
`_audit_tables.py`, count for nothing.

sections: errors that are the matter of columns, copies or sources, as those sections
find them by themselves, whatever is flagged: minutes instead of hours.

clean: simulated tables of seven kinds, and the real tables as they are (those count
for no goal). speed: three sizes on the command line.

With ``--records`` finished audits are kept in that folder, and a run with the same one
goes on; runs of other kinds or tables may fill it at the same time.

Every line is printed as soon as it is known. At the end: which goals are met; the
status is 1 if one is missed.
"""

import argparse
import functools
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import lrisk
from benchmarks import _audit_report as report
from benchmarks._audit_errors import (
    OF_CLASSES,
    OF_NUMBERS,
    Clean,
    Planted,
    typical_error,
)
from benchmarks._audit_report import OURS, SECTION, Goal, Outcome
from benchmarks._audit_rivals import DATALAB, rivals
from benchmarks._audit_scores import (
    Alarms,
    by_section,
    counted,
    is_known,
    is_true,
    names_cause,
)
from benchmarks._audit_tables import (
    KINDS,
    SIZES,
    TABLES,
    TRUE_OF,
    Source,
    peculiar,
    simulated,
)
from benchmarks._data import available
from benchmarks._records import Kept
from lrisk.analysis.audit.sections import SECTIONS, Context, part_of_false_claims
from lrisk.tables import table_of

#: Sections that look at the table alone.
NO_FIT = ("columns", "copies", "sources")
#: A kind of error, or nothing planted; the table; the seed.
Job = tuple[str, str, int]


def _audit(data: Any, classes: bool, seed: int) -> Any:
    task = "classification" if classes else "regression"
    return lrisk.audit(data, "y", task=task, random_state=seed)


def _in_words(finding: Any) -> str:
    columns = ", ".join(finding.columns)
    return f"{finding.section}: {finding.kind} {columns} ({finding.count} rows)"


@functools.lru_cache(maxsize=64)  # all tables of three seeds
def _clean(table: str, seed: int) -> Clean:
    source = TABLES[table]
    data = source.load(seed)
    return Clean(data, 0.0 if source.classes else typical_error(data))


def planted(job: Job) -> Outcome:
    """One kind of error in one table, by all methods."""
    kind, table, seed = job
    source = TABLES[table]
    clean = _clean(table, seed)
    plant = (OF_CLASSES if source.classes else OF_NUMBERS)[kind]
    made = plant(clean, np.random.default_rng([seed, 7]))
    odd = peculiar(source, clean.data)[made.origin]
    if made.spared is not None:
        odd |= made.spared
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of any method: what it found is counted
        began = time.perf_counter()
        result = _audit(made.data, source.classes, seed)
        seconds = time.perf_counter() - began
        others = rivals(made, source.classes, seed)
    named = {OURS: result.flags, **others}
    if made.section != "rows":
        named[SECTION] = by_section(result.findings, made)
    counts = {method: counted(rows, made, odd) for method, rows in named.items()}
    alarms = _alarms(result, made, odd)
    return _outcome(result.findings, source, made, counts, alarms, seconds)


def by_themselves(job: Job) -> Outcome | None:
    """What sections that need no fit say of one kind of error; None if not theirs."""
    kind, table, seed = job
    source = TABLES[table]
    # How far off a good model is matters to bad sources only.
    clean = _clean(table, seed) if "source" in kind else Clean(source.load(seed))
    plant = (OF_CLASSES if source.classes else OF_NUMBERS)[kind]
    made = plant(clean, np.random.default_rng([seed, 7]))
    task = "classification" if source.classes else "regression"
    if made.section not in NO_FIT or (source.classes and made.section == "sources"):
        return None
    context = Context(table_of(made.data, "y", task), part_of_false_claims())
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [f for s in SECTIONS if s.name in NO_FIT for f in s.find(context)]
    seconds = time.perf_counter() - began
    odd = peculiar(source, clean.data)[made.origin]
    if made.spared is not None:
        odd |= made.spared
    named = by_section(found, made)
    counts = {SECTION: counted(named, made, odd)}
    return _outcome(found, source, made, counts, Alarms(0, 0.0), seconds)


def untouched(job: Job) -> Outcome:
    """A table in which nothing was planted: a simulated one, or a real one."""
    _, table, seed = job
    source = TABLES.get(table)
    if source is None:
        size = SIZES[seed % len(SIZES)]
        data = simulated(table, seed, size)
        source = Source(lambda _: data, TRUE_OF.get(table, ()), table == "classes")
    data = source.load(seed)
    n = len(data["y"])
    nothing = Planted(data, np.zeros(n, dtype=bool), np.arange(n), "rows", ("",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        result = _audit(data, source.classes, seed)
        seconds = time.perf_counter() - began
    odd = peculiar(source, data)
    counts = {OURS: counted(result.flags, nothing, odd)}
    alarms = _alarms(result, nothing, odd)
    return _outcome(result.findings, source, nothing, counts, alarms, seconds)


def _alarms(result: Any, made: Planted, odd: Any) -> Alarms:
    actual = int(np.sum(result.flags & ~made.wrong & ~odd))
    return Alarms(actual, float(result.expected_false_flags))


def _outcome(
    findings: Any, source: Source, made: Planted, counts: Any, alarms: Alarms,
    seconds: float,
) -> Outcome:  # fmt: skip
    true = [f for f in findings if is_true(f, made)]
    false = [f for f in findings if f not in true and not is_known(f, source.known)]
    return Outcome(
        counts,
        tuple(sorted({f.section for f in true if names_cause(f, made)})),
        tuple(_in_words(f) for f in false),
        any(f.section == "slips" for f in false),
        alarms,
        seconds,
    )


def _tables(names: list[str]) -> list[str]:
    """Tables asked for, or all; those of the shared folder only if there is one."""
    asked = [name for name in TABLES if not names or name in names]
    if any(TABLES[name].shared for name in asked) and not available():
        asked = [name for name in asked if not TABLES[name].shared]
    return asked


def _planted_jobs(tables: list[str], seeds: int, only: list[str]) -> list[Job]:
    """Kind by kind, so that a kind is told as soon as it is done."""
    return [
        (kind, table, seed)
        for classes, kinds in ((False, OF_NUMBERS), (True, OF_CLASSES))
        for kind in kinds
        if not only or any(_means(word, kind) for word in only)
        for table in tables
        if TABLES[table].classes == classes
        for seed in range(seeds)
    ]


def _means(word: str, kind: str) -> bool:
    """Whether a word stands for a kind: its name, or a part of several names."""
    exact = word in OF_NUMBERS or word in OF_CLASSES
    return word == kind if exact else word in kind


def _line(job: Job, outcome: Outcome) -> str:
    kind, table, seed = job
    own = outcome.counts[OURS]
    text = f"{kind}, {table}, seed {seed}: {own.named} flagged"
    if own.wrong:
        causes = " and ".join(outcome.named_by) or "no section"
        text += f", {own.right} of {own.wrong} wrong rows; named by {causes}"
    if outcome.false:
        text += f"; FALSE {'; '.join(outcome.false)}"
    return f"{text}; {outcome.seconds:.1f} s"


def _told(
    jobs: list[Job],
    run: Callable[[Job], Outcome],
    mapped: Any,
    name: Callable[[Job], str],
    tell: Callable[[str, list[Outcome]], str],
) -> dict[str, list[Outcome]]:
    """Outcomes by kind; each is told when it comes, and each kind when it is done."""
    left: dict[str, int] = defaultdict(int)
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for job in jobs:
        left[name(job)] += 1
    outcomes: Iterable[Outcome] = mapped(run, jobs)
    for i, (job, outcome) in enumerate(zip(jobs, outcomes, strict=True), 1):
        kind = name(job)
        kinds[kind].append(outcome)
        print(f"[{i}/{len(jobs)}] {_line(job, outcome)}", flush=True)
        left[kind] -= 1
        if not left[kind]:
            print(tell(kind, kinds[kind]), flush=True)
    return kinds


def _kind(job: Job) -> str:
    return f"classes: {job[0]}" if TABLES[job[1]].classes else job[0]


def run_planted(mapped: Any, options: Any) -> Iterator[Goal]:
    """Every kind of error in every table; the goals."""
    if not DATALAB:
        print("cleanlab[datalab] is not installed: its column is missing")
    jobs = _planted_jobs(_tables(options.tables), options.seeds, options.only)
    kinds = _told(jobs, planted, mapped, _kind, report.of_kind)
    print(f"\n{report.as_table(kinds)}\n", flush=True)
    yield from report.planted_goals(kinds)
    yield from _outside(kinds)


def run_sections(mapped: Any, options: Any) -> Iterator[Goal]:
    """Columns, copies and sources by themselves; the goals that are theirs."""
    jobs = _planted_jobs(_tables(options.tables), options.seeds, options.only)
    last = {_kind(job): job for job in jobs}
    kinds: dict[str, list[Outcome]] = {}
    for job, outcome in zip(jobs, mapped(by_themselves, jobs), strict=True):
        if outcome is None:
            continue
        own = kinds.setdefault(_kind(job), [])
        own.append(outcome)
        for claim in outcome.false:
            print(f"{job}: FALSE {claim}", flush=True)
        if job == last[_kind(job)]:
            print(report.of_kind(_kind(job), own), flush=True)
    yield from report.planted_goals(kinds)


def run_clean(mapped: Any, options: Any) -> Iterator[Goal]:
    """Simulated clean tables, and real ones as they are; the goals of the first."""
    jobs = [("clean", KINDS[i % len(KINDS)], i) for i in range(options.clean)]
    jobs.sort(key=lambda job: KINDS.index(job[1]))
    kinds = _told(
        jobs, untouched, mapped, lambda job: f"clean {job[1]}", report.of_clean
    )
    real = [name for name in _tables(options.tables) if name not in (*KINDS, "people")]
    as_is = [("as it is", name, 0) for name in real]
    _told(as_is, untouched, mapped, lambda job: job[1], report.of_clean)
    yield from report.clean_goals(kinds)
    yield from _outside(kinds)


def _outside(kinds: dict[str, list[Outcome]]) -> Iterator[Goal]:
    """By kind: how far the false flags are outside the interval, in rows."""
    for kind, outcomes in kinds.items():
        found = report.alarms(outcomes)
        low, high = found.interval
        beyond = max(low - found.actual, found.actual - high, 0)
        yield Goal(f"{kind}, false flags beyond {low}–{high}", beyond, 0, False)


def main(given: list[str] | None = None) -> int:
    """Run the parts that are asked for; 1 if a goal is missed."""
    parser = argparse.ArgumentParser("benchmarks.audit", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parts = ("planted", "sections", "clean", "speed")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--clean", type=int, default=30 * len(KINDS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[], help="kinds, or words")
    parser.add_argument("--tables", nargs="+", default=[], help=", ".join(TABLES))
    parser.add_argument("--records", type=Path, help="folder of finished audits")
    options = parser.parse_args([] if given is None else given)
    asked = options.parts or ["planted", "clean"]
    for name in asked:
        if name not in parts:
            parser.error(f"no part {name!r}; there are {', '.join(parts)}")
    for name in options.tables:
        if name not in TABLES:
            parser.error(f"no table {name!r}; there are {', '.join(TABLES)}")
    goals: list[Goal] = []
    with ProcessPoolExecutor(options.jobs) as pool:

        def mapped(run: Callable[[Job], Any], jobs: list[Job]) -> Iterator[Any]:
            own = Kept(run, options.records)
            return pool.map(own, jobs) if options.jobs > 1 else map(own, jobs)

        if "planted" in asked:
            goals += run_planted(mapped, options)
        if "sections" in asked:
            goals += run_sections(mapped, options)
        if "clean" in asked:
            goals += run_clean(mapped, options)
    if "speed" in asked:
        from benchmarks._audit_speed import run_speed

        goals += run_speed()
    print("\nGoals")
    for goal in goals:
        print(goal.words())
    missed = sum(not goal.met for goal in goals)
    print(f"{len(goals) - missed} met, {missed} missed", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
