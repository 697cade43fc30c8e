"""The bars of RobustClassifier."""

from benchmarks._robust_report import Place, by_cell, mean, verdict
from benchmarks._robust_runs import Record

SEARCHED, DEFAULT = ("logistic", "SVC"), ("logistic C=1", "SVC C=1")
PLAIN = (*SEARCHED, *DEFAULT)
MUST_GAIN = ("breast_cancer", "heart_cleveland")


def print_accuracies(records: list[Record]) -> None:
    """Accuracy beside plain logistic and SVC, in points; then the bars."""
    gains: dict[Place, dict[str, float]] = {}
    print("\nRobustClassifier, accuracy in points, and how much that is above")
    print(
        f"{'':<42}{'robust':>7}" + "".join(f"{name:>14}" for name in PLAIN) + "  oracle"
    )
    for place, methods in by_cell(records).items():
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
            print(
                f"lowest against {name}: {there[worst]:+.1f} in {', '.join(worst)} "
                f"(bar -2): {verdict(there[worst] >= -2)}"
            )
    for place, gain in gains.items():
        if place[0] in MUST_GAIN and place[1] == "flip .4":
            for what, names in (("searched", SEARCHED), ("default", DEFAULT)):
                least = min((gain[m] for m in names if m in gain), default=float("nan"))
                print(
                    f"gain over the better {what} fit in {', '.join(place)}: "
                    f"{least:+.1f} (bar +5): {verdict(least >= 5)}"
                )
