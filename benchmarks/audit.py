"""What an audit finds of planted errors, and what it claims of clean tables.

    python -m benchmarks.audit [planted] [clean] [--seeds 3] [--clean 200] [--jobs 2]
        [--only ceiling "×10" ...]

Planted: every kind of error in every table. Precision and recall of the rows named (by
flags, or by the section whose errors they are), and how often the section named the
column, level or cause. Clean: simulated tables of six kinds; how many have a row
flagged, and how many a section that claims something. Real tables have peculiarities of
their own, which count as false here: 13 zeros in six columns of breast cancer, the
whole numbers of s4 in diabetes.
"""

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import lrisk
from benchmarks._audit_data import (
    CLASSES,
    KINDS,
    OF_CLASSES,
    OF_NUMBERS,
    TABLES,
    simulated,
)


class Score(NamedTuple):
    """Rows named and wrong, and whether the right section named what it should."""

    named: int
    hits: int
    wrong: int
    right_cause: bool
    expected_false: float


def _audit(data: Any, task: str, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lrisk.audit(data, "y", task=task, seed=seed)


def planted(job: tuple[str, str, int]) -> Score:
    """One kind of error in one table."""
    table, kind, seed = job
    classes = table in CLASSES
    plant = (OF_CLASSES if classes else OF_NUMBERS)[kind]
    rng = np.random.default_rng([seed, 7])
    made = plant(TABLES[table](seed), rng)
    if classes:
        made.data["y"] = np.asarray(made.data["y"]).astype(str).astype(object)
    task = "classification" if classes else "regression"
    result = _audit(made.data, task, seed)
    named, cause = result.flags, True
    if made.section != "rows":
        found = [f for f in result.findings if f.section == made.section]
        if made.named:
            found = [f for f in found if made.named in (*f.columns, *f.values.values())]
        named = np.zeros(len(made.wrong), dtype=bool)
        named[[row - 1 for f in found for row in f.rows]] = True
        cause = bool(found)
    hits = int(np.sum(named & made.wrong))
    false = float(result.expected_false_flags)
    return Score(int(named.sum()), hits, int(made.wrong.sum()), cause, false)


def clean(job: tuple[str, int]) -> tuple[int, list[str]]:
    """Rows flagged in a clean table, and sections that claim something."""
    kind, seed = job
    result = _audit(simulated(kind, seed), "regression", seed)
    return int(result.flags.sum()), sorted({f.section for f in result.findings})


def _jobs(seeds: int, only: list[str]) -> Iterator[tuple[str, str, int]]:
    for table in TABLES:
        for kind in OF_CLASSES if table in CLASSES else OF_NUMBERS:
            if not only or any(word in kind for word in only):
                yield from ((table, kind, seed) for seed in range(seeds))


def print_planted(pool: Any, seeds: int, only: list[str]) -> None:
    """A line for each kind of error, over all tables."""
    jobs = list(_jobs(seeds, only))
    kinds: dict[tuple[bool, str], list[Score]] = defaultdict(list)
    for (table, kind, _), score in zip(jobs, pool.map(planted, jobs), strict=True):
        kinds[table in CLASSES, kind].append(score)
    print(f"{'':<28}{'precision':>10}{'recall':>8}{'named':>8}{'false':>7}{'said':>7}")
    for (classes, kind), scores in kinds.items():
        found, hits, wrong, causes, false = map(sum, zip(*scores, strict=True))
        name = f"{'classes: ' if classes else ''}{kind}"
        precision = hits / found if found else float("nan")
        print(
            f"{name:<28}{precision:>10.2f}{hits / wrong:>8.2f}"
            f"{causes / len(scores):>8.0%}{found - hits:>7}{false:>7.1f}"
        )


def print_clean(pool: Any, count: int) -> None:
    """A line for each kind of clean table."""
    jobs = [(KINDS[i % len(KINDS)], i) for i in range(count)]
    found: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
    for (kind, _), one in zip(jobs, pool.map(clean, jobs), strict=True):
        found[kind].append(one)
    for kind, results in found.items():
        flagged = sum(rows > 0 for rows, _ in results)
        claims = sum(bool(sections) for _, sections in results)
        words = f"{flagged} with a row flagged, {claims} with a claim"
        print(f"{kind:<18}{len(results):>4} clean tables: {words}")


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("benchmarks.audit", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", choices=["planted", "clean", []])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--clean", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args(given)
    with ProcessPoolExecutor(options.jobs) as pool:
        if "planted" in (options.parts or ["planted"]):
            print_planted(pool, options.seeds, options.only)
        if "clean" in (options.parts or ["clean"]):
            print_clean(pool, options.clean)


if __name__ == "__main__":
    main(sys.argv[1:])
