"""Wrong labels: what `LabelErrorDetector` finds, beside cleanlab where it is installed.

    python -m benchmarks.labels [noise] [clean] [bounded] [found] [intervals]
        [--all] [--seeds 5] [--draws 60] [--rows 20000] [--jobs 2]
        [--tables NAME ...] [--records FOLDER] [--constant NAME=VALUE]

*noise*: tables clean and with labels made wrong: uniformly (sym), of the largest class
into the second largest (cc), and the more the farther out x is (far). For each cell the
mean over seeds of average precision of the scores, precision/recall of the flags, the
share that was found and the true one, false flags expected and found, and the answers.
*clean*: drawn tables of 10³ to 10⁵ rows whose classes x determines. *bounded*: drawn
tables whose classes no x determines, and what is said of them; nothing is promised.
*found*: noise that must be found. *intervals*: coverage and median width of
`contamination_interval_`, level .9, in that many draws of each cell. At the end each
goal, met or missed by how much; status 1 if one is missed.

Methods are developed on breast cancer, digits and drawn tables only; ``--all`` adds the
others to *noise*. ``--constant evidence=1.25`` runs with another value of a constant of
the judgement (processes are forked).

With ``--records`` finished fits are kept in that folder, and a run with the same one
goes on; runs of other parts or tables may fill it at the same time.
"""

import argparse
import dataclasses
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _labels_data as data
from benchmarks._data import available
from benchmarks._labels_goals import Cells, goals, mean, pooled
from benchmarks._labels_runs import CLEANLAB, INTERVALS, Job, Record, run
from benchmarks._records import Kept
from lrisk.procedures.label_noise.likelihood import CONSTANTS

PARTS = ("noise", "clean", "bounded", "found", "intervals")
NOISE = ("clean", "sym20", "sym40", "cc20", "far20")


def cells(part: str, every: bool) -> Iterator[tuple[str, str, str]]:
    """Table, noise and method of all cells of a part."""
    if part == "noise":
        names = [*data.DEVELOPMENT, *(data.OTHERS if every and available() else ())]
        for name in names:
            for noise in NOISE:
                yield name, noise, "lrisk"
                if CLEANLAB:
                    yield name, noise, "cleanlab"
    elif part == "found":
        for name in data.FOUND:
            yield name, "sym10" if name == "circle, n=2000" else "sym20", "lrisk"
    elif part == "intervals":
        for name, (_, noises) in INTERVALS.items():
            for noise in noises:
                yield name, noise, "lrisk"
    else:
        for name in data.DETERMINED if part == "clean" else data.BOUNDED:
            yield name, "clean", "lrisk"


def line(part: str, noise: str, records: list[Record]) -> str:
    """What is said of one cell."""
    counts = Counter(record.get("answer", "") for record in records)
    said = ", ".join(f"{count} {answer}" for answer, count in counts.items() if answer)
    if part == "intervals":
        width = float(np.median([record["width"] for record in records]))
        return (
            f"covers the law in {mean(records, 'covers'):.2f}, "
            f"these rows in {mean(records, 'covers_rows'):.2f}, width {width:.3f}  "
            + said
        )
    flags = [record["flags"] for record in records]
    end = f"{mean(records, 'cpu'):6.1f} s  {said}"
    if noise == "clean":
        told = f"flags {np.mean(flags):.1f}, at most {max(flags)}"
        if part == "bounded":
            ends = [mean_end(records, i) for i in range(2)]
            told += f", share {mean(records, 'share'):.3f} in [{ends[0]}, {ends[1]}]"
        return f"{told} of {mean(records, 'n'):.0f} {end}"
    precision, recall = pooled(records)
    true = mean(records, "wrong") / mean(records, "n")
    return (
        f"{mean(records, 'ap'):.2f} {precision:.2f}/{recall:.2f} "
        f"{mean(records, 'share'):.3f} ({true:.3f}) "
        f"{mean(records, 'expected'):.1f}/{mean(records, 'false'):.1f} {end}"
    )


def mean_end(records: list[Record], end: int) -> str:
    return f"{np.mean([record['interval'][end] for record in records]):.2f}"


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("benchmarks.labels", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--records", type=Path, help="folder of finished fits")
    names = {field.name for field in dataclasses.fields(CONSTANTS)}
    parser.add_argument("--constant", help=f"another value of one of {sorted(names)}")
    options = parser.parse_args([] if given is None else given)
    known = {table for part in PARTS for table, *_ in cells(part, True)}
    for name in options.tables or ():
        if name not in known:
            parser.error(f"--tables: no {name!r}; there are {sorted(known)}")
    if options.constant and options.records:
        parser.error("--records are of the constants as they are")
    if options.constant:
        name, _, value = options.constant.partition("=")
        if name not in names:
            parser.error(f"--constant: no {name!r}; there are {sorted(names)}")
        number = type(getattr(CONSTANTS, name))(value)
        object.__setattr__(CONSTANTS, name, number)  # frozen for all others
    if not CLEANLAB:
        print("cleanlab is not installed: its lines are missing (pip install cleanlab)")
    print("average precision, precision/recall, share (true), false expected/found")
    jobs = [
        Job(part, *cell, seed, options.rows)
        for part in options.parts or PARTS
        for cell in cells(part, options.all)
        if options.tables is None or cell[0] in options.tables
        for seed in range(options.draws if part == "intervals" else options.seeds)
    ]
    if not jobs:
        parser.error("no part that was asked for has one of these tables")
    finished: Cells = defaultdict(list)
    with ProcessPoolExecutor(options.jobs) as pool:
        kept = Kept(run, options.records)
        outcomes = pool.map(kept, jobs) if options.jobs > 1 else map(kept, jobs)
        pairs: Any = zip(jobs, outcomes, strict=True)
        for cell, own in groupby(pairs, key=lambda pair: pair[0].cell):
            part, name, noise, method = cell
            finished[cell] = [record for _, record in own]
            words = line(part, noise, finished[cell])
            print(f"{part:<10}{name:<30}{noise:<6}{method:<9}{words}", flush=True)
    found = goals(finished)
    print("\n".join(map(str, found)))
    return int(not all(goal.met for goal in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
