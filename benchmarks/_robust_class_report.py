"""The bars of RobustClassifier."""

from benchmarks._robust_report import by_cell, mean, verdict
from benchmarks._robust_runs import Record


def print_accuracies(records: list[Record]) -> None:
    """Accuracy beside plain logistic and SVC, in points; then the bars."""
    table = by_cell(records)
    rows = []
    for place, methods in table.items():
        if {"robust", "logistic", "SVC"} <= set(methods):
            ours = 100 * mean(methods["robust"])
            plain = [100 * mean(methods[name]) for name in ("logistic", "SVC")]
            rows.append((place, ours, *plain, 100 * mean(methods.get("oracle", []))))
    if not rows:
        print("\nRobustClassifier was not run: no bars")
        return
    print("\nRobustClassifier, accuracy in points: against logistic, against SVC")
    print(f"{'':<46}{'robust':>7}{'logistic':>10}{'SVC':>7}{'oracle':>8}")
    for place, ours, first, second, oracle in rows:
        print(
            f"{', '.join(place):<46}{ours:>7.1f}{ours - first:>+10.1f}"
            f"{ours - second:>+7.1f}{oracle:>8.1f}"
        )
    for name, column in (("logistic", 2), ("SVC", 3)):
        lowest = min(rows, key=lambda row: row[1] - row[column])
        difference = lowest[1] - lowest[column]
        print(
            f"lowest against {name}: {difference:+.1f} in {', '.join(lowest[0])} "
            f"(bar -2): {verdict(difference >= -2)}"
        )
    for place, ours, first, second, _ in rows:
        if place[0] in ("breast_cancer", "heart_cleveland") and place[1] == "flip .4":
            gain = ours - max(first, second)
            print(
                f"gain over the better of both in {', '.join(place)}: {gain:+.1f} "
                f"(bar +5): {verdict(gain >= 5)}"
            )
