"""What the user says of rows: groups and probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lrisk.estimators.row_facts import check_groups, check_probabilities
from lrisk.procedures.label_noise import confidence_logs

CLASSES = np.array(["a", "b", "c"])
GOOD = np.full((4, 3), 1 / 3)


def changed(value, at=(1, 0)):
    p = GOOD.copy()
    p[at] = value
    return p


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (GOOD[:3], r"of shape \(4, 3\), got \(3, 3\)"),
        (GOOD[:, :2], r"a column for each of \['a', 'b', 'c'\]"),
        (GOOD[0], r"of shape \(4, 3\), got \(3,\)"),
        (changed(np.nan), "within 0 and 1, got nan"),
        (changed(-0.2), "within 0 and 1, got -0.2"),
        (changed(7.0), "within 0 and 1, got 7.0"),
        (changed(0.9), r"rows that sum to 1, got '1.56667 in row 1'"),
        (np.full((4, 3), "x"), "numbers, got 'x'"),
    ],
)
def test_what_are_not_probabilities_is_refused(p, said):
    with pytest.raises(ValueError, match=f"^lrisk: probabilities must be .*{said}"):
        check_probabilities("lrisk", p, 4, CLASSES)


NAMED = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])


@pytest.mark.parametrize(
    ("classes", "columns", "order"),
    [
        (["a", "b", "c"], ["c", "a", "b"], [1, 2, 0]),
        ([1, 2, 3], [3, 2, 1], [2, 1, 0]),
        ([0.0, 1.0, 2.0], ["2", "0", "1"], [1, 2, 0]),
        ([0, 1, 2], [1, 0, 2], [1, 0, 2]),
        (["a", "b", "c"], [0, 1, 2], [0, 1, 2]),  # columns without names
        ([1, 2, 3], [0, 1, 2], [0, 1, 2]),
    ],
)
def test_columns_of_frames_are_taken_by_name(classes, columns, order):
    frame = pd.DataFrame(NAMED, columns=columns)
    p = check_probabilities("lrisk", frame, 2, np.array(classes))
    np.testing.assert_allclose(p, NAMED[:, order], rtol=1e-15)
    if isinstance(columns[0], str):
        again = check_probabilities("l", pl.from_pandas(frame), 2, np.array(classes))
        np.testing.assert_array_equal(again, p)


@pytest.mark.parametrize(
    "columns", [["a", "b", "d"], ["a", "a", "b"], [1, 2, 3], ["0", "1", "2"]]
)
def test_columns_of_other_names_are_refused(columns):
    frame = pd.DataFrame(NAMED, columns=columns)
    said = r"in columns named as the classes, \['a', 'b', 'c'\], got.*; rename them, or"
    with pytest.raises(ValueError, match=said):
        check_probabilities("lrisk", frame, 2, CLASSES)


def test_rounding_is_not_refused():
    p = check_probabilities("lrisk", GOOD.astype(np.float32).round(3), 4, CLASSES)
    assert p.dtype == np.float64
    assert np.allclose(p.sum(axis=1), 1.0, atol=1e-15)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([1, 2, 3], r"groups must be of shape \(4,\), got \(3,\); pass the name"),
        ([[1, 2, 3, 4]], r"groups must be of shape \(4,\)"),
        ([1.0, np.nan, 2.0, 2.0], "groups must be known for every row, got nan"),
        (["a", None, "b", "b"], "groups must be known for every row, got None"),
        (np.array(["a", 1, "b", 2], object), r"one type, got \['int', 'str'\]"),
    ],
)
def test_what_are_not_groups_is_refused(groups, said):
    with pytest.raises(ValueError, match=said):
        check_groups("lrisk", groups, 4)


def test_groups_are_numbered_whatever_they_are_called():
    assert check_groups("lrisk", None, 3) is None
    assert check_groups("lrisk", ["u", "v", "u"], 3).tolist() == [0, 1, 0]
    assert check_groups("lrisk", [7.5, 7.5, -1.0], 3).tolist() == [1, 1, 0]


def test_powers_of_probabilities_are_multiples_of_one_reference():
    p = np.array([[0.2, 0.8], [0.999, 0.001]])
    sharp = p**30 / np.sum(p**30, axis=1, keepdims=True)
    mild, strong = (confidence_logs(q)[0] for q in (p, sharp))
    gap = [logs[:, 1] - logs[:, 0] for logs in (mild, strong)]
    assert np.allclose(gap[1], 30.0 * gap[0])
    assert np.all(np.isfinite(confidence_logs(np.eye(2))))
    assert np.all(np.isfinite(confidence_logs(np.array([[1.0, 5e-324], [0.5, 0.5]]))))
