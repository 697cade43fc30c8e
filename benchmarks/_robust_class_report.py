"""The bars of RobustClassifier."""

import numpy as np

from benchmarks._robust_report import Place, by_cell, mean, verdict
from benchmarks._robust_runs import Record

SEARCHED, DEFAULT = ("logistic", "SVC"), ("logistic C=1", "SVC C=1")
PLAIN = (*SEARCHED, *DEFAULT)
MUST_GAIN = ("breast_cancer", "heart_cleveland")


def paired_error(ours: list[Record], theirs: list[Record]) -> float:
    """Standard error of the mean difference over common seeds, in points."""
    known = {r["seed"]: r["error"] for r in theirs if "error" in r}
    gains = [r["error"] - known[r["seed"]] for r in ours if r["seed"] in known]
    if len(gains) < 2:
        return float("nan")
    return 100 * float(np.std(gains, ddof=1)) / len(gains) ** 0.5


def print_accuracies(records: list[Record]) -> None:
    """Accuracy beside plain logistic and SVC, in points; then the bars."""
    gains: dict[Place, dict[str, float]] = {}
    print("\nRobustClassifier, accuracy in points, and how much that is above")
    print(
        f"{'':<42}{'robust':>7}" + "".join(f"{name:>14}" for name in PLAIN) + "  oracle"
    )
    table = by_cell(records)
    for place, methods in table.items():
        if "robust" not in methods:
            continue
        ours = 100 * mean(methods["robust"])
        gain = {m: ours - 100 * mean(methods[m]) for m in PLAIN if m in methods}
        oracle = 100 * mean(methods.get("oracle", []))
        line = "".join(f"{gain.get(m, float('nan')):>+14.1f}" for m in PLAIN)
        print(f"{', '.join(place):<42}{ours:>7.1f}{line}{oracle:>8.1f}")
        gains[place] = gain
    if not gains:
        print("not run: no bars")
        return
    for name in PLAIN:
        there = {place: gain[name] for place, gain in gains.items() if name in gain}
        if there:
            worst = min(there, key=lambda place: there[place])
            below = sum(gain < -2 for gain in there.values())
            error = paired_error(table[worst]["robust"], table[worst][name])
            print(
                f"lowest against {name}: {there[worst]:+.1f} ± {error:.1f} in "
                f"{', '.join(worst)}, below -2 in {below} of {len(there)} cells "
                f"(bar -2): {verdict(there[worst] >= -2)}"
            )
    for place, gain in gains.items():
        if place[0] in MUST_GAIN and place[1] == "flip .4":
            for what, names in (("searched", SEARCHED), ("default", DEFAULT)):
                ran = [gain[m] for m in names if m in gain]
                if not ran:
                    continue
                least = min(ran)
                print(
                    f"gain over the better {what} fit in {', '.join(place)}: "
                    f"{least:+.1f} (bar +5): {verdict(least >= 5)}"
                )
