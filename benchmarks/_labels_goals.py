"""What is promised of wrong labels, and whether records of the benchmark keep it."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import poisson

from benchmarks._labels_runs import INTERVALS, Record

#: Records of each cell: part, table, noise and method.
Cells = dict[tuple[str, str, str, str], list[Record]]


class Goal(NamedTuple):
    """A figure, and the bar that it must reach, or (`at_most`) not exceed."""

    words: str
    value: float
    bar: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def __str__(self) -> str:
        off = abs(self.value - self.bar)
        said = "met" if self.met else f"MISSED by {off:.3g}"
        sign = "≤" if self.at_most else "≥"
        return f"{self.words}: {self.value:.3g} (bar {sign} {self.bar:.3g}) {said}"


def mean(records: list[Record], key: str) -> float:
    """Mean over the records that have it, or NaN."""
    known = [record[key] for record in records if key in record]
    return float(np.mean(known)) if known else float("nan")


def pooled(records: list[Record]) -> tuple[float, float]:
    """Precision and recall of the flags of all seeds together; 0 without flags."""
    flags, wrong, false = (
        sum(record[key] for record in records) for key in ("flags", "wrong", "false")
    )
    return (flags - false) / max(flags, 1), (flags - false) / max(wrong, 1)


def silent(records: list[Record]) -> float:
    return float(np.mean([record["answer"] == "cannot tell" for record in records]))


def goals(cells: Cells) -> list[Goal]:
    """All goals of the parts that were run."""
    parts = {part for part, *_ in cells}
    found: list[Goal] = []
    if "noise" in parts:
        found += [*_noise(cells), *_false_flags(cells)]
    if "clean" in parts or "noise" in parts:
        found += _clean(cells)
    if "found" in parts:
        found += _found(cells)
    if "intervals" in parts:
        found += _intervals(cells)
    return found


def _share(hits: list[bool]) -> float:
    return float(np.mean(hits)) if hits else float("nan")


def _noise(cells: Cells) -> Iterator[Goal]:
    own = {
        (table, noise): records
        for (part, table, noise, method), records in cells.items()
        if part == "noise" and method == "lrisk" and noise != "clean"
    }
    rival = {
        (table, noise): records
        for (_, table, noise, method), records in cells.items()
        if method == "cleanlab" and noise != "clean"
    }
    ranked = [mean(own[c], "ap") >= mean(rival[c], "ap") - 0.02 for c in rival]
    if ranked:
        words = f"cells with average precision ≥ cleanlab − .02, of {len(ranked)}"
        yield Goal(words, _share(ranked), 0.9)
    biased = [
        records
        for (_, noise), records in own.items()
        if noise.startswith("cc")
        and mean(records, "accuracy") >= 0.9
        and mean(records, "wrong") >= 50
    ]
    if biased:
        said = f"of {len(biased)} with clean accuracy ≥ .9 and ≥ 50 wrong rows"
        scores = [pooled(records) for records in biased]
        good = [precision >= 0.85 and recall >= 0.3 for precision, recall in scores]
        words = f"one class into another, {said}: precision ≥ .85 and recall ≥ .3"
        yield Goal(words, _share(good), 0.8)
        words = f"one class into another, {said}: tables that cannot tell"
        yield Goal(words, float(np.mean([silent(r) for r in biased])), 0.2, True)
    near = [
        abs(mean(records, "share") - mean(records, "wrong") / mean(records, "n"))
        <= 0.05
        for (_, noise), records in own.items()
        if noise.startswith("sym")
    ]
    words = f"uniform: cells whose mean share is within .05, of {len(near)}"
    yield Goal(words, _share(near), 0.8)


def _false_flags(cells: Cells) -> Iterator[Goal]:
    """Pooled false flags inside the 95 % Poisson interval of E/2 … 2E."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for (part, _, noise, method), records in cells.items():
        if part == "noise" and method == "lrisk" and noise != "clean":
            groups[noise] += records
    for noise, records in groups.items():
        expected = sum(record["expected"] for record in records)
        actual = sum(record["false"] for record in records)
        words = f"false flags under {noise}, {expected:.1f} expected"
        yield Goal(words, actual, float(poisson.ppf(0.025, expected / 2)))
        yield Goal(words, actual, float(poisson.ppf(0.975, expected * 2)), True)


def _clean(cells: Cells) -> Iterator[Goal]:
    records = [
        record
        for (part, _, noise, method), all_ in cells.items()
        if method == "lrisk" and noise == "clean" and part in ("noise", "clean")
        for record in all_
    ]
    over = [record["flags"] - max(1.0, 0.005 * record["n"]) for record in records]
    words = f"rows flagged above max(1, .5 %), worst of {len(records)} clean tables"
    yield Goal(words, max(over), 0.0, True)
    words = "share of a class flagged, beyond one row, worst of clean tables"
    yield Goal(words, max(record["class"] for record in records), 0.02, True)
    shares = defaultdict(list)
    for record in records:
        shares[int(np.log10(record["n"]))].append(record["flags"] / record["n"])
    if len(shares) > 1:
        steps = [float(np.mean(shares[size])) for size in sorted(shares)]
        words = "share flagged of the largest clean tables less that of the smallest"
        yield Goal(words, steps[-1] - steps[0], 0.0, True)


def _found(cells: Cells) -> Iterator[Goal]:
    for (part, table, noise, _), records in cells.items():
        if part == "found":
            near = [
                record["answer"] == "noise"
                and abs(record["share"] - record["wrong"] / record["n"]) <= 0.05
                for record in records
            ]
            words = f"{table}, {noise}: tables with the noise found, within .05"
            yield Goal(words, _share(near), 1.0)


def _intervals(cells: Cells) -> Iterator[Goal]:
    """Intervals of level .9, the noises of one kind of table together."""
    for table in INTERVALS:
        records = [
            record
            for (part, name, *_), all_ in cells.items()
            if part == "intervals" and name == table
            for record in all_
        ]
        if records:
            words = f"intervals, {table}: coverage in {len(records)} draws"
            yield Goal(words, mean(records, "covers"), 0.85)
            yield Goal(words, mean(records, "covers"), 0.97, True)
            widths = [record["width"] for record in records]
            words = f"intervals, {table}: median width"
            yield Goal(words, float(np.median(widths)), 0.1, True)
