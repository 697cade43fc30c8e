"""The runs as one page of Markdown: errors beside the rivals', and the bars."""

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import _robust_data as data
from benchmarks._robust_class_report import PLAIN, print_accuracies
from benchmarks._robust_report import (
    by_cell,
    mean,
    print_contamination,
    print_false_alarms,
    print_flags,
    print_named,
    print_ratios,
)
from benchmarks._robust_runs import KERNELS, Record

HEAD = """# Robust fits beside their rivals

Written by `python -m benchmarks.robust --page` from {seeds}.

Training rows are made wrong, test rows stay clean: 70 % of a data set train (at most
{most}, of satimage {satimage}). `RobustRegressor` and `RobustClassifier` are not told
how many rows are wrong; every rival is told the true share where it takes one, and its
penalties and widths are searched by a trimmed criterion. The oracle is the ordinary fit
without the wrong rows. Label: targets drawn from N(5, 5) in standard deviations, or
flipped classes; label+feature: the whole row is replaced; leverage: rows moved together
to one far place on the wrong side. Methods were developed on boston, diabetes, breast
cancer and synthetic data; the other sets were kept for this table.
"""
PRINTERS: dict[str, tuple[Callable[[list[Record]], None], ...]] = {
    "regression": (
        print_ratios,
        print_contamination,
        print_flags,
        print_false_alarms,
        print_named,
    ),
    "classification": (print_accuracies,),
}


def write_page(path: Path, records: dict[str, list[Record]]) -> None:
    """Write the tasks that were run; nothing is run here."""
    parts = [
        HEAD.format(
            seeds=_seeds([r for runs in records.values() for r in runs]),
            most=data.MOST_TRAINING,
            satimage=data.MOST_SATIMAGE,
        )
    ]
    for task, runs in records.items():
        writer = _regression if task == "regression" else _classification
        parts += [*writer(runs), "## Bars: " + task, *_bars(task, runs)]
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n")


def _seeds(records: list[Record]) -> str:
    counts: dict[str, set[int]] = {}
    for r in records:
        counts.setdefault(r["data"], set()).add(r["seed"])
    most = max(map(len, counts.values()))
    fewer = [f"{name} {len(s)}" for name, s in counts.items() if len(s) < most]
    return f"{most} seeds" + (f" ({', '.join(fewer)})" if fewer else "")


def _regression(records: list[Record]) -> Iterator[str]:
    table = by_cell(r for r in records if r["corruption"] not in data.HARD_CORRUPTIONS)
    for kernel in KERNELS:
        yield f"## Regression, {kernel}: RMSE over the oracle's"
        lines = [
            "| data | wrong | ordinary | **RobustRegressor** | subquantile, told |"
            " best other, told | CPU s |",
            "|---|---|---|---|---|---|---|",
        ]
        for (name, corruption, of), methods in table.items():
            if of != kernel or name not in data.REGRESSION or "robust" not in methods:
                continue
            oracle = mean(methods["oracle"])
            ratio = {m: mean(runs) / oracle for m, runs in methods.items()}
            own = ("ordinary", "robust", "subquantile", "oracle")
            others = {m: r for m, r in ratio.items() if m not in own and np.isfinite(r)}
            best = min(others, key=lambda m: others[m])
            cells = [f"{ratio[m]:.2f}" for m in own[:3]]
            cells[1] = f"**{cells[1]}**"
            cells += [f"{others[best]:.2f} {best}", f"{_cpu(methods['robust']):.1f}"]
            lines.append("| " + " | ".join([name, corruption, *cells]) + " |")
        yield "\n".join(lines)


def _cpu(runs: list[Record]) -> float:
    return mean(runs, "cpu")


def _classification(records: list[Record]) -> Iterator[str]:
    for kernel in KERNELS:
        yield f"## Classification, {kernel}: accuracy on clean rows, in points"
        lines = [
            "| data | wrong | " + " | ".join(PLAIN) + " | **RobustClassifier** |"
            " ± | oracle |",
            "|---" * (len(PLAIN) + 5) + "|",
        ]
        for (name, corruption, of), methods in by_cell(records).items():
            if of != kernel or "robust" not in methods:
                continue
            ours = [r["error"] for r in methods["robust"] if "error" in r]
            error = 100 * float(np.std(ours)) / max(len(ours) - 1, 1) ** 0.5
            cells = [f"{100 * mean(methods[m]):.1f}" for m in PLAIN]
            cells += [f"**{100 * mean(methods['robust']):.1f}**", f"{error:.1f}"]
            cells.append(f"{100 * mean(methods['oracle']):.1f}")
            lines.append("| " + " | ".join([name, corruption, *cells]) + " |")
        yield "\n".join(lines)
    yield "±: standard error of RobustClassifier's mean over the splits."


def _bars(task: str, records: list[Record]) -> Iterator[str]:
    """The lines of the printed report that name a bar."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for report in PRINTERS[task]:
            report(records)
    lines = [line for line in said.getvalue().splitlines() if "bar" in line]
    yield "\n".join("- " + " ".join(line.split()) for line in lines)
