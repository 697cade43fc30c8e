"""What is said of a table is true or false as it should be."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lrisk.analysis.audit.facts import Finding

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_errors import Planted
from benchmarks._audit_scores import (
    Alarms,
    Count,
    by_section,
    counted,
    is_known,
    is_true,
    names_cause,
    total,
)
from benchmarks._audit_tables import Known

N = 20
WRONG = np.arange(N) < 4


def planted(section="rows", columns=("y",), **options):
    return Planted({}, WRONG, np.arange(N), section, columns, **options)


def finding(section, kind, columns, rows=(1, 2, 3, 4), numbers=None, **values):
    return Finding(
        section, kind, list(columns), list(rows), len(rows), numbers or {}, values
    )


def test_rows_that_may_be_named_count_for_nothing():
    named, spared = np.arange(N) < 7, np.isin(np.arange(N), [3, 4, 5])
    assert counted(named, planted(), spared) == Count(5, 4, 4, 4, 4)
    seen = planted(visible=np.arange(N) < 2)
    assert counted(~named, seen, spared) == Count(13, 0, 4, 0, 2)
    assert total([Count(5, 4, 4, 4, 4), Count(3, 0, 4, 0, 2)]).precision == 0.5
    assert np.isnan(Count(wrong=3).precision) and Count(wrong=3).recall == 0.0


@pytest.mark.parametrize(
    "kind, columns, numbers, true",
    [
        ("factor", ["y"], {"factor": 0.1}, True),
        ("factor", ["y"], {"factor": 10.0}, False),
        ("factor", ["a"], {"factor": 0.1}, False),
        ("sign", ["y"], {"factor": -1.0}, False),
        ("swap", ["y", "a"], {}, False),
    ],
)
def test_a_slip_is_true_only_if_it_is_the_one(kind, columns, numbers, true):
    made = planted(slip=("factor", 0.1))
    found = finding("slips", kind, columns, numbers=numbers)
    assert is_true(found, made) == true
    assert not is_true(found, planted())


def test_exchanged_columns_are_named_in_any_order():
    made = planted("slips", ("a", "b"), slip=("swap", 1.0))
    assert is_true(finding("slips", "swap", ["b", "a"]), made)
    assert not is_true(finding("slips", "swap", ["b", "c"]), made)


def test_a_finding_needs_the_right_column_and_mostly_wrong_rows():
    made = planted("columns", ("a",))
    assert is_true(finding("columns", "far above", ["a"]), made)
    assert not is_true(finding("columns", "far above", ["b"]), made)
    assert not is_true(finding("columns", "far above", ["a"], range(4, 12)), made)
    assert not is_true(finding("noise", "above", ["a"]), made)


def test_a_stretch_is_true_only_of_rows_in_order():
    found = finding("shared", "stretch", [])
    assert not is_true(found, planted())
    assert is_true(found, planted(in_order=True))


def test_a_source_is_named_by_its_level():
    made = planted("sources", ("site", "y"), level="Cork")
    assert is_true(finding("sources", "noisier", ["site"], level="Cork"), made)
    assert not is_true(finding("sources", "noisier", ["site"], level="Delft"), made)
    assert is_true(finding("shared", "level", ["site"], value="Cork"), made)
    assert not is_true(finding("sources", "noisier", ["site"], level=""), planted())


def test_labels_of_a_bad_source_are_wrong_but_do_not_name_it():
    made = planted("sources", ("site", "y"), level="Cork")
    labels = finding("labels", "mistaken", ["y"], label="ill", likely="well")
    assert is_true(labels, made) and not names_cause(labels, made)
    source = finding("shared", "level", ["site"], value="Cork")
    assert is_true(source, made) and names_cause(source, made)
    assert names_cause(labels, planted())


def test_what_is_listed_of_a_table_is_no_false_claim():
    known = (Known("", "columns", ("y",)), Known("", "copies"))
    assert is_known(finding("columns", "ceiling", ["y"]), known)
    assert is_known(finding("copies", "copy", []), known)
    assert not is_known(finding("columns", "ceiling", ["a"]), known)
    assert not is_known(finding("slips", "factor", ["y"]), known)


def test_a_section_names_rows_of_its_own_findings():
    made = planted("columns", ("a",))
    found = [
        finding("columns", "far above", ["a"], [1, 2]),
        finding("columns", "far above", ["b"], [9]),
        finding("slips", "factor", ["a"], [10]),
    ]
    assert np.flatnonzero(by_section(found, made)).tolist() == [0, 1]


def test_false_alarms_are_held_against_half_to_twice_their_number():
    """Quantiles of Poisson: 5 % in all of means 5 and 20 are outside 1 and 29."""
    assert Alarms(0, 10.0).interval == (1, 29)
    assert [Alarms(k, 10.0).fits for k in (0, 1, 29, 30)] == [False, True, True, False]
    assert Alarms(0, 0.0).fits and not Alarms(1, 0.0).fits
