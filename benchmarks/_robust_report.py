"""Tables of the runs, and the bars a robust method must clear."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks import _robust_data as data
from benchmarks._robust_runs import Record

Place = tuple[str, str, str]  # data, corruption, kernel


def by_cell(records: Iterable[Record]) -> dict[Place, dict[str, list[Record]]]:
    """Records over seeds, by cell and method, in the order of the table."""
    table: dict[Place, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for r in records:
        table[r["data"], r["corruption"], r["kernel"]][r["method"]].append(r)
    return dict(sorted(table.items(), key=lambda item: (item[0][2], item[0])))


def grouped(records: Iterable[Record], *names: str) -> dict[Any, list[Record]]:
    """Records by the values of one or more fields, in order of appearance."""
    groups: dict[Any, list[Record]] = defaultdict(list)
    for r in records:
        key = tuple(r[name] for name in names)
        groups[key if len(names) > 1 else key[0]].append(r)
    return groups


def mean(records: list[Record], name: str = "error") -> float:
    values = [r[name] for r in records if r.get(name) is not None]
    return float(np.mean(values)) if values else float("nan")


def print_cells(records: list[Record], what: str) -> None:
    """Mean and sd over seeds, and CPU seconds, of every method in every cell."""
    print(f"\n{what}: mean (sd over seeds), CPU seconds")
    for place, methods in by_cell(records).items():
        lines, seeds = [], 0
        for method, runs in methods.items():
            values = [r["error"] for r in runs if "error" in r]
            if values:
                seeds = max(seeds, len(values))
                text = f"{np.mean(values):.4g} ({np.std(values):.2g})"
                lines.append(f"{method:<12}{text:>20}{mean(runs, 'cpu'):>9.3f}")
            elif any("failed" in r for r in runs):
                lines.append(f"{method:<12}  failed: {runs[0]['failed'][:60]}")
        if lines:
            print("-- " + ", ".join(place) + f" ({seeds} seeds)")
            print("\n".join(lines))


def share(values: Iterable[bool]) -> str:
    values = list(values)
    if not values:
        return "none run"
    return f"{np.mean(values):.0%} of {len(values)}"


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def _kind(corruption: str) -> str:
    return corruption.rsplit(" ", 1)[0]


# -- regression: Done when 2 -----------------------------------------------------------


def print_ratios(records: list[Record]) -> None:
    table = by_cell(r for r in records if r["corruption"] not in data.HARD_CORRUPTIONS)
    table = {k: v for k, v in table.items() if k[0] in data.REGRESSION}
    if not any("robust" in methods for methods in table.values()):
        print("\nRobustRegressor was not run: no bars")
        return
    print("\nRobustRegressor: error over the oracle's, cell by cell")
    ratios: dict[Place, float] = {}
    for place, methods in table.items():
        if "robust" in methods and "oracle" in methods:
            ratios[place] = mean(methods["robust"]) / mean(methods["oracle"])
            rest = {
                m: mean(runs) / mean(methods["oracle"])
                for m, runs in methods.items()
                if m not in ("robust", "oracle")
            }
            rest = {m: v for m, v in rest.items() if np.isfinite(v)}
            best = min(rest, key=lambda m: rest[m], default=None)
            beside = f"best other {best} {rest[best]:.3f}" if best else ""
            print(f"{', '.join(place):<44}{ratios[place]:>8.3f}   {beside}")
    spoiled = ("label", "label+feature")
    for kernel, limit, needed in (("linear", 1.1, 0.85), ("rbf", 1.1, 0.7),
                                  ("rbf", 1.25, 0.85)):  # fmt: skip
        inside = [
            ratio <= limit
            for (_, corruption, k), ratio in ratios.items()
            if k == kernel and _kind(corruption) in spoiled
        ]
        reached = bool(inside) and np.mean(inside) >= needed
        print(
            f"{kernel}: at most {limit} of the oracle in {share(inside)} label and "
            f"label+feature cells (bar {needed:.0%}): {verdict(bool(reached))}"
        )
    _print_clean(table)
    _print_best(table)
    if ratios:
        worst = max(ratios, key=lambda place: ratios[place])
        print(f"worst ratio: {ratios[worst]:.3f} in {', '.join(worst)}")


def _print_clean(table: dict[Place, dict[str, list[Record]]]) -> None:
    excess = {
        place: mean(methods["robust"]) / mean(methods["ordinary"]) - 1
        for place, methods in table.items()
        if place[1] == "clean" and {"robust", "ordinary"} <= set(methods)
    }
    if excess:
        worst = max(excess, key=lambda place: excess[place])
        print(
            f"clean: at most {excess[worst]:+.1%} of the ordinary error, in "
            f"{', '.join(worst)} (bar +3 %): {verdict(excess[worst] <= 0.03)}"
        )


def _print_best(table: dict[Place, dict[str, list[Record]]]) -> None:
    near = {}
    for place, methods in table.items():
        errors = {m: mean(runs) for m, runs in methods.items() if m != "oracle"}
        errors = {m: e for m, e in errors.items() if np.isfinite(e)}
        if "robust" in errors and len(errors) > 1:
            near[place] = errors["robust"] <= 1.05 * min(errors.values())
    if near:
        print(
            f"best or within 5 % of the best non-oracle in {share(near.values())} "
            f"cells (bar 70%): {verdict(np.mean(list(near.values())) >= 0.7)}"
        )
        left = [", ".join(place) for place, good in near.items() if not good]
        print("  not there: " + ("; ".join(left) or "nowhere"))


# -- regression: Done when 3 -----------------------------------------------------------


def print_contamination(records: list[Record], bar: float | None = 0.8) -> None:
    """The estimated share of wrong rows, over single runs and over cells."""
    runs = [r for r in records if r["method"] == "robust" and "contamination" in r]
    if not runs:
        return
    print("\ncontamination_ and its interval, over single runs")
    print(f"{'':<24}{'runs':>5}{'truth':>7}{'mean':>7}{'within .07':>12}{'covered':>9}")
    for name, group in grouped(runs, "corruption").items():
        within = np.mean([_within(r) for r in group])
        covered = np.mean([_covered(r) for r in group])
        print(
            f"{name:<24}{len(group):>5}{mean(group, 'share'):>7.2f}"
            f"{mean(group, 'contamination'):>7.2f}{within:>12.0%}{covered:>9.0%}"
        )
    barred = [r for r in runs if _kind(r["corruption"]) in ("label", "label+feature")]
    if bar is None or not barred:
        return
    cells = [methods["robust"] for methods in by_cell(barred).values()]
    for what, check in (("within .07", _within), ("covered", _covered)):
        values = [check(r) for r in barred]
        # A cell counts if more than half of its seeds do.
        majority = [np.mean([check(r) for r in cell]) > 0.5 for cell in cells]
        reached = float(np.mean(values)) >= bar and float(np.mean(majority)) >= bar
        print(
            f"{what}: {share(values)} label and label+feature runs, {share(majority)} "
            f"cells (bar {bar:.0%}): {verdict(reached)}"
        )


def _within(r: Record) -> bool:
    return bool(abs(r["contamination"] - r["share"]) <= 0.07)


def _covered(r: Record) -> bool:
    return bool(r["low"] - 1e-9 <= r["share"] <= r["high"] + 1e-9)


def print_flags(records: list[Record], barred: str | None = "label .2") -> None:
    """Precision and recall of the flags, beside those of the simple detectors."""
    runs = [r for r in records if "flagged" in r and r["bad"] > 0]
    if not runs:
        return
    print("\nflags: precision and recall, all runs together")
    for corruption, group in grouped(runs, "corruption").items():
        for (method, kernel), some in grouped(group, "method", "kernel").items():
            flagged, wrong = (sum(r[name] for r in some) for name in ("flagged", "bad"))
            right = flagged - sum(r["false"] for r in some)
            precision, recall = right / max(flagged, 1), right / wrong
            text = ""
            if method == "robust" and corruption == barred:
                reached = precision >= 0.9 and recall >= 0.65
                text = f"  (bars .9, .65): {verdict(reached)}"
            label = f"{method}, {kernel}"
            print(f"{corruption:<24}{label:<26}{precision:>6.2f}{recall:>6.2f}{text}")


def print_false_alarms(records: list[Record]) -> None:
    """Share of clean rows flagged."""
    runs = [r for r in records if "flagged" in r and r["corruption"] == "clean"]
    if not runs:
        return
    print("\nrows flagged where none is wrong (mean over seeds)")
    columns = sorted({(r["method"], r["kernel"]) for r in runs})
    print(f"{'':<26}" + "".join(f"{', '.join(c):>25}" for c in columns))
    rates: dict[str, float] = {}
    for name, group in grouped(runs, "data").items():
        line, cells = f"{name:<26}", grouped(group, "method", "kernel")
        for column in columns:
            counted = [r["flagged"] / r["rows"] for r in cells.get(column, [])]
            line += f"{np.mean(counted):>25.2%}" if counted else f"{'':>25}"
            if column == ("robust", "linear") and counted:
                rates[name] = float(np.mean(counted))
        print(line)
    if rates:
        above = sorted(rates.values(), reverse=True)
        reached = above[0] <= 0.03 and (len(above) == 1 or above[1] <= 0.01)
        print(
            f"largest rates {', '.join(f'{v:.2%}' for v in above[:3])} "
            f"(bar 1 %, 3 % for one): {verdict(reached)}"
        )


def print_calibration(records: list[Record]) -> None:
    """Expected and actual numbers of false flags."""
    runs = [r for r in records if r["method"] == "robust" and "flagged" in r]
    runs = [r for r in runs if np.isfinite(r.get("expected_false", np.nan))]
    if not runs:
        return
    print("\nexpected number of false flags against the number, sums over runs")
    for name, group in grouped(runs, "corruption").items():
        expected = sum(r["expected_false"] for r in group)
        print(
            f"{name:<24}expected {expected:>8.1f}  actual "
            f"{sum(r['false'] for r in group):>6}  of "
            f"{sum(r['flagged'] for r in group)} flags in {len(group)} runs"
        )


def print_named(records: list[Record]) -> None:
    """How often the explanation names the column that is wrong."""
    runs = [r for r in records if r["method"] == "robust" and "named" in r]
    if not runs:
        return
    print("\nexplain_outliers names the wrong column first, of flagged wrong rows")
    groups = grouped(runs, "corruption")
    units = [r for r in runs if r["corruption"].startswith("units")]
    for name, group in [*groups.items(), ("all unit errors", units)]:
        total = sum(r["to_name"] for r in group)
        found = sum(r["named"] for r in group) / max(total, 1)
        text = ""
        if name == "all unit errors":
            text = f" (bar 80%): {verdict(found >= 0.8)}"
        print(f"{name:<24}{found:>6.0%} of {total}{text}")
