"""Goals of the benchmark of the audit are met and missed as they should be."""

import math
import sys
from pathlib import Path

import pytest

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_report import (
    OURS,
    SECTION,
    Goal,
    Outcome,
    as_table,
    clean_goals,
    of_kind,
    planted_goals,
)
from benchmarks._audit_scores import Alarms, Count


def outcome(right=10, named=10, by=("slips",), false=(), section=None, alarms=(0, 0.0)):
    counts = {OURS: Count(named, right, 10, right, 10)}
    if section is not None:
        counts[SECTION] = Count(section, section, 10, section, 10)
    slip = any(claim.startswith("slips") for claim in false)
    return Outcome(counts, by, false, slip, Alarms(*alarms), 1.0)


def test_a_goal_says_by_how_much_it_is_missed():
    assert Goal("recall", 0.95, 0.95).met
    assert Goal("seconds", 3.0, 3.0, at_least=False).met
    assert "MISSED by 0.2" in Goal("recall", 0.75, 0.95).words()
    assert "MISSED by 2" in Goal("seconds", 5.0, 3.0, at_least=False).words()
    nothing = Goal("precision", math.nan, 0.95)
    assert not nothing.met and "nothing was named" in nothing.words()


def test_goals_pool_the_tables_of_a_kind():
    """19 of 20 wrong rows among 20 named; the one false slip is in one of 4 tables."""
    kinds = {
        "target ×10": [outcome(), outcome(right=9, false=("slips: sign a (3 rows)",))],
        "classes: feature ×10": [outcome(section=8)],
        "source offset": [outcome(by=(), section=0)],
    }
    values = {goal.name: goal.value for goal in planted_goals(kinds)}
    assert values["target ×10, precision"] == pytest.approx(0.95)
    assert values["target ×10, recall"] == pytest.approx(0.95)
    name = "classes: feature ×10, recall by the section of columns"
    assert values[name] == pytest.approx(0.8)
    assert values["bad sources named"] == 0.0
    assert values["planted tables with a false slip"] == 0.25


def test_clean_tables_are_judged_all_together():
    found = [
        outcome(0, 0),
        outcome(0, 3, alarms=(3, 1.0)),
        outcome(0, 0, false=("x:",)),
    ]
    goals = {g.name: g for g in clean_goals({"clean a": found[:1], "b": found[1:]})}
    for part in ("row flagged", "false claim"):
        assert goals[f"clean tables without a {part}"].value == pytest.approx(2 / 3)
    assert goals["clean tables with a false slip"].met


def test_what_is_shown_has_counts_causes_and_false_alarms():
    found = [outcome(9, 12, alarms=(3, 1.0))]
    text = of_kind("target ×10", found)
    assert "0.75/0.90" in text and "9 of 10 wrong rows among 12 named" in text
    assert "slips 1" in text and "3 rows flagged falsely, 1.0 expected" in text
    line = as_table({"target ×10": found}).splitlines()[-1]
    assert "0.75/0.90 (9 of 12)" in line and "1 of 1" in line
